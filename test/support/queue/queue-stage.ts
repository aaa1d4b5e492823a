import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import { queueStateOf } from '../../../src/work/merge-queue/state.ts';
import { addFile } from '../privilege-setup.ts';
import { org, type QueueInstallation, queueLabels } from './queue-installation.ts';
import { requireStatuses } from './queue-repository.ts';

/** Repository in which a history of merge queues runs, with everything that an observer would know. */
export type QueueStage = QueueInstallation & {
  /** Owner and name of the repository. The name may change during a history. */
  readonly at: { readonly owner: string; repo: string };
  readonly repositoryId: number;
  /** Numbers of the opened pull requests, in order. The branch of #7 is `work-7`, and its file is `7.txt`. */
  readonly opened: number[];
  /** Reports of CI, in order. */
  readonly checks: { readonly sha: string; readonly state: 'success' | 'failure'; readonly at: Date }[];
  /** Pull requests during whose merge someone wrote to their base. */
  readonly raced: number[];
  /** Counter for unique contents. */
  serial: number;
};

/** Settings in which the repositories of histories differ. */
export type StageSettings = {
  readonly method: 'merge' | 'squash' | 'rebase-merge' | 'fast-forward-only';
  /** Whether the base requires the status of the queue in addition to that of CI. */
  readonly requiresQueue: boolean;
};

let stages = 0;

/** Creates the repository with its labels, its merge style and a protected base. */
export async function openStage(
  installation: QueueInstallation,
  { method, requiresQueue }: StageSettings,
): Promise<QueueStage> {
  const { root } = installation;
  stages += 1;
  const at = { owner: org, repo: `history-${stages}` };
  const { id } = await root.call(operations.createOrganizationRepository, {
    params: { org },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  await root.call(operations.editRepository, {
    params: at,
    body: { default_merge_style: method, allow_fast_forward_only_merge: true },
  });
  for (const name of queueLabels)
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  const stage: QueueStage = {
    ...installation,
    at,
    repositoryId: id,
    opened: [],
    checks: [],
    raced: [],
    serial: 0,
  };
  await requireStatuses(root, at, requiresQueue ? {} : { contexts: ['ci'] });
  return stage;
}

/** Opens a pull request that is to be merged. CI has already passed, as is often the case before a label is set. */
export async function openPull(stage: QueueStage, { isUrgent = false } = {}): Promise<number> {
  const { root, at, opened } = stage;
  stage.serial += 1;
  const branch = `work-${stage.serial}`;
  await addFile(root, at, branch, `${stage.serial}.txt`);
  const known = await root.call(operations.listLabels, { params: at });
  const labels = known
    .filter(({ name }) => name === 'merge' || (isUrgent && name === 'urgent'))
    .map((label) => label.id);
  const body = { title: `From ${branch}`, head: branch, base: 'main', labels };
  const { number, head } = await root.call(operations.createPull, { params: at, body });
  await report(stage, head?.sha ?? '', 'success');
  opened.push(number);
  return number;
}

/** Reports a result of CI on a commit. */
export async function report(
  { root, at, checks, now }: QueueStage,
  sha: string,
  state: 'success' | 'failure',
): Promise<void> {
  checks.push({ sha, state, at: now() });
  await root.call(operations.createStatus, { params: { ...at, sha }, body: { context: 'ci', state } });
}

export const listAllPulls = ({ root, at }: QueueStage): Promise<readonly PullRequest[]> =>
  root.call(operations.listPulls, { params: at, query: { state: 'all', limit: 50 } });

/** Makes CI pass on the head of every open pull request that has no report yet. */
export async function runChecks(stage: QueueStage): Promise<void> {
  for (const { state, head } of await listAllPulls(stage)) {
    const sha = head?.sha ?? '';
    if (state === 'open' && !stage.checks.some((one) => one.sha === sha)) await report(stage, sha, 'success');
  }
}

export const listStageQueues = async ({ bot, repositoryId }: QueueStage) =>
  (await bot.store.listQueues({ repositoryId })).map((row) => ({ base: row.base, ...queueStateOf(row) }));

/** Advances the clock until no queue has anything left to do. Returns whether that took less than a day. */
export async function rest(
  stage: QueueStage,
  { hasChecks }: { readonly hasChecks: boolean },
): Promise<boolean> {
  const endMs = stage.now().getTime() + 86_400_000;
  for (;;) {
    if (hasChecks) await runChecks(stage);
    await stage.bot.settle();
    const due = await stage.bot.nextDue();
    if (due === undefined) return true;
    if (due.getTime() > endMs) return false;
    stage.advance(Math.max(due.getTime() - stage.now().getTime(), 1));
  }
}
