import { createGlob, GlobError } from '../../patterns/glob.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { type DeepEntry, findEntry, readBlob, readTreeDeep } from '../platform/git/tree.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import { languageTable } from './language-table.ts';
import { licenseSketches } from './license-sketches.ts';

/** Number of leading bytes that determine the language of a file if its name does not. */
const headBytes = 16 * 1024;
/** Larger files are classified by name only. */
const maxReadBytes = 1024 * 1024;
/** Maximum number of files examined. In a larger repository, the remaining files are ignored. */
const maxFiles = 50_000;
/** Number of files whose sizes are requested at a time. */
const atOnce = 500;

/** Returns the number of bytes per language on the default branch, largest first. */
export async function countLanguages(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<Readonly<Record<string, number>>> {
  const commit = await readBranch(git, repository.default_branch);
  const entries = commit && (await readTreeDeep(git, commit.tree));
  if (commit === undefined || entries === undefined) return {};
  const attributesOf = readLinguistAttributes((await readTextFile(git, commit.id, '.gitattributes')) ?? '');
  const files = entries.filter(({ kind }) => kind === 'file').slice(0, maxFiles);
  const sizes = new Map<string, number>();
  for (let from = 0; from < files.length; from += atOnce) {
    const counted = files
      .slice(from, from + atOnce)
      .map((file) => countFile(git, file, attributesOf(file.path)));
    for (const count of await Promise.all(counted)) {
      if (count !== undefined) sizes.set(count.language, (sizes.get(count.language) ?? 0) + count.size);
    }
  }
  const sorted = [...sizes].toSorted(([one, more], [other, less]) => less - more || (one < other ? -1 : 1));
  return Object.fromEntries(sorted);
}

async function countFile(
  git: GitRepository,
  { id, path }: DeepEntry,
  { isCounted, language }: LinguistAttributes,
): Promise<{ readonly language: string; readonly size: number } | undefined> {
  if (isCounted === false || (isCounted === undefined && language === undefined && isUncounted(path)))
    return undefined;
  const name = language ?? languageOf(path, (await needsHead(git, path, id)) ?? '');
  if (name === undefined) return undefined;
  const size = (await git.objects.info(id))?.size ?? 0;
  return size > 0 ? { language: name, size } : undefined;
}

/** Returns the beginning of a file if its name does not determine the language. */
async function needsHead(git: GitRepository, path: string, id: string): Promise<string | undefined> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.includes('.') && !/\.(h|m)$/i.test(name)) return undefined;
  const blob = await readBlob(git, id, maxReadBytes);
  return blob?.content?.subarray(0, headBytes).toString('utf8');
}

