import type { DatabaseSync } from 'node:sqlite';
import { DigestTable } from './digest-table.ts';

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

/** Prepares it. Digests live as long as their deliveries: those of pruned ones go with them. */
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

  /** Finds the delivery of a digest; a recorded one is used if there is none, or a dead one. */
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
