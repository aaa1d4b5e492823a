import { posix } from 'node:path';
import type { Client } from '../../client/client.ts';
import { ReeveError } from '../../platform/errors.ts';
import { isRuleFileName } from '../files/load.ts';
import {
  gatherPacks,
  maxOffered,
  type NoPack,
  type Pack,
  type PackReader,
  type PackTree,
} from '../files/packs.ts';
import { clashesOfFiles } from '../files/warnings.ts';
import { formatProblem } from '../problem.ts';
import type { Level, LoadedRule, Pattern, ScopedGrant } from '../rule.ts';
import { createOfferedReader, packsFolder } from './folder.ts';
import { createGrants, type Grant } from './grants.ts';
import type { LastValid, RuleContent, RuleLocation } from './last-valid.ts';
import {
  type BranchHead,
  type CommitRevision,
  type FileRevision,
  loadEntry,
  loadText,
  type PathEntry,
  type PlainContent,
  plainContentOf,
  type RepositoryRules,
  readAtHead,
  readEntry,
  withLastValid,
} from './repository-file.ts';

/** An organization with a rules repository, as configured by the operator. */
export type OrganizationSource = {
  readonly name: string;
  /** Repository with the rules, `owner/name`. */
  readonly rules: string;
  /** Id of the rules repository, if configured; otherwise the id seen at first use is stored. */
  readonly id?: number | undefined;
};

/** Stores which repository a name referred to at its first use. Implemented by the store. */
export interface Pins {
  recall(key: string): Promise<unknown>;
  remember(key: string, value: unknown): Promise<void>;
  /** Replaces a value atomically, even with concurrent processes. Returns the stored value. */
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
}

/**
 * The rule files of an organization at one commit of its rules repository. Each file is accepted or refused separately.
 */
type RulesAt = {
  readonly files: readonly RepositoryRules[];
  /** The packs that the organization offers to its repositories, by name. */
  readonly offered: PackTree;
  /** Packs that have their own problems and therefore cannot be used at all. */
  readonly brokenPacks: readonly RepositoryRules[];
  /** The files one by one, and how a stored text of them is loaded; absent: it is unknown which files exist. */
  readonly location?: FoundFiles;
};

type FoundFiles = Omit<RuleLocation, 'grants' | 'scope' | 'place'>;

/**
 * The rule files with their commit. `head` is absent if the rules repository is not accessible, or is not the pinned
 * one.
 */
export type OrganizationReading = RulesAt & { readonly head?: BranchHead };

const folder = 'rules';
const maxFiles = 100;

/**
 * Reads `rules/*.yml` of an organization's rules repository at the head of its default branch. The repository's id is
 * pinned at first use: if another repository later takes over the name, it does not get the permissions.
 */
export async function readOrganizationRules(
  client: Client,
  source: OrganizationSource,
  options: {
    pins: Pins;
    grants: readonly ScopedGrant[];
    ofOperator?: PackTree;
    /** Keeps the last valid version of an invalid file in force; absent: such a file has no rules. */
    keeping?: { readonly lastValid: LastValid; readonly grants: readonly Grant[] };
  },
): Promise<OrganizationReading> {
  const [owner = '', name = ''] = source.rules.split('/');
  let isPinned = true;
  try {
    const { head, value } = await readAtHead<RulesAt>(
      client,
      { owner, name },
      {
        async read(found) {
          const pinned = await pinnedId(source, found.at.id, options.pins);
          isPinned = pinned === found.at.id;
          if (!isPinned)
            return { value: refusal(source, found, takenOver(source, found, pinned)), decides: false };
          if (found.commit === '') return { value: { ...nothing, location: noFiles }, decides: false };
          const value = await readFilesAt(client, source, found, options);
          return { value, decides: value.files.length + value.offered.size > 0 };
        },
        refuse: (found, why) => refusal(source, found, `${source.rules}: ${why}`),
      },
    );
    if (!isPinned) return value;
    return { head, ...(await withLastValidFiles(value, { source, head, keeping: options.keeping })) };
  } catch (error) {
    // If the rules repository is missing, the organization has no rules, but deliveries of its repositories are not
    // blocked.
    const isAway =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (!isAway) throw error;
    const problem = `${source.rules} cannot be read: it no longer exists, or the account has no access to it`;
    return refusal(source, { commit: '' }, problem);
  }
}

