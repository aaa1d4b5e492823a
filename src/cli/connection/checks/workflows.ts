import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { servedRepositories } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped } from '../finding.ts';
import { checkRestriction } from '../forge-findings.ts';
import type { Examination } from './examination.ts';

/** Folders that forges read workflows from. */
const folders = ['.gitea/workflows', '.github/workflows'] as const;

/** Most repositories that are searched for workflows; the first with one ends the search. */
const maxSearched = 200;

/**
 * Examines whether changes by Reeve can start workflows of forks without approval: a served repository has workflows, and
 * the account is not restricted.
 */
export async function checkWorkflows(examination: Examination): Promise<Finding> {
  const { account, capabilities } = examination;
  const finding = checkRestriction(await account(), (await capabilities()).capabilities);
  if (finding === undefined)
    return skipped('on this forge, the account that labels or assigns does not decide on approval');
  if (finding.state === 'ok') return finding;
  const { example, searched, isWhole } = await searchWorkflows(examination);
  if (example !== undefined) return { ...finding, text: `${example} has workflows, and ${finding.text}` };
  const repositories = count(searched, 'served repository').replace(/repositorys$/, 'repositories');
  return ok(
    isWhole ? `no workflows in ${repositories} with Actions` : `no workflows in the first ${repositories}`,
  );
}

type WorkflowSearch = { readonly example?: string; readonly searched: number; readonly isWhole: boolean };

/** Searches served repositories that run Actions for one with workflows. */
async function searchWorkflows({ client, account, settings }: Examination): Promise<WorkflowSearch> {
  let searched = 0;
  const served = { login: async () => (await account()).login, listed: settings.repositories };
  for await (const { repositories } of servedRepositories(client, served)) {
    for (const repository of repositories.filter(runsActions)) {
      if (searched === maxSearched) return { searched, isWhole: false };
      searched += 1;
      if (await hasWorkflows(client, repository))
        return { example: repository.full_name, searched, isWhole: false };
    }
  }
  return { searched, isWhole: true };
}

/** A forge without this member may run Actions in every repository. */
function runsActions({ has_actions }: Repository): boolean {
  return has_actions !== false;
}

async function hasWorkflows(client: Client, { owner, name }: Repository): Promise<boolean> {
  for (const filepath of folders) {
    const params = { owner: owner.login, repo: name, filepath };
    const entries = await unlessHidden(client.call(operations.getContents, { params }));
    if (Array.isArray(entries) && entries.some((entry) => /\.ya?ml$/.test(entry.name))) return true;
  }
  return false;
}

/** A folder may be absent, and the code of a repository may be hidden from the account. */
async function unlessHidden<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    const isHidden =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (isHidden) return undefined;
    throw error;
  }
}
