import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { CopyPermit } from '../platform/git/repository.ts';
import { secondsOf } from '../platform/time.ts';

/** A parsed Git LFS pointer: the small file in git that represents a large object. */
export type LfsPointer = {
  /** SHA-256 of the content, hex. */
  readonly oid: string;
  /** Size of the content in bytes. */
  readonly size: number;
};

/** A file of this size or larger is not a pointer. */
export const maxPointerBytes = 1024;

const firstLine = 'version https://git-lfs.github.com/spec/v1';

/** Returns whether an id and a size form a valid pointer. */
export function isLfsPointer({ oid, size }: LfsPointer): boolean {
  return /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size) && size >= 0;
}

/** Parses a pointer; undefined if the bytes are not one. */
export function parsePointer(bytes: Buffer): LfsPointer | undefined {
  if (bytes.length >= maxPointerBytes) return undefined;
  const [first, oidLine = '', sizeLine = ''] = bytes.toString('utf8').split('\n');
  if (!first?.startsWith(firstLine)) return undefined;
  const oid = /^oid sha256:([0-9a-f]{64})$/.exec(oidLine)?.[1];
  const size = /^size (\d{1,15})$/.exec(sizeLine)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

/** An LFS object of a repository; its bytes are in the attachment store under `uuid`. */
export type LfsObjectRow = {
  readonly oid: string;
  readonly size: number;
  readonly uuid: string;
  readonly created_at: number;
};

/** Returns an LFS object of a repository; undefined if the repository has none with this id. */
export function findLfsObject(db: Database, repositoryId: number, oid: string): LfsObjectRow | undefined {
  return db.get<LfsObjectRow>(
    `SELECT c.oid, c.size, c.uuid, o.created_at FROM lfs_objects o JOIN lfs_contents c ON c.oid = o.oid
     WHERE o.repo_id = ? AND o.oid = ?`,
    repositoryId,
    oid,
  );
}

/** Returns the total bytes of the LFS objects of a repository. */
export function lfsSizeOf(db: Database, repositoryId: number): number {
  const row = db.get<{ size: number }>(
    `SELECT coalesce(sum(c.size), 0) AS size FROM lfs_objects o JOIN lfs_contents c ON c.oid = o.oid WHERE o.repo_id = ?`,
    repositoryId,
  );
  return row?.size ?? 0;
}

/** Copies the LFS objects of a repository to another: a fork, or a repository created from a template. */
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
 * Stores an LFS object for a repository. A client must send all bytes, even if the forge has the object for another
 * repository. Ends the request with 422 if the bytes do not match the pointer.
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
    // The forge already has these bytes, so the new file is deleted.
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
