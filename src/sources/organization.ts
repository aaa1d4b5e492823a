import type { Client } from '../client/client.ts';
import { ReeveError } from '../errors.ts';
import { isRuleFileName } from '../rules/files/load.ts';
import { formatProblem } from '../rules/problem.ts';
import type { LoadedRule, Pattern, ScopedGrant } from '../rules/rule.ts';
import { type BranchHead, type FileRevision, loadEntry, readAtHead, readEntry } from './read-at-head.ts';
import type { RepositoryRules } from './repository-file.ts';

/** An organization with a rules repository, as configured by the operator. */
export type OrganizationSource = {
  readonly name: string;
  /** Repository with the rules, `owner/name`. */
  readonly rules: string;
  /** Id of that repository, if configured; otherwise the first id is stored. */
  readonly id?: number | undefined;
};

/** Stores the repository of a name at its first use. Implemented by the store. */
export interface Pins {
  recall(key: string): Promise<unknown>;
  remember(key: string, value: unknown): Promise<void>;
}

/** The rule files of an organization, each used or refused separately. */
export type OrganizationReading = {
  /** Absent if the rules repository is not accessible, or is not the pinned one. */
  readonly head?: BranchHead;
  readonly files: readonly RepositoryRules[];
};

const folder = 'rules';
const maxFiles = 100;

/**
 * Reads `rules/*.yml` of an organization's rules repository at the head of its default branch. The repository's id is
 * pinned at first use: another repository that gets its name later does not get its permissions.
 */
export async function readOrganizationRules(
  client: Client,
  source: OrganizationSource,
  options: { pins: Pins; grants: readonly ScopedGrant[] },
): Promise<OrganizationReading> {
  const [owner = '', name = ''] = source.rules.split('/');
  let isPinned = true;
  try {
    const { head, value } = await readAtHead<readonly RepositoryRules[]>(
      client,
      { owner, name },
      {
        async read(found) {
          const pinned = await pinnedId(source, found.at.id, options.pins);
          isPinned = pinned === found.at.id;
          if (!isPinned)
            return { value: [refusal(source, found, takenOver(source, found, pinned))], decides: false };
          if (found.commit === '') return { value: [], decides: false };
          const files = await readFilesAt(client, source, found, options.grants);
          return { value: files, decides: files.length > 0 };
        },
        refuse: (found, why) => [refusal(source, found, `${source.rules}: ${why}`)],
      },
    );
    return isPinned ? { head, files: value } : { files: value };
  } catch (error) {
    // A missing rules repository disables the organization's rules, but not the deliveries of its repositories.
    const isAway =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (!isAway) throw error;
    const problem = `${source.rules} cannot be seen: it is gone, or the account may not read it`;
    return { files: [{ rules: [], source: source.rules, commit: '', problems: [problem] }] };
  }
}

function takenOver(source: OrganizationSource, { at }: BranchHead, pinned: number): string {
  return `${source.rules} is another repository now (id ${at.id}, rules were read from ${pinned}); if that is wanted, say id: ${at.id} beside it in the operator file`;
}

function refusal(
  source: OrganizationSource,
  head: Pick<BranchHead, 'commit'>,
  problem: string,
): RepositoryRules {
  return { rules: [], source: source.rules, commit: head.commit, problems: [problem] };
}

/** Reads the rule files of an organization at `ref` of its rules repository; undefined means the default branch. */
export async function readFilesAt(
  client: Client,
  source: OrganizationSource,
  head: FileRevision & Pick<BranchHead, 'commit'>,
  grants: readonly ScopedGrant[],
): Promise<readonly RepositoryRules[]> {
  const refuse = (problem: string): readonly RepositoryRules[] => [refusal(source, head, problem)];
  const entries = await readEntry(client, head, folder);
  if (entries === undefined) return [];
  if (!Array.isArray(entries)) return refuse(`${source.rules}/${folder} is no folder`);
  const named = entries.filter(({ name: file }) => isRuleFileName(file));
  if (named.length > maxFiles) {
    return refuse(`${source.rules}/${folder} has ${named.length} rule files, and may have ${maxFiles}`);
  }
  return Promise.all(
    named.map(async ({ path }): Promise<RepositoryRules> => {
      const place = `${source.rules}/${path}`;
      const entry = await readEntry(client, head, path);
      const loaded = loadEntry(entry ?? [], {
        source: place,
        commit: head.commit,
        level: 'organization',
        grants,
        home: { organization: source.name },
      });
      if (typeof loaded === 'string') {
        return { rules: [], source: place, commit: head.commit, problems: [`${place}: ${loaded}`] };
      }
      const rules = loaded.rules.map((rule) => withinOrganization(rule, source.name));
      return { rules, source: place, commit: head.commit, problems: loaded.problems.map(formatProblem) };
    }),
  );
}

async function pinnedId(source: OrganizationSource, seen: number, pins: Pins): Promise<number> {
  if (source.id !== undefined) return source.id;
  const key = `organization rules ${source.name.toLowerCase()} ${source.rules.toLowerCase()}`;
  const known = await pins.recall(key);
  if (typeof known === 'number') return known;
  await pins.remember(key, seen);
  return seen;
}

/** Rules of an organization apply only to its repositories, whatever their `in` is. */
function withinOrganization(rule: LoadedRule, organization: string): LoadedRule {
  const wanted = organization.toLowerCase();
  const own: Pattern = {
    written: [`${organization}/*`],
    matches: (name) => name.split('/')[0]?.toLowerCase() === wanted,
  };
  return { ...rule, scopes: [own, ...rule.scopes] };
}
