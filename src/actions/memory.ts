/**
 * Data of actions that outlives a run: the issue of a key, the fingerprint of a hook's secret. Plain data by
 * key, persisted in the store. Only for data that cannot be read back from the forge.
 */
export interface ActionMemory {
  get(key: string): Promise<unknown>;
  /** Stores a value; undefined deletes it. */
  set(key: string, value: unknown): Promise<void>;
}

/** Creates a memory that lives as long as the process, for doors without a store. */
export function createActionMemory(): ActionMemory {
  const entries = new Map<string, unknown>();
  return {
    async get(key) {
      return entries.get(key);
    },
    async set(key, value) {
      if (value === undefined) entries.delete(key);
      else entries.set(key, value);
    },
  };
}

/** Returns a memory that reads from another one and never changes it: what is set ends with the process. */
export function createReadOnlyMemory(memory: ActionMemory): ActionMemory {
  const own = new Map<string, unknown>();
  return {
    get: async (key) => (own.has(key) ? own.get(key) : memory.get(key)),
    async set(key, value) {
      own.set(key, value);
    },
  };
}
