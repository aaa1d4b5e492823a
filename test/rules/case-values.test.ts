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

    expect(differences).toEqual([expect.stringMatching(new RegExp(`^rule x failed .*\\.${message}`))]);
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

    expect(await differencesOf(rules, { item })).toEqual([
      expect.stringContaining(`item.pull_request.${message}`),
    ]);
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
