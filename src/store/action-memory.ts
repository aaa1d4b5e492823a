import type { ActionMemory } from '../actions/memory.ts';
import type { MemoryRows } from './store.ts';

/** Returns the key, or the beginning of keys, under which the store keeps data of actions. */
export function storedMemoryKey(key: string): string {
  return `action ${key}`;
}

/** Creates the memory of actions in the store, with its own key prefix. */
export function createStoredMemory(store: MemoryRows): ActionMemory {
  return {
    get: (key) => store.recall(storedMemoryKey(key)),
    set: (key, value) => store.remember(storedMemoryKey(key), value),
    revise: (key, edit) => store.revise(storedMemoryKey(key), edit),
  };
}

/** Returns the date by which the retention deletes plain data: its member `at`. */
export function memoryDateOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value)) return undefined;
  return typeof value.at === 'string' ? value.at : undefined;
}
