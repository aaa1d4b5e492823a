import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Version: numbers, and the identifiers of a pre-release. */
export type Version = {
  readonly numbers: readonly [number, number, number];
  readonly prerelease: readonly string[];
};

const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** Parses a version; returns undefined if it is not a semantic version, or has build metadata. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, rest] = pattern.exec(text) ?? [];
  if (major === undefined) return undefined;
  const prerelease = rest?.split('.') ?? [];
  if (prerelease.some((one) => /^0\d+$/.test(one))) return undefined;
  return { numbers: [Number(major), Number(minor), Number(patch)], prerelease };
}

/** Compares two versions by the precedence of semantic versioning: negative if the first is lower. */
export function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // A version comes after its own pre-releases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  for (const [index, identifier] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const difference = compareIdentifiers(identifier, other);
    if (difference !== 0) return difference;
  }
  return a.prerelease.length - b.prerelease.length;
}

/** Compares identifiers: numbers are compared as numbers, and come before text. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

const heading = '## Unreleased';

/** Returns the lines of the section Unreleased, without empty subsections; empty if it has no entries. */
export function unreleasedNotes(changelog: string): string {
  const [, section] = split(changelog);
  return section
    .split(/^(?=### )/m)
    .map((part) => part.trim())
    .filter((part) => part.replace(/^### .*$/m, '').trim() !== '')
    .join('\n\n');
}

/** Returns the changelog with the unreleased entries under a version and its day, and a new, empty section above. */
export function releaseNotes(changelog: string, version: string, day: string): string {
  const [before, , after] = split(changelog);
  const notes = unreleasedNotes(changelog);
  return `${before}${heading}\n\n## ${version} - ${day}\n\n${notes}\n${after === '' ? '' : `\n${after}`}`;
}

/** Returns the text before the section, its content, and the sections of earlier versions. */
function split(changelog: string): readonly [before: string, section: string, after: string] {
  const at = changelog.search(new RegExp(`^${heading}$`, 'm'));
  if (at === -1) throw new Error(`CHANGELOG.md has no section "${heading}"`);
  const rest = changelog.slice(at + heading.length);
  const next = rest.search(/^## /m);
  return next === -1
    ? [changelog.slice(0, at), rest, '']
    : [changelog.slice(0, at), rest.slice(0, next), rest.slice(next)];
}

type Place = {
  readonly path: string;
  /** Number of occurrences of the version in the file. */
  readonly times: number;
  /** Returns the text before and after the version, as sources of regular expressions. */
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
  { path: 'docs/ci.md', times: 7, around: ['/reeve/reeve@v', '(?=$|`)'] },
  { path: 'editors/vscode/package.json', times: 1, around: ['^ {2}"version": "', '",$'] },
];

/**
 * Writes another version into every place and returns the paths. Throws before anything is written if a file contains
 * the old version more or less often than the table says.
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
