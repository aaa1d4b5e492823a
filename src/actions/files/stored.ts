import { createHash } from 'node:crypto';
import { gitBlobId } from '../../facts/git-blob-id.ts';
import type { PlanContext } from '../plan-context.ts';

/**
 * What a forge stores for a file may have another id than its content: a pointer, where the repository keeps the file in
 * LFS. The memory keeps that pair of ids, so that the file is not committed again on every run.
 */
type StoredFile = { readonly wanted: string; readonly stored: string };

/** Where a file is: `owner/repo:branch:path`. */
type FilePlace = string;

/** Notes what the forge has stored for a content. */
export async function rememberStored(
  place: FilePlace,
  stored: StoredFile,
  { memory }: PlanContext,
): Promise<void> {
  await memory.set(keyOf(place), stored);
}

/** Returns whether the forge stored this for that content when it was committed. */
export async function isKnownStored(
  place: FilePlace,
  { wanted, stored }: StoredFile,
  { memory }: PlanContext,
): Promise<boolean> {
  // What this key holds was set above.
  const known = (await memory.get(keyOf(place))) as StoredFile | undefined;
  return known?.wanted === wanted && known.stored === stored;
}

function keyOf(place: FilePlace): string {
  return `stored ${place}`;
}

/** Returns the id of the LFS pointer to a content. `like` is another id of the repository. */
export function pointerId(content: Uint8Array, like: string): string {
  const oid = createHash('sha256').update(content).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
  return gitBlobId(Buffer.from(pointer), like);
}
