import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { z } from 'zod';
import { isRecord } from '../contract/events/payload-members.ts';
import { BoundedMap } from '../platform/cache/bounded-map.ts';
import { IncludingFile } from '../rules/files/grammar.ts';
import { isRuleFileName } from '../rules/files/load.ts';
import type { PackTree } from '../rules/files/packs.ts';
import { clashesOfFiles } from '../rules/files/warnings.ts';
import { type Problem, problemAtLine } from '../rules/problem.ts';
import { loadRuleTests, TestFile } from '../rules/rule-tests.ts';
import {
  createOfferedReader,
  type FolderFile,
  findRuleFiles,
  loadFolderFile,
  type OpenText,
  packsFolder,
  readPacks,
  readPacksOf,
} from '../rules/sources/folder.ts';
import { repositoryPaths } from '../rules/sources/repository-file.ts';

/** Kinds of files that the server understands, each with its grammar. */
export type FileKind = 'rules' | 'tests' | 'operator';

/** Checks and describes the operator file, whose grammar belongs to the settings of the server. */
export type OperatorSupport = {
  readonly schema: z.ZodType;
  check(path: string, text: string): readonly Problem[];
};

/** What a user has configured. Nothing of it comes from the opened folder. */
export type FileOptions = {
  /** Folder or file of the operator's rules (`REEVE_RULES`). */
  readonly rules?: string | undefined;
  /** Folder of the packs that files of repositories include by name. */
  readonly packs?: string | undefined;
  /** The operator file (`REEVE_CONFIG`). */
  readonly config?: string | undefined;
  readonly operator: OperatorSupport;
};

