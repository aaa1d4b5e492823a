import { z } from 'zod';
import type { AnyInput } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import type { Branch, CommitEntry } from '../contract/resources/branches.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import {
  backportBranch,
  backportMarker,
  backports,
  isBackportBranch,
  isFromBackportBranch,
} from '../facts/backports.ts';
import { branches } from '../facts/branches.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { commitDiff, compare } from '../facts/files.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { ways } from '../facts/ways.ts';
import { repositoryParams } from '../facts/where.ts';
import { compileGlob, GlobError } from '../patterns/glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { ReeveError } from '../platform/errors.ts';
import { condition, defineAction, forgeText } from './action.ts';
import {
  type BackportSource,
  type HandReason,
  type HandSource,
  handReasons,
  handSourceOf,
  isSameChange,
  keptFacts,
  notesText,
  opened,
  openingOf,
  patching,
  readMergedChange,
  readNotes,
  removal,
} from './backport-changes.ts';
import type { Change } from './change.ts';
import { undoDeleteBranch } from './delete-branch.ts';
import { type ForgeObject, type Inverse, pathParams, undoCreatePull } from './inverses.ts';
import { labelIds } from './label-names.ts';
import { sidesOf, waiting } from './merging.ts';
import { distinctNames } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import {
  askOr,
  askWritten,
  commentInverses,
  commentsFact,
  isOurs,
  markerOf,
  withMarker,
  writeComment,
} from './texts.ts';

/**
 * Deletes the branch created for an applied patch, if it is still exactly one commit ahead of its target and that
 * commit is unchanged. For runs of earlier versions, and if the response was lost, the commit is identified only by its
 * message.
 */
const undoPatch: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  const { name, onto } = change.after as { readonly name: string; readonly onto: string };
  let value: ForgeObject | null;
  try {
    const { total_commits, commits } = await client.call(operations.compare, {
      params: { ...params, basehead: `${onto}...${name}` },
    });
    const [newest] = commits;
    const message = newest?.commit?.message?.trimEnd();
    const count = Math.max(total_commits ?? 0, commits.length);
    value = { name, onto, commits: count, message, commit: newest?.sha };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
    value = null;
  }
  return {
    value,
    undo: () => ({ operation: operations.deleteBranch, input: { params: { ...params, branch: name } } }),
  };
};

const branchGlobs = z.array(z.string().min(1).max(255)).min(1).max(20);
/** Stands for the branch in a label or title. */
const branchSign = '{branch}';
const BackportForm = z.strictObject({
  to: z
    .union([
      branchGlobs,
      z.strictObject({
        label: z
          .string()
          .max(255)
          .refine((text) => text.split(branchSign).length === 2, { message: `write ${branchSign} once` })
          .meta({ description: 'Name of a label; `{branch}` stands for the branch that the label names.' }),
        only: branchGlobs.meta({
          description: 'The branches that a label may name: names or globs; `!` excludes.',
        }),
      }),
    ])
    .meta({
      description:
        'The branches to backport to: names, or globs over the existing branches; `!` excludes. Or `{ label: "backport/{branch}", only: ["release/*"] }`: the branches that labels of the pull request name. At most 20 branches may match.',
    }),
  when: condition().optional().meta({ description: 'It is backported only while this condition holds.' }),
  labels: z
    .array(z.string().min(1).max(255))
    .max(50)
    .optional()
    .meta({ description: 'Labels to set at opening.' }),
  title: forgeText().min(1).max(255).optional().meta({
    description:
      'Title of the backport; `{branch}` stands for its branch. Default: `[{branch}]` and the title of the pull request.',
  }),
  assignees: z
    .array(z.string().min(1).max(255))
    .max(10)
    .optional()
    .meta({ description: 'Accounts to assign at opening.' }),
});
type BackportForm = z.output<typeof BackportForm>;

const pullFact = requestOf(pullRequest);
const branchesFact = optionalRequestOf(branches);
const backportsFact = optionalRequestOf(backports);

/** Suffix in the marker of the comment. The key of a `comment` step can never be equal to it. */
const note = 'backports';

