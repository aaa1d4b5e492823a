import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';

const rules = `
version: 1
rules:
  approved:
    on: { pull_request: { types: [synchronized], paths: ["src/**"] } }
    if: approvals.size() > 0 && contents("CODEOWNERS") != null
    steps:
      - uses: set-status
        with: { state: success, when: "pull_request.behind == 0" }
      - uses: set-issue
        with: { milestone: next }
  rotate:
    on: { pull_request: [synchronized] }
    steps:
      - uses: request-reviewers
        with: { users: [ada, bob], pick: 1, by: round-robin }
  dismiss:
    on: { pull_request: [synchronized] }
    steps:
      - uses: dismiss-stale-reviews
        with: { states: [APPROVED], message: Look again. }
  quiet:
    on: { schedule: "7 3 * * *" }
    each: pull_request
    if: has(pull_request.title)
    steps:
      - uses: delete-branch
  merge:
    on: { pull_request: [label_updated] }
    if: approvals.size() > 0
    steps:
      - uses: merge
        with: { delete-branch: true }
  backport:
    on: { pull_request: [closed] }
    steps:
      - uses: backport
        with: { to: [release/1] }
`;

/** Runs one case and returns the differences. */
async function differencesOf(one: object): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-missing-'));
  writeFileSync(join(folder, 'a.yml'), rules);
  writeFileSync(join(folder, 'a.test.yml'), JSON.stringify({ cases: [{ name: 'a', ...one }] }));
  try {
    const { results, problems } = await testRules([join(folder, 'a.yml')]);
    expect(problems).toEqual([]);
    return results.flatMap(({ differences }) => differences);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const pull = { number: 1, state: 'open', labels: [], head: { sha: 'abc' }, user: { id: 5, login: 'eve' } };
const eventWith = (pull_request: object) => ({
  kind: 'pull_request',
  activity: 'synchronized',
  payload: { number: 1, pull_request, repository: { id: 1, full_name: 'acme/demo' } },
});

describe('a case without the facts that its rules read', () => {
  it('lists all missing facts at once, with their types and their readers', async () => {
    const differences = await differencesOf({
      event: eventWith(pull),
      facts: { files: ['src/a.ts'] },
      expect: { changes: [] },
    });

    expect(differences).toEqual([
      '6 facts are not given; write under "facts" of this case (members: docs/reference/facts):',
      '  approvals: a list, read by if of approved',
      '  contents: { "CODEOWNERS": an object }, read by if of approved',
      '  pull_request: { behind: a number }, read by step 1 set-status of approved',
      '  milestones: a list, read by step 2 set-issue of approved',
      '  review_requests: a list, read by the plan of rotate',
      '  reviews: a list, read by step 1 dismiss-stale-reviews of dismiss',
      expect.stringMatching(/^rule approved failed \(.*approvals is not given\)$/),
      'rule rotate failed (step 1 request-reviewers: review_requests is not given)',
      'rule dismiss failed (step 1 dismiss-stale-reviews: reviews is not given)',
    ]);
  });

  it('lists the fact read by a filter on paths, and the facts that its rule reads after the filter', async () => {
    const [head, ...names] = await differencesOf({
      event: eventWith(pull),
      facts: { reviews: [], review_requests: [] },
      expect: {},
    });

    expect(head).toMatch(/^5 facts are not given/);
    expect(names[0]).toBe('  files: a list, read by paths of approved');
  });

  it('does not list facts of a rule that is expected to fail', async () => {
    const differences = await differencesOf({
      event: eventWith(pull),
      facts: { reviews: [], review_requests: [], files: ['src/a.ts'] },
      expect: { changes: [{ action: 'request-reviewers' }], failed: 'approved' },
    });

    expect(differences).toEqual([]);
  });

  it('does not list facts that an action can do without', async () => {
    const differences = await differencesOf({
      event: eventWith(pull),
      facts: { files: ['docs/a.md'], review_requests: [], reviews: [] },
      expect: { changes: [{ action: 'request-reviewers' }], verdicts: { approved: 'skipped' } },
    });

    expect(differences).toEqual([]);
  });

  it('lists missing facts of an item', async () => {
    const item = { pull_request: { ...pull, title: 'a', merged: true, state: 'closed' } };

    expect(await differencesOf({ item, expect: {} })).toEqual([
      'a fact is not given; write under "facts" of this case (members: docs/reference/facts):',
      '  head_branch: an object, read by the plan of quiet',
      'rule quiet failed (step 1 delete-branch: head_branch is not given)',
    ]);
  });
});

describe('a plan that reads one thing after the other', () => {
  it('lists all facts in one run', async () => {
    const repo = { id: 1 };
    const sides = { head: { sha: 'abc', repo }, base: { ref: 'main', repo } };
    const differences = await differencesOf({
      event: { ...eventWith({ ...pull, ...sides }), activity: 'label_updated' },
      expect: {},
    });

    expect(differences).toEqual([
      '3 facts are not given; write under "facts" of this case (members: docs/reference/facts):',
      '  approvals: a list, read by if of merge',
      '  base_branch: an object, read by step 1 merge of merge',
      '  head_branch: { name: text, sha: text, … }, read by the plan of merge',
      'rule merge failed (approvals.size() > 0: approvals is not given)',
    ]);
  });

  it('lists all members in one run, and names the merge commit instead of blaming the forge', async () => {
    const merged = { ...pull, state: 'closed', merged: true, base: { ref: 'main' } };
    const differences = await differencesOf({
      event: { ...eventWith(merged), activity: 'closed' },
      facts: { branches: [{}] },
      expect: {},
    });

    expect(differences).toEqual([
      '3 members are not given; write them at these paths (members: docs/reference/facts):',
      '  event.payload.pull_request.merge_commit_sha: text, read by the plan of backport',
      '  facts.branches[0].name: text, read by the plan of backport',
      '  event.payload.pull_request.title: text, read by the plan of backport',
      'rule backport failed (step 1 backport: event.payload.pull_request.merge_commit_sha must be text, but is missing)',
    ]);
  });
});

describe('a given value that lacks a field read by an action', () => {
  const facts = { files: ['docs/a.md'], review_requests: [], reviews: [] };

  it.each<[string, object, object, string]>([
    [
      'a fact',
      pull,
      { ...facts, timeline: [{ id: 1 }] },
      'rule rotate failed (step 1 request-reviewers: facts.timeline[0].type must be text, but is missing)',
    ],
    [
      'a fact of another type',
      pull,
      { ...facts, review_requests: {} },
      'rule rotate failed (step 1 request-reviewers: facts.review_requests must be a list, but is an object)',
    ],
    [
      'the payload',
      { ...pull, head: {} },
      facts,
      'rule dismiss failed (step 1 dismiss-stale-reviews: event.payload.pull_request.head.sha must be text, but is missing)',
    ],
  ])('is named with its path: of %s', async (_, pull_request, given, message) => {
    const differences = await differencesOf({ event: eventWith(pull_request), facts: given, expect: {} });

    expect(differences).toContain(message);
  });

  it('is named with its path: of an item', async () => {
    const item = { pull_request: { ...pull, title: 'a', merged: true, state: 'closed', base: {} } };

    expect(await differencesOf({ item, facts: { head_branch: {} }, expect: {} })).toEqual([
      'rule quiet failed (step 1 delete-branch: item.pull_request.base.ref must be text, but is missing)',
    ]);
  });
});
