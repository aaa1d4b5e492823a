import { z } from 'zod';
import type { Subject } from '../contract/events/subject.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import type { TimelineEntry } from '../contract/resources/timeline.ts';
import { permissionOf } from '../facts/collaborators.ts';
import { maxCommandBody, parseCommandLines } from '../facts/command.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { timeline } from '../facts/issue.ts';
import { reviews } from '../facts/reviews.ts';
import { assignable, isWriter, UnknownWriter } from '../facts/write-access.ts';
import { ReeveError } from '../platform/errors.ts';
import { forgeText } from './action.ts';
import type { Change, DraftChange } from './change.ts';
import type { ActionMemory, ReadableMemory } from './memory.ts';
import type { PlanContext } from './plan-context.ts';
import { mergeMethods } from './queue-desk.ts';

/** Common arguments of merging actions: method and commit message. */
export const mergeFields = {
  method: z
    .enum(mergeMethods)
    .optional()
    .meta({ description: 'How to merge; default: the default of the repository.' }),
  title: forgeText({ commit: true })
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'First line of the commit message; default: that of the forge.' }),
  message: forgeText({ lines: true, commit: true })
    .max(60_000)
    .optional()
    .meta({ description: 'Rest of the commit message.' }),
};

/** The head commit and the base branch that a merge needs, and whether the head is in a fork. */
export type PullSides = { readonly head: string; readonly base: string; readonly isFork: boolean };

/** Returns the head commit and the base branch of a pull request. Throws if the forge does not show them. */
export function sidesOf({ number, head, base }: PullRequest): PullSides {
  if (!head?.sha || !base?.ref) throw new Error(`pull request #${number} has no head.sha or no base.ref`);
  // The head repository of a fork may have been deleted.
  const isFork = head.repo?.id === undefined || head.repo.id !== (base.repo?.id ?? base.repo_id);
  return { head: head.sha, base: base.ref, isFork };
}

/**
 * Returns the change with the reason for delaying it. `polls`: on some forges, no event is sent when the reason no
 * longer applies.
 */
export function waiting(change: DraftChange, why: string, polls = false): Change {
  return { ...change, reason: why, waits: { why, polls } };
}

/**
 * Whose later pushes do not block a merge. A label or a command requests the merge of the commits that its author has
 * seen; the request does not cover commits that an account without write access pushes afterwards.
 */
const afterPushChoices = ['writers', 'anyone'] as const;
type AfterPush = (typeof afterPushChoices)[number];

/** The argument of merging actions that decides about later pushes. */
export const afterPushField = {
  'after-push': z.enum(afterPushChoices).default('writers').meta({
    description:
      '`writers`: nothing is merged after a push by an account without write access, until someone with write access acts again: sets a label that the rule names, approves this head, or gives a command that the rule reads. A retargeted pull request counts as pushed to, and so does one that such an account reopens. `anyone`: pushes of others do not matter.',
  }),
};

/** Body of a `pull_push` timeline entry: the commits, oldest first; for a forced push, the commits before and after. */
const PushBody = z.object({ is_force_push: z.boolean(), commit_ids: z.array(z.string()).nullable() });

const whoActs =
  'someone with write access must set a label that the rule names, approve this head, or give a command that the rule reads';

/**
 * Returns why the head has not been requested for merging by an account with write access; undefined if it has. Entries
 * are ordered by their position in the timeline, not by their times. A push by an unknown account counts as a push
 * without write access. Everything before a change of the base branch also counts as such a push, because the forge
 * then no longer shows who pushed what. The bot's own branch updates count neither as pushes nor as acts.
 */
export async function untrustedPush(
  pull: PullRequest,
  choice: AfterPush,
  facts: Facts,
  context: PlanContext,
): Promise<string | undefined> {
  // A what-if has no account and no timeline to evaluate.
  if (choice === 'anyone' || context.account === undefined) return undefined;
  const accounts = createAccounts(facts, context);
  const why = await findUntrustedPush(pull, { facts, context, accounts });
  const unseen = accounts.whyUnknown();
  return why !== undefined && unseen !== undefined ? `${why}; ${unseen}` : why;
}

async function findUntrustedPush(
  pull: PullRequest,
  {
    facts,
    context,
    accounts,
  }: { readonly facts: Facts; readonly context: PlanContext; readonly accounts: Accounts },
): Promise<string | undefined> {
  const { head, isFork } = sidesOf(pull);
  const entries = await facts.ask(requestOf(timeline));
  if (await isApproved(pull, { head, entries }, facts, accounts)) return undefined;
  const lastPush = entries.findLast(({ type }) => type === 'pull_push');
  if (lastPush === undefined || endOf(lastPush) !== head)
    return `the timeline does not contain a push that ends at ${head.slice(0, 10)}: someone with write access has to approve this head`;
  for (const entry of entries.toReversed()) {
    if (entry.type === 'change_target_branch')
      return `the base was changed, and no account with write access has acted since: ${whoActs}`;
    if (entry.type === 'pull_push') {
      if (accounts.isOurs(entry.user) || (await accounts.mayPush(entry.user, isFork))) continue;
      return `${entry.user?.login ?? 'an unknown account'} pushed without write access: ${whoActs}`;
    }
    // Forges do not record pushes to a closed pull request, so reopening it may bring in any commits.
    if (
      entry.type === 'reopen' &&
      (accounts.isOurs(entry.user) || !(await accounts.mayPush(entry.user, true)))
    )
      return `it was reopened by ${entry.user?.login ?? 'an unknown account'}, and no account with write access has acted since: ${whoActs}`;
    if (accounts.isOurs(entry.user)) continue;
    if (isLabelAct(entry, context) && (await accounts.maySetLabels(entry.user))) return undefined;
    if (isCommandAct(entry, context) && (await accounts.mayCommand(entry.user))) return undefined;
  }
  return undefined;
}