/** Data shared by the plans for all target branches of a step. */
type Backporting = {
  readonly pull: PullRequest;
  readonly given: BackportForm;
  readonly facts: Facts;
  readonly context: PlanContext;
  readonly all: readonly Branch[] | undefined;
};

/** Backports the changes of a merged pull request to other branches, each as a pull request. */
export const backport = defineAction<BackportForm>({
  name: 'backport',
  meaning:
    'For each branch of `to`, a pull request with the changes of the merged pull request exists. Reeve applies the patch to a new branch `backport-NUMBER-to-BRANCH` as one commit with the author of the change, compares the result with the pull request, and opens the backport; it is recognised later by a marker in its body. One that was closed is not opened again. If the changes do not apply, or the forge could apply them only in part or with other whitespace, nothing remains of the attempt, and one comment has the commands to backport by hand. The same comment is written for pull requests with merge commits, files of Git LFS, files that are not UTF-8, or over 1 MiB of changes. The conditions are evaluated again immediately before each write.',
  example: `uses: backport
with:
  to: ["release/*"]
  when: pull_request.labels.exists(l, l.name == "backport")
`,
  arguments: BackportForm,
  of: ['pull_request'],
  ways: { writes: [], after: [ways.merged, ways.labels] },
  needs: { access: 'writer', scopes: ['repository', 'issue'] },
  describesState: true,
  granted: false,
  visibleTo: 'code',
  inverses: {
    [operations.applyDiffPatch.id]: undoPatch,
    [operations.createPull.id]: undoCreatePull,
    [operations.deleteBranch.id]: undoDeleteBranch,
    ...commentInverses,
  },
  adoption: undefined,
  recorded: withoutEnd,
  examine: ({ to }) => ('label' in to ? examineTargets(to.only, ['to', 'only']) : examineTargets(to, ['to'])),
  facts: (given) => (given.when === false ? [] : [pullFact, branchesFact]),
  plan: planBackports,
  async followUp(given, facts, context, planned) {
    const decision = ({ target, value }: Change) => `${target} ${JSON.stringify(value)}`;
    const before = new Set(planned.map(decision));
    return (await planBackports(given, facts, context)).filter((change) => !before.has(decision(change)));
  },
  async intend(change, context) {
    const place = trialPlaceOf(change);
    if (place === undefined || change.operation !== operations.applyDiffPatch.id) return async () => {};
    const { message } = change.input.body as { readonly message: string };
    await noteTrial(place, { intended: message }, context);
    return () => noteTrial(place, undefined, context);
  },
  made(change, answer) {
    const commit = change.operation === operations.applyDiffPatch.id ? commitIn(answer) : undefined;
    return commit === undefined ? undefined : { commit };
  },
  async refused(change, context) {
    const place = trialPlaceOf(change);
    if (place === undefined || change.operation !== operations.applyDiffPatch.id) return undefined;
    await noteTrial(place, { refused: 'conflict' }, context);
    return describeRefusal('conflict', place.target);
  },
  async remember(change, answer, context) {
    const place = trialPlaceOf(change);
    if (place === undefined) return forgetReported(change, context);
    const made = change.operation === operations.applyDiffPatch.id ? commitIn(answer) : undefined;
    await noteTrial(place, made === undefined ? undefined : { made }, context);
  },
});

/** Plans the backports to all branches of `to`, both existing and missing ones. */
async function planBackports(
  given: BackportForm,
  facts: Facts,
  context: PlanContext,
): Promise<readonly Change[]> {
  if (given.when === false) return [];
  const pull = await facts.ask(pullFact);
  if (!pull.merged) return [];
  const source = handSourceOf(pull);
  const all = await askOr(facts, branchesFact, undefined);
  const targets = targetsOf(pull, given.to, { branches: all, meter: context.meter });
  const known = await askWritten(facts, backportsFact);
  const isOf = (target: string) => (one: PullRequest) =>
    isOurs(one, backportMarker(pull.number, target), context) ||
    (one.base?.ref === target && isFromBackportBranch(one, pull.number));
  const done: Change[] = [];
  const open: string[] = [];
  for (const target of targets.there) {
    const found = known.find(isOf(target));
    if (found) done.push(opened(found, source, target, facts));
    else open.push(target);
  }
  const absent = targets.missing.map((target) => absentTarget(pull, source, target, facts));
  if (open.length === 0) return [...done, ...absent];
  return [...done, ...absent, ...(await planOpen(open, { pull, given, facts, context, all }))];
}

