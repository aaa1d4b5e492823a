import { describe, expect, it } from 'vitest';
import type { ReadableUnit } from '../../../../src/contract/events/event-families.ts';
import type { RecordedChange, Run } from '../../../../src/engine/record.ts';
import type { Level } from '../../../../src/rules/rule.ts';
import type { Finding } from '../../../../src/rules/verdict.ts';
import { viewRun } from '../../../../src/server/dashboard/pages/run-view.ts';
import type { ViewerAccess } from '../../../../src/server/dashboard/visibility.ts';
import { makeRun } from '../../../store/make.ts';

const none: ReadonlySet<ReadableUnit> = new Set();
const operator: ViewerAccess = {
  isOperator: true,
  access: 'administrator',
  repository: undefined,
  units: none,
};
const administrator: ViewerAccess = { ...operator, isOperator: false, repository: 'acme/demo' };
/** Access to the subject of the delivery, but to nothing else in the repository. */
const narrow: ViewerAccess = { ...administrator, access: 'reader', units: none };
const reader: ViewerAccess = { ...narrow, units: new Set(['issues', 'pulls', 'code']) };

const withValue = (name: string, value: unknown = 'what it saw'): Run => ({
  ...makeRun({}),
  rules: [
    {
      rule: '/srv/rules/a.yml#mark',
      source: '/srv/rules/a.yml',
      commit: '',
      line: 3,
      verdict: 'matched',
      findings: [
        {
          expression: name,
          result: 'held',
          values: { [name]: value },
          file: 'a.yml',
          line: 1,
          column: 1,
        } satisfies Finding,
      ],
    },
  ],
});

describe('the values that a condition read', () => {
  // The columns state whether the value is shown to readers of the subject alone, to readers of everything, and to
  // administrators.
  const table: readonly [string, boolean, boolean, boolean][] = [
    ['issue.title', true, true, true],
    ['event.action', true, true, true],
    ['event.issue.user.email', false, false, true],
    ['labels', true, true, true],
    ['repository.private', true, true, true],
    ['files', false, true, true],
    ['contents("README.md").content', false, true, true],
    ['branches', false, true, true],
    ['statuses', false, true, true],
    ['wiki("Home").content', false, false, true],
    ['branch_protections', false, false, true],
    ['hooks', false, false, true],
    ['organization.description', false, false, false],
    ['dependencies', false, false, false],
    ['timeline', false, false, false],
    ['of_a_later_version', false, false, false],
  ];

  it.each(table)(
    'of %s: shown to readers of the subject %s, to readers of the repository %s, to administrators %s',
    (name, ...expected) => {
      const run = withValue(name);
      const sees = (viewerAccess: ViewerAccess) => viewRun(run, viewerAccess).text.includes('what it saw');

      expect([sees(narrow), sees(reader), sees(administrator)]).toEqual(expected);
      expect(sees(operator)).toBe(true);
    },
  );

  it('contain no e-mail address for readers', () => {
    const run = withValue('issue.user', { login: 'ada', email: 'ada@home.example' });
    const text = (viewerAccess: ViewerAccess) => viewRun(run, viewerAccess).text;

    expect(text(reader)).toContain('ada');
    expect(text(reader)).not.toContain('home.example');
    expect(text(administrator)).toContain('home.example');
  });

  it('include errors for operators, and for administrators if the level of the rule file shows that the file is theirs, whatever its path', () => {
    const verdict = { line: 1, verdict: 'failed', reason: 'GET /orgs/hidden: 403' } as const;
    const finding: Finding = {
      expression: 'labels',
      result: 'error',
      values: { error: 'GET /orgs/hidden: 403' },
      file: 'a',
      line: 1,
      column: 1,
    };
    const of = (source: string, level: Level | undefined): Run => ({
      ...makeRun({}),
      rules: [
        {
          ...verdict,
          rule: `${source}#a`,
          source,
          ...(level && { level }),
          findings: [finding],
          commit: 'c',
        },
      ],
    });
    const links = { root: '/', forgeUrl: 'https://forge.example' };
    const shown = (source: string, level: Level | undefined) =>
      [reader, administrator, operator].map((viewerAccess) => {
        const { text } = viewRun(of(source, level), viewerAccess, links);
        return [text.split('/orgs/hidden').length - 1, text.includes('/src/commit/')];
      });

    expect(shown('acme/demo/.reeve.yml', 'repository')).toEqual([
      [0, true],
      [2, true],
      [2, true],
    ]);
    // A folder of the operator may have the name of the repository, and runs of earlier versions do not record the
    // level of the file.
    for (const level of ['operator', 'organization', undefined] as const) {
      for (const source of ['acme/demo/x.yml', 'acme/demo/.reeve.yml', 'acme/.reeve/rules/a.yml']) {
        expect(shown(source, level)).toEqual([
          [0, false],
          [0, false],
          [2, true],
        ]);
      }
    }
  });
});

