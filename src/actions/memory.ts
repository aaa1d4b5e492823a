/**
 * Data of actions that outlives a run: the issue of a key, the fingerprint of a hook's secret. Plain data by
 * key, persisted in the store. Only for data that cannot be read back from the forge.
 */
export interface ActionMemory extends ReadableMemory {
  /** Stores a value; undefined deletes it. */
  set(key: string, value: unknown): Promise<void>;
  /**
   * Replaces a value in one step, whatever other runs do meanwhile: `edit` gets what stands there (undefined: nothing) and returns
   * what is to stand there. It may be called several times. Returns what stands there in the end.
   */
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
}

/** The part of a memory that only reads. */
export interface ReadableMemory {
  get(key: string): Promise<unknown>;
}

/** Creates a memory that lives as long as the process, for doors without a store. */
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

/** Returns a memory that reads from another one and never changes it: what is set ends with the process. */
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
