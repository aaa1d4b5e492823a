import { describe, expect, it } from 'vitest';
import { reportIssue } from '../../src/actions/report-issue.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const standing = '<!-- reeve:tidy/runner-3 -->';
const settled = '<!-- reeve:tidy/runner-3 settled -->';
const issue = (number: number, state: string, marker: string, more: object = {}) => ({
  id: number,
  number,
  state,
  title: 'Runner 3 is offline',
  body: `${marker}\nSince noon.`,
  user: { id: 9, login: 'reeve' },
  ...more,
});
const given = { key: 'runner-3', title: 'Runner 3 is offline', body: 'Since noon.' };
const plan = (more: object, own: readonly unknown[], context = makeContext()) =>
  reportIssue.plan(
    { ...given, ...more },
    makeFacts({ own_issues: { 'acme/site': own, 'acme/ops': own } }, { subject: { kind: 'repository' } }),
    context,
  );

describe('the plan', () => {
  const cases: readonly [string, boolean, readonly unknown[], string, object | undefined][] = [
    [
      'opens a missing issue',
      true,
      [],
      'issue.create',
      { title: given.title, body: `${standing}\nSince noon.` },
    ],
    ['needs no issue', false, [], 'already', undefined],
    [
      'leaves an issue with the same text unchanged',
      true,
      [issue(1, 'open', standing)],
      'already',
      undefined,
    ],
    [
      'edits an issue with different text',
      true,
      [issue(1, 'open', standing, { title: 'Old' })],
      'issue.edit',
      { title: given.title, body: `${standing}\nSince noon.` },
    ],
    [
      'closes the issue with a note that it is settled',
      false,
      [issue(1, 'open', standing)],
      'issue.edit',
      { state: 'closed', body: `${settled}\nSince noon.` },
    ],
    [
      'leaves an issue that it has closed unchanged',
      false,
      [issue(1, 'closed', settled)],
      'already',
      undefined,
    ],
    [
      'reopens the issue when its condition holds again',
      true,
      [issue(1, 'closed', settled)],
      'issue.edit',
      { state: 'open', title: given.title, body: `${standing}\nSince noon.` },
    ],
    [
      'does not reopen an issue that a person closed',
      true,
      [issue(1, 'closed', standing)],
      'already',
      undefined,
    ],
    [
      'settles an issue that a person closed once the condition does not hold',
      false,
      [issue(1, 'closed', standing)],
      'issue.edit',
      { body: `${settled}\nSince noon.` },
    ],
    [
      'leaves an issue that a person reopened unchanged',
      false,
      [issue(1, 'open', settled)],
      'already',
      undefined,
    ],
    [
      'never uses an issue that another account wrote',
      true,
      [issue(1, 'open', standing, { user: { id: 1 } })],
      'issue.create',
      undefined,
    ],
    [
      'uses the older of two issues',
      true,
      [issue(8, 'open', standing), issue(2, 'open', standing)],
      'already',
      undefined,
    ],
  ];

  it.each(cases)('%s', async (_title, when, own, what, body) => {
    const [change, ...more] = await plan({ when }, own);

    expect(more).toEqual([]);
    expect(change?.already ? 'already' : change?.operation).toBe(what);
    if (body) expect(change?.input.body).toEqual(body);
  });
});

describe('the target repository', () => {
  it('is the given one', async () => {
    const [change] = await plan({ repository: 'acme/ops' }, []);

    expect(change?.input.params).toEqual({ owner: 'acme', repo: 'ops' });
  });

  it.each(['organization', 'repository'] as const)(
    'is never another repository for a file of the %s',
    async (level) => {
      const context = makeContext({ level });

      await expect(plan({ repository: 'acme/ops' }, [], context)).rejects.toThrow(
        'only rules of the operator',
      );
      await expect(plan({ repository: 'ACME/site' }, [], context).catch(String)).resolves.not.toContain(
        'operator',
      );
    },
  );

  it('must be given if the subject has no repository', async () => {
    const facts = makeFacts({}, { subject: { kind: 'runner' } });
    const nowhere = { ...facts, subject: { kind: 'runner' } as const };

    await expect(reportIssue.plan(given, nowhere, makeContext())).rejects.toThrow('set repository');
  });
});