describe('the requests of a run', () => {
  const run: Run = {
    ...makeRun({ requests: 9 }),
    forgeRequests: [
      { method: 'GET', path: '/repos/ACME/demo/pulls/1/files?page=2', status: 200, ms: 4, attempt: 1 },
      {
        method: 'GET',
        path: '/repos/acme/demo',
        status: 403,
        ms: 4,
        attempt: 2,
        error: 'only the bot knows',
      },
      { method: 'GET', path: '/repos/acme/demo2/hooks', status: 200, ms: 4, attempt: 1 },
      {
        method: 'GET',
        path: '/orgs/hidden/teams',
        ms: 4,
        attempt: 1,
        error: 'the forge did not respond in time',
      },
    ],
    forgeRequestsLeftOut: 5,
  };
  const text = (viewerAccess: ViewerAccess) => viewRun(run, viewerAccess).text;

  it('are shown to operators with their responses, and with the number of unrecorded requests', () => {
    for (const shown of ['/pulls/1/files?page=2', 'only the bot knows', '/orgs/hidden', 'no answer'])
      expect(text(operator)).toContain(shown);
    expect(text(operator)).toContain('5 later requests not recorded.');
  });

  it("are shown to administrators if they concern the administrator's repository, without the error texts that the bot received", () => {
    for (const shown of ['/pulls/1/files?page=2', '403', '2 requests outside this repository'])
      expect(text(administrator)).toContain(shown);
    for (const hidden of ['demo2', 'hidden/teams', 'only the bot', 'in time'])
      expect(text(administrator)).not.toContain(hidden);
  });

  it('are not shown to readers', () => {
    expect(text(reader)).not.toContain('Requests to the forge');
    expect(text(reader)).not.toContain('/files');
    expect(text(reader)).toContain('9 requests');
  });
});

