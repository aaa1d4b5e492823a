/**
 * Data of actions that outlives a run, such as the issue of a key or the fingerprint of a hook's secret. Plain data by
 * key, persisted in the store. Only for data that cannot be read back from the forge.
 */
export interface ActionMemory extends ReadableMemory {
  /** Stores a value; undefined deletes it. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * Replaces a value atomically, even with concurrent runs: `edit` receives the stored value (undefined if there is
   * none) and returns the new value. `edit` may be called several times. Returns the stored value.
   */
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
}

/** The read-only part of a memory. */
export interface ReadableMemory {
  get(key: string): Promise<unknown>;
}

/** Creates a memory that lives as long as the process, for entry points without a store. */
export function createActionMemory(): ActionMemory {
  const entries = new Map<string, unknown>();
  const put = (key: string, value: unknown): void => {
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
  };
  return {
    get: async (key) => entries.get(key),
    set: async (key, value) => put(key, value),
    async revise(key, edit) {
      const value = edit(entries.get(key));
      put(key, value);
      return value;
    },
  };
}

/** Returns a memory that reads from the given memory and never changes it: new values are kept only in the process. */
export function createReadOnlyMemory(memory: ReadableMemory): ActionMemory {
  const own = new Map<string, unknown>();
  const get = async (key: string): Promise<unknown> => (own.has(key) ? own.get(key) : memory.get(key));
  return {
    get,
    async set(key, value) {
      own.set(key, value);
    },
    async revise(key, edit) {
      const value = edit(await get(key));
      own.set(key, value);
      return value;
    },
  };
}
