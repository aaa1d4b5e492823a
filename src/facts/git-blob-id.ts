import { createHash } from 'node:crypto';

/** Returns the id that git gives to the content of a file. `like` is another id of the repository, for its object format. */
export function gitBlobId(content: Uint8Array, like = ''): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}
