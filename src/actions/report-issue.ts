import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Issue } from '../contract/resources/issues.ts';
import type { FactRequest, Facts } from '../facts/fact.ts';
import { condition, defineAction, template } from './action.ts';
import type { Change } from './change.ts';
import { itemsOf, membersLike, paramsOf, undoEdit } from './inverses/forms.ts';
import { type Inverse, isStill } from './inverses/inverse.ts';
import { askWritten, isOurs, isSameText, markerOf, withMarker } from './marker.ts';
import type { PlanContext } from './plan-context.ts';

const ReportIssue = z.strictObject({
  when: condition()
    .optional()
    .meta({ description: 'The issue is open while this holds, and closed once it does not.' }),
  repository: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, 'name a repository as owner/name')
    .optional()
    .meta({ description: 'Where the issue is; without it, the repository of the event.' }),
  key: template().min(1).max(200).meta({ description: 'What it is about; one issue per key.' }),
  title: template().min(1).max(255),
  body: template().max(60_000).optional(),
});
type ReportIssue = z.output<typeof ReportIssue>;

/** Where the issue is, and the markers it is found by while its report stands and once it is settled. */
type Place = {
  readonly owner: string;
  readonly repo: string;
  readonly standing: string;
  readonly settled: string;
};

const undoCreateIssue: Inverse = async (change, client) => {
  const params = paramsOf(change);
  const open = await itemsOf(client, operations.listIssues, {
    params,
    query: { state: 'open', type: 'issues' },
  });
  const found = open.find((issue) => isStill(change.after, membersLike(change.after, issue)));
  return {
    value: found === undefined ? null : change.after,
    // An issue is no administrator's to delete through this account: it is closed.
    undo: () => ({
      operation: operations.editIssue,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};

/**
 * One issue per key says this while `when` holds. That a report is settled stands in the issue's own marker: an issue that
 * is closed without it was closed by a person, and stays closed until the condition did not hold once.
 */
export const reportIssue = defineAction<ReportIssue>({
  name: 'report-issue',
  meaning:
    'One issue per key is open and says this while `when` holds; it is edited in place and closed once it does not. An issue that a person closed stays closed until `when` did not hold once; the same issue is opened again when it holds anew. Issues of others are never touched.',
  example: `uses: report-issue
with:
  when: repository.open_pr_counter > 50
  repository: acme/ops
  key: pulls-\${{ repository.id }}
  title: "\${{ repository.full_name }} has \${{ repository.open_pr_counter }} open pull requests"
`,
  arguments: ReportIssue,
  of: ['repository', 'pull_request', 'issue', 'branch', 'organization', 'notification', 'runner'],
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
  async plan(given, facts, context) {
    const place = placeOf(given, facts, context);
    const all = (await askWritten(facts, issuesFact(`${place.owner}/${place.repo}`))) as readonly Issue[];
    // Two of them can only come of a race; the older one is it.
    const found = all
      .filter((issue) => [place.standing, place.settled].some((marker) => isOurs(issue, marker, context)))
      .toSorted((a, b) => a.number - b.number)[0];
    const holds = given.when ?? true;
    if (found === undefined) return [holds ? opening(given, place) : nothing(given, place)];
    const isSettled = isOurs(found, place.settled, context);
    return [holds ? standing(found, isSettled, given, place) : settled(found, isSettled, given, place)];
  },
});

function placeOf(given: ReportIssue, facts: Facts, context: PlanContext): Place {
  const home = facts.subject.repository;
  const here = home === undefined ? undefined : `${home.owner}/${home.name}`;
  const where = given.repository ?? here;
  if (where === undefined) throw new Error(`a ${facts.subject.kind} has no repository: say repository`);
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

function issuesFact(argument: string): FactRequest {
  return { name: 'own_issues', argument };
}

/** The value is what rules agree or quarrel about: the issue that stands, or that none does. */
function head(given: ReportIssue, place: Place) {
  return {
    action: 'report-issue',
    target: `issue:${given.key} in ${place.owner}/${place.repo}`,
    reads: [issuesFact(`${place.owner}/${place.repo}`)],
  };
}

function saying({ title, body = '' }: ReportIssue, marker: string) {
  return { title, body: withMarker(marker, body) };
}

function opening(given: ReportIssue, place: Place): Change {
  const { owner, repo } = place;
  const text = saying(given, place.standing);
  return {
    ...head(given, place),
    operation: operations.createIssue.id,
    input: { params: { owner, repo }, body: text },
    value: { state: 'open', ...text },
    before: null,
    after: { state: 'open', ...text },
    reason: 'its condition holds, and there is no such issue',
  };
}

function nothing(given: ReportIssue, { owner, repo, ...place }: Place): Change {
  return {
    ...head(given, { owner, repo, ...place }),
    operation: operations.createIssue.id,
    input: { params: { owner, repo } },
    value: { state: 'closed' },
    before: null,
    after: null,
    reason: 'its condition does not hold',
    already: true,
  };
}

function edit(issue: Issue, body: Readonly<Record<string, string>>, given: ReportIssue, place: Place) {
  const { owner, repo } = place;
  return {
    ...head(given, place),
    operation: operations.editIssue.id,
    input: { params: { owner, repo, index: issue.number }, body },
    before: { state: issue.state, title: issue.title, body: issue.body ?? '' },
  };
}

function standing(issue: Issue, isSettled: boolean, given: ReportIssue, place: Place): Change {
  const text = saying(given, place.standing);
  const value = { state: 'open', ...text };
  const change = { ...edit(issue, { state: 'open', ...text }, given, place), value, after: value };
  if (issue.state === 'closed' && !isSettled) {
    return { ...change, already: true, reason: 'a person closed it, and its condition holds ever since' };
  }
  if (issue.state === 'closed') return { ...change, reason: 'its condition holds again' };
  const isSaid = issue.title === given.title && isSameText(issue.body, text.body);
  if (isSaid) return { ...change, already: true, reason: 'it says so already' };
  const { title, body } = text;
  return { ...change, ...edit(issue, { title, body }, given, place), reason: 'it shall say something else' };
}

function settled(issue: Issue, isSettled: boolean, given: ReportIssue, place: Place): Change {
  const body = withoutFirstLine(issue.body ?? '', place.settled);
  const value = { state: 'closed' };
  const change = { value, after: { state: 'closed', title: issue.title, body } };
  // Settled and open: a person opened it again, to talk about it.
  if (isSettled) {
    return {
      ...edit(issue, {}, given, place),
      ...change,
      already: true,
      reason: 'it was closed once already',
    };
  }
  if (issue.state === 'closed') {
    const reason = 'its condition does not hold: what a person closed may be opened when it holds again';
    return { ...edit(issue, { body }, given, place), ...change, reason };
  }
  const reason = 'its condition does not hold any more';
  return { ...edit(issue, { state: 'closed', body }, given, place), ...change, reason };
}

function withoutFirstLine(body: string, marker: string): string {
  const [, ...rest] = body.split('\n');
  return withMarker(marker, rest.join('\n'));
}
