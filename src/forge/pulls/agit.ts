import { isBlockedBy } from '../platform/access/permissions.ts';
import { isAncestor } from '../platform/git/history.ts';
import { isRefName } from '../platform/git/names.ts';
import { moveRefs, readBranch, readCommit, readRef } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { PullRow } from '../platform/rows.ts';
import { type NewPullTarget, openPushed } from './create.ts';
import { reviewPrefix } from './enforcement.ts';
import { followHead } from './refresh.ts';

/** Options of a push that opens or updates pull requests. */
export type ReviewOptions = {
  readonly topic: string;
  readonly title: string;
  readonly description: string;
  readonly isForced: boolean;
};

/** A commit that was pushed to `refs/for/BASE/TOPIC`. */
type ReviewPush = { readonly ref: string; readonly after: string };

/** A pull request opened or updated by a push. */
export type PushedReview = {
  readonly number: number;
  /** The previous head; undefined for a new pull request. */
  readonly before: string | undefined;
  readonly isForced: boolean;
};

type ReviewPlan = { readonly base: string; readonly head: string; readonly pull: PullRow | undefined };

/**
 * Returns the push options by key; the last value of a key counts. Values that contain line feeds are sent as base64.
 */
export function readReviewOptions(options: readonly string[]): ReviewOptions {
  const values = new Map(
    options.map((option) => {
      const at = option.indexOf('=');
      return at < 0 ? [option, ''] : [option.slice(0, at), option.slice(at + 1)];
    }),
  );
  return {
    topic: values.get('topic') ?? '',
    title: readOptionText(values.get('title') ?? ''),
    description: readOptionText(values.get('description') ?? ''),
    isForced: isSwitchedOn(values.get('force-push')),
  };
}

function readOptionText(text: string): string {
  const encoded = text.startsWith('{base64}') ? text.slice('{base64}'.length) : undefined;
  const isBase64 = encoded !== undefined && encoded.length % 4 === 0 && /^[A-Za-z0-9+/]*=*$/.test(encoded);
  return isBase64 ? Buffer.from(encoded, 'base64').toString('utf8') : text;
}

/** Returns whether the value of a push option is true, in Gitea's spellings; an empty value is true. */
export function isSwitchedOn(value: string | undefined): boolean {
  return value !== undefined && /^(|1|t|T|TRUE|true|True)$/.test(value);
}

/**
 * Returns why a push to `refs/for/…` is refused, as git reports it for the ref; undefined if it is allowed. `git` must
 * contain the commit.
 */
export async function reviewRefusal(
  place: NewPullTarget,
  git: GitRepository,
  push: ReviewPush,
  options: ReviewOptions,
): Promise<string | undefined> {
  const plan = await planReview(place, push.ref, options);
  if (typeof plan === 'string') return plan;
  const before = plan.pull && (await headOf(git, plan.pull));
  return before === undefined ? undefined : await refusalOfUpdate(git, before, push.after, options);
}

/**
 * Opens or updates the pull request of a push whose commit is already in the repository. Returns the reason if refused.
 */
export async function takeReview(
  place: NewPullTarget,
  { ref, after }: ReviewPush,
  options: ReviewOptions,
): Promise<PushedReview | string> {
  const { context, repository, caller } = place;
  const git = context.git.open(repository.id);
  return await context.git.exclusively(repository.id, 'pulls', async () => {
    const plan = await planReview(place, ref, options);
    if (typeof plan === 'string') return plan;
    if (!plan.pull) return await open(place, git, { ...plan, after }, options);
    const { id, number } = plan.pull;
    const before = await headOf(git, plan.pull);
    const refusal = before && (await refusalOfUpdate(git, before, after, options));
    if (refusal) return refusal;
    await moveRefs(git, [{ name: `refs/pull/${number}/head`, before, after }]);
    await followHead(context, id, caller);
    return { number, before, isForced: options.isForced };
  });
}

async function open(
  place: NewPullTarget,
  git: GitRepository,
  { base, head, after }: ReviewPlan & { readonly after: string },
  options: ReviewOptions,
): Promise<PushedReview | string> {
  const commit = await readCommit(git, after);
  if (!commit) return 'not a commit';
  const [first = '', ...rest] = commit.message.trim().split('\n');
  const title = options.title || first.trim();
  const text = { title: shortenTitle(title), body: options.description || rest.join('\n').trim() };
  const { number } = await openPushed(place, { name: head, base, commitId: commit.id }, text);
  return { number, before: undefined, isForced: false };
}

const maxTitle = 255;

function shortenTitle(title: string): string {
  const letters = [...title];
  return letters.length > maxTitle ? `${letters.slice(0, maxTitle - 1).join('')}…` : title;
}

function headOf(git: GitRepository, { number }: PullRow): Promise<string | undefined> {
  return readRef(git, `refs/pull/${number}/head`);
}

async function refusalOfUpdate(
  git: GitRepository,
  before: string,
  after: string,
  { isForced }: ReviewOptions,
): Promise<string | undefined> {
  if (before === after) return 'new commit is same with old commit';
  return isForced || (await isAncestor(git, before, after)) ? undefined : 'request `force-push` push option';
}

async function planReview(
  { context, repository, caller }: NewPullTarget,
  ref: string,
  { topic }: ReviewOptions,
): Promise<ReviewPlan | string> {
  const git = context.git.open(repository.id);
  const found = await findReviewBase(git, ref);
  if (!found) return 'base-branch does not exist';
  const name = found.topic || topic;
  if (name === '') return 'topic-branch is not set';
  const isOwn = name.startsWith(`${caller.lower_name}/`);
  // The account name is a prefix because two accounts may use the same topic.
  const head = isOwn ? name : `${caller.lower_name}/${name}`;
  if (!isRefName(head)) return 'topic-branch is not a valid branch name';
  const pull = context.db.get<PullRow>(
    `SELECT p.* FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.repo_id = ?1 AND p.head_repo_id = ?1 AND p.head_branch = ?2 AND p.base_branch = ?3 AND p.flow = 1
       AND p.is_merged = 0 AND i.is_closed = 0`,
    repository.id,
    head,
    found.base,
  );
  if (!pull && isBlockedBy(context.db, caller, [repository.owner_id])) return blockedFromReview;
  return { base: found.base, head, pull };
}

/** Refusal for an account that the repository owner has blocked. */
export const blockedFromReview =
  'Cannot create pull request because you are blocked by the repository owner.';

/**
 * Returns the target branch of `refs/for/NAME`: NAME itself if it is a branch, or else its shortest prefix that is one.
 */
export async function findReviewBase(
  git: GitRepository,
  ref: string,
): Promise<{ readonly base: string; readonly topic: string } | undefined> {
  const name = ref.slice(reviewPrefix.length);
  if (await readBranch(git, name)) return { base: name, topic: '' };
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    const base = name.slice(0, at);
    if (await readBranch(git, base)) return { base, topic: name.slice(at + 1) };
  }
  return undefined;
}