/** Returns the SPDX ids of the licences in the file `LICENSE` of the default branch. */
export async function listLicenses(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<readonly string[]> {
  const commit = await readBranch(git, repository.default_branch);
  const text = commit && (await readTextFile(git, commit.id, 'LICENSE'));
  return text === undefined ? [] : licensesOf(text);
}

/** Returns the text of a file of at most 1 MiB; undefined if there is none. */
export async function readTextFile(
  git: GitRepository,
  commitId: string,
  path: string,
): Promise<string | undefined> {
  const entry = await findEntry(git, commitId, path);
  if (entry?.kind !== 'file') return undefined;
  return (await readBlob(git, entry.id, maxReadBytes))?.content?.toString('utf8');
}

const byExtension = new Map<string, string>();
const byFileName = new Map<string, string>();
const byInterpreter = new Map<string, string>();
for (const entry of languageTable.split(/[;\n]/)) {
  const [name = '', extensions = '', fileNames = '', interpreters = ''] = entry.split('|');
  for (const extension of extensions.split(' ').filter(Boolean)) byExtension.set(extension, name);
  for (const fileName of fileNames.split(' ').filter(Boolean)) byFileName.set(fileName, name);
  for (const interpreter of interpreters.split(' ').filter(Boolean)) byInterpreter.set(interpreter, name);
}

/** Vendored, generated and documentation paths; source: linguist `vendor.yml`. */
const uncounted = [
  /(^|\/)(node_modules|bower_components|vendors?|third[-_]?party|3rd[-_]?party|extern(als?)?|deps|dist|Godeps|Pods)\//i,
  /(^|\/)(docs?|documentation|javadoc|man|examples?|samples|demos?)\//i,
  /(^|\/)(CHANGE(S|LOG)?|CONTRIBUTING|COPYING|INSTALL|LICEN[CS]E|README|Jenkinsfile)(\.|$)/i,
  /[.-]min\.(js|css)$|\.pb\.(go|cc|h)$|_pb2\.py$|\.g\.dart$|\.designer\.cs$|(^|\/)(jquery|bootstrap|d3|normalize)[^/]*\.(js|css)$/i,
  /(^|\/)(gradlew|mvnw|configure|config\.(guess|sub)|ltmain\.sh|aclocal\.m4|package-lock\.json)(\.bat|\.cmd)?$/,
];

/** Returns whether the path alone shows that a file is not the project's own code. */
function isUncounted(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') || uncounted.some((pattern) => pattern.test(path));
}

/**
 * Returns the language of a file by name or, for a name without an extension, by the interpreter in its first line;
 * undefined if it is not code.
 */
function languageOf(path: string, head: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const known = byFileName.get(name);
  if (known !== undefined) return known;
  const parts = name.toLowerCase().split('.');
  for (let from = 1; from < parts.length; from += 1) {
    const extension = parts.slice(from).join('.');
    const language = byExtension.get(extension);
    if (language !== undefined) return decide(extension, language, head);
  }
  if (parts.length > 1) return undefined;
  const [, program = ''] =
    /^#!\s*(?:\S*\/env\s+(?:-\S+\s+|\w+=\S+\s+)*)?(?:\S*\/)?([\w.+-]+)/.exec(head) ?? [];
  return byInterpreter.get(program) ?? byInterpreter.get(program.replace(/[\d.]+$/, ''));
}

/** Decides between the languages of an ambiguous extension by content. */
function decide(extension: string, language: string, head: string): string {
  if (extension === 'h') {
    if (/^\s*(@(interface|protocol|class|property|end)\b|#import\b)/m.test(head)) return 'Objective-C';
    const isCpp =
      /^\s*(#include\s*<(iostream|string|vector|map|memory|cstd\w+|algorithm)>|template\s*<|namespace\s|class\s+\w+|using\s+\w)|std::|^\s*(public|private|protected):/m;
    return isCpp.test(head) ? 'C++' : 'C';
  }
  if (
    extension === 'm' &&
    /^\s*(function\b|%)/m.test(head) &&
    !/@(interface|implementation|import)/.test(head)
  ) {
    return 'MATLAB';
  }
  return language;
}

/** The attributes in `.gitattributes` that decide whether a path counts, and as which language. */
type LinguistAttributes = {
  /**
   * False for `linguist-vendored`, `linguist-generated`, `linguist-documentation` and `linguist-detectable=false`; true
   * for the negated attributes.
   */
  readonly isCounted?: boolean;
  readonly language?: string;
};

/** Parses the language lines of a `.gitattributes`; returns a lookup by path in which the last match wins. */
function readLinguistAttributes(text: string): (path: string) => LinguistAttributes {
  const lines = text.split(/\r?\n/).filter((line) => /linguist-/.test(line) && !line.startsWith('#'));
  const rules = lines.flatMap((line) => {
    const [pattern = '', ...words] = line.trim().split(/\s+/);
    const matches = compilePattern(pattern);
    return matches === undefined ? [] : [{ matches, says: attributesOf(words) }];
  });
  return (path) => {
    const says: Record<string, unknown> = {};
    for (const rule of rules) if (rule.matches(path)) Object.assign(says, rule.says);
    return says;
  };
}

function compilePattern(pattern: string): ((path: string) => boolean) | undefined {
  const plain = pattern.replace(/^\//, '').replace(/\/$/, '/**');
  try {
    const anywhere = pattern.replace(/\/$/, '').includes('/') ? plain : `**/${plain}`;
    return createGlob(anywhere, { strict: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

function attributesOf(words: readonly string[]): LinguistAttributes {
  let says: LinguistAttributes = {};
  for (const word of words) {
    const [, minus, name, value] = /^(-?)linguist-(\w+)(?:=(.*))?$/.exec(word) ?? [];
    const isOn = minus !== '-' && value !== 'false';
    if (name === 'language' && value) says = { ...says, language: byName(value) };
    if (name === 'detectable') says = { ...says, isCounted: isOn };
    if (name === 'vendored' || name === 'generated' || name === 'documentation') {
      says = { ...says, isCounted: !isOn };
    }
  }
  return says;
}

/**
 * Returns the language with this name, ignoring case and treating `-` as a space. For an unknown language, returns the
 * name itself.
 */
function byName(value: string): string {
  const wanted = value.toLowerCase().replaceAll('-', ' ');
  for (const name of new Set([...byExtension.values(), ...byFileName.values()])) {
    if (name.toLowerCase().replaceAll('-', ' ') === wanted) return name;
  }
  return value;
}

/** Share of a licence text that a file must contain, as in Gitea. */
const minShare = 0.85;
/** Number of leading characters compared: a licence is at the beginning of its file, and any text may follow. */
const maxCharacters = 200_000;

/**
 * Returns the SPDX ids of the licences whose text a file contains, ordered by name. Among licences with similar texts,
 * only the best match is listed or, if they match equally, the longest: `BSD-2-Clause` is part of `BSD-3-Clause`.
 */
function licensesOf(text: string): readonly string[] {
  const present = shinglesOf(text.slice(0, maxCharacters));
  const matched = licenseSketches.flatMap((license) => {
    const hashes = license.sketch.split(' ').map((hash) => Number.parseInt(hash, 36));
    const share = hashes.filter((hash) => present.has(hash)).length / hashes.length;
    return share >= minShare ? [{ ...license, share }] : [];
  });
  type Match = (typeof matched)[number];
  const isBetter = (one: Match, other: Match): boolean =>
    one.share > other.share || (one.share === other.share && one.length > other.length);
  return matched
    .filter((one) => !matched.some((other) => other.related.includes(one.id) && isBetter(other, one)))
    .map(({ id }) => id);
}

/** Words per shingle. */
const width = 5;

/**
 * Returns the hashes of all five-word runs of a text, ignoring case, punctuation and copyright lines: two copies of one
 * licence have equal hashes.
 */
export function shinglesOf(text: string): ReadonlySet<number> {
  const plain = text
    .toLowerCase()
    .replace(/^.*(copyright|©).*\b(\d{4}|year|yyyy)\b.*$/gm, ' ')
    .replace(/<[^<>\n]{1,60}>|\[[^[\]\n]{1,60}\]/g, ' ');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  const hashes = new Set<number>();
  for (let at = 0; at + width <= words.length; at += 1) {
    hashes.add(hashOf(words.slice(at, at + width).join(' ')));
  }
  return hashes;
}

/** Returns the 32-bit FNV-1a hash. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
