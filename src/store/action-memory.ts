import type { ActionMemory } from '../actions/memory.ts';
import type { Store } from './store.ts';

/** Creates the memory of actions in the store, with its own key prefix. */
export function createStoredMemory(store: Pick<Store, 'remember' | 'recall'>): ActionMemory {
  return {
    get: (key) => store.recall(`action ${key}`),
    set: (key, value) => store.remember(`action ${key}`, value),
  };
}
