import type { ActionMemory } from '../actions/memory.ts';
import type { MemoryRows } from './store.ts';

/** Returns the key, or the prefix of keys, under which the store keeps the data of actions. */
export function storedMemoryKey(key: string): string {
  return `action ${key}`;
}

/** Creates the memory of actions in the store, with a key prefix of its own. */
export function createStoredMemory(store: MemoryRows): ActionMemory {
  return {
    get: (key) => store.recall(storedMemoryKey(key)),
    set: (key, value) => store.remember(storedMemoryKey(key), value),
    revise: (key, edit) => store.revise(storedMemoryKey(key), edit),
  };
}

/** Returns the date that decides when the retention deletes plain data: its member `at`. */
export function memoryDateOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value)) return undefined;
  return typeof value.at === 'string' ? value.at : undefined;
}