/** Problems and warnings of a file. */
export type Examined = { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/** The files that an editor has open, with those beside them on the disk. */
export interface OpenFiles {
  /** Returns the kind of a file; undefined if it is none of Reeve's. */
  kindOf(path: string, text: string): FileKind | undefined;
  schemaOf(kind: FileKind): z.ZodType;
  /** Returns the problems and warnings of `reeve check`, for the text that the editor has. Never rejects. */
  examine(path: string, text: string): Promise<Examined>;
  /** Returns the packs that a file includes, by include name. */
  packsOf(path: string, text: string): Promise<PackTree>;
  /** Returns the packs that can be included by name. */
  offered(): Promise<PackTree>;
  /** Returns the paths of packs below the folder of a file, relative to it. */
  packPaths(path: string): Promise<readonly string[]>;
}

/** Maximum number of files of a folder whose statuses are compared with those of the open file. */
const maxBeside = 200;

/** Creates the view of the files. `openText` returns the text of an open file. */
export function createOpenFiles(options: FileOptions, openText: OpenText): OpenFiles {
  const { operator, rules, config } = options;
  const operatorRules = rules === undefined ? undefined : resolve(rules);
  const isOperators = (path: string): boolean =>
    operatorRules !== undefined && (path === operatorRules || path.startsWith(`${operatorRules}${sep}`));
  const loaded = new BoundedMap<string, { readonly of: string; readonly file: FolderFile }>(maxBeside);

  const offered = async (): Promise<PackTree> =>
    options.packs === undefined ? new Map() : readPacks(options.packs, { isReadable: true });
  const readerOf = async () =>
    options.packs === undefined
      ? undefined
      : createOfferedReader(await offered(), `${options.packs} has none`);

  const load = async (path: string): Promise<FolderFile> => {
    const isPack = dirname(path).split(sep).includes(packsFolder) && !isOperators(path);
    return loadFolderFile(
      { path, isPack: isPack || (isOperators(path) && isPackOf(path, operatorRules ?? '')) },
      { offered: await readerOf(), openText, isOperators: isOperators(path) },
    );
  };

  /** Loads a file beside the open one, again only if it has changed; undefined if it cannot be read. */
  const loadBeside = async (path: string): Promise<FolderFile | undefined> => {
    try {
      const open = openText(path);
      const about = open === undefined ? await stat(path) : undefined;
      const of = open ?? `${about?.mtimeMs} ${about?.size}`;
      const known = loaded.get(path);
      if (known?.of === of) return known.file;
      const file = await load(path);
      loaded.set(path, { of, file });
      return file;
    } catch {
      // It is examined itself when it is opened.
      return undefined;
    }
  };

  /** Returns problems of statuses that several files of the folder write, at the open file. */
  const clashesOf = async (file: FolderFile, text: string): Promise<readonly Problem[]> => {
    const folder = folderOf(file.path, operatorRules);
    const writesStatuses = file.rules.some(({ steps }) =>
      steps.some(({ action }) => action.name === 'set-status'),
    );
    if (folder === undefined || file.isPack || file.level !== 'operator' || !writesStatuses) return [];
    const paths = await findRuleFiles([folder], { isOperators: isOperators(file.path) });
    const others: FolderFile[] = [];
    for (const path of paths.slice(0, maxBeside)) {
      const beside = resolve(path) === file.path ? undefined : await loadBeside(resolve(path));
      if (beside !== undefined && beside.level === 'operator' && !beside.isPack) others.push(beside);
    }
    // The later of two is reported: the open one.
    return clashesOfFiles([...others, file].map((one) => one.rules))
      .filter(({ rule }) => file.rules.includes(rule))
      .map(({ step, message }) =>
        problemAtLine({ code: 'status-name', message, path: file.path, line: step.line }, () => text),
      );
  };

  const examineRules = async (path: string, text: string): Promise<Examined> => {
    const file = await load(path);
    // What is wrong in a pack is shown where the pack is open; the include says that it cannot be used.
    const isOwn = (problem: Problem): boolean => problem.path === path;
    const clashes = file.problems.length > 0 ? [] : await clashesOf(file, text);
    return {
      problems: [...file.problems.filter(isOwn), ...clashes],
      warnings: (file.warnings ?? []).filter(isOwn),
    };
  };

  return {
    kindOf(path, text) {
      if (config !== undefined && path === resolve(config)) return 'operator';
      return kindOf(path, text);
    },
    schemaOf: (kind) => (kind === 'operator' ? operator.schema : kind === 'tests' ? TestFile : IncludingFile),
    async examine(path, text) {
      const kind = config !== undefined && path === resolve(config) ? 'operator' : kindOf(path, text);
      if (kind === 'operator') return { problems: operator.check(path, text), warnings: [] };
      if (kind === 'tests') return { problems: loadRuleTests({ path, text }).problems, warnings: [] };
      return kind === undefined ? { problems: [], warnings: [] } : examineRules(path, text);
    },
    async packsOf(path, text) {
      return readPacksOf({ path, text }, { offered: await readerOf(), openText });
    },
    offered,
    async packPaths(path) {
      const folder = dirname(path);
      const found = await findRuleFiles([join(folder, packsFolder)], { withPacks: true }).catch(() => []); // Without the folder, there are none.
      return found.filter(isRuleFileName).map((one) =>
        one
          .slice(folder.length + 1)
          .split(sep)
          .join('/'),
      );
    },
  };
}

/** Returns whether one of the folders below the operator's, in which a file is, contains packs. */
function isPackOf(path: string, folder: string): boolean {
  return dirname(path.slice(folder.length)).split(sep).includes(packsFolder);
}

/** Returns the folder whose files are in force together with a file: the operator's, or the nearest one called `rules`. */
function folderOf(path: string, operatorRules: string | undefined): string | undefined {
  if (operatorRules !== undefined && path.startsWith(`${operatorRules}${sep}`)) return operatorRules;
  const parts = path.split(sep).slice(0, -1);
  const last = parts.lastIndexOf('rules');
  return last < 0 ? undefined : parts.slice(0, last + 1).join(sep);
}

const topKeys = new Set(Object.keys(IncludingFile.shape));

/**
 * Returns the kind of a file by its name, or by its beginning: editors open every YAML file, and most belong to other
 * programs.
 */
function kindOf(path: string, text: string): FileKind | undefined {
  if (!/\.ya?ml$/.test(path)) return undefined;
  const name = path.split(sep).join('/');
  if (repositoryPaths.some((known) => name.endsWith(`/${known}`))) return 'rules';
  const keys = text
    .slice(0, 64 * 1024)
    .split('\n')
    .flatMap((line) => /^["']?([A-Za-z][\w-]*)["']?\s*:/.exec(line)?.[1] ?? []);
  const isTest = /\.test\.ya?ml$/.test(path);
  if (isTest) return keys.every((key) => key in TestFile.shape) ? 'tests' : undefined;
  if (/^reeve\.ya?ml$/.test(basename(path))) return 'operator';
  const isOurs =
    /^version:\s*["']?\d+["']?\s*(#.*)?$/m.test(text) &&
    keys.some((key) => key === 'rules' || key === 'include');
  const isBegun = keys.every((key) => topKeys.has(key)) && (keys.includes('version') || isInRules(name));
  return isOurs || isBegun ? 'rules' : undefined;
}

function isInRules(name: string): boolean {
  return dirname(name)
    .split('/')
    .some((part) => part === 'rules' || part === packsFolder);
}

/** Returns the member of a value at a path; undefined if there is none. */
export function memberAt(value: unknown, path: readonly (string | number)[]): unknown {
  let inner = value;
  for (const step of path) {
    if (Array.isArray(inner)) inner = inner[Number(step)];
    else if (isRecord(inner) && Object.hasOwn(inner, step)) inner = inner[step];
    else return undefined;
  }
  return inner;
}
