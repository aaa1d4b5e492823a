import { createHash, type Hash } from 'node:crypto';
import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Database } from './database.ts';

/** Digests of a file, in hex. */
type Digests = {
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly sha512: string;
};

/** A file that has been completely written to disk. */
export type ReceivedFile = Digests & { readonly size: number };

/** Streams a body to a new file and returns its size and digests. Removes the file on failure. */
async function receiveFile(path: string, body: Readable): Promise<ReceivedFile> {
  const hashes: Readonly<Record<keyof Digests, Hash>> = {
    md5: createHash('md5'),
    sha1: createHash('sha1'),
    sha256: createHash('sha256'),
    sha512: createHash('sha512'),
  };
  let size = 0;
  const count = new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length;
      for (const hash of Object.values(hashes)) hash.update(piece);
      done(null, piece);
    },
  });
  try {
    await pipeline(body, count, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return {
    size,
    md5: hashes.md5.digest('hex'),
    sha1: hashes.sha1.digest('hex'),
    sha256: hashes.sha256.digest('hex'),
    sha512: hashes.sha512.digest('hex'),
  };
}

/** Storage for the bytes of attached files, each in its own file named by a uuid that the forge generates. */
export interface AttachmentStore {
  /**
   * Stores the bytes, then runs `record`, which writes the row with the uuid. If the process dies in between, the forge
   * removes the file at its next start.
   */
  keep<T>(uuid: string, bytes: Uint8Array, record: () => T): T;
  /** Like `keep`, for a stream, which is never held in memory as a whole. If `record` throws, nothing is stored. */
  receive<T>(uuid: string, body: Readable, record: (received: ReceivedFile) => T): Promise<T>;
  /** Returns the bytes as a stream, whole or from `start` to `end`; undefined if there are none. */
  read(uuid: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined>;
  /** Removes files whose rows have been deleted. */
  sweep(): void;
}

/**
 * Creates the store in a folder; the folder itself is created with the first file. The `file_trash` table, filled by
 * triggers, lists the files to remove.
 */
export function createAttachmentStore(db: Database, folder: string): AttachmentStore {
  // Two levels, so that no folder holds too many files for a file system.
  const pathOf = (uuid: string) => join(folder, uuid.slice(0, 2), uuid);
  // Incomplete uploads of an earlier process: no row references them, and nothing resumes them.
  const incoming = join(folder, 'incoming');
  rmSync(incoming, { recursive: true, force: true });

  /** Calls `place` to put the file at its path, then writes the row. Afterwards, either both exist or neither. */
  function settle<T>(uuid: string, place: (path: string) => void, record: () => T): T {
    db.run('INSERT INTO file_trash (uuid) VALUES (?)', uuid);
    mkdirSync(join(folder, uuid.slice(0, 2)), { recursive: true, mode: 0o700 });
    place(pathOf(uuid));
    return db.transaction(() => {
      db.run('DELETE FROM file_trash WHERE uuid = ?', uuid);
      return record();
    });
  }

  function sweep(): void {
    for (const { uuid } of db.all<{ uuid: string }>('SELECT uuid FROM file_trash')) {
      rmSync(pathOf(uuid), { force: true });
      db.run('DELETE FROM file_trash WHERE uuid = ?', uuid);
    }
  }

  return {
    keep: (uuid, bytes, record) =>
      settle(uuid, (path) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }), record),
    async receive(uuid, body, record) {
      mkdirSync(incoming, { recursive: true, mode: 0o700 });
      const path = join(incoming, uuid);
      const received = await receiveFile(path, body);
      try {
        return settle(
          uuid,
          (place) => renameSync(path, place),
          () => record(received),
        );
      } catch (error) {
        rmSync(path, { force: true });
        sweep();
        throw error;
      }
    },
    async read(uuid, range) {
      try {
        const handle = await open(pathOf(uuid));
        return handle.createReadStream(range);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    sweep,
  };
}
