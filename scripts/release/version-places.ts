import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Place = {
  readonly path: string;
  /** Number of times that the version is in the file. */
  readonly times: number;
  /** Returns what is before and after the version, as the source of a regular expression. */
  readonly around: readonly [before: string, after: string];
};

/** Files with the version of this package, besides the changelog. `test/release.test.ts` finds a file that is missing here. */
export const versionPlaces: readonly Place[] = [
  { path: 'package.json', times: 1, around: ['^ {2}"version": "', '",$'] },
  // The package itself: at the top, and in the list of packages under the empty name.
  {
    path: 'package-lock.json',
    times: 2,
    around: ['^(?: {2}| {6})"version": "', '",\\n(?: {2}"lockfile| {6}"license": "MIT",\\n {6}"bin")'],
  },
  { path: 'deploy/kubernetes/kustomization.yaml', times: 1, around: ['^ +newTag: ', '$'] },
  { path: 'docs/ci.md', times: 5, around: ['/reeve/reeve@v', '(?=$|`)'] },
];

/**
 * Writes another version into every place. Throws before anything is written if a file has the old version more or less often than
 * the table says. Returns the paths.
 */
export async function replaceVersion(root: string, from: string, to: string): Promise<readonly string[]> {
  const changed = await Promise.all(
    versionPlaces.map(async ({ path, times, around: [before, after] }) => {
      const text = await readFile(join(root, path), 'utf8');
      const version = new RegExp(`(${before})${from.replaceAll('.', '\\.')}(${after})`, 'gm');
      const found = text.match(version)?.length ?? 0;
      if (found !== times)
        throw new Error(`${path} has the version ${from} ${found} times, and not ${times} times`);
      return { path, text: text.replace(version, (_, start, end) => `${start}${to}${end}`) };
    }),
  );
  for (const { path, text } of changed) await writeFile(join(root, path), text);
  return changed.map(({ path }) => path);
}
