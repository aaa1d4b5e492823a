import { sidesOf } from '../../actions/merging.ts';
import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { Branch, CommitEntry } from '../../contract/resources/branches.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { CommitStatus } from '../../contract/resources/statuses.ts';
import { type Facts, requestOf } from '../../facts/fact.ts';
import { rootOf } from '../../facts/files.ts';
import { baseBranch, pullRequest } from '../../facts/pull-request.ts';
import { judgeRequiredChecks, queueContext, readNewestStatuses, statuses } from '../../facts/statuses.ts';
import { createUnlimitedMeter, type Meter } from '../../patterns/meter.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { findDenial } from '../../rules/sources/admission.ts';
import type { ChecksSeen, PullSeen, QueueEntry, QueueLook, QueueState } from './state.ts';

/** Dependencies for reading the state of a queue from the forge. */
export type QueueLooking = {
  readonly client: Client;
  readonly account: { readonly id: number };
  readonly repository: RepositoryRef;
  readonly now: () => Date;
  /** Evaluates the rule of an entry for the current state. `facts` contain the pull request as it was evaluated. */
  judge(entry: QueueEntry): Promise<{ readonly wanted: PullSeen['wanted']; readonly facts: Facts }>;
};

/** Context for reading a queued pull request. */
type Look = QueueLooking & { readonly state: QueueState; readonly entry: QueueEntry };

/**
 * Reads the state of a queued pull request: of the given one, otherwise of the first, together with its base. The pull
 * request is read before everything else, so the result applies to that head or is not used.
 */
export async function lookAtQueue(
  looking: QueueLooking,
  state: QueueState,
  about: { readonly number?: number | undefined; readonly pushed?: boolean | undefined },
): Promise<QueueLook> {
  try {
    return await lookAtPull(looking, state, about);
  } catch (error) {
    // Temporary failures are retried soon. After other failures, each pull request waits until its timeout.
    if (error instanceof ReeveError && error.keepsWork) throw error;
    const denial = await findDenial(looking.client, looking.repository);
    // The admission of jobs decides whether the repository was deleted.
    if (denial) throw new ReeveError('repository-missing', denial.message, { cause: denial });
    const at = looking.now();
    const [first] = state.entries;
    const { number = first?.number } = about;
    if (number !== undefined && (await isGone(number, looking))) return { at, gone: number };
    const isAwaited = number === first?.number || number === state.attempt?.number;
    return isAwaited ? { at, problem: messageOf(error) } : { at };
  }
}

/** Returns whether the forge no longer knows a pull request, because pull requests can be deleted. */
async function isGone(index: number, { client, repository }: QueueLooking): Promise<boolean> {
  try {
    await client.call(operations.getPull, { params: { ...asParams(repository), index } });
    return false;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.keepsWork) throw error;
    return error.code === 'forge-not-found';
  }
}

async function lookAtPull(
  looking: QueueLooking,
  state: QueueState,
  { number, pushed = false }: { readonly number?: number | undefined; readonly pushed?: boolean | undefined },
): Promise<QueueLook> {
  const [first] = state.entries;
  const entry = state.entries.find((one) => one.number === number) ?? first;
  if (entry === undefined) return { at: looking.now() };
  const look: Look = { ...looking, state, entry };
  const { wanted, facts } = await looking.judge(entry);
  const pull = await facts.ask(requestOf(pullRequest));
  const seen = await pullOf(pull, { ...look, facts, wanted }, pushed);
  if (entry !== first || pull.state !== 'open') return { at: looking.now(), pull: seen };
  const base = await facts.ask(requestOf(baseBranch));
  const commit = base.commit?.id;
  if (!commit) throw new Error(`the base branch of pull request #${entry.number} has no commit`);
  const all = await facts.ask(requestOf(statuses));
  const meter = createUnlimitedMeter();
  const checks = judgeChecks(base, all, { expected: entry.contexts ?? [], meter });
  return {
    at: looking.now(),
    pull: {
      ...seen,
      containsBase: await containsBase(seen, { commit, mergeBase: pull.merge_base }, look),
      checks,
      contexts: foreignStatuses(all).flatMap(({ context }) => context ?? []),
    },
    base: { commit, ...(state.blocked ? { checks: await checksOfBase(base, commit, look) } : {}) },
  };
}