describe('a change of a run', () => {
  const change = (given: Partial<RecordedChange>): RecordedChange => ({
    id: '1',
    rules: ['a.yml#mark'],
    step: '1',
    action: 'set-labels',
    operation: 'issue.replace-labels',
    method: 'PUT',
    path: '/repos/acme/demo/issues/1/labels',
    input: { body: { labels: [47110815] } },
    target: 'label:kept',
    value: true,
    before: false,
    after: true,
    reason: 'the rule says so',
    ...given,
  });
  // The columns state whether the change is shown to readers of the subject only, to readers of everything, and to
  // administrators.
  const table: readonly [string, Partial<RecordedChange>, boolean, boolean, boolean][] = [
    ['a label here', {}, true, true, true],
    ['a label here, by another spelling', { path: '/repos/ACME/Demo/issues/1/labels' }, true, true, true],
    ['a status here', { action: 'set-status', path: '/repos/acme/demo/statuses/abc' }, false, true, true],
    [
      'a pull request here',
      { action: 'open-pull-request', path: '/repos/acme/demo/pulls' },
      false,
      true,
      true,
    ],
    [
      'a protection here',
      { action: 'protect-tags', path: '/repos/acme/demo/tag_protections' },
      false,
      false,
      true,
    ],
    ['a hook here', { action: 'sync-hooks', path: '/repos/acme/demo/hooks' }, false, false, true],
    ['a label in another repository', { path: '/repos/acme/other/issues/1/labels' }, false, false, false],
    [
      'a label in one whose name begins alike',
      { path: '/repos/acme/demo2/issues/1/labels' },
      false,
      false,
      false,
    ],
    ['an organization', { action: 'sync-organization', path: '/orgs/acme' }, false, false, false],
  ];
  const marks = ['47110815', 'label:kept', 'the rule says so', 'because'];
  const sees = (run: Run, viewerAccess: ViewerAccess): boolean => {
    const { text } = viewRun(run, viewerAccess);
    const found = marks.filter((word) => text.includes(word));
    expect([0, marks.length]).toContain(found.length);
    return found.length > 0;
  };
  const ended = (given: Partial<RecordedChange>, status: 'applied' | 'failed' | 'planned'): Run => ({
    ...makeRun({}),
    changes: [change(given)],
    outcomes: [{ change: '1', status, error: 'because' }],
  });

  it.each(table)(
    '%s: shown to readers of the subject %s, to readers of the repository %s, to administrators %s',
    (_title, given, ...expected) => {
      const run = ended(given, 'applied');

      expect([narrow, reader, administrator].map((one) => sees(run, one))).toEqual(expected);
      expect(sees(run, operator)).toBe(true);
    },
  );

  it('is shown to readers only after it was applied', () => {
    const refused = { ...makeRun({}), refused: [{ change: change({}), why: 'because' }] };
    for (const run of [ended({}, 'failed'), ended({}, 'planned'), refused]) {
      expect([reader, administrator, operator].map((one) => sees(run, one))).toEqual([false, true, true]);
    }
  });
});

it('shows operator files without their folder, except to operators', () => {
  const run = withValue('issue.title');

  expect(viewRun(run, reader).text).not.toContain('/srv/rules');
  expect(viewRun(run, operator).text).toContain('/srv/rules/a.yml:3');
});

it('lists skipped rules, collapsed and with the reason, only for operators', () => {
  const skipped = {
    rule: 'b.yml#other',
    source: 'b.yml',
    commit: '',
    line: 1,
    verdict: 'skipped',
    findings: [],
  } as const;
  const rules = ['scope', 'of a later version'].map((reason) => ({ ...skipped, reason }));
  const run = { ...makeRun({}), rules };
  const { text } = viewRun(run, operator);

  expect(text).toContain('<summary>Rules that were not evaluated: 2</summary>');
  expect(text).toContain('scope: its `in` excludes this repository');
  expect(text).toContain('of a later version');
  expect(viewRun(run, administrator).text).not.toContain('other');
});

it('links to rule files are for operators, and for others only in their own repository; links to the history of a rule are for operators', () => {
  const links = { root: './', forgeUrl: 'https://forge.example.org' };
  const linksOf = (source: string, viewerAccess: ViewerAccess) => {
    const made = withValue('issue.title');
    const level = 'repository' as const;
    const changed = { rule: `${source}#mark`, source, level, commit: 'abcdef' };
    const rules = made.rules.map((rule) => ({ ...rule, ...changed }));
    const { text } = viewRun({ ...made, rules }, viewerAccess, links);
    return [...text.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
  };
  const own = 'https://forge.example.org/acme/demo/src/commit/abcdef/.reeve.yml#L3';
  const history = './rules/show?rule=acme%2Fdemo%2F.reeve.yml%23mark';

  expect(linksOf('acme/demo/.reeve.yml', operator)).toEqual([own, history]);
  expect(linksOf('acme/demo/.reeve.yml', administrator)).toEqual([own]);
  expect(linksOf('acme/secret/.reeve.yml', administrator)).toEqual([]);
  expect(linksOf('acme/secret/.reeve.yml', reader)).toEqual([]);
});
