import { posix } from 'node:path';
import type { PackReader } from '../packs/gather-packs.ts';
import type { PackTree } from '../packs/pack.ts';
import { createOfferedReader } from './folder-packs.ts';
import { plainContentOf, type readEntry } from './read-at-head.ts';

/** Where packs are read on a forge. */
type ForgePlace = {
  /** Reads a path at one commit of the repository. */
  readonly entryAt: (path: string) => ReturnType<typeof readEntry>;
  /** Name of the repository before paths. */
  readonly repository: string;
};

/**
 * Returns a function that creates the reader of packs beside the rule files of a folder, at one commit of a repository.
 * Each pack is requested once, however many files include it. Packs by name are those of `offered`.
 */
export function createForgeReader(at: ForgePlace, offered: PackTree): (folder: string) => PackReader {
  const known = new Map<string, ReturnType<typeof readContent>>();
  const readerAt = (folder: string): PackReader => ({
    async read(request) {
      if ('pack' in request) return createOfferedReader(offered).read(request);
      const path = posix.join(folder, request.file);
      const reading = known.get(path) ?? readContent(at, path);
      known.set(path, reading);
      const content = await reading;
      if ('refused' in content) return { missing: `${request.file}: ${content.refused}` };
      const shown = `${at.repository}/${path}`;
      return { path: shown, text: content.text, isReadable: true, reader: readerAt(posix.dirname(path)) };
    },
  });
  return readerAt;
}

async function readContent(
  { entryAt }: ForgePlace,
  path: string,
): Promise<ReturnType<typeof plainContentOf>> {
  const entry = await entryAt(path);
  return entry === undefined ? { refused: 'there is no such file' } : plainContentOf(entry);
}
