import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Branch } from '../contract/resources/branches.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { flag, int, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { repository as repositoryRow } from './repository.ts';
import { pullWays, ways } from './ways.ts';
import { indexParams, narrowPull, repositoryOf, repositoryParams } from './where.ts';

/** The current state of the pull request, with the numbers of added and deleted lines. */
export const pullRequest = defineFact({
  name: 'pull_request',
  meaning:
    'The current state of the pull request, with the numbers of added and deleted lines. `pull_request.mergeable` and `pull_request.behind` are facts of their own, read when an expression names them. Of the repository of a fork, rules see what it is called and of what kind it is.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: PullRequest,
  of: ['pull_request', 'notification'],
  changes: pullWays,
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '!pull_request.draft && pull_request.additions + pull_request.deletions > 500',
  ask: ({ client, subject }) => client.call(operations.getPull, { params: indexParams(subject) }),
  narrow: narrowPull,
  narrowsForAll: true,
});

/** The number of commits on the base branch that the pull request lacks. */
export const behind = defineFact({
  name: 'pull_request.behind',
  meaning:
    'The number of commits on the base branch that the head does not have, counted now; `pull_request.merge_base` may be older.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: int,
  of: ['pull_request'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'pull_request.behind == 0',
  async ask({ client, subject, ask }) {
    const { head, base } = await ask(requestOf(pullRequest));
    if (!head?.sha || !base?.sha) throw new Error('the pull request has no head or no base');
    // The `merge_base` of the pull request comes from the forge's last check; it is outdated for seconds after an
    // update.
    const basehead = `${head.sha}...${base.sha}`;
    const { total_commits } = await client.call(operations.compare, {
      params: { ...repositoryParams(subject), basehead },
    });
    if (total_commits == null) throw new Error('the forge does not say how many commits there are');
    return total_commits;
  },
});

/** Delays between reads. If a forge still returns `mergeable: false` after all of them, there is a conflict. */
const waitsMs = [1_000, 2_000, 3_000, 4_100];
const settledMs = 10_000;

/** Whether the pull request can be merged without a conflict. */
export const mergeable = defineFact({
  name: 'pull_request.mergeable',
  meaning:
    'Whether the pull request can be merged without a conflict. A forge says false until it has computed this, and has no word for unknown: false is read again for over 10 s before it is believed. Drafts and closed pull requests are not mergeable.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: flag,
  of: ['pull_request'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed, ways.conflicted],
  needs: { access: 'reader', scopes: ['repository'] },
  isPolled: true,
  requests: 1,
  example: 'pull_request.mergeable',
  async ask(context) {
    const { client, subject, memory, clock, ask, anew } = context;
    const read = () => client.call(operations.getPull, { params: indexParams(subject) });
    let pull = anew ? await read() : await ask(requestOf(pullRequest));
    const sinceMs = firstSeenMs(pull, context);
    for (const waitMs of waitsMs) {
      if (pull.mergeable) break;
      if (pull.state === 'closed' || pull.draft || clock.monotonicMs() - sinceMs > settledMs) return false;
      // A shutdown aborts the next request. Without a clock that can sleep, the first answer counts.
      if (clock.sleep === undefined) return false;
      await clock.sleep(waitMs).catch(() => {});
      pull = await read();
    }
    if (pull.mergeable) memory.drop(keyOf(pull, context));
    return pull.mergeable ?? false;
  },
});

/** Returns when this head was first seen not to be mergeable into this base, so that later runs do not wait again. */
function firstSeenMs(pull: PullRequest, context: AskContext): number {
  const { memory, clock } = context;
  const key = keyOf(pull, context);
  // The cast is safe: only the code below sets this key.
  const known = memory.get(key) as number | undefined;
  if (known !== undefined) return known;
  const now = clock.monotonicMs();
  if (!pull.mergeable) memory.set(key, now);
  return now;
}

function keyOf({ head, base }: PullRequest, { subject }: AskContext): string {
  return `${repositoryOf(subject).id}/mergeable/${subject.index}/${head?.sha}/${base?.sha}`;
}

/** The branch into which the pull request merges. */
export const baseBranch = defineFact({
  name: 'base_branch',
  meaning:
    'The current state of the branch that the pull request merges into, with what its protection requires.',
  shows: 'repository',
  visibleTo: 'code',
  shape: Branch,
  of: ['pull_request'],
  changes: [ways.retargeted, ways.basePushed, ways.protected],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'base_branch.protected && base_branch.required_approvals >= 1',
  async ask({ client, subject, ask }) {
    const { base } = await ask(requestOf(pullRequest));
    if (!base?.ref) throw new ReeveError('forge-not-found', 'the pull request has no base branch');
    return client.call(operations.getBranch, {
      params: { ...repositoryParams(subject), branch: base.ref },
    });
  },
});

/** The branch of this repository from which the pull request comes. */
export const headBranch = defineFact({
  name: 'head_branch',
  meaning:
    'The branch of this repository that the pull request comes from; null if it is gone, or in a fork. `used_by`: the numbers of other open pull requests from or into it. `closed_sha`: the commit at which the pull request was merged or closed; null while it is open, or if the forge does not show it.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z
    .object({
      name: text,
      sha: text,
      protected: flag,
      is_default: flag,
      closed_sha: text.nullable().optional(),
      used_by: z.array(int),
    })
    .nullable(),
  of: ['pull_request'],
  changes: [ways.pushed, ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 5,
  example: 'head_branch != null && !head_branch.protected && head_branch.used_by.size() == 0',
  async ask(context) {
    const { subject, ask } = context;
    const { head, number, state } = await ask(requestOf(pullRequest));
    const name = head?.ref;
    if (!name || head?.repo?.id !== repositoryOf(subject).id) return null;
    const branch = await branchNamed(context, name);
    if (branch === null) return null;
    const { default_branch } = await ask(requestOf(repositoryRow));
    return {
      name,
      sha: branch.commit?.id ?? '',
      protected: branch.protected ?? false,
      is_default: name === default_branch,
      closed_sha: state === 'closed' ? await keptHeadOf(context, number) : null,
      used_by: await usersOf(context, name, number),
    };
  },
});

async function branchNamed({ client, subject }: AskContext, branch: string) {
  try {
    return await client.call(operations.getBranch, { params: { ...repositoryParams(subject), branch } });
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
    throw error;
  }
}

/**
 * Returns the commit that the forge keeps as the head of a pull request; null if it does not show it. A push to the
 * branch moves this ref only while the pull request is open. Source: forge `services/pull/pull.go AddTestPullRequestTask`.
 */
async function keptHeadOf({ client, subject }: AskContext, number: number): Promise<string | null> {
  const ref = `pull/${number}/head`;
  try {
    const found = await client.call(operations.findRefs, { params: { ...repositoryParams(subject), ref } });
    return found.find((one) => one.ref === `refs/${ref}`)?.object?.sha ?? null;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
    throw error;
  }
}

/** Returns the numbers of the other open pull requests from or into a branch of the repository. */
async function usersOf({ client, subject }: AskContext, name: string, own: number): Promise<number[]> {
  const { id } = repositoryOf(subject);
  const found: number[] = [];
  const params = repositoryParams(subject);
  for await (const pull of client.items(operations.listPulls, { params, query: { state: 'open' } })) {
    const isUser = (pull.head?.ref === name && pull.head.repo?.id === id) || pull.base?.ref === name;
    if (isUser && pull.number !== own) found.push(pull.number);
  }
  return found;
}
