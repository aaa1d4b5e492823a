import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { systemClock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { isRuleFileName, type LoadedFile, loadRuleFile } from '../files/load.ts';
import {
  gatherPacks,
  maxOffered,
  type NoPack,
  notOffered,
  type Pack,
  type PackReader,
  type PackTree,
} from '../files/packs.ts';
import { clashesOfFiles, type StatusClash } from '../files/warnings.ts';
import { formatProblem, nearest, problemAtLine } from '../problem.ts';
import { registry } from '../registry.ts';
import type { Level, LoadedRule } from '../rule.ts';
import { createLastValid, type LastValid, type RuleContent, withLastValidWords } from './last-valid.ts';
import { levelOfFile } from './repository-file.ts';

/** A rule file of a folder, with its rules or problems. */
export type FolderFile = LoadedFile &
  FoundFile & {
    readonly level: Level;
    /** The text with the packs that it includes. */
    readonly content: RuleContent;
    /** Whether the file has problems, and its rules are those of its last valid version. */
    readonly isLastValid?: true;
  };

/** Options that select the files of a folder. */
export type FolderContents = {
  /** Whether to select packs as well: files in folders called `packs`, which are not in force by themselves. */
  readonly withPacks?: boolean;
  /**
   * Whether the paths are those of the operator (`REEVE_RULES`), so that all files have the operator's permissions. By
   * default, a file with the name of a repository's file has the permissions of repositories.
   */
  readonly isOperators?: boolean;
};

/**
 * Returns the paths of the rule files at these paths, including those in folders, sorted by name. Skips rule tests
 * (`*.test.yml`), packs, hidden files and folders, links that lead out of the folder, and files of other types. A file
 * that is given directly is always included.
 */
export async function findRuleFiles(
  paths: readonly string[],
  options: FolderContents = {},
): Promise<readonly string[]> {
  return (await findFiles(paths, options)).map(({ path }) => path);
}

/** A rule file that was found. `isPack`: one of the folders between the given path and the file is called `packs`. */
type FoundFile = { readonly path: string; readonly isPack: boolean };

async function findFiles(
  paths: readonly string[],
  { withPacks = false, isOperators = false }: FolderContents,
): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (const path of paths) {
    const about = await stat(path).catch((cause: unknown) => {
      throw new ReeveError('usage', `${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (about.isDirectory()) found.push(...(await inFolder(path, { withPacks, isOperators })));
    else found.push({ path, isPack: !isOperators && isPackPath(path) });
  }
  return found;
}

async function inFolder(
  folder: string,
  { withPacks, isOperators }: { readonly withPacks: boolean; readonly isOperators: boolean },
): Promise<readonly FoundFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const named = entries.filter(
    ({ name, parentPath }) =>
      /\.ya?ml$/.test(name) &&
      !/\.test\.ya?ml$/.test(name) &&
      !relative(folder, join(parentPath, name))
        .split('/')
        .some((part) => part.startsWith('.') || part === 'node_modules'),
  );
  const found: string[] = [];
  for (const entry of named) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await isLinkWithin(folder, path)))) found.push(path);
  }
  // `reeve test rules/packs` is given the folder of packs itself.
  const root = isOperators ? folder : dirname(resolve(folder));
  return found
    .filter((path) => withPacks || !isPackPath(relative(folder, path)))
    .toSorted()
    .map((path) => ({ path, isPack: isPackPath(relative(root, path)) }));
}

/**
 * Returns whether a symbolic link leads to a file within the folder, as in Kubernetes volumes. Links that lead out of
 * the folder are skipped: a checkout may contain such links, and problems show lines of files.
 */
async function isLinkWithin(folder: string, path: string): Promise<boolean> {
  try {
    const target = await realpath(path);
    return target.startsWith(`${await realpath(folder)}${sep}`) && (await stat(target)).isFile();
  } catch {
    // A dangling link.
    return false;
  }
}

/**
 * Loads every rule file at these paths, with the packs that it includes. A repository's own file has the permissions of
 * repositories, and includes packs from `offered`. An invalid or unreadable file has problems and no rules, and does
 * not affect other files.
 */
export async function loadRuleFiles(
  paths: readonly string[],
  options: FolderContents & { readonly offered?: PackReader | undefined } = {},
): Promise<readonly FolderFile[]> {
  const found = await findFiles(paths, options);
  const files = await Promise.all(found.map((file) => loadFolderFile(file, options)));
  // Packs are not in force by themselves, and files of repositories are never in force together.
  const together = files.filter(({ isPack, level }) => !isPack && level === 'operator');
  const clashes = clashesOfFiles(together.map(({ rules }) => rules));
  return Promise.all(
    files.map((file) =>
      withClashes(
        file,
        clashes.filter(({ rule }) => file.rules.includes(rule)),
      ),
    ),
  );
}

/**
 * Returns the file unchanged, or with problems and without rules if its statuses conflict with those of other files.
 */
async function withClashes(file: FolderFile, clashes: readonly StatusClash[]): Promise<FolderFile> {
  if (clashes.length === 0) return file;
  const text = await readFile(file.path, 'utf8');
  const problems = clashes.map(({ step, message }) =>
    problemAtLine({ code: 'status-name', message, path: file.path, line: step.line }, () => text),
  );
  return { ...file, rules: [], problems };
}

/** Loads one file. A pack is not in force by itself, so its parameters without a default use their examples. */
export async function loadFolderFile(
  { path, isPack }: FoundFile,
  {
    offered,
    parameters,
    isOperators,
    openText,
  }: {
    readonly offered?: PackReader | undefined;
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly isOperators?: boolean | undefined;
    /** Returns the text of a file that an editor has open; it counts instead of the file on the disk. */
    readonly openText?: OpenText | undefined;
  } = {},
): Promise<FolderFile> {
  const open = openText?.(path);
  const text = open === undefined ? await readFile(path) : Buffer.from(open);
  const packs = await gatherPacks({ path, text }, createReaderBeside(path, offered, openText));
  const given = { useExamples: isPack, with: parameters ?? {} };
  const level = isOperators ? 'operator' : levelOfFile(path);
  const source = { path, text, packs, level, commit: '', registry } as const;
  const content = { text, packs };
  return { path, isPack, level, content, ...loadRuleFile({ ...source, parameters: given }) };
}

/** Creates the reader for the packs that a file includes. */
function createReaderBeside(path: string, offered?: PackReader, openText?: OpenText): PackReader {
  const folder = dirname(path);
  return createFolderReader({ folder, shown: folder, isReadable: true, openText }, offered);
}

/** Returns the packs that a file includes by path or by name, by include name. */
export async function readPacksOf(
  file: { readonly path: string; readonly text: string },
  options: { readonly offered?: PackReader | undefined; readonly openText?: OpenText | undefined },
): Promise<PackTree> {
  return gatherPacks(file, createReaderBeside(file.path, options.offered, options.openText));
}

/** Returns the text of an open file by its path; undefined if it is not open. */
export type OpenText = (path: string) => string | undefined;

/**
 * Loads the files of the operator's folder. An invalid file has problems, and the rules of its last valid version if
 * there is one.
 */
async function loadWithLastValid(folder: string, lastValid: LastValid): Promise<readonly FolderFile[]> {
  const files = await loadRuleFiles([folder], { isOperators: true });
  const root = resolve(folder);
  // A single file may be given instead of a folder.
  const pathOf = (path: string): string => relative(root, resolve(path)) || basename(path);
  const paths = new Map(files.map(({ path }) => [pathOf(path), path]));
  const wholePath = (path: string): string => paths.get(path) ?? path;
  const restored = await lastValid.settle({
    place: `operator ${root}`,
    files: files.map(({ path, rules, problems, content }) => {
      return { path: pathOf(path), commit: '', rules, isValid: problems.length === 0, content };
    }),
    grants: [],
    scope: () => [],
    reader: (path) => createReaderBeside(wholePath(path)),
    load: ({ path, text, packs, commit }) =>
      loadRuleFile({ path: wholePath(path), text, packs, level: 'operator', commit, registry }),
  });
  return files.map((file) => {
    const last = restored.get(pathOf(file.path));
    return last === undefined ? file : { ...file, rules: last.rules, isLastValid: true };
  });
}

/**
 * Name of folders that contain packs. Their files are not in force by themselves. Packs in the folder at the top level
 * are offered by name.
 */
export const packsFolder = 'packs';

/** Returns whether a file is a pack: one of the folders in this path is called `packs`. */
function isPackPath(path: string): boolean {
  return dirname(path).split(sep).includes(packsFolder);
}

/**
 * Creates a reader for packs below the folder of a file. `folder` is the folder of the file; `shown` is the prefix of
 * paths in messages.
 */
function createFolderReader(
  {
    folder,
    shown,
    isReadable,
    openText,
  }: { folder: string; shown: string; isReadable: boolean; openText?: OpenText | undefined },
  offered: PackReader = nothingOffered,
): PackReader {
  return {
    async read(request) {
      if ('pack' in request) return offered.read(request);
      const { file } = request;
      const path = join(shown, file);
      const text = openText?.(join(folder, file)) ?? (await readPlain(folder, file));
      if (typeof text === 'object' && 'missing' in text) return text;
      const inner = { folder: dirname(join(folder, file)), shown: dirname(path), isReadable, openText };
      return { path, text, isReadable, reader: createFolderReader(inner) };
    },
  };
}

/** Creates a reader for offered packs, by name. `where` is the remedy to show if no packs are offered. */
export function createOfferedReader(offered: PackTree, where?: string): PackReader {
  return {
    async read(request) {
      const name = 'pack' in request ? request.pack : request.file;
      return offered.get(name) ?? notOffered(name, [...offered.keys()], where);
    },
  };
}

/**
 * Used if no packs are offered by name: operator files include packs by path, and repository files use another reader.
 */
const nothingOffered = createOfferedReader(
  new Map(),
  'no packs are offered here: reeve check and reeve test take the folder with them after --packs',
);

/** Returns the packs that the operator offers, by name: the files in the `packs` folder of the rules folder. */
export async function readOffers(rulesFolder: string): Promise<PackTree> {
  return readPacks(join(rulesFolder, packsFolder), { shown: packsFolder });
}

/**
 * Creates a reader for the packs in a given folder, by name; undefined if no folder is given. Throws `usage` if the
 * folder does not exist.
 */
export async function readOfferedIn(folder: string | undefined): Promise<PackReader | undefined> {
  if (folder === undefined) return undefined;
  const about = await stat(folder).catch(() => undefined); // The next line reports it.
  if (!about?.isDirectory()) throw new ReeveError('usage', `the folder of packs ${folder} does not exist`);
  return createOfferedReader(await readPacks(folder, { isReadable: true }), `${folder} has none`);
}

/**
 * Returns the packs in a folder, by name; `shown` is the prefix of their paths in messages. `isReadable`: whether
 * everyone who sees the problems of an including file may read the packs.
 */
export async function readPacks(
  folder: string,
  { shown = folder, isReadable = false }: { readonly shown?: string; readonly isReadable?: boolean } = {},
): Promise<PackTree> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // Without the folder, nothing is offered.
  const files = entries.filter((entry) => entry.isFile() && isRuleFileName(entry.name)).slice(0, maxOffered);
  const offers = new Map<string, Pack | NoPack>();
  for (const { name: file } of files.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const reader = createFolderReader({ folder, shown, isReadable });
    const text = await readPlain(folder, file);
    const source = { path: `${shown}/${file}`, isReadable };
    if ('missing' in text) offers.set(basename(file, '.yml'), text);
    else {
      const packs = await gatherPacks({ path: source.path, text }, reader);
      offers.set(basename(file, '.yml'), { ...source, text, packs });
    }
  }
  return offers;
}

/** Maximum size of a pack that is read; the loader reports those beyond 64 KiB with their position. */
const maxPackBytes = 1024 * 1024;

/** Reads a file in or below a folder without following symbolic links, which could lead out of the folder. */
async function readPlain(folder: string, file: string): Promise<Uint8Array | NoPack> {
  try {
    const expected = join(await realpath(folder), file);
    if ((await realpath(expected)) !== expected)
      return { missing: `${file} is a symbolic link, or is reached through one` };
    const about = await stat(expected);
    // A pipe would never end, and a file far beyond the limit would only take memory.
    if (!about.isFile()) return { missing: `${file} is not a file` };
    if (about.size > maxPackBytes) return { missing: `${file} is larger than 64 KiB` };
    return await readFile(expected);
  } catch (error) {
    const isAway = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAway) return { missing: `${file} cannot be read` };
    const beside = await readdir(dirname(join(folder, file))).catch(() => []); // The folder does not exist either.
    const packs = beside.filter(isRuleFileName).map((one) => join(dirname(file), one));
    return { missing: `there is no file ${file}`, near: nearest(file, packs) };
  }
}

/** A watcher of the folder with the operator's rules. */
export interface FolderWatch {
  /** Reads the folder now. Resolves when the rules in it are in force. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Polling interval for file systems without change notifications (network, mounted volumes). */
const pollMs = 10_000;
/** Debounce delay, because editors write a file in several steps. */
const settleMs = 150;

/**
 * Watches the folder of the operator's rules, and reports its rules whenever a file is changed, created or deleted. An
 * invalid file is logged, and its last valid version stays in force; without one, it has no rules.
 */
export function watchFolder(
  folder: string,
  options: {
    log: Log;
    /** Default: an invalid file has no rules. */
    lastValid?: LastValid;
    onRules: (rules: readonly LoadedRule[], files: readonly FolderFile[], offered: PackTree) => void;
  },
): FolderWatch {
  const { log, onRules, lastValid = createLastValid({ texts: undefined, clock: systemClock }) } = options;
  let seen: string | undefined;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const lookOnce = async (): Promise<void> => {
    try {
      const now = await folderDigest(folder);
      if (now === seen) return;
      const files = await loadWithLastValid(folder, lastValid);
      const offered = await readOffers(folder);
      seen = now;
      logProblems(files, log);
      const rules = files.flatMap((file) => file.rules);
      onRules(rules, files, offered);
      log.info({ folder, files: files.length, rules: rules.length }, 'rules of the operator are in force');
    } catch (error) {
      // The folder may be missing temporarily while it is replaced. The current rules stay in force until the folder
      // can be read again.
      log.warn({ folder, error: messageOf(error) }, 'the folder of rules could not be read');
    }
  };
  const look = (): Promise<void> => {
    looking = looking.then(lookOnce);
    return looking;
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(look, settleMs);
  };
  const poll = setInterval(look, pollMs);
  poll.unref();
  const watcher = openWatcher(folder, soon, log);
  return {
    look,
    async stop() {
      clearInterval(poll);
      clearTimeout(timer);
      watcher?.close();
      await looking;
    },
  };
}

function openWatcher(folder: string, onChange: () => void, log: Log): { close(): void } | undefined {
  try {
    const watcher = watch(folder, { recursive: true, persistent: false }, onChange);
    watcher.on('error', (error) =>
      log.warn({ folder, error: messageOf(error) }, 'polling the folder of rules for changes'),
    );
    return watcher;
  } catch (error) {
    log.warn(
      { folder, error: messageOf(error) },
      'the folder of rules cannot be watched; polling it for changes',
    );
    return undefined;
  }
}

/** Logs invalid files. */
function logProblems(files: readonly FolderFile[], log: Log): void {
  for (const file of files.filter(({ problems }) => problems.length > 0)) {
    log.error({ file: file.path, problems: problemTextsOf(file) }, 'rule file refused');
  }
}

/** Returns the problems of a file as text, in which paths are relative to `folder`. */
export function problemTextsOf(
  { path, problems, isLastValid }: FolderFile,
  folder?: string,
): readonly string[] {
  const shown = folder === undefined ? path : relative(folder, path);
  const texts = problems.map((problem) => formatProblem({ ...problem, path: shown }));
  return isLastValid ? withLastValidWords(texts, '') : texts;
}

/** Returns a digest of the contents of all rule files and packs; modification times are ignored. */
async function folderDigest(folder: string): Promise<string> {
  const digest = createHash('sha256');
  for (const path of await findRuleFiles([folder], { withPacks: true })) {
    const text = await readFile(path);
    digest.update(`${path}\0${text.length}\0`).update(text);
  }
  return digest.digest('hex');
}