/**
 * Returns whether an account with current write access approves this head for this base and has not requested changes
 * since; the author's and the bot's own approvals do not count. A dismissed request for changes counts too.
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

type Account = { readonly id: number; readonly login: string } | null | undefined;
type Accounts = {
  readonly isOurs: (user: Account) => boolean;
  readonly mayPush: (user: Account, isFork: boolean) => Promise<boolean>;
  readonly maySetLabels: (user: Account) => Promise<boolean>;
  readonly mayCommand: (user: Account) => Promise<boolean>;
  /** `isOfficial`: the forge counted the review as official when the review was given. */
  readonly mayApprove: (user: Account, isOfficial: boolean) => Promise<boolean>;
  /** Why an account did not count that may have write access; undefined if all are known. */
  readonly whyUnknown: () => string | undefined;
};

/**
 * Returns functions that check the current permissions of accounts. Only administrators may request a permission from
 * the forge. If the bot's account is not an administrator, write access is inferred from acts that require it (a label,
 * an official review, or a push to the repository itself), if the account still has access. For an administrator, an
 * account whose teams the forge does not show has no access: members of a team without access to the code set labels,
 * too.
 */
function createAccounts(facts: Facts, { account: own }: PlanContext): Accounts {
  let unknown: string | undefined;
  const permission = async (user: Account): Promise<'writer' | 'other' | 'unknown'> => {
    if (!user || user.id <= 0) return 'other';
    try {
      const found = await facts.ask(requestOf(permissionOf, user.login));
      return found?.id === user.id && isWriter(found.permission) ? 'writer' : 'other';
    } catch (error) {
      if (error instanceof UnknownWriter) {
        unknown ??= error.message;
        return 'other';
      }
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
    whyUnknown: () => unknown,
  };
}

/** Prefix of the memory keys of due protections. Values have an instant `at`. */
export const dueProtectionPrefix = 'due protection ';

/**
 * Protective changes (`Change.protects`) that are due: delayed by a limit or a pause, refused by the forge, or
 * belonging to a failed rule. Until they are applied, the subjects they protect are not merged: a limit or a failure
 * never opens a gate. `rules` contains the reason for each rule, by the identity of the rule.
 */
type DueProtections = { readonly at: string; readonly rules: Readonly<Record<string, string>> };

type Place = {
  readonly repository?: Subject['repository'] | undefined;
  readonly index?: number | undefined;
};

/**
 * Records, after a run, which rules have due protective changes of a subject. Removes settled rules that have none;
 * leaves other rules unchanged.
 */
export async function noteDueProtections(
  memory: ActionMemory,
  place: Place,
  run: {
    readonly due: ReadonlyMap<string, string>;
    /** Returns whether a rule has no delayed changes other than those in `due`. */
    readonly isSettled: (rule: string) => boolean;
    readonly now: Date;
  },
): Promise<void> {
  const key = keyOf(place);
  if (key === undefined) return;
  // Read first, because most runs have nothing to record.
  if (run.due.size === 0 && (await memory.get(key)) === undefined) return;
  await memory.revise(key, (value) => {
    // The cast is safe: only this function writes these keys.
    const { rules = {} } = (value ?? {}) as Partial<DueProtections>;
    const others = Object.entries(rules).filter(([rule]) => !run.isSettled(rule));
    const left = Object.fromEntries([...others, ...run.due]);
    if (Object.keys(left).length === 0) return undefined;
    return { at: run.now.toISOString(), rules: left } satisfies DueProtections;
  });
}

/**
 * Returns why a pull request must not be merged now: a protective change for the pull request or its repository is due.
 */
export async function findDueProtection(
  memory: ReadableMemory,
  { repository, index }: Place,
): Promise<string | undefined> {
  for (const place of [{ repository, index }, { repository }]) {
    const key = keyOf(place);
    const due = key === undefined ? undefined : ((await memory.get(key)) as DueProtections | undefined);
    const [first] = Object.entries(due?.rules ?? {});
    if (first !== undefined)
      return `a protective change of ${first[0]} has not been applied yet: ${first[1]}`;
  }
  return undefined;
}

function keyOf({ repository, index }: Place): string | undefined {
  return repository === undefined ? undefined : `${dueProtectionPrefix}${repository.id}#${index ?? ''}`;
}
