import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { instant, int, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { diffTrees, isSubmodule } from './diff-trees.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { isCommitId, listBetween } from './files.ts';
import { pullRequest } from './pull-request.ts';
import { ways } from './ways.ts';
import { type AskedRepository, indexParams, repositoryOf, repositoryParams } from './where.ts';

/** The reviews and review requests of the pull request, oldest first, including dismissed ones. */
export const reviews = defineFact({
  name: 'reviews',
  meaning:
    'The reviews and review requests (`state` REQUEST_REVIEW) of the pull request, oldest first, including dismissed and stale ones.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  changes: [ways.reviewed, ways.dismissed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'reviews.exists(r, r.state == "APPROVED" && r.official && !r.dismissed)',
  async ask({ client, subject }) {
    const found: PullReview[] = [];
    for await (const one of client.items(operations.listReviews, { params: indexParams(subject) }))
      found.push(one);
    return found;
  },
});

/** Key prefix of the reviews that Reeve itself made, by the id of the review. */
export const ownReviewPrefix = 'own-review ';
export const ownReviewKeptMs = 365 * 86_400_000;
/** A review that Reeve made. `at` is the time of its last change. */
export type OwnReview = { readonly at: string; readonly isDismissed: boolean };

/**
 * Returns whether a rule of Reeve made this review: it is recorded, or its first line is a marker. The record is needed
 * because forges let writers edit the texts of others, and the marker because a record may be lost.
 */
export async function isOwnReview(
  { id, body }: PullReview,
  records: AskContext['records'],
): Promise<boolean> {
  if (body?.trimStart().startsWith('<!-- reeve:')) return true;
  return (await records?.get(`${ownReviewPrefix}${id}`)) !== undefined;
}

/**
 * The current state of the review that the event is about. The payload does not contain the review's id, so this is the
 * newest review with this state by the sender of the event.
 */
export const review = defineFact({
  name: 'review',
  meaning:
    'The current state of the review that the event is about: the newest review with its state by the sender of the event. Only for review events.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: PullReview,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'review.official && review.state == "APPROVED"',
  async ask({ subject, ask }) {
    const { review: about } = subject;
    if (about === undefined) {
      throw new ReeveError('forge-not-found', `this ${subject.kind} event is not about a review`);
    }
    const all = await ask(requestOf(reviews));
    const found = all
      .filter(({ user, state }) => user?.id === about.reviewer && state === about.state)
      .toSorted((a, b) => b.id - a.id)[0];
    if (found === undefined) throw new ReeveError('forge-not-found', 'the review is not there any more');
    return found;
  },
});

/**
 * Maximum number of reviewed commits compared with the head, starting with the newest reviews; the result for all
 * others is undecided.
 */
const maxCompared = 20;
/** Maximum number of merge base candidates for a head into which the base was merged. */
const maxCandidates = 3;
/** Key prefix of merge bases in the store. The stored values contain a time `at`. */
export const mergeBasePrefix = 'merge-base ';
export const mergeBaseKeptMs = 365 * 86_400_000;

/** The reviews that apply to the current changes. */
export const currentReviews = defineFact({
  name: 'current_reviews',
  meaning:
    'The approvals and rejections, not dismissed, that are about the changes of the pull request as they are now. Their commit is the head; or the changes at their commit are the same as at the head: the same paths with the same contents and modes before (at the merge base) and after. `stale` of the forge is not used. The trees of git are compared by their ids. The merge base of a reviewed commit is the one that Reeve recorded when it saw that commit as the head; otherwise, the one commit outside of `BASE...REVIEWED` that is a parent of a commit inside. In doubt (several such commits, a commit that is gone, a list or tree that cannot be read whole, a changed submodule, an unknown mode), an approval is not in the list, and a rejection is.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  changes: [
    ...[ways.pushed, ways.retargeted, ways.basePushed, ways.reviewed, ways.requested],
    ...[ways.dismissed, ways.teamRequested],
  ],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 3,
  example: 'current_reviews.exists(r, r.state == "APPROVED")',
  async ask(context) {
    const { ask } = context;
    const [pull, all] = await Promise.all([ask(requestOf(pullRequest)), ask(requestOf(reviews))]);
    const given = all.filter(
      ({ state, dismissed }) => !dismissed && (state === 'APPROVED' || state === 'REQUEST_CHANGES'),
    );
    const head = pull.head?.sha;
    if (!head) throw new Error('the pull request has no head commit');
    const older = given.toReversed().flatMap(({ commit_id }) => commit_id ?? []);
    const compared = [...new Set(older)].filter((commit) => commit !== head).slice(0, maxCompared);
    const judged = await compareWithHead(compared, pull, context);
    return given.filter(({ commit_id: commit, state }) => {
      if (commit === head) return true;
      const isSame = commit ? judged.get(commit) : undefined;
      return isSame ?? state === 'REQUEST_CHANGES';
    });
  },
});

