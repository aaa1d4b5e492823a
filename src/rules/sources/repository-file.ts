import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { PackReader } from '../packs/gather-packs.ts';
import { notOffered } from '../packs/pack.ts';
import { formatProblem } from '../problem.ts';
import type { Level, LoadedRule, ScopedGrant } from '../rule.ts';
import { misspeltPath, repositoryPaths } from './paths.ts';
import { type BranchHead, type FileRevision, loadEntry, readAtHead, readEntry } from './read-at-head.ts';

/** The rules of a file on a forge, or its problems. `commit` is the head of the default branch at the reading. */
export type RepositoryRules = {
  readonly rules: readonly LoadedRule[];
  readonly source: string;
  /** Whose file it is, whatever its path. */
  readonly level: Level;
  readonly commit: string;
  /** Problems as text; empty if there are none, or no file. */
  readonly problems: readonly string[];
  /** Whether it includes packs, so that a change of one may change it. */
  readonly includes?: boolean;
};

/** Current identity of a repository, and its rules. */
export type RepositoryReading = { readonly head: BranchHead; readonly file: RepositoryRules };

const level: Level = 'repository';

/**
 * Reads the rule file of a repository at the head of its default branch; a rename is followed by the repository's id.
 * Symbolic links, submodules, folders, large and duplicate files are refused. Throws `forge-not-found` if another
 * repository has the name now, so that it is not cached under this id.
 */
export async function readRepositoryRules(
  client: Client,
  at: RepositoryRef,
  grants: readonly ScopedGrant[] = [],
  reader: PackReader = noPacks,
): Promise<RepositoryReading> {
  const { head, value } = await readAtHead<RepositoryRules>(client, at, {
    async read(found) {
      if (found.at.id !== at.id) throw anotherRepository(at, found.at.id);
      const file = await readFileAt(client, found, grants, reader);
      return { value: file, decides: file.rules.length + file.problems.length > 0 && file.commit !== '' };
    },
    refuse: ({ at: there, commit }, why) => ({
      rules: [],
      source: `${there.owner}/${there.name}`,
      level,
      commit,
      problems: [`${there.owner}/${there.name}: ${why}; while it is there, no rule file is used`],
    }),
  });
  return { head, file: value };
}

function anotherRepository({ id, owner, name }: RepositoryRef, seen: number): ReeveError {
  return new ReeveError(
    'forge-not-found',
    `${owner}/${name} is another repository now (id ${seen}, not ${id}): its rule file is not used`,
  );
}

/** Reads the rule file of a repository at `ref`, or at its default branch if that is undefined; runs record `commit`. */
export async function readFileAt(
  client: Client,
  { at, commit, ref }: FileRevision & Pick<BranchHead, 'commit'>,
  grants: readonly ScopedGrant[],
  reader: PackReader,
): Promise<RepositoryRules> {
  const none = { rules: [], source: `${at.owner}/${at.name}`, level, commit, problems: [] };
  if (commit === '') return none;
  const found = (
    await Promise.all(
      repositoryPaths.map(async (path) => ({ path, entry: await readEntry(client, { at, ref }, path) })),
    )
  ).filter(({ entry }) => entry !== undefined);
  const [first] = found;
  if (first?.entry === undefined) {
    if ((await readEntry(client, { at, ref }, misspeltPath)) === undefined) return none;
    const source = `${at.owner}/${at.name}/${misspeltPath}`;
    return { ...none, source, problems: [`${source}: it is not read: rename it to ${repositoryPaths[0]}`] };
  }
  if (found.length > 1) {
    const names = found.map(({ path }) => path).join(' and ');
    const problem = `${names} are both there; keep one of them, until then none is used`;
    return { ...none, problems: [problem] };
  }
  const source = `${at.owner}/${at.name}/${first.path}`;
  const home = { repositoryId: at.id };
  const loaded = await loadEntry(first.entry, { source, commit, level, grants, home, reader });
  if (typeof loaded === 'string') return { ...none, source, problems: [`${source}: ${loaded}`] };
  const { rules, includes } = loaded;
  return { rules, source, level, commit, problems: loaded.problems.map(formatProblem), includes };
}

/** Where neither an operator nor an organization is known, nothing is offered. */
const noPacks: PackReader = {
  read: async (request) => notOffered('pack' in request ? request.pack : request.file, []),
};
