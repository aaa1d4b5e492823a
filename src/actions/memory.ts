/**
 * What actions know beyond a run: which issue a key belongs to, the fingerprint of a hook's secret. Plain data, kept by
 * key; the store keeps it over a restart. Only what cannot be read back from the forge belongs here.
 */
export interface ActionMemory {
  get(key: string): Promise<unknown>;
  /** Keeps a value; undefined forgets it. */
  set(key: string, value: unknown): Promise<void>;
}

/** Creates a memory that ends with the process, for doors without a store. */
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
