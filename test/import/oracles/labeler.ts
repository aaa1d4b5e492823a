/**
 * actions/labeler. Read at github.com/actions/labeler:
 *
 * - v5 and later at bf12e9b00b37c5c0ca2b87b79b2daf7891dbda13 (7.0.0): `getLabelConfigMapFromObject`, `toMatchConfig`
 *   (src/api/get-label-configs.ts), `labeler`, `checkMatchConfigs`, `checkMatch`, `checkAny`, `checkAll`
 *   (src/labeler.ts), `checkAnyChangedFiles`, `checkAllChangedFiles` and the four glob checks (src/changedFiles.ts),
 *   `checkAnyBranch`, `checkAllBranch` (src/branch.ts);
 * - v4 at ac9175f8a1f3625fd0d4fb234536d26811351594 (releases/v4): `checkGlobs`, `checkMatch`, `checkAny`, `checkAll`.
 *
 * Both use minimatch: 10.2.5 in the current version, which is the devDependency here; 9.0.3 in v5.0.0, 7.4.3 in v4.
 * What surprises: blocks of one label must all match, bare keys join the first `any` block; `any-glob-to-all-files` and
 * `all-globs-to-all-files` of an `any` block match a pull request without files; a list of branches below `all` must
 * match as a whole; `changed-files` that is a mapping instead of a list is ignored.
 */
import { Minimatch } from 'minimatch';
import { parse } from 'yaml';
import {
  type Decision,
  decision,
  type Effect,
  isMapping,
  type Mapping,
  nothing,
  type Subject,
} from './subject.ts';

export type LabelerOptions = {
  /** Version of the file's format. Taken from the file if absent: v4 has lists of texts, and `any` and `all` of texts. */
  readonly version?: 4 | 5;
  readonly syncLabels?: boolean;
  /** Whether `*` matches a leading dot. Default: false in v4, true from v5. */
  readonly dot?: boolean;
};

type FileCheck = { readonly how: string; readonly globs: readonly string[] };
type Condition = {
  readonly base?: readonly string[];
  readonly head?: readonly string[];
  readonly files?: readonly FileCheck[];
};
type Block = { readonly any?: Condition[]; readonly all?: Condition[] };

export const decide = (
  configuration: string,
  subject: Subject,
  _now = 0,
  options: LabelerOptions = {},
): Decision => {
  const file: unknown = parse(configuration, { merge: true }) ?? {};
  if (!isMapping(file)) throw new Error('the file is not a mapping of labels');
  const version = options.version ?? detectVersion(file);
  const dot = options.dot ?? version === 5;
  const paths = subject.files.map(({ path }) => path);
  if (version === 4 && paths.length === 0) return nothing('no changed files');
  const options5 = version === 5 ? readLimits(file) : {};
  const tooMany = options5.files !== undefined && paths.length > options5.files;

  const before = [...subject.labels];
  const wanted = new Set(before);
  const fromFiles: string[] = [];
  for (const [label, value] of Object.entries(file)) {
    if (version === 5 && limitNames.includes(label)) continue;
    if (version === 4) {
      if (matchesV4(label, value, paths, dot)) wanted.add(label);
      else if (options.syncLabels) wanted.delete(label);
      continue;
    }
    const blocks = readBlocks(label, value);
    if (blocks.length === 0) continue;
    const usesFiles = blocks.some(({ any = [], all = [] }) =>
      [...any, ...all].some(({ files }) => (files ?? []).length > 0),
    );
    if (tooMany && usesFiles) continue;
    if (blocks.every((block) => matchesBlock(block, subject, paths, dot))) {
      wanted.add(label);
      if (usesFiles && !before.includes(label)) fromFiles.push(label);
    } else if (options.syncLabels) wanted.delete(label);
  }
  if (options5.labels !== undefined && fromFiles.length > options5.labels)
    for (const label of fromFiles) wanted.delete(label);

  const after = [...wanted].slice(0, 100);
  const effects: Effect[] = [];
  for (const label of after) if (!before.includes(label)) effects.push(`add-label ${label}`);
  for (const label of before) if (!after.includes(label)) effects.push(`remove-label ${label}`);
  return decision(effects);
};

function detectVersion(file: Mapping): 4 | 5 {
  const isOld = (value: unknown): boolean =>
    typeof value === 'string' ||
    (Array.isArray(value) &&
      value.some(
        (entry) =>
          typeof entry === 'string' ||
          (isMapping(entry) &&
            [entry.any, entry.all].some(
              (list) => Array.isArray(list) && list.some((item) => typeof item === 'string'),
            )),
      ));
  return Object.values(file).some(isOld) ? 4 : 5;
}