/** Plans the missing backports. */
async function planOpen(targets: readonly string[], plan: Backporting): Promise<readonly Change[]> {
  const { pull, given, facts, context } = plan;
  const source = await readMergedChange(pull, facts);
  if (source.patch === '' && source.byHand === undefined) return [];
  const marker = markerOf(context, 'backport', note);
  const live = (await askWritten(facts, commentsFact)).find((one) => isOurs(one, marker, context));
  const notes = new Map(readNotes(live?.body ?? ''));
  const ids = given.labels ? await labelIds(given.labels, facts) : [];
  const labels = { names: given.labels ?? [], ids };
  const titleParts = given.title?.split(branchSign);
  const asked = { facts, labels, titleParts, assignees: distinctNames(given.assignees ?? []) };
  const changes: Change[] = [];
  const removals: Change[] = [];
  for (const target of targets) {
    // Branches that the grants do not cover are refused anyway, so the comment does not mention them.
    if (!((await context.covers?.('backport', target)) ?? true)) {
      const open = openingOf(pull, source, target, { ...asked, exists: false });
      changes.push(patching(source, target, facts), open);
      continue;
    }
    const state = await stateOf(target, source, notes.has(target), plan);
    if (state.note) notes.set(target, state.note);
    if (state.leftover) removals.push(removal(source, target, state.leftover, facts));
    if (state.step === undefined) continue;
    const exists = state.step === 'open';
    const open = openingOf(pull, source, target, { ...asked, exists });
    const branch = backportBranch(pull.number, target);
    if (state.step === 'taken') changes.push(waiting(open, `there is a branch ${branch} with other changes`));
    else changes.push(...(exists ? [] : [patching(source, target, facts)]), open);
  }
  if (notes.size === 0) return [...changes, ...removals];
  const body = withMarker(
    marker,
    notesText(notes, source, (target) => backportBranch(pull.number, target)),
  );
  const target = `comment:${context.rule}/backport on #${pull.number}`;
  const comment = {
    ...writeComment(live, body, { action: 'backport', target, facts }),
    value: { commit: source.mergeCommit, notes: Object.fromEntries(notes) },
    reconsiders: true,
    keeps: keptFacts,
  } as const;
  return [...changes, comment, ...removals];
}

/** State of the backport to one target branch. */
type TargetState = {
  /**
   * Next step: create the branch and the pull request, create only the pull request, or wait because the branch has
   * other changes.
   */
  readonly step?: 'patch' | 'open' | 'taken';
  /** Reason for leaving the backport to a person. */
  readonly note?: HandReason;
  /** Commit of the branch that Reeve created, if this branch must be removed. */
  readonly leftover?: string;
};

async function stateOf(
  target: string,
  source: BackportSource,
  isNoted: boolean,
  { facts, context, all }: Backporting,
): Promise<TargetState> {
  const name = backportBranch(source.number, target);
  const tip = all?.find((branch) => branch.name === name)?.commit?.id;
  const place = { params: repositoryParams(facts.subject), commit: source.mergeCommit, target };
  const trial = await recallTrial(place, context);
  const isMade = trial !== undefined && 'made' in trial && trial.made === tip;
  const isIntended = trial !== undefined && 'intended' in trial;
  if (isNoted && !(isIntended && tip)) return isMade && tip !== undefined ? { leftover: tip } : {};
  if (trial !== undefined && 'refused' in trial) return { note: trial.refused };
  if (tip === undefined) return source.byHand ? { note: source.byHand } : { step: 'patch' };
  const found = await readBackportBranch({ target, name, tip }, facts);
  if (found === undefined) return { step: 'taken' };
  const { total_commits, commits, diff } = found;
  // A merge commit may remove changes without showing them in its diff.
  const isOne = Math.max(total_commits ?? 0, commits.length) === 1 && (commits[0]?.parents ?? []).length < 2;
  // A branch that another account created or continued must not be removed.
  const isOwn = isMade || (isIntended && isOne && isAskedCommit(commits[0], trial));
  if (isNoted) return isOwn ? { leftover: tip } : {};
  if (isOne && isSameChange(source.patch, diff)) return { step: 'open' };
  if (!isOwn) return { step: 'taken' };
  return { note: diff === '' ? 'contained' : 'differs', leftover: tip };
}

