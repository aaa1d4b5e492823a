import type { Client } from '../client/client.ts';
import type { ContentsEntry } from '../contract/contents.ts';
import { operations } from '../contract/operations.ts';
import type { RepositoryRef } from '../contract/subject.ts';
import { ReeveError } from '../errors.ts';
import { type LoadedFile, loadRuleFile } from '../rules/load.ts';
import { formatProblem } from '../rules/problem.ts';
import { registry } from '../rules/registry.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { repositoryPaths } from './paths.ts';

const maxBytes = 64 * 1024;

/** The rules of a repository, or why it has none. `commit` is the head of the default branch they were read at. */
export type RepositoryRules = {
  readonly rules: readonly LoadedRule[];
  readonly source: string;
  readonly commit: string;
  /** What is wrong, for people; empty where nothing is, or where there is no file. */
  readonly problems: readonly string[];
};

/**
 * Reads the rule file of a repository at the head of its default branch. Symbolic links, submodules, folders, large and
 * doubled files are refused: what decides must be one plain file that the default branch itself holds.
 */
export async function readRepositoryRules(client: Client, at: RepositoryRef): Promise<RepositoryRules> {
  const params = { owner: at.owner, repo: at.name };
  const live = await client.call(operations.getRepository, { params });
  if (live.id !== at.id)
    return broken(at, '', [`${at.owner}/${at.name} is another repository now (id ${live.id})`]);
  if (live.empty || !live.default_branch) return { rules: [], source: '', commit: '', problems: [] };
  const branch = await client.call(operations.getBranch, {
    params: { ...params, branch: live.default_branch },
  });
  // Asked by commit, not by name: a tag or branch of the same name, or a push in between, cannot swap the file.
  const commit = branch.commit?.id ?? '';
  const found = (
    await Promise.all(repositoryPaths.map((path) => readEntry(client, params, path, commit)))
  ).filter((entry) => entry !== undefined);
  const [entry] = found;
  if (entry === undefined) return { rules: [], source: '', commit, problems: [] };
  if (found.length > 1) {
    const names = found.map(({ path }) => path).join(' and ');
    return broken(at, commit, [`${names} are both there; keep one of them, until then none is used`]);
  }
  const source = `${at.owner}/${at.name}/${entry.path}`;
  const loaded = loadEntry(entry, source, commit);
  if (typeof loaded === 'string') return broken(at, commit, [`${source}: ${loaded}`]);
  return { rules: loaded.rules, source, commit, problems: loaded.problems.map(formatProblem) };
}

function broken(at: RepositoryRef, commit: string, problems: readonly string[]): RepositoryRules {
  return { rules: [], source: `${at.owner}/${at.name}`, commit, problems };
}

async function readEntry(
  client: Client,
  params: { owner: string; repo: string },
  path: string,
  commit: string,
): Promise<ContentsEntry | undefined> {
  try {
    const answer = await client.call(operations.getContents, {
      params: { ...params, filepath: path },
      query: { ref: commit },
    });
    return Array.isArray(answer) ? { name: path, path, type: 'dir' } : answer;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

function loadEntry(entry: ContentsEntry, source: string, commit: string): LoadedFile | string {
  if (entry.type !== 'file') return `it is a ${entry.type}, and rules are read from plain files alone`;
  if ((entry.size ?? 0) > maxBytes) return `it has ${entry.size} bytes, and a rule file may have ${maxBytes}`;
  if (entry.encoding !== 'base64' || typeof entry.content !== 'string')
    return 'the forge did not give its content';
  const text = Buffer.from(entry.content, 'base64').toString('utf8');
  return loadRuleFile({ path: source, text, level: 'repository', commit, registry });
}