function matchesV4(label: string, value: unknown, paths: readonly string[], dot: boolean): boolean {
  const entries: readonly unknown[] | undefined =
    typeof value === 'string' ? [value] : Array.isArray(value) ? value : undefined;
  if (entries === undefined) throw new Error(`label ${label} is neither a text nor a list`);
  return entries.some((entry) => {
    const config: Mapping = typeof entry === 'string' ? { any: [entry] } : isMapping(entry) ? entry : {};
    // A file must match all patterns of a list: those with `!` narrow the others.
    const all = config.all as string[] | undefined;
    const any = config.any as string[] | undefined;
    return (
      (all === undefined || paths.every((path) => globsOf(all, dot).every((glob) => glob.match(path)))) &&
      (any === undefined || paths.some((path) => globsOf(any, dot).every((glob) => glob.match(path))))
    );
  });
}

const limitNames = ['changed-files-labels-limit', 'max-files-changed'];

function readLimits(file: Mapping): { readonly labels?: number; readonly files?: number } {
  const [labels, files] = limitNames.map((name) => {
    const value = file[name];
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
      throw new Error(`${name} is not a whole number`);
    return number;
  });
  return { ...(labels === undefined ? {} : { labels }), ...(files === undefined ? {} : { files }) };
}

function readBlocks(label: string, value: unknown): Block[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'object')) {
    throw new Error(`label ${label} is not a list of mappings`);
  }
  const blocks: Block[] = [];
  for (const entry of value as readonly (Mapping | null)[]) {
    for (const [key, given] of Object.entries(entry ?? {})) {
      if (key === 'any' || key === 'all') {
        if (Array.isArray(given)) blocks.push({ [key]: given.map(readCondition) });
      } else if (['changed-files', 'head-branch', 'base-branch'].includes(key)) {
        const condition = readCondition({ [key]: given });
        const first = blocks.find(({ any }) => any !== undefined)?.any;
        if (first === undefined) blocks.push({ any: [condition] });
        else first.push(condition);
      }
    }
  }
  return blocks;
}

const fileChecks = [
  'any-glob-to-any-file',
  'any-glob-to-all-files',
  'all-globs-to-any-file',
  'all-globs-to-all-files',
];

function readCondition(given: Mapping): Condition {
  const list = (value: unknown): string[] | undefined =>
    value === undefined || value === null || value === ''
      ? undefined
      : Array.isArray(value)
        ? value.map(String)
        : [String(value)];
  const [head, base] = [list(given['head-branch']), list(given['base-branch'])];
  const files: FileCheck[] = [];
  const entries = given['changed-files'];
  if (Array.isArray(entries)) {
    for (const entry of entries) {
      if (!isMapping(entry)) throw new Error('changed-files holds something that is not a mapping');
      for (const [how, globs] of Object.entries(entry)) {
        if (!fileChecks.includes(how)) throw new Error(`unknown option ${how} below changed-files`);
        files.push({ how, globs: Array.isArray(globs) ? globs.map(String) : [String(globs)] });
      }
    }
  } else if (typeof entries === 'string' && entries !== '') throw new Error('changed-files is a text');
  return {
    ...(Array.isArray(entries) && entries.length > 0 ? { files } : {}),
    ...(head === undefined ? {} : { head }),
    ...(base === undefined ? {} : { base }),
  };
}

function matchesBlock(
  { any, all }: Block,
  subject: Subject,
  paths: readonly string[],
  dot: boolean,
): boolean {
  const isEmpty = (conditions: readonly Condition[]): boolean =>
    !conditions.some((condition) => Object.keys(condition).length > 0);
  if (all !== undefined) {
    if (isEmpty(all)) return false;
    for (const { base, head, files } of all) {
      if (base !== undefined && !base.every((pattern) => new RegExp(pattern).test(subject.base)))
        return false;
      if (
        files !== undefined &&
        (paths.length === 0 || !files.every((check) => matchesFiles(check, paths, dot)))
      )
        return false;
      if (head !== undefined && !head.every((pattern) => new RegExp(pattern).test(subject.head)))
        return false;
    }
  }
  if (any === undefined) return true;
  return (
    !isEmpty(any) &&
    any.some(
      ({ base = [], head = [], files = [] }) =>
        base.some((pattern) => new RegExp(pattern).test(subject.base)) ||
        files.some((check) => matchesFiles(check, paths, dot)) ||
        head.some((pattern) => new RegExp(pattern).test(subject.head)),
    )
  );
}

function matchesFiles({ how, globs }: FileCheck, paths: readonly string[], dot: boolean): boolean {
  const matchers = globsOf(globs, dot);
  if (how === 'any-glob-to-any-file') return matchers.some((glob) => paths.some((path) => glob.match(path)));
  if (how === 'any-glob-to-all-files')
    return matchers.some((glob) => paths.every((path) => glob.match(path)));
  if (how === 'all-globs-to-any-file')
    return paths.some((path) => matchers.every((glob) => glob.match(path)));
  return paths.every((path) => matchers.every((glob) => glob.match(path)));
}

function globsOf(globs: readonly string[], dot: boolean): Minimatch[] {
  return globs.map((glob) => new Minimatch(glob, { dot }));
}