/**
 * Compares the backport branch with its target. Returns undefined if the forge cannot compare them, which affects only
 * this target.
 */
async function readBackportBranch(
  { target, name, tip }: { target: string; name: string; tip: string },
  facts: Facts,
) {
  try {
    const { total_commits, commits } = await facts.ask(requestOf(compare, `${target}...${name}`));
    return { total_commits, commits, diff: await facts.ask(requestOf(commitDiff, tip)) };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.keepsWork) throw error;
    return undefined;
  }
}

/** Returns the waiting change for a target branch that a step lists by name but that the repository does not have. */
function absentTarget(pull: PullRequest, source: HandSource, target: string, facts: Facts): Change {
  const labels = { names: [], ids: [] };
  const nothing: BackportSource = { ...source, patch: '', commit: { message: '' } };
  const wanted = openingOf(pull, nothing, target, { facts, labels, exists: true });
  return waiting(wanted, `there is no branch ${target}`);
}

/** Deletes the stored refusals that a comment reports, so that deleting the comment causes a new attempt. */
async function forgetReported(change: Change, context: PlanContext): Promise<void> {
  const { commit, notes } = change.value as { readonly commit: string; readonly notes: object };
  for (const target of Object.keys(notes)) {
    const place = { params: change.input.params ?? {}, commit, target };
    const trial = await recallTrial(place, context);
    if (trial && 'refused' in trial) await noteTrial(place, undefined, context);
  }
}

/** Maximum number of recorded characters of a patch; a patch may have a million characters per branch. */
const maxRecorded = 65_536;

function withoutEnd(input: AnyInput): AnyInput {
  const body = input.body as { readonly content?: string } | undefined;
  const { content = '' } = body ?? {};
  if (content.length <= maxRecorded) return input;
  const beginning = content.slice(0, maxRecorded).toWellFormed();
  return { ...input, body: { ...body, content: `${beginning}… (${content.length} characters)` } };
}

const PatchAnswer = z.object({ commit: z.object({ sha: z.string() }) });

function commitIn(answer: unknown): string | undefined {
  return PatchAnswer.safeParse(answer).data?.commit.sha;
}

/** Maximum number of branches to which one step backports a pull request. */
const maxTargets = 20;

/** The target branches of a step: existing branches, and listed names that match no branch. */
type BackportTargets = { readonly there: readonly string[]; readonly missing: readonly string[] };

const isGlobEntry = (entry: string): boolean => /^!|[*?[\]{}\\]/.test(entry);

/** Returns a problem if an entry in the list of branches is an invalid pattern. */
function examineTargets(
  to: readonly string[],
  path: readonly string[],
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  try {
    compileGlob(to);
    return [];
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const place = to.findIndex((entry) => entry === error.pattern || entry === `!${error.pattern}`);
    return [{ path: place < 0 ? path : [...path, place], message: error.message }];
  }
}

/**
 * Returns the target branches of a step, sorted by name. If the repository's branches are unknown (a what-if), only
 * literal names are used. The pull request's own branches, and branches of backports, are excluded. Throws if there are
 * too many.
 */