type LookWithFacts = Look & { readonly facts: Facts };

async function pullOf(
  pull: PullRequest,
  look: LookWithFacts & { readonly wanted: PullSeen['wanted'] },
  pushed: boolean,
): Promise<PullSeen> {
  const { head, base, isFork } = sidesOf(pull);
  return {
    number: pull.number,
    wanted: look.wanted,
    state: pull.state === 'open' ? 'open' : 'closed',
    isDraft: pull.draft ?? false,
    head,
    base,
    isFork,
    isMergeable: pull.mergeable !== false,
    ...(pull.merged ? { merged: await mergeOf(pull, head, look) } : {}),
    ...(head === look.entry.head || pushed || pull.merged ? {} : { updatedWith: await updateOf(head, look) }),
  };
}

const asParams = ({ owner, name }: QueueLooking['repository']) => ({ owner, repo: name });

async function commitAt(sha: string, { client, repository }: QueueLooking): Promise<CommitEntry> {
  const params = { ...asParams(repository), sha };
  return client.call(operations.getCommit, {
    params,
    query: { stat: false, verification: false, files: false },
  });
}

/**
 * Returns the base commit that our update merged into the queued head; undefined if the new head is not our update. An
 * update is identified by its parents, which are the queued head and a commit of the base, and by its author and
 * committer, if the forge knows their accounts.
 */
async function updateOf(head: string, look: LookWithFacts): Promise<string | undefined> {
  const { entry, account, state } = look;
  const { attempt } = state;
  const isAsked =
    attempt?.kind === 'update' && attempt.number === entry.number && attempt.head === entry.head;
  if (!isAsked) return undefined;
  const { parents, author, committer } = await commitAt(head, look);
  const [onto, merged, ...others] = (parents ?? []).map(({ sha }) => sha);
  // Commits of an account without a public e-mail address do not show the account.
  const isByOther = [author, committer].some((one) => one && one.id !== account.id);
  if (onto !== entry.head || merged === undefined || others.length > 0 || isByOther) return undefined;
  // The base may have moved between the last look and the update.
  return merged === attempt.base || (await isOnBase(merged, look)) ? merged : undefined;
}

async function isOnBase(commit: string, look: LookWithFacts): Promise<boolean> {
  const { commit: tip } = await look.facts.ask(requestOf(baseBranch));
  if (!tip?.id || tip.id === commit) return tip?.id === commit;
  return (await countLacking(tip.id, commit, look)) === 0;
}

/** Returns whether we merged the pull request and, if so, the base commit of our merge. */
async function mergeOf(pull: PullRequest, head: string, look: Look): Promise<PullSeen['merged']> {
  const { attempt, entries } = look.state;
  const isByUs = pull.merged_by?.id === look.account.id;
  const isOurs =
    isByUs && attempt?.kind === 'merge' && attempt.number === pull.number && attempt.head === head;
  const commit = pull.merge_commit_sha;
  const method = entries.find(({ number }) => number === pull.number)?.request.method;
  // The forge refuses to fast-forward a different base.
  if (!isOurs || !commit || method === 'fast-forward-only') return { isByUs };
  if (method === 'rebase') return { isByUs, parent: await rebasedOnto(commit, attempt, look) };
  const [parent] = (await commitAt(commit, look)).parents ?? [];
  return { isByUs, parent: parent?.sha };
}

/**
 * Returns the commit onto which a pull request was rebased: the newest commit since the tested base that is not the
 * pull request's own. If commits of the tested base were removed, it is the commit below the pull request's own
 * commits.
 */
async function rebasedOnto(
  commit: string,
  { base, head }: { readonly base: string; readonly head: string },
  look: Look,
): Promise<string> {
  const between = await commitsBetween(base, commit, look);
  const own = new Set((await commitsBetween(base, head, look)).map(nameOfWork));
  const isOwn = (one: CommitEntry): boolean => one.sha === commit || own.has(nameOfWork(one));
  const foreign = between.find((one) => !isOwn(one));
  if (foreign !== undefined) return foreign.sha;
  const takenOut = await commitsBetween(commit, base, look);
  if (takenOut.length === 0 && between.length > 0) return base;
  return rootOf(commit, between) ?? commit;
}

