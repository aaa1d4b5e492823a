import { z } from 'zod';
import { subjectKinds } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import type { Issue } from '../contract/resources/issues.ts';
import { asWritten, isTitle } from '../contract/written-texts.ts';
import { type Facts, optionalRequestOf } from '../facts/fact.ts';
import { ownIssues } from '../facts/issue.ts';
import { condition, defineAction, forgeText, template } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, isStill, membersLike, pathParams, readItems, undoEdit } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';
import { askWritten, isOurs, isSameText, markerOf, withMarker } from './texts.ts';

const ReportIssue = z.strictObject({
  when: condition().optional().meta({
    description: 'The issue is open while this condition holds, and closed when it no longer holds.',
  }),
  repository: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, 'name a repository as owner/name')
    .optional()
    .meta({ description: 'Repository of the issue; default: the repository of the event.' }),
  key: template().min(1).max(200).meta({ description: 'Identifies the report; one issue per key.' }),
  title: forgeText().min(1).max(255),
  body: forgeText({ lines: true }).max(60_000).optional(),
});
type ReportIssue = z.output<typeof ReportIssue>;

/** Repository of the issue, with the markers of an open report (`standing`) and of a settled report. */
type ReportPlace = {
  readonly owner: string;
  readonly repo: string;
  readonly standing: string;
  readonly settled: string;
};