function targetsOf(
  pull: PullRequest,
  to: BackportForm['to'],
  { branches, meter }: { readonly branches: readonly Branch[] | undefined; readonly meter: Meter },
): BackportTargets {
  const { base, isFork } = sidesOf(pull);
  const isOwn = (name: string): boolean => name === base || (!isFork && name === pull.head?.ref);
  const globs = compileGlob('label' in to ? to.only : to);
  const labelled = 'label' in to ? branchesNamedBy(pull, to.label) : undefined;
  const literal =
    'label' in to
      ? (labelled ?? []).filter((name) => globs(name, meter))
      : to.filter((entry) => !isGlobEntry(entry));
  const names = branches?.map(({ name }) => name) ?? literal;
  const matches = (name: string): boolean => (labelled?.includes(name) ?? true) && globs(name, meter);
  const there = names.filter((name) => {
    // A glob does not match backport branches; they must be listed literally.
    if (isOwn(name) || (isBackportBranch(name) && !literal.includes(name))) return false;
    return matches(name);
  });
  if (there.length > maxTargets) {
    throw new Error(`\`to\` matches ${there.length} branches, and at most ${maxTargets} are allowed`);
  }
  return { there: there.toSorted(), missing: literal.filter((name) => !names.includes(name)) };
}

/** Returns the branches that labels of a pull request name in the form `PREFIX{branch}SUFFIX`. */
function branchesNamedBy({ labels }: PullRequest, form: string): readonly string[] {
  const [start = '', end = ''] = form.split(branchSign);
  const length = start.length + end.length;
  return (labels ?? []).flatMap(({ name }) =>
    name.length > length && name.startsWith(start) && name.endsWith(end)
      ? [name.slice(start.length, name.length - end.length)]
      : [],
  );
}

/**
 * State of an attempt until it is reported in a comment or a pull request: a created branch with its commit, a refused
 * patch, or, until the response arrives, the message of the requested commit. Stored in the memory, so that an
 * interrupted run can be continued.
 */
type Trial =
  | { readonly intended: string; readonly at?: string }
  | { readonly made: string }
  | { readonly refused: HandReason };

/** Prefix of the memory keys of attempts. The stored values contain an instant `at`. */
export const trialPrefix = 'backport ';

/** Identity of a backport: the repository, the merged commit, and the target. */
type TrialPlace = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly commit: string;
  readonly target: string;
};

function keyOf({ params, commit, target }: TrialPlace): string {
  return `${trialPrefix}${params.owner}/${params.repo} ${commit} ${target}`;
}

/** Returns the state of the last attempt; undefined if there was no attempt, or if it has been reported. */
async function recallTrial(place: TrialPlace, { memory }: PlanContext): Promise<Trial | undefined> {
  // The cast is safe: only the function below writes this key.
  return (await memory.get(keyOf(place))) as Trial | undefined;
}

/** Stores the state of an attempt; undefined if the attempt has been reported. */
async function noteTrial(
  place: TrialPlace,
  trial: Trial | undefined,
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(keyOf(place), trial && { ...trial, at: now.toISOString() });
}

/**
 * Maximum difference between the time of a request and the time of the resulting commit, because the clocks of Reeve
 * and the forge may differ.
 */
const maxDistanceMs = 5 * 60_000;

/**
 * Returns whether a commit is the result of a request whose response was lost: the commit has the message that was
 * sent, and the time of the request. Forges also set the author of the change as the committer, so the commit cannot be
 * identified by its account.
 */
function isAskedCommit(
  commit: CommitEntry | undefined,
  { intended, at = '' }: Extract<Trial, { readonly intended: string }>,
): boolean {
  const madeAt = commit?.commit?.committer?.date ?? commit?.created ?? '';
  const distanceMs = Math.abs(Date.parse(madeAt) - Date.parse(at));
  return commit?.commit?.message?.trimEnd() === intended.trimEnd() && distanceMs <= maxDistanceMs;
}

/** Returns the backport that a change of a branch or pull request belongs to; undefined for a comment. */
function trialPlaceOf({ value, input }: Change): TrialPlace | undefined {
  if (typeof value !== 'object' || value === null || !('onto' in value) || !('commit' in value))
    return undefined;
  return { params: input.params ?? {}, commit: String(value.commit), target: String(value.onto) };
}

/** Returns why a branch was not backported, if that is a result of the step rather than a failure. */
function describeRefusal(reason: HandReason, target: string): string {
  return `not backported to ${target}: ${handReasons[reason]}`;
}
