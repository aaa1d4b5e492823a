import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { gitBlobId } from '../../facts/git-blob-id.ts';
import type { PlanContext } from '../plan-context.ts';

/**
 * What a forge stores for a file may have another id than its content: a pointer, where the repository keeps the file in
 * LFS. The memory keeps that pair of ids, so that the file is not committed again on every run.
 */
type StoredFile = { readonly wanted: string; readonly stored: string };

/** The beginning of the keys under which the memory keeps such pairs. Their values have an instant `at`. */
export const storedFilePrefix = 'stored ';

/** A pair is kept as long as its file was planned within this time. After that, the file is committed once more. */
export const storedFileKeptMs = 100 * 86_400_000;

/** `at` is written again only if it is older than this: a sweep over thousands of files writes nothing each time. */
const touchMs = 86_400_000;

/** Where a file is: `owner/repo:branch:path`. */
type FilePlace = string;

/** Notes what the forge has stored for a content. */
export async function rememberStored(
  place: FilePlace,
  stored: StoredFile,
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(keyOf(place), { ...stored, at: now.toISOString() });
}

/** Returns whether the forge stored this for that content when it was committed. */
export async function isKnownStored(
  place: FilePlace,
  { wanted, stored }: StoredFile,
  context: PlanContext,
): Promise<boolean> {
  const { memory, now, dryRun } = context;
  // What this key holds was set above; earlier versions wrote no instant.
  const known = (await memory.get(keyOf(place))) as (StoredFile & { readonly at?: string }) | undefined;
  const isKnown = known?.wanted === wanted && known.stored === stored;
  const isYoung = now.getTime() - Date.parse(known?.at ?? '') < touchMs;
  if (isKnown && !isYoung && !dryRun) {
    const touched = { wanted, stored, at: now.toISOString() };
    // What was stored meanwhile stays noted.
    await memory.revise(keyOf(place), (value) => (isDeepStrictEqual(value, known) ? touched : value));
  }
  return isKnown;
}

function keyOf(place: FilePlace): string {
  return `${storedFilePrefix}${place}`;
}

/** Returns the id of the LFS pointer to a content. `like` is another id of the repository. */
export function pointerId(content: Uint8Array, like: string): string {
  const oid = createHash('sha256').update(content).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
  return gitBlobId(Buffer.from(pointer), like);
}
