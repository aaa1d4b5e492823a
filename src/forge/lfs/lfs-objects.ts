import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem } from '../core/errors.ts';
import { secondsOf } from '../core/time.ts';
import type { CopyPermit } from '../git/repository.ts';
import type { LfsPointer } from './pointer.ts';

/** A content that a repository has; its bytes are in the attachment store under `uuid`. */
export type LfsObjectRow = {
  readonly oid: string;
  readonly size: number;
  readonly uuid: string;
  readonly created_at: number;
};

/** Returns the content of a repository; undefined where it has none of this id. */
export function findLfsObject(db: Database, repositoryId: number, oid: string): LfsObjectRow | undefined {
  return db.get<LfsObjectRow>(
    `SELECT c.oid, c.size, c.uuid, o.created_at FROM lfs_objects o JOIN lfs_contents c ON c.oid = o.oid
     WHERE o.repo_id = ? AND o.oid = ?`,
    repositoryId,
    oid,
  );
}

/** Returns how many bytes the contents of a repository have. */
export function lfsSizeOf(db: Database, repositoryId: number): number {
  const row = db.get<{ size: number }>(
    `SELECT coalesce(sum(c.size), 0) AS size FROM lfs_objects o JOIN lfs_contents c ON c.oid = o.oid WHERE o.repo_id = ?`,
    repositoryId,
  );
  return row?.size ?? 0;
}

/** Gives a repository the contents of another: a fork, or what was made of a template. */
export function copyLfsObjects(
  { db, clock }: ForgeContext,
  { from: fromId }: CopyPermit,
  repositoryId: number,
): void {
  db.run(
    'INSERT OR IGNORE INTO lfs_objects (repo_id, oid, created_at) SELECT ?, oid, ? FROM lfs_objects WHERE repo_id = ?',
    repositoryId,
    secondsOf(clock()),
    fromId,
  );
}

/**
 * Keeps a content for a repository. A client has to send all of it, even where the forge has it for another
 * repository. Ends the request with 422 where the bytes are not what the pointer says.
 */
export async function receiveLfsObject(
  context: ForgeContext,
  repositoryId: number,
  pointer: LfsPointer,
  body: Readable,
): Promise<void> {
  const { db, attachments, clock } = context;
  const uuid = randomUUID();
  await attachments.receive(uuid, body, ({ size, sha256 }) => {
    if (size !== pointer.size) throw new ForgeProblem(422, 'content size does not match');
    if (sha256 !== pointer.oid) throw new ForgeProblem(422, 'content hash does not match OID');
    const { changes } = db.run(
      'INSERT INTO lfs_contents (oid, size, uuid) VALUES (?, ?, ?) ON CONFLICT (oid) DO NOTHING',
      pointer.oid,
      size,
      uuid,
    );
    // The forge has these bytes already: the new file goes.
    if (changes === 0) db.run('INSERT INTO file_trash (uuid) VALUES (?)', uuid);
    db.run(
      'INSERT INTO lfs_objects (repo_id, oid, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      repositoryId,
      pointer.oid,
      secondsOf(clock()),
    );
  });
  attachments.sweep();
}
