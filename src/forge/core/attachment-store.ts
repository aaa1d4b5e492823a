import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Database } from './database.ts';

/** The bytes of attached files, each in a file of its own named by a uuid that the forge chose. */
export interface AttachmentStore {
  /**
   * Keeps the bytes and runs `record`, which writes the row that names them. Stopped in between, the forge removes the
   * file at its next start.
   */
  keep<T>(uuid: string, bytes: Uint8Array, record: () => T): T;
  /** Returns the bytes as a stream; undefined where there are none. */
  read(uuid: string): Promise<Readable | undefined>;
  /** Removes the files whose rows are gone. */
  sweep(): void;
}

/** Creates the store in a folder, which it makes. `file_trash` holds what is to go: triggers put it there. */
export function createAttachmentStore(db: Database, folder: string): AttachmentStore {
  // Two levels, so that no folder grows beyond what file systems like.
  const pathOf = (uuid: string) => join(folder, uuid.slice(0, 2), uuid);

  function sweep(): void {
    for (const { uuid } of db.all<{ uuid: string }>('SELECT uuid FROM file_trash')) {
      rmSync(pathOf(uuid), { force: true });
      db.run('DELETE FROM file_trash WHERE uuid = ?', uuid);
    }
  }

  return {
    keep(uuid, bytes, record) {
      db.run('INSERT INTO file_trash (uuid) VALUES (?)', uuid);
      mkdirSync(join(folder, uuid.slice(0, 2)), { recursive: true, mode: 0o700 });
      writeFileSync(pathOf(uuid), bytes, { flag: 'wx', mode: 0o600 });
      return db.transaction(() => {
        db.run('DELETE FROM file_trash WHERE uuid = ?', uuid);
        return record();
      });
    },
    async read(uuid) {
      try {
        const handle = await open(pathOf(uuid));
        return handle.createReadStream();
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    sweep,
  };
}
