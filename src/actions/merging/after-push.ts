import { z } from 'zod';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { TimelineEntry } from '../../contract/resources/timeline.ts';
import type { User } from '../../contract/resources/users.ts';
import { assignable, isWriter, permissionOf } from '../../facts/collaborators.ts';
import { maxCommandBody, parseCommandLines } from '../../facts/command.ts';
import { type Facts, requestOf } from '../../facts/fact.ts';
import { timeline } from '../../facts/issue.ts';
import { reviews } from '../../facts/reviews.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { PlanContext } from '../plan-context.ts';
import { sidesOf } from './pull.ts';

/**
 * A label or a command asks for the merge of what its author has seen. It says nothing of commits that an account without write access
 * pushes afterwards.
 */

export const afterPushChoices = ['writers', 'anyone'] as const;
export type AfterPush = (typeof afterPushChoices)[number];

/** The argument of actions that merge. */
export const afterPushField = {
  'after-push': z.enum(afterPushChoices).default('writers').meta({
    description:
      '`writers`: nothing is merged after a push by an account without write access, until someone with write access acts again: sets a label that the rule names, approves this head, or gives a command that the rule reads. A retargeted pull request counts as pushed to, and so does one that such an account reopens. `anyone`: pushes of others do not matter.',
  }),
};

/** The body of an entry `pull_push`: oldest commit first; before and after, where the push was forced. */
const PushBody = z.object({ is_force_push: z.boolean(), commit_ids: z.array(z.string()).nullable() });

const whoActs =
  'someone with write access has to set a label that the rule names, approve this head, or give a command that the rule reads';

/**
 * Returns why the head is not what someone with write access has asked to merge; undefined if it is. The order is that of the
 * entries in the timeline, never of their times. A push whose author is unknown counts as one of an account without write access, and
 * so does everything before a retargeting: the forge then forgets who pushed what. Our own updates are neither pushes nor acts.
 */
export async function untrustedPush(
  pull: PullRequest,
  choice: AfterPush,
  facts: Facts,
  context: PlanContext,
): Promise<string | undefined> {
  // A what-if has no account and no course of events to judge.
  if (choice === 'anyone' || context.account === undefined) return undefined;
  const { head, isFork } = sidesOf(pull);
  const accounts = createAccounts(facts, context);
  const entries = await facts.ask(requestOf(timeline));
  if (await isApproved(pull, { head, entries }, facts, accounts)) return undefined;
  const lastPush = entries.findLast(({ type }) => type === 'pull_push');
  if (lastPush === undefined || endOf(lastPush) !== head)
    return `its timeline names no push that ends at ${head.slice(0, 10)}: someone with write access has to approve this head`;
  for (const entry of entries.toReversed()) {
    if (entry.type === 'change_target_branch')
      return `its base was changed, and no one acted since: ${whoActs}`;
    if (entry.type === 'pull_push') {
      if (accounts.isOurs(entry.user) || (await accounts.mayPush(entry.user, isFork))) continue;
      return `${entry.user?.login ?? 'an unknown account'} pushed without write access: ${whoActs}`;
    }
    // Forges note no push to a closed pull request: whoever reopens it may bring anything.
    if (
      entry.type === 'reopen' &&
      (accounts.isOurs(entry.user) || !(await accounts.mayPush(entry.user, true)))
    )
      return `it was reopened by ${entry.user?.login ?? 'an unknown account'}, and no one acted since: ${whoActs}`;
    if (accounts.isOurs(entry.user)) continue;
    if (isLabelAct(entry, context) && (await accounts.maySetLabels(entry.user))) return undefined;
    if (isCommandAct(entry, context) && (await accounts.mayCommand(entry.user))) return undefined;
  }
  return undefined;
}

/**
 * Returns whether an account other than the author and our own, which may write now, approves this head for this base, and has not
 * requested changes since. A dismissed request for changes counts, too.
 */
async function isApproved(
  { user }: PullRequest,
  { head, entries }: { readonly head: string; readonly entries: readonly TimelineEntry[] },
  facts: Facts,
  accounts: Accounts,
): Promise<boolean> {
  const retargeted = entries.findLastIndex(({ type }) => type === 'change_target_branch');
  const since = new Set(entries.slice(retargeted + 1).map(({ review_id }) => review_id));
  const all = await facts.ask(requestOf(reviews));
  for (const review of all) {
    const isOfHead = review.commit_id === head && review.state === 'APPROVED' && !review.dismissed;
    const isOfBase = retargeted < 0 || since.has(review.id);
    if (!isOfHead || !isOfBase || accounts.isOurs(review.user) || review.user?.id === user?.id) continue;
    const isTakenBack = all.some(
      (later) =>
        later.id > review.id && later.user?.id === review.user?.id && later.state === 'REQUEST_CHANGES',
    );
    if (!isTakenBack && (await accounts.mayApprove(review.user, review.official === true))) return true;
  }
  return false;
}

function endOf({ body }: TimelineEntry): string | undefined {
  try {
    return PushBody.parse(JSON.parse(body ?? '')).commit_ids?.at(-1);
  } catch {
    return undefined;
  }
}

function isLabelAct({ type, body, label }: TimelineEntry, { acts }: PlanContext): boolean {
  const name = label?.name?.toLowerCase();
  const isAdded = type === 'label' && body === '1';
  return isAdded && name !== undefined && acts?.texts.some((text) => text.toLowerCase() === name) === true;
}

function isCommandAct({ type, body }: TimelineEntry, { acts }: PlanContext): boolean {
  if (type !== 'comment' || acts === undefined || acts.commands.length === 0) return false;
  if (!body || body.length > maxCommandBody) return false;
  return parseCommandLines(body).some(({ name }) => acts.commands.includes(name));
}

type Account = Pick<User, 'id' | 'login'> | null | undefined;
type Accounts = {
  readonly isOurs: (user: Account) => boolean;
  readonly mayPush: (user: Account, isFork: boolean) => Promise<boolean>;
  readonly maySetLabels: (user: Account) => Promise<boolean>;
  readonly mayCommand: (user: Account) => Promise<boolean>;
  /** `isOfficial`: the forge counted it when it was given. */
  readonly mayApprove: (user: Account, isOfficial: boolean) => Promise<boolean>;
};

/**
 * Returns what accounts may do now. Only administrators may ask the forge for a permission. For others, the forge itself shows it where
 * it asked for write access: in a label that was set, an official review, and a push to the repository itself, by an account that still
 * belongs to it.
 */
function createAccounts(facts: Facts, { account: own }: PlanContext): Accounts {
  const permission = async (user: Account): Promise<'writer' | 'other' | 'unknown'> => {
    if (!user || user.id <= 0) return 'other';
    try {
      const found = await facts.ask(requestOf(permissionOf, user.login));
      return found?.id === user.id && isWriter(found.permission) ? 'writer' : 'other';
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-forbidden') return 'unknown';
      throw error;
    }
  };
  const belongs = async (user: Account): Promise<boolean> =>
    (await facts.ask(requestOf(assignable))).some(({ id }) => id === user?.id);
  const may = async (user: Account, isShown: boolean): Promise<boolean> => {
    const known = await permission(user);
    return known === 'unknown' ? isShown && (await belongs(user)) : known === 'writer';
  };
  return {
    isOurs: (user) => own !== undefined && user?.id === own.id,
    mayPush: (user, isFork) => may(user, !isFork),
    maySetLabels: (user) => may(user, true),
    mayCommand: (user) => may(user, false),
    mayApprove: (user, isOfficial) => may(user, isOfficial),
  };
}