async function commitsBetween(
  base: string,
  head: string,
  { client, repository }: Look,
): Promise<readonly CommitEntry[]> {
  const params = { ...asParams(repository), basehead: `${base}...${head}` };
  return (await client.call(operations.compare, { params })).commits ?? [];
}

/** Returns a key of those parts of a commit that a rebase preserves. */
function nameOfWork({ commit }: CommitEntry): string {
  return JSON.stringify([commit?.message?.trim(), commit?.author?.email, commit?.author?.date]);
}

/** Returns whether the head contains this commit of the base. The comparison is requested once for each pair. */
async function containsBase(
  pull: PullSeen,
  { commit, mergeBase }: { readonly commit: string; readonly mergeBase: string | null | undefined },
  look: Look,
): Promise<boolean> {
  const { entry } = look;
  const known = pull.head === entry.head ? entry.contains : pull.updatedWith;
  if (known === commit || pull.head === commit) return true;
  // The merge base comes from the forge's last check. If it is outdated, the update is refused, and the next look
  // requests the comparison.
  if (mergeBase && mergeBase !== commit && !entry.refusals) return false;
  return (await countLacking(pull.head, commit, look)) === 0;
}

/** Returns how many commits of `commit` are missing in `head`. */
async function countLacking(head: string, commit: string, { client, repository }: Look): Promise<number> {
  const params = { ...asParams(repository), basehead: `${head}...${commit}` };
  const { total_commits: lacks } = await client.call(operations.compare, { params });
  if (lacks == null) throw new Error('the forge does not say how many commits there are');
  return lacks;
}

/** Returns the state of the base's own checks, which are those that it requires of pull requests. */
async function checksOfBase(base: Branch, sha: string, look: Look) {
  const all = await readNewestStatuses(look.client, { ...asParams(look.repository), sha });
  if (foreignStatuses(all).length === 0) return { state: 'none' } as const;
  return judgeChecks(base, all, { expected: [], meter: createUnlimitedMeter() });
}

/** Returns the statuses that a queue may wait for, which are all but its own. */
function foreignStatuses(all: readonly CommitStatus[]): readonly CommitStatus[] {
  return all.filter(({ context }) => context !== queueContext);
}

/**
 * Returns the state of the checks of a commit: the checks that the base requires; if it requires none, every existing
 * status and those of `expected`. The queue's own status is left out, and so is a requirement of exactly that name.
 * Every other status counts, including those of Reeve's rules. A pattern without a match is pending.
 */
export function judgeChecks(
  base: Branch,
  all: readonly CommitStatus[],
  { expected, meter }: { readonly expected: readonly string[]; readonly meter: Meter },
): ChecksSeen {
  const found = foreignStatuses(all);
  const required = withoutOwn(base);
  const judged = judgeRequiredChecks(required, found, meter);
  const first =
    judged.find(({ state }) => state === 'failure') ?? judged.find(({ state }) => state !== 'success');
  if (first) {
    return {
      state: first.state === 'failure' ? 'failure' : found.length === 0 ? 'none' : 'pending',
      context: first.unpassed[0]?.context ?? first.context,
    };
  }
  return required.enable_status_check ? { state: 'success' } : judgeAll(found, expected);
}

/** Returns the base without the requirement of our own status, which is written only after all others have passed. */
function withoutOwn(base: Branch): Branch {
  if (!base.enable_status_check) return { ...base, enable_status_check: false };
  const contexts = base.status_check_contexts ?? [];
  if (contexts.length === 0) return base;
  const others = contexts.filter((context) => context !== queueContext);
  return { ...base, enable_status_check: others.length > 0, status_check_contexts: others };
}

function judgeAll(found: readonly CommitStatus[], expected: readonly string[]): ChecksSeen {
  const missing = expected.find((context) => !found.some((one) => one.context === context));
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  const failed = unpassed.find(({ status }) => status !== 'pending');
  if (failed) return { state: 'failure', context: failed.context ?? '' };
  const context = unpassed[0]?.context ?? missing;
  if (context !== undefined) return { state: found.length === 0 ? 'none' : 'pending', context };
  return { state: 'success' };
}
