import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';

const repository = { id: 1, full_name: 'acme/demo' };
const pull = {
  number: 7,
  title: 'Work',
  state: 'open',
  draft: false,
  labels: [{ id: 1, name: 'bug' }],
  head: { sha: 'a'.repeat(40), ref: 'work' },
  base: { ref: 'main' },
  user: { id: 5, login: 'eve' },
};
const opened = (pull_request: object) => ({
  event: { kind: 'pull_request', activity: 'opened', payload: { number: 7, pull_request, repository } },
});

/** Runs one case of these rules and returns the differences. */
async function differencesOf(rules: object, one: object): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-cases-'));
  writeFileSync(join(folder, 'a.yml'), JSON.stringify({ version: 1, rules }));
  writeFileSync(
    join(folder, 'a.test.yml'),
    JSON.stringify({ cases: [{ name: 'a', expect: { changes: [] }, ...one }] }),
  );
  try {
    const { results, problems } = await testRules([join(folder, 'a.yml')]);
    expect(problems).toEqual([]);
    return results.flatMap(({ differences }) => differences);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const label = (condition: string, on: object = { on: 'pull_request.opened' }) => ({
  x: { ...on, if: condition, steps: [{ uses: 'set-labels', with: { add: ['x'] } }] },
});
const scheduled = { on: { schedule: '7 3 * * *' }, each: 'pull_request' };
const added = { expect: { changes: [{ target: 'label:x', value: true }] } };

describe('fields that a case gives for the subject of its event', () => {
  it.each([
    ['pull_request.behind == 3 && pull_request.title == "Work"', { behind: 3 }],
    [
      'pull_request.head.ref == "other" && pull_request.head.sha.startsWith("aaa")',
      { head: { ref: 'other' } },
    ],
    ['head.sha == "b" && pull_request.head.ref == "work"', { head: { sha: 'b' } }],
    ['labels.exists(l, l.name == "docs") && labels.size() == 1', { labels: [{ id: 2, name: 'docs' }] }],
    ['pull_request.title == "New" && event.pull_request.title == "Work"', { title: 'New' }],
    ['!has(pull_request.head) && pull_request.title == "Work"', { head: null }],
  ])("replace the payload's fields and leave the others: %s", async (condition, given) => {
    const facts = { pull_request: given, label_definitions: ['x'] };

    expect(await differencesOf(label(condition), { ...opened(pull), facts, ...added })).toEqual([]);
  });

  it('apply to an item as well', async () => {
    const condition =
      'pull_request.behind == 3 && pull_request.title == "New" && pull_request.head.ref == "work"';
    const facts = { pull_request: { behind: 3, title: 'New' }, label_definitions: ['x'] };
    const item = { pull_request: { ...pull, repository } };

    expect(await differencesOf(label(condition, scheduled), { item, facts, ...added })).toEqual([]);
  });
});

describe('a missing state in a case is an error, not a plan without changes', () => {
  const { state: _, ...stateless } = pull;
  const message = 'state must be open or closed, but is missing';

  it.each([
    { uses: 'merge' },
    { uses: 'update-branch' },
    { uses: 'set-issue', with: { state: 'closed' } },
    { uses: 'set-issue', with: { state: 'open' } },
    { uses: 'dismiss-stale-reviews', with: { states: ['APPROVED'], message: 'Look again.' } },
    { uses: 'request-reviewers', with: { users: ['ada'] } },
  ])('%o', async (step) => {
    const rules = { x: { on: 'pull_request.opened', steps: [step] } };
    const facts = {
      issue: stateless,
      reviews: [],
      files: [],
      base_branch: { name: 'main', protected: false },
    };
    const differences = await differencesOf(rules, { ...opened(stateless), facts });

    expect(differences.at(-1)).toMatch(new RegExp(`^rule x failed .*\\.${message}`));
  });

  it('is open for a rule with on: auto whose actions do not read it', async () => {
    const rules = label('true', { on: 'auto', each: 'pull_request' });
    const facts = { label_definitions: ['x'] };

    expect(await differencesOf(rules, { ...opened(stateless), facts, ...added })).toEqual([]);
    const closed = { ...pull, state: 'closed' };
    expect(await differencesOf(rules, { ...opened(closed), facts })).toEqual([]);
    const scheduledToo = label('true', { on: ['auto', { schedule: '7 3 * * *' }], each: 'pull_request' });
    const item = { pull_request: { ...stateless, repository } };
    expect(await differencesOf(scheduledToo, { item, facts, ...added })).toEqual([]);
  });

  it('is reported for a review as well', async () => {
    const uses = { uses: 'dismiss-stale-reviews', with: { states: ['APPROVED'], message: 'Look again.' } };
    const facts = {
      reviews: [{ id: 3, user: { id: 6, login: 'ada' }, commit_id: 'b', stale: true }],
      files: [],
    };

    expect(
      await differencesOf({ x: { on: 'pull_request.opened', steps: [uses] } }, { ...opened(pull), facts }),
    ).toEqual([expect.stringContaining('facts.reviews[0].state must be text, but is missing')]);
  });

  it('is reported with the path of the item', async () => {
    const rules = { x: { ...scheduled, steps: [{ uses: 'update-branch' }] } };
    const item = { pull_request: { ...stateless, repository } };

    expect((await differencesOf(rules, { item })).at(-1)).toContain(`item.pull_request.${message}`);
  });
});

describe('a case with an item', () => {
  const item = { pull_request: { ...pull, repository } };
  const facts = { label_definitions: ['x', 'y'] };
  const concerned = {
    on: { status: {} },
    each: 'pull_request',
    steps: [{ uses: 'set-labels', with: { add: ['y'] } }],
  };

  it('runs only the rules with a schedule', async () => {
    const rules = { ...label('true', scheduled), concerned };

    expect(await differencesOf(rules, { item, facts, ...added })).toEqual([]);
  });

  it('fails if no rule of the file has a schedule for that kind of item', async () => {
    expect(await differencesOf({ concerned }, { item, facts })).toEqual([
      'the case could not run: no rule of the file has a schedule with each: pull_request',
    ]);
  });
});

it('a refused change fails its case unless the case names it', async () => {
  const rules = {
    on: {
      on: 'pull_request.opened',
      if: 'pull_request.number > 1',
      steps: [{ uses: 'set-labels', with: { add: ['x'] } }],
    },
    off: {
      on: 'pull_request.opened',
      if: 'pull_request.number > 2',
      steps: [{ uses: 'set-labels', with: { remove: ['x'] } }],
    },
  };
  const one = { ...opened(pull), facts: { label_definitions: ['x'] } };

  expect(await differencesOf(rules, one)).toEqual([
    expect.stringMatching(
      /^refused change: .*"target":"label:x","value":true.* want different values, and neither ranks higher/,
    ),
  ]);
  const refused = [{ target: 'label:x', value: true, why: 'want different values' }];
  expect(await differencesOf(rules, { ...one, expect: { changes: [], refused } })).toEqual([]);
});

describe('accounts of a case that have a login and no id', () => {
  const obey = {
    obey: {
      on: { issue_comment: ['created'] },
      permission: 'author',
      steps: [{ uses: 'set-labels', with: { add: ['x'] } }],
    },
  };
  const commentBy = (author: object, opener: object, facts: object = {}) => ({
    event: {
      kind: 'issue_comment',
      activity: 'created',
      payload: {
        comment: { id: 9, body: 'hi', user: author },
        issue: { number: 7, state: 'open', labels: [], user: opener },
        is_pull: false,
        repository,
      },
    },
    facts: { label_definitions: ['x'], sender_permission: 'none', ...facts },
  });

  it.each([
    ['the same login', { login: 'eve' }, { login: 'Eve' }, true],
    ['another login', { login: 'ada' }, { login: 'eve' }, false],
    ['the id that the case gives elsewhere', { login: 'eve' }, { id: 5, login: 'eve' }, true],
    ['a login whose new id would be that of another', { login: 'ada' }, { id: 1001, login: 'eve' }, false],
  ])('are equal or not by %s', async (_, author, opener, isEqual) => {
    const expected = isEqual ? added : {};

    expect(await differencesOf(obey, { ...commentBy(author, opener), ...expected })).toEqual([]);
  });

  it('need an id if the login has several', async () => {
    const timeline = [{ type: 'comment', user: { id: 6, login: 'eve' } }];

    expect(
      await differencesOf(obey, commentBy({ login: 'eve' }, { id: 5, login: 'eve' }, { timeline })),
    ).toEqual([
      'the case could not run: eve has the ids 5 and 6 in this case: give the id wherever it stands',
    ]);
  });
});

describe('what a rule wrote before', () => {
  const scheduledWith = (steps: readonly object[]) => ({ x: { ...scheduled, steps } });
  const item = { pull_request: { ...pull, repository } };

  it.each([
    ['of an event', (rule: object) => ({ on: 'pull_request.opened', ...rule }), opened(pull)],
    ['of an item', (rule: object) => ({ ...scheduled, ...rule }), { item }],
  ])('a comment is given by its rule and key: %s', async (_, ruleOf, about) => {
    const rules = {
      x: ruleOf({
        steps: [{ uses: 'comment', with: { key: 'late', text: 'Hi', when: 'labelled("late")' } }],
      }),
    };
    const facts = { comments: [{ by: 'x', key: 'late', body: 'Hi' }] };
    const expected = { changes: [{ action: 'comment', value: null }] };

    expect(await differencesOf(rules, { ...about, facts, expect: expected })).toEqual([]);
    const other = { comments: [{ by: 'x', body: 'Hi' }] };
    expect(await differencesOf(rules, { ...about, facts: other, expect: { changes: [] } })).toEqual([]);
  });

  it('a review on the head is given by its rule and state', async () => {
    const review = { uses: 'review', with: { verdict: 'request-changes', when: 'labelled("late")' } };
    const facts = { reviews: [{ by: 'x', state: 'REQUEST_CHANGES' }] };
    const late = { ...pull, labels: [{ id: 1, name: 'late' }] };

    const rules = { x: { on: 'pull_request.opened', steps: [review] } };
    const dismissed = { changes: [{ action: 'review', target: 'review:1001', value: 'dismissed' }] };

    expect(await differencesOf(rules, { ...opened(pull), facts, expect: dismissed })).toEqual([]);
    expect(await differencesOf(rules, { ...opened(late), facts })).toEqual([]);
  });

  it('an issue is given by its rule and key', async () => {
    const report = { uses: 'report-issue', with: { key: 'k', title: 'Late', when: 'labelled("late")' } };
    const facts = { own_issues: { 'acme/demo': [{ number: 3, by: 'x', key: 'k', title: 'Late' }] } };
    const expected = { changes: [{ action: 'report-issue', value: { state: 'closed' } }] };

    expect(await differencesOf(scheduledWith([report]), { item, facts, expect: expected })).toEqual([]);
  });

  it('names a rule of the file', async () => {
    const comment = { uses: 'comment', with: { text: 'Hi' } };

    expect(
      await differencesOf(scheduledWith([comment]), { item, facts: { comments: [{ by: 'y', body: 'Hi' }] } }),
    ).toEqual([
      'the case could not run: facts.comments[0].by names the rule "y", which the file does not have',
    ]);
  });
});

it.each([
  ['milestones.exists(m, m.title == "next" && m.state == "open")', { milestones: ['next'] }],
  ['branches.exists(b, b.name == "main")', { branches: ['main'] }],
  ['assignable.exists(a, a.login == "ada")', { assignable: ['ada'] }],
  ['collaborators.exists(c, c.login == "ada" && c.id > 0)', { collaborators: ['ada'] }],
])('a list whose items have a name takes names: %s', async (condition, given) => {
  const one = { ...opened(pull), facts: { label_definitions: ['x'], ...given } };

  expect(await differencesOf(label(condition), { ...one, ...added })).toEqual([]);
});

describe('the issue side of a pull request', () => {
  const close = { uses: 'set-issue', with: { state: 'closed', assignees: { add: ['ada'] } } };
  const expected = {
    expect: {
      changes: [
        { target: 'issue.state', value: 'closed' },
        { target: 'assignee:ada', value: true },
      ],
    },
  };

  it('is that of the pull request, for an event and for an item', async () => {
    const ofEvent = { x: { on: 'pull_request.opened', steps: [close] } };
    const ofItem = { x: { ...scheduled, steps: [close] } };

    expect(await differencesOf(ofEvent, { ...opened(pull), ...expected })).toEqual([]);
    const item = { pull_request: { ...pull, repository } };
    expect(await differencesOf(ofItem, { item, ...expected })).toEqual([]);
    // Members that facts give replace those of the pull request.
    const facts = { issue: { assignees: [{ login: 'ada' }] } };
    const closed = { expect: { changes: [{ target: 'issue.state' }] } };
    expect(await differencesOf(ofItem, { item, facts, ...closed })).toEqual([]);
  });

  it('of a merged pull request is merged', async () => {
    const reopen = { uses: 'set-issue', with: { state: 'open' } };
    const merged = { ...pull, state: 'closed', merged: true };

    expect(
      await differencesOf({ x: { on: 'pull_request.opened', steps: [reopen] } }, opened(merged)),
    ).toEqual([]);
  });

  it('lacks what the pull request lacks, with the path of the pull request', async () => {
    const { state: _, ...stateless } = pull;

    expect(
      (await differencesOf({ x: { on: 'pull_request.opened', steps: [close] } }, opened(stateless))).at(-1),
    ).toContain('event.payload.pull_request.state must be open or closed, but is missing');
  });
});
