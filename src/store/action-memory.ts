import type { ActionMemory } from '../actions/memory.ts';
import type { Store } from './store.ts';

/** Creates the memory of actions that the store keeps, under keys of its own. */
export function createStoredMemory(store: Pick<Store, 'remember' | 'recall'>): ActionMemory {
  return {
    get: (key) => store.recall(`action ${key}`),
    set: (key, value) => store.remember(`action ${key}`, value),
  };
}
