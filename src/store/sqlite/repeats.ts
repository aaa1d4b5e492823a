import type { DatabaseSync } from 'node:sqlite';

/** Digests read into memory per turn of the event loop. */
const chunk = 20_000;

/** Recognises deliveries that repeat an earlier one: the same body with another uuid. */
export interface Repeats {
  /** Reads the stored digests, once. Resolves when the others may be called. */
  load(): Promise<void>;
  /** Stores the digest of a delivery and returns the earlier one that it repeats. To be called inside a transaction. */
  note(id: number, digest: Uint8Array): number | undefined;
  /** Returns the earlier delivery that a recorded one currently repeats: a dead one was not handled and does not count. */
  originalOf(id: number): number | undefined;
}

/** Prepares the recognition. Digests are deleted with their deliveries. */
export function createRepeats(database: DatabaseSync): Repeats {
  const insert = database.prepare('INSERT OR REPLACE INTO digests (delivery, digest) VALUES (?, ?)');
  const digestOf = database.prepare('SELECT digest FROM digests WHERE delivery = ?');
  const stateOf = database.prepare('SELECT state FROM deliveries WHERE id = ?');
  const oldest = database.prepare('SELECT coalesce(min(delivery), 0) AS id FROM digests');
  const following = database.prepare(
    'SELECT delivery, digest FROM digests WHERE delivery > ? ORDER BY delivery LIMIT ?',
  );
  const table = new DigestTable(() => Number(oldest.get()?.id));
  let loading: Promise<void> | undefined;

  const readDigest = (id: number): Uint8Array | undefined => {
    const digest = digestOf.get(id)?.digest;
    return digest instanceof Uint8Array ? digest : undefined;
  };

  /** Returns the earlier delivery with a digest; the given one takes its place if there is none, or a dead one. */
  const resolve = (id: number, digest: Uint8Array): number | undefined => {
    const found = table.find(digest, (row) => {
      const known = row === id ? digest : readDigest(row);
      return known !== undefined && Buffer.compare(known, digest) === 0;
    });
    if (found === id) return undefined;
    if (found !== undefined && stateOf.get(found)?.state !== 'dead') return found;
    if (found === undefined) table.add(digest, id);
    else table.replace(digest, found, id);
    return undefined;
  };

  const load = async (): Promise<void> => {
    for (let last = 0; ; ) {
      const rows = following.all(last, chunk);
      for (const { delivery, digest } of rows) {
        last = Number(delivery);
        if (digest instanceof Uint8Array) resolve(last, digest);
      }
      if (rows.length < chunk) return;
      await new Promise((resume) => setImmediate(resume));
    }
  };

  return {
    load() {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    note(id, digest) {
      insert.run(id, digest);
      return resolve(id, digest);
    },
    originalOf(id) {
      const digest = readDigest(id);
      return digest === undefined ? undefined : resolve(id, digest);
    },
  };
}

/**
 * An in-memory table of stored rows that may have a given digest, with 8 bytes per row. It contains only 32 bits of
 * each digest: a hit is a candidate, to be compared with the stored digest.
 * An index in the database would do the same, but digests arrive in random order: each insertion writes a separate
 * page, which took ten times as long as appending (120 µs instead of 12, 300,000 rows).
 */
export class DigestTable {
  #prints: Uint32Array;
  /** 0: the slot is free. */
  #rows: Uint32Array;
  #size = 0;
  readonly #oldestRow: () => number;

  /** `oldestRow` returns the lowest row that still exists; rows below it are dropped when the table is full. */
  constructor(oldestRow: () => number, capacity = 1_024) {
    this.#oldestRow = oldestRow;
    this.#prints = new Uint32Array(capacity);
    this.#rows = new Uint32Array(capacity);
  }

  /** Capacity before a rebuild, plus a reserve. */
  get capacity(): number {
    return this.#rows.length;
  }

  /** Returns the first row under this digest that `isSame` confirms. */
  find(digest: Uint8Array, isSame: (row: number) => boolean): number | undefined {
    const print = printOf(digest);
    const mask = this.#rows.length - 1;
    for (let slot = print & mask; ; slot = (slot + 1) & mask) {
      const row = this.#rows[slot];
      if (row === undefined || row === 0) return undefined;
      if (this.#prints[slot] === print && isSame(row)) return row;
    }
  }

  /** Adds a row. `row` is a positive integer below 2³². */
  add(digest: Uint8Array, row: number): void {
    if (this.#size >= this.#rows.length * 0.7) this.#rebuild();
    this.#put(printOf(digest), row);
  }

  /** Replaces a row that was found under this digest. */
  replace(digest: Uint8Array, row: number, by: number): void {
    const print = printOf(digest);
    const mask = this.#rows.length - 1;
    for (let slot = print & mask; this.#rows[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#prints[slot] !== print || this.#rows[slot] !== row) continue;
      this.#rows[slot] = by;
      return;
    }
  }

  #put(print: number, row: number): void {
    const mask = this.#rows.length - 1;
    let slot = print & mask;
    while (this.#rows[slot] !== 0) slot = (slot + 1) & mask;
    this.#prints[slot] = print;
    this.#rows[slot] = row;
    this.#size += 1;
  }

  /** Removes rows that no longer exist, and doubles the table if that is not enough. */
  #rebuild(): void {
    const [prints, rows] = [this.#prints, this.#rows];
    const oldest = this.#oldestRow();
    const kept = rows.reduce((count, row) => (row >= oldest && row !== 0 ? count + 1 : count), 0);
    const capacity = kept > rows.length * 0.35 ? rows.length * 2 : rows.length;
    this.#prints = new Uint32Array(capacity);
    this.#rows = new Uint32Array(capacity);
    this.#size = 0;
    // `entries()` would create an object for each of up to millions of slots.
    rows.forEach((row, slot) => {
      if (row !== 0 && row >= oldest) this.#put(prints[slot] ?? 0, row);
    });
  }
}

function printOf(digest: Uint8Array): number {
  return new DataView(digest.buffer, digest.byteOffset, digest.byteLength).getUint32(0);
}
