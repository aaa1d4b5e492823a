import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { asWritten, isTitle } from '../contract/written-texts.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { compare, otherRepositoryReason } from '../facts/files.ts';
import { openPull } from '../facts/open-pull.ts';
import { repositoryParams } from '../facts/where.ts';
import { defineAction, forgeText } from './action.ts';
import type { Change } from './change.ts';
import { undoCreatePull, undoEdit } from './inverses.ts';
import { labelIds } from './label-names.ts';
import { distinctNames, toLowerCase } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { isByUs, isSameText } from './texts.ts';

const branch = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?!.*\.\.)[^\s~^?*[\\]+$/, 'name a branch');
const name = z.string().min(1).max(255);
const OpenPullRequest = z
  .strictObject({
    head: branch.meta({
      description: 'The source branch; `owner:branch` refers to a fork, in rules of the operator alone.',
    }),
    base: branch.meta({ description: 'The target branch.' }),
    title: forgeText().min(1).max(255),
    body: forgeText({ lines: true }).max(60_000).optional(),
    labels: z.array(name).max(50).optional().meta({ description: 'Labels to set at opening.' }),
    reviewers: z
      .array(name)
      .max(50)
      .optional()
      .meta({ description: 'Users whose review is requested at opening.' }),
    team_reviewers: z
      .array(name)
      .max(50)
      .optional()
      .meta({ description: 'Teams whose review is requested at opening.' }),
  })
  .refine((given) => given.head !== given.base, { message: 'head and base are the same branch' });
type OpenPullRequest = z.output<typeof OpenPullRequest>;

/**
 * Keeps a pull request from `head` to `base` open while `head` has commits that `base` lacks. If Reeve's account opened
 * the pull request, title and body are kept as declared; labels and reviewers are set only at opening.
 */
export const openPullRequest = defineAction<OpenPullRequest>({
  name: 'open-pull-request',
  meaning:
    'Keeps a pull request from `head` to `base` open, identified by the two branches; none is opened without a difference. Title and body of one that Reeve opened are kept as declared; one that a person opened is left unchanged. Labels and reviewers are set only at opening.',
  example: `uses: open-pull-request
with:
  head: develop
  base: main
  title: Merge develop into main
  labels: [release]
`,
  arguments: OpenPullRequest,
  of: ['repository', 'branch', 'pull_request', 'issue'],
  ways: { writes: [] },
  needs: { access: 'reader', scopes: ['repository'] },
  describesState: true,
  granted: false,
  visibleTo: 'pulls',
  inverses: {
    [operations.createPull.id]: undoCreatePull,
    [operations.editPull.id]: undoEdit(operations.getPull, operations.editPull),
  },
  adoption: undefined,
  requires: {
    reviewers: 'pull_reviewers_on_create',
    team_reviewers: 'pull_reviewers_on_create',
  },
  examineBelowOperator: (given) =>
    (['head', 'base'] as const).flatMap((name) => {
      const message = otherRepositoryReason(given[name]);
      return message === undefined ? [] : [{ path: [name], message }];
    }),
  facts: (given) => [openPullFact(given)],
  async plan(written, facts, context) {
    const given = { ...written, title: asWritten(operations.createPull, 'title', written.title) };
    const open = await facts.ask(openPullFact(given));
    if (open !== null) return [kept(open, given, facts, context)];
    const between = await facts.ask(requestOf(compare, branchesOf(given)));
    if (between.commits.length === 0 && !between.total_commits) return [];
    return [await opening(given, facts)];
  },
  confirm(change, answer) {
    if (change.operation !== operations.createPull.id) return undefined;
    const pull = PullRequest.safeParse(answer);
    if (!pull.success) return undefined;
    const body = change.input.body as { labels?: readonly number[]; reviewers?: readonly string[] };
    const asked = pull.data.requested_reviewers.map(({ login }) => toLowerCase(login));
    const missing = (body.reviewers ?? []).filter((reviewer) => !asked.includes(toLowerCase(reviewer)));
    if (missing.length > 0)
      return `it was opened, but the forge did not request a review from ${missing.join(', ')}`;
    const isShort = (body.labels ?? []).some((id) => !pull.data.labels.some((label) => label.id === id));
    return isShort ? 'it was opened, but the forge silently dropped a label' : undefined;
  },
  // The pull request exists even if the response shows that a part is missing, so creating it again would fail.
  learn: async (change) => change.operation === operations.createPull.id,
});

function branchesOf({ base, head }: OpenPullRequest): string {
  return `${base}...${head}`;
}

function openPullFact(given: OpenPullRequest) {
  return requestOf(openPull, branchesOf(given));
}

function wish(given: OpenPullRequest) {
  const { title, body = '' } = given;
  const said = { title, ...(given.body === undefined ? {} : { body }) };
  return {
    action: 'open-pull-request',
    target: `pull:${branchesOf(given)}`,
    value: said,
    after: { state: 'open', ...said },
    branch: given.base,
    reads: [openPullFact(given)],
  };
}

async function opening(given: OpenPullRequest, facts: Facts): Promise<Change> {
  const { head, base, title, body, reviewers, team_reviewers } = given;
  const labels = given.labels === undefined ? undefined : await labelIds(given.labels, facts);
  return {
    ...wish(given),
    operation: operations.createPull.id,
    input: {
      params: repositoryParams(facts.subject),
      body: {
        head,
        base,
        title,
        ...(body === undefined ? {} : { body }),
        ...(labels ? { labels } : {}),
        ...(reviewers ? { reviewers: distinctNames(reviewers) } : {}),
        ...(team_reviewers ? { team_reviewers: distinctNames(team_reviewers) } : {}),
      },
    },
    before: null,
    causes: { event: 'opened', head, base },
    reason: `${head} has commits that ${base} lacks, and no pull request is open`,
    ...(reviewers || team_reviewers ? { requires: ['pull_reviewers_on_create'] } : {}),
  };
}

function kept(open: PullRequest, given: OpenPullRequest, facts: Facts, context: PlanContext): Change {
  const { title, body } = given;
  const change = {
    ...wish(given),
    operation: operations.editPull.id,
    input: {
      params: { ...repositoryParams(facts.subject), index: open.number },
      body: { title, ...(body === undefined ? {} : { body }) },
    },
    before: { state: 'open', title: open.title, body: open.body ?? '' },
  };
  if (!isByUs(open, context))
    return { ...change, already: true, reason: 'it is open, and a person opened it' };
  const isSaid = isTitle(open.title, title) && (body === undefined || isSameText(open.body, body));
  if (isSaid) return { ...change, already: true, reason: 'it is already open' };
  return { ...change, reason: 'the title or body differs' };
}