const nothing: RulesAt = { files: [], offered: new Map(), brokenPacks: [] };
/** Used if a rules repository has no rule file. */
const noFiles: FoundFiles = {
  files: [],
  reader: () => createOfferedReader(new Map()),
  load: () => ({ rules: [], problems: [] }),
};

/** Returns the files, where invalid ones have the rules of their last valid versions. */
async function withLastValidFiles(
  // The texts of the files are not cached with their rules.
  { location, ...found }: RulesAt,
  {
    source,
    head,
    keeping,
  }: {
    readonly source: OrganizationSource;
    readonly head: BranchHead;
    readonly keeping: { readonly lastValid: LastValid; readonly grants: readonly Grant[] } | undefined;
  },
): Promise<RulesAt> {
  if (location === undefined || keeping === undefined) return found;
  const restored = await keeping.lastValid.settle({
    ...location,
    // The id is part of the identity: a repository that takes over the name has no earlier version.
    place: `organization ${source.name.toLowerCase()} ${head.at.id}`,
    grants: keeping.grants,
    scope: (given) => createGrants(given).ofOrganization(source.name),
  });
  const files = found.files.map((file) => {
    const last = restored.get(file.source.slice(source.rules.length + 1));
    return last === undefined ? file : withLastValid(file, last);
  });
  return { ...found, files };
}

const level: Level = 'organization';

function takenOver(source: OrganizationSource, { at }: BranchHead, pinned: number): string {
  return `${source.rules} is now a different repository (id ${at.id}; rules were read from id ${pinned}); if this is intended, set id: ${at.id} next to it in the operator file`;
}

function refusal(source: OrganizationSource, head: { readonly commit: string }, problem: string): RulesAt {
  const file = { rules: [], source: source.rules, level, commit: head.commit, problems: [problem] };
  return { ...nothing, files: [file] };
}

/**
 * Reads the rule files and packs of an organization at `ref` of its rules repository. If `ref` is undefined, the
 * default branch is read.
 */
export async function readFilesAt(
  client: Client,
  source: OrganizationSource,
  head: CommitRevision & { readonly isPrivate: boolean },
  { grants, ofOperator = new Map() }: { grants: readonly ScopedGrant[]; ofOperator?: PackTree },
): Promise<RulesAt> {
  const refuse = (problem: string): RulesAt => refusal(source, head, problem);
  const entries = await readEntry(client, head, folder);
  if (entries === undefined) return { ...nothing, location: noFiles };
  if (!Array.isArray(entries)) return refuse(`${source.rules}/${folder} is not a folder`);
  const named = entries.filter(({ name: file }) => isRuleFileName(file));
  if (named.length > maxFiles) {
    return refuse(`${source.rules}/${folder} has ${named.length} rule files; the maximum is ${maxFiles}`);
  }
  const known = new Map<string, Promise<PathEntry | undefined>>();
  // A pack is needed for its own check and for every include; this function requests it only once.
  const entryAt = (path: string): Promise<PathEntry | undefined> => {
    const reading = known.get(path) ?? readEntry(client, head, path);
    known.set(path, reading);
    return reading;
  };
  const readerAt = createForgeReader({ entryAt, repository: source.rules }, ofOperator);
  const reader = readerAt(folder);
  const home = { organization: source.name };
  const contents = new Map<string, RuleContent>();
  const load = async (path: string, isPack: boolean): Promise<RepositoryRules> => {
    const place = `${source.rules}/${path}`;
    const entry = await entryAt(path);
    const loaded = await loadEntry(entry ?? [], {
      source: place,
      commit: head.commit,
      level,
      grants,
      home,
      reader: readerAt(posix.dirname(path)),
      isPack,
    });
    if (typeof loaded === 'string') {
      return { rules: [], source: place, level, commit: head.commit, problems: [`${place}: ${loaded}`] };
    }
    const rules = isPack ? [] : loaded.rules.map((rule) => withinOrganization(rule, source.name));
    // A repository that includes the pack may have grants that the organization lacks, so a missing permission is not a
    // problem of the pack itself.
    const found = loaded.problems.filter(({ code }) => !isPack || code !== 'level');
    const problems = found.map(formatProblem);
    contents.set(path, loaded.content);
    const includes = loaded.content.packs.size > 0;
    return { rules, source: place, level, commit: head.commit, problems, includes };
  };
  const alone = await Promise.all(named.map(({ path }) => load(path, false)));
  const clashes = clashesOfFiles(alone.map(({ rules }) => rules));
  const files = alone.map((file): RepositoryRules => {
    const own = clashes.filter(({ rule }) => file.rules.includes(rule));
    if (own.length === 0) return file;
    const problems = own.map(
      ({ rule, step, message }) => `${rule.source}:${step.line}: status-name: ${message}`,
    );
    return { ...file, rules: [], problems };
  });
  const location: FoundFiles = {
    files: files.flatMap(({ rules, problems }, index) => {
      const { path = '', type } = named[index] ?? {};
      // A regular file that was replaced by something else, such as a link, was deleted.
      if (type !== 'file') return [];
      const isValid = problems.length === 0;
      return [{ path, commit: head.commit, rules, isValid, content: contents.get(path) }];
    }),
    reader: (path) => readerAt(posix.dirname(path)),
    load({ path, text, packs, ...given }) {
      const loaded = loadText({ text, packs }, { ...given, source: `${source.rules}/${path}`, level, home });
      return { ...loaded, rules: loaded.rules.map((rule) => withinOrganization(rule, source.name)) };
    },
  };
  if (!entries.some(({ name: file, type }) => file === packsFolder && type === 'dir')) {
    return { ...nothing, files, location };
  }
  const paths = await listPacks(client, head);
  const packs = await Promise.all(paths.map((path) => load(path, true)));
  const brokenPacks = packs.filter(({ problems }) => problems.length > 0);
  return { files, offered: await offer(paths, reader, head), brokenPacks, location };
}