/**
 * The changes of a pull request at one of its heads: the content of each path before and after, serialized as one text.
 */
type Changes = string;

/**
 * Returns for each commit whether the pull request's changes at that commit equal those at the head; undefined if
 * undecided.
 */
async function compareWithHead(
  commits: readonly string[],
  pull: PullRequest,
  context: AskContext,
): Promise<ReadonlyMap<string, boolean | undefined>> {
  const { client, subject, memory, records } = context;
  const [head, base] = [pull.head?.sha ?? '', pull.base?.ref ?? ''];
  const keyOf = (commit: string): string => `${mergeBasePrefix}${repositoryOf(subject).id} ${base} ${commit}`;
  const recorded = async (commit: string) =>
    MergeBase.safeParse(await records?.get(keyOf(commit))).data?.mergeBase;
  const found = new Map<string, boolean | undefined>();
  const isSeen = records === undefined || (await recorded(head)) !== undefined;
  if (commits.length === 0 && isSeen) return found;
  const asked = { client, params: repositoryParams(subject) };
  // Prevents a branch or tag of the same name from shadowing the base: the request uses the ref type that the forge
  // resolves first.
  const branchesFirst = (await client.capabilities()).has.branches_before_tags;
  const from = branchesFirst ? base : (pull.base?.sha ?? '');
  const mergeBase = await mergeBaseOfHead(asked, { from, head, hint: pull.merge_base ?? '' });
  if (mergeBase === undefined) return found;
  if (!isSeen) await records?.set(keyOf(head), { mergeBase });
  let ofHead: Promise<Changes | undefined> | undefined;
  for (const commit of commits.filter(isCommitId)) {
    const key = `${repositoryOf(subject).id}/same-changes/${commit} ${head} ${pull.base?.sha} ${base}`;
    let isSame = memory.get(key) as boolean | undefined;
    if (isSame === undefined) {
      const mergeBaseThen = (await recorded(commit)) ?? (await onlyMergeBase(asked, from, commit));
      ofHead ??= changesOf(asked, mergeBase, head);
      const [then, now] = [mergeBaseThen && (await changesOf(asked, mergeBaseThen, commit)), await ofHead];
      isSame = then === undefined || now === undefined ? undefined : then === now;
      if (isSame !== undefined) memory.set(key, isSame);
    }
    found.set(commit, isSame);
  }
  return found;
}

const MergeBase = z.object({ mergeBase: z.string() });

/**
 * Boundary of the commits that a base lacks: the number of these commits (`inside`), and their parents that are not
 * among them (`outside`), with the parents of the newest commits first.
 */
type Boundary = { readonly inside: number; readonly outside: readonly string[] };

async function boundaryOf(asked: AskedRepository, from: string, to: string): Promise<Boundary | undefined> {
  const commits = await listBetween(asked, from, to);
  if (commits === undefined || commits.length === 0) return undefined;
  const inside = new Set(commits.map(({ sha }) => sha));
  const parents = commits.flatMap(({ parents: all }) => all ?? []).map(({ sha }) => sha);
  return { inside: inside.size, outside: [...new Set(parents)].filter((sha) => !inside.has(sha)) };
}

/**
 * Returns the merge base of a commit if it is unambiguous, that is, if nothing from the base was merged into the
 * commit.
 */
