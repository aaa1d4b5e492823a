import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundling.ts';

/**
 * Returns the names, versions and licence texts of the libraries that the input files of a bundle belong to. Throws for a
 * library that states no licence: its copy must not be shipped.
 */
export function licensesOf(inputs: readonly string[]): string {
  const folders = new Set<string>();
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const texts = [...folders].sort().map(licenseOf);
  return [`This package contains ${texts.length} libraries. Their licences follow.`, ...texts].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  );
}

function licenseOf(folder: string): string {
  const path = join(root, folder);
  const about: unknown = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const { name, version, license } = about as { name?: string; version?: string; license?: unknown };
  if (typeof license !== 'string') throw new Error(`${folder}/package.json names no licence`);
  const files = existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile() && /^(licen[cs]e|notice)/i.test(entry.name))
        .map(({ name: file }) => file)
    : [];
  const texts = files.sort().map((file) => readFileSync(join(path, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}
