import { z } from 'zod';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { list } from '../contract/shape.ts';
import { isCommitId, listBetween } from './changed-since.ts';
import { diffTrees, isSubmodule } from './diff-trees.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { reviews as reviewsRow } from './reviews.ts';
import { type AskedRepository, repositoryOf, repositoryParams } from './where.ts';

/** Reviewed commits that are compared with the head, those of the newest reviews; others are in doubt. */
const maxCompared = 20;
/** Possible merge bases of a head into which the base was merged that are looked at. */
const maxCandidates = 3;
/** The beginning of the keys of merge bases that are kept in the store. Their values have an instant `at`. */
export const mergeBasePrefix = 'merge-base ';
export const mergeBaseKeptMs = 365 * 86_400_000;

/** The reviews that are about the changes as they are now. */
export const currentReviews = defineFact({
  name: 'current_reviews',
  meaning:
    'The approvals and rejections, not dismissed, that are about the changes of the pull request as they are now. Their commit is the head; or the changes at their commit are the same as at the head: the same paths with the same contents and modes before (at the merge base) and after. `stale` of the forge is not used. The trees of git are compared by their ids. The merge base of a reviewed commit is the one that Reeve recorded when it saw that commit as the head; otherwise, the one commit outside of `BASE...REVIEWED` that is a parent of a commit inside. In doubt (several such commits, a commit that is gone, a list or tree that cannot be read whole, a changed submodule, an unknown mode), an approval is not in the list, and a rejection is.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 3,
  example: 'current_reviews.exists(r, r.state == "APPROVED")',
  async ask(context) {
    const { ask } = context;
    const [pull, all] = await Promise.all([ask(requestOf(pullRequest)), ask(requestOf(reviewsRow))]);
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

/** The changes of a pull request at one of its heads: what is before and after at each path, as one text. */
type Changes = string;

/** Says for each commit whether the changes there are those at the head; undefined: in doubt. */
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
  // No other branch or tag takes the place of the base: the forge is asked for what it looks for first.
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

/** What leads out of the commits that a base does not have: their parents outside, those of the newest commits first. */
type Boundary = { readonly inside: number; readonly outside: readonly string[] };

async function boundaryOf(asked: AskedRepository, from: string, to: string): Promise<Boundary | undefined> {
  const commits = await listBetween(asked, from, to);
  if (commits === undefined || commits.length === 0) return undefined;
  const inside = new Set(commits.map(({ sha }) => sha));
  const parents = commits.flatMap(({ parents: all }) => all ?? []).map(({ sha }) => sha);
  return { inside: inside.size, outside: [...new Set(parents)].filter((sha) => !inside.has(sha)) };
}

/** Returns the merge base of a commit where it is plain to see: where nothing of the base was merged into it. */
async function onlyMergeBase(
  asked: AskedRepository,
  from: string,
  commit: string,
): Promise<string | undefined> {
  const { outside } = (await boundaryOf(asked, from, commit)) ?? { outside: [] };
  return outside.length === 1 ? outside[0] : undefined;
}

/**
 * Returns the merge base of the head. Where the base was merged into it, several commits are parents of its own ones: it is the one
 * from which the others are reached, so that the head has as many commits beside it as beside the base. `hint` is looked at first: the
 * forge’s own answer may be that of an earlier head.
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