const undoCreateIssue: Inverse = async (change, client) => {
  const params = pathParams(change);
  const open = await readItems(client, operations.listIssues, {
    params,
    query: { state: 'open', type: 'issues' },
  });
  const found = open.find((issue) => isStill(change.after, membersLike(change.after, issue)));
  return {
    value: found === undefined ? null : change.after,
    // The issue is closed, because this account may lack the permission to delete issues.
    undo: () => ({
      operation: operations.editIssue,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};

/**
 * Keeps one issue per key open while `when` holds. When a report is settled, another marker takes the place of the
 * first one: an issue that was closed without this marker was closed by a person, and stays closed until the condition
 * has been false once.
 */
export const reportIssue = defineAction<ReportIssue>({
  name: 'report-issue',
  meaning:
    'Keeps one issue per key open with this text while `when` holds; it is edited in place, and closed when `when` no longer holds. An issue that a person closed stays closed until `when` was false once; the same issue is reopened when it holds again. Issues of others are never changed.',
  example: `uses: report-issue
with:
  when: repository.open_pr_counter > 50
  repository: acme/ops
  key: pulls-\${{ repository.id }}
  title: "\${{ repository.full_name }} has \${{ repository.open_pr_counter }} open pull requests"
`,
  arguments: ReportIssue,
  of: subjectKinds,
  needs: { access: 'reader', scopes: ['issue'] },
  describesState: true,
  granted: false,
  visibleTo: 'issues',
  inverses: {
    [operations.createIssue.id]: undoCreateIssue,
    [operations.editIssue.id]: undoEdit(operations.getIssue, operations.editIssue),
  },
  adoption: undefined,
  operatorOnly: ['repository'],
  facts: (given) => (given.repository === undefined ? [] : [issuesFact(given.repository)]),
  async plan(written, facts, context) {
    const given = { ...written, title: asWritten(operations.createIssue, 'title', written.title) };
    const place = reportPlace(given, facts, context);
    const all = await askWritten(facts, issuesFact(`${place.owner}/${place.repo}`));
    // More than one issue can only result from a race; the oldest is used.
    const found = all
      .filter((issue) => [place.standing, place.settled].some((marker) => isOurs(issue, marker, context)))
      .toSorted((a, b) => a.number - b.number)[0];
    const holds = given.when ?? true;
    if (found === undefined) return [holds ? opening(given, place) : nothing(given, place)];
    const isSettled = isOurs(found, place.settled, context);
    return [holds ? standing(found, isSettled, given, place) : settled(found, isSettled, given, place)];
  },
});

function reportPlace(given: ReportIssue, facts: Facts, context: PlanContext): ReportPlace {
  const home = facts.subject.repository;
  const here = home === undefined ? undefined : `${home.owner}/${home.name}`;
  const where = given.repository ?? here;
  if (where === undefined) throw new Error(`a ${facts.subject.kind} has no repository: set repository`);
  if (context.level !== 'operator' && where.toLowerCase() !== here?.toLowerCase()) {
    throw new Error(`only rules of the operator report to another repository, and ${where} is not ${here}`);
  }
  const [owner = '', repo = ''] = where.split('/');
  return {
    owner,
    repo,
    standing: markerOf(context, given.key),
    settled: markerOf(context, given.key, 'settled'),
  };
}

function issuesFact(repository: string) {
  return optionalRequestOf(ownIssues, repository);
}

/** Returns the fields that all changes of one issue share. */
function head(given: ReportIssue, place: ReportPlace) {
  return {
    action: 'report-issue',
    target: `issue:${given.key} in ${place.owner}/${place.repo}`,
    reads: [issuesFact(`${place.owner}/${place.repo}`)],
  };
}

function saying({ title, body = '' }: ReportIssue, marker: string) {
  return { title, body: withMarker(marker, body) };
}

function opening(given: ReportIssue, place: ReportPlace): Change {
  const { owner, repo } = place;
  const text = saying(given, place.standing);
  return {
    ...head(given, place),
    operation: operations.createIssue.id,
    input: { params: { owner, repo }, body: text },
    value: { state: 'open', ...text },
    before: null,
    after: { state: 'open', ...text },
    reason: 'the condition holds, and the issue does not exist',
  };
}

function nothing(given: ReportIssue, { owner, repo, ...place }: ReportPlace): Change {
  return {
    ...head(given, { owner, repo, ...place }),
    operation: operations.createIssue.id,
    input: { params: { owner, repo } },
    value: { state: 'closed' },
    before: null,
    after: null,
    reason: 'the condition does not hold',
    already: true,
  };
}

function edit(issue: Issue, body: Readonly<Record<string, string>>, given: ReportIssue, place: ReportPlace) {
  const { owner, repo } = place;
  return {
    ...head(given, place),
    operation: operations.editIssue.id,
    input: { params: { owner, repo, index: issue.number }, body },
    before: { state: issue.state, title: issue.title, body: issue.body ?? '' },
  };
}

function standing(issue: Issue, isSettled: boolean, given: ReportIssue, place: ReportPlace): Change {
  const text = saying(given, place.standing);
  const value = { state: 'open', ...text };
  const change = { ...edit(issue, { state: 'open', ...text }, given, place), value, after: value };
  if (issue.state === 'closed' && !isSettled) {
    return { ...change, already: true, reason: 'a person closed the issue, and the condition still holds' };
  }
  if (issue.state === 'closed') return { ...change, reason: 'the condition holds again' };
  const isSaid = isTitle(issue.title, given.title) && isSameText(issue.body, text.body);
  if (isSaid) return { ...change, already: true, reason: 'the issue already has this text' };
  const { title, body } = text;
  return { ...change, ...edit(issue, { title, body }, given, place), reason: 'the title or body differs' };
}

function settled(issue: Issue, isSettled: boolean, given: ReportIssue, place: ReportPlace): Change {
  const body = withoutFirstLine(issue.body ?? '', place.settled);
  const value = { state: 'closed' };
  const change = { value, after: { state: 'closed', title: issue.title, body } };
  // The report is settled, but the issue is open: a person reopened it for discussion.
  if (isSettled) {
    return {
      ...edit(issue, {}, given, place),
      ...change,
      already: true,
      reason: 'the issue was already closed once',
    };
  }
  if (issue.state === 'closed') {
    const reason =
      'the condition does not hold: an issue that a person closed may be reopened when it holds again';
    return { ...edit(issue, { body }, given, place), ...change, reason };
  }
  const reason = 'the condition no longer holds';
  return { ...edit(issue, { state: 'closed', body }, given, place), ...change, reason };
}

function withoutFirstLine(body: string, marker: string): string {
  const [, ...rest] = body.split('\n');
  return withMarker(marker, rest.join('\n'));
}
