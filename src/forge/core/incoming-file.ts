import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Digests of a file, in hex. */
export type Digests = {
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly sha512: string;
};

/** What is known of a file once it is on disk. */
export type ReceivedFile = Digests & { readonly size: number };

/** Writes a stream to a new file as it comes, and returns size and digests. A file that fails is removed. */
export async function receiveFile(path: string, body: Readable): Promise<ReceivedFile> {
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