async function onlyMergeBase(
  asked: AskedRepository,
  from: string,
  commit: string,
): Promise<string | undefined> {
  const { outside } = (await boundaryOf(asked, from, commit)) ?? { outside: [] };
  return outside.length === 1 ? outside[0] : undefined;
}

/**
 * Returns the merge base of the head. If the base was merged into the head, the commits of the head have several
 * parents outside. The merge base is the outside parent from which the others can be reached: the head has as many
 * commits relative to this parent as relative to the base. Tries `hint` first: it is the forge's own answer, which may
 * be for an earlier head.
 */
async function mergeBaseOfHead(
  asked: AskedRepository,
  { from, head, hint }: { readonly from: string; readonly head: string; readonly hint: string },
): Promise<string | undefined> {
  const boundary = await boundaryOf(asked, from, head);
  if (boundary === undefined || boundary.outside.length < 2) return boundary?.outside[0];
  const first = boundary.outside.filter((one) => one === hint);
  for (const candidate of new Set([...first, ...boundary.outside].slice(0, maxCandidates))) {
    const beside = await listBetween(asked, candidate, head);
    if (beside?.length === boundary.inside) return candidate;
  }
  return undefined;
}

async function changesOf(
  asked: AskedRepository,
  mergeBase: string,
  commit: string,
): Promise<Changes | undefined> {
  const differing = await diffTrees(asked, mergeBase, commit);
  if (differing === undefined) return undefined;
  const all = [...differing].toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (all.some(([, { before, after }]) => isSubmodule(before) || isSubmodule(after))) return undefined;
  return JSON.stringify(all.map(([path, { before = '', after = '' }]) => [path, before, after]));
}

/** Maximum number of pull requests examined. */
const maxPulls = 50;
/** Number of concurrent requests for timelines. */
const width = 5;
const perPage = 50;
const maxPages = 20;

/** A review request for a user or for a team. */
const RecentReviewRequest = resource({ number: int, requested_at: instant }, { login: text, team: text });
type RecentReviewRequest = z.output<typeof RecentReviewRequest>;

/** The accounts requested as reviewers in the newest pull requests, according to their timelines. */
export const reviewRequests = defineFact({
  name: 'review_requests',
  meaning: `The requests for a review in the newest ${maxPulls} pull requests of the repository, open or closed, as their timelines show them. A request that was withdrawn is included.`,
  shows: 'repository',
  visibleTo: 'pulls',
  shape: list(RecentReviewRequest),
  of: ['repository', 'pull_request'],
  changes: [ways.requested, ways.reviewed, ways.teamRequested],
  needs: { access: 'reader', scopes: ['repository', 'issue'] },
  requests: maxPulls + 1,
  example: 'review_requests.filter(r, r.login == "ada").size() < 10',
  async ask(context) {
    const { client, subject } = context;
    const query = { state: 'all', page: 1, limit: maxPulls };
    const pulls = await client.call(operations.listPulls, { params: repositoryParams(subject), query });
    const numbers = pulls.map(({ number }) => number);
    const found: (readonly RecentReviewRequest[])[] = [];
    for (let at = 0; at < numbers.length; at += width) {
      const some = numbers.slice(at, at + width).map((number) => requestsOf(number, context));
      found.push(...(await Promise.all(some)));
    }
    return found.flat();
  },
});

async function requestsOf(
  number: number,
  { client, subject }: AskContext,
): Promise<readonly RecentReviewRequest[]> {
  const params = { ...repositoryParams(subject), index: number };
  const found: RecentReviewRequest[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const entries = await client.call(operations.listTimeline, { params, query: { page, limit: perPage } });
    for (const { type, removed_assignee, assignee, assignee_team, created_at } of entries) {
      if (type !== 'review_request' || removed_assignee || !created_at) continue;
      const login = assignee?.login || undefined;
      const team = assignee_team?.name || undefined;
      if (login ?? team) found.push({ number, requested_at: created_at, login, team });
    }
    // Forges may hide a few entries of a page, but never half of them. Two more requests for certainty would triple the
    // cost.
    if (entries.length < perPage / 2) break;
  }
  return found;
}