/** Returns the paths of the packs that a rules repository offers: the files directly in its packs folder. */
async function listPacks(client: Client, head: FileRevision): Promise<readonly string[]> {
  const entries = await readEntry(client, head, `${folder}/${packsFolder}`);
  const named = Array.isArray(entries) ? entries.filter(({ name }) => isRuleFileName(name)) : [];
  return named.slice(0, maxOffered).map(({ path }) => path);
}

/**
 * Reads the packs that are offered to repositories. Repositories that include a pack may see its content only if
 * everyone may read it.
 */
async function offer(
  paths: readonly string[],
  reader: PackReader,
  { isPrivate }: { readonly isPrivate: boolean },
): Promise<PackTree> {
  const offered = new Map<string, Pack | NoPack>();
  for (const path of paths) {
    const file = path.slice(folder.length + 1);
    const found = await reader.read({ file });
    const name = posix.basename(path, '.yml');
    if ('missing' in found || 'packs' in found) offered.set(name, found);
    else {
      const { reader: inner, ...pack } = found;
      offered.set(name, { ...pack, isReadable: !isPrivate, packs: await gatherPacks(pack, inner) });
    }
  }
  return offered;
}

async function pinnedId(source: OrganizationSource, seen: number, pins: Pins): Promise<number> {
  if (source.id !== undefined) return source.id;
  const key = `organization rules ${source.name.toLowerCase()} ${source.rules.toLowerCase()}`;
  // The id seen by the first process that reads the repository is pinned for all processes.
  return Number(await pins.revise(key, (known) => (typeof known === 'number' ? known : seen)));
}

/** Returns a rule restricted to the repositories of its organization, whatever its `in`. */
function withinOrganization(rule: LoadedRule, organization: string): LoadedRule {
  const wanted = organization.toLowerCase();
  const own: Pattern = {
    written: [`${organization}/*`],
    matches: (name) => name.split('/')[0]?.toLowerCase() === wanted,
  };
  return { ...rule, scopes: [own, ...rule.scopes] };
}

/** Location of packs on a forge. */
type ForgePlace = {
  /** Reads a path at one commit of the repository. */
  readonly entryAt: (path: string) => Promise<PathEntry | undefined>;
  /** Name of the repository, used as the prefix of paths. */
  readonly repository: string;
};

/**
 * Returns a function that creates the reader for packs below a folder of rule files, at one commit of a repository.
 * Each pack is requested only once, no matter how many files include it. Packs included by name come from `offered`.
 */
function createForgeReader(at: ForgePlace, offered: PackTree): (folder: string) => PackReader {
  const known = new Map<string, Promise<PlainContent>>();
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

async function readContent({ entryAt }: ForgePlace, path: string): Promise<PlainContent> {
  const entry = await entryAt(path);
  return entry === undefined ? { refused: 'there is no such file' } : plainContentOf(entry);
}
