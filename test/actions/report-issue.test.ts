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

describe('what is planned', () => {
  const cases: readonly [string, boolean, readonly unknown[], string, object | undefined][] = [
    ['opens one', true, [], 'issue.create', { title: given.title, body: `${standing}\nSince noon.` }],
    ['needs none', false, [], 'already', undefined],
    ['leaves one that says so', true, [issue(1, 'open', standing)], 'already', undefined],
    [
      'edits one that says something else',
      true,
      [issue(1, 'open', standing, { title: 'Old' })],
      'issue.edit',
      { title: given.title, body: `${standing}\nSince noon.` },
    ],
    [
      'closes it, and says in it that it is settled',
      false,
      [issue(1, 'open', standing)],
      'issue.edit',
      { state: 'closed', body: `${settled}\nSince noon.` },
    ],
    ['leaves one that it closed', false, [issue(1, 'closed', settled)], 'already', undefined],
    [
      'opens it again when its condition holds anew',
      true,
      [issue(1, 'closed', settled)],
      'issue.edit',
      { state: 'open', title: given.title, body: `${standing}\nSince noon.` },
    ],
    ['does not overrule a person who closed it', true, [issue(1, 'closed', standing)], 'already', undefined],
    [
      'settles what a person closed, once the condition does not hold',
      false,
      [issue(1, 'closed', standing)],
      'issue.edit',
      { body: `${settled}\nSince noon.` },
    ],
    ['leaves one that a person opened again', false, [issue(1, 'open', settled)], 'already', undefined],
    [
      'never takes what others wrote',
      true,
      [issue(1, 'open', standing, { user: { id: 1 } })],
      'issue.create',
      undefined,
    ],
    [
      'takes the older of two',
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

describe('where it reports to', () => {
  it('is the repository that is named', async () => {
    const [change] = await plan({ repository: 'acme/ops' }, []);

    expect(change?.input.params).toEqual({ owner: 'acme', repo: 'ops' });
  });

  it.each(['organization', 'repository'] as const)(
    'is never another one for a file of the %s',
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

  it('must be said where the subject has no repository', async () => {
    const facts = makeFacts({}, { subject: { kind: 'runner' } });
    const nowhere = { ...facts, subject: { kind: 'runner' } as const };

    await expect(reportIssue.plan(given, nowhere, makeContext())).rejects.toThrow('set repository');
  });
});
