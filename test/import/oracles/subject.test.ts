import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { oracles } from './oracles.ts';
import { refusalOf, standingOf } from './standing.ts';
import { createDraw, makeSubject, plainPull, type Subject, type Words } from './subject.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const words: Words = {
  labels: ['a', 'b', 'c'],
  paths: ['a.md', 'src/b.ts'],
  bases: ['main', 'dev'],
  heads: ['x', 'y'],
  logins: ['ada', 'bob', 'bot[bot]'],
  checks: ['build', 'test'],
  teams: ['core'],
};

describe('random subjects', () => {
  it('are the same for the same seed and differ for others', () => {
    expect(makeSubject(5, words, now)).toEqual(makeSubject(5, words, now));
    expect(makeSubject(5, words, now)).not.toEqual(makeSubject(6, words, now));
  });

  it('draw from the words, with every shape among a thousand', () => {
    const subjects = Array.from({ length: 1_000 }, (_, seed) => makeSubject(seed, words, now));
    const has = (test: (subject: Subject) => boolean): boolean => subjects.some(test);

    expect(
      subjects.every(
        ({ labels, base, author }) =>
          labels.every((label) => words.labels.includes(label)) &&
          words.bases.includes(base) &&
          words.logins.includes(author),
      ),
    ).toBe(true);
    expect(has(({ files }) => files.length === 0)).toBe(true);
    expect(has(({ files }) => files.some(({ previous }) => previous !== null))).toBe(true);
    expect(has(({ checks }) => new Set(checks.map(({ name }) => name)).size < checks.length)).toBe(true);
    expect(
      has(({ merged }) => merged) &&
        has(({ fork }) => fork) &&
        has(({ draft }) => draft) &&
        has(({ mergeable }) => mergeable === null),
    ).toBe(true);
    expect(has(({ commits }) => commits.some(({ parents }) => parents.length === 2))).toBe(true);
    expect(
      subjects.every(
        ({ created, updated, closed }) =>
          created <= updated && updated <= now && (closed ?? created) >= created,
      ),
    ).toBe(true);
    expect(
      subjects.every(({ merged, state, mergedBy }) => !merged || (state === 'closed' && mergedBy !== null)),
    ).toBe(true);
  });

  it('have no members of pull requests if they are issues', () => {
    const issue = makeSubject(3, words, now, 'issue');
    expect([issue.base, issue.files, issue.commits, issue.reviews, issue.merged, issue.checks]).toEqual([
      '',
      [],
      [],
      [],
      false,
      [],
    ]);
  });

  it('draws evenly', () => {
    const draw = createDraw(1);
    const counts = [0, 0, 0, 0];
    for (let left = 4_000; left > 0; left -= 1) {
      const item = draw.below(4);
      counts[item] = (counts[item] ?? 0) + 1;
    }
    expect(counts.every((count) => count > 850 && count < 1_150)).toBe(true);
  });
});

describe('the standing of a pull request', () => {
  const protection = {
    approvals: 1,
    checks: ['build'],
    strict: true,
    signatures: false,
    resolution: false,
    dismissStale: true,
  };
  const head = 'a'.repeat(40);
  const approval = { author: 'bob', state: 'APPROVED', commit: head, body: '', time: 0 } as const;
  const good: Partial<Subject> = {
    protection,
    permissions: { bob: 'write' },
    reviews: [approval],
    checks: [{ name: 'build', kind: 'run', state: 'success' }],
  };

  it.each([
    ['CLEAN', {}],
    ['CLEAN', { protection: null, checks: [] }],
    ['UNSTABLE', { checks: [...(good.checks ?? []), { name: 'x', kind: 'run', state: 'failure' }] }],
    ['BLOCKED', { reviews: [] }],
    ['BLOCKED', { permissions: {} }],
    ['BLOCKED', { reviews: [{ ...approval, commit: 'old' }] }],
    ['BLOCKED', { checks: [] }],
    ['BLOCKED', { reviews: [approval, { ...approval, state: 'CHANGES_REQUESTED' }] }],
    ['BEHIND', { behind: 1 }],
    ['DRAFT', { draft: true }],
    ['DIRTY', { mergeable: false }],
    ['UNKNOWN', { mergeable: null }],
  ] as const)('is %s for %j', (state, more) => {
    expect(standingOf(plainPull({ ...good, ...(more as unknown as Partial<Subject>) })).state).toBe(state);
  });

  it('refuses a merge of anything else, and by a method that is off', () => {
    expect(refusalOf(plainPull(good), 'squash')).toBeUndefined();
    expect(refusalOf(plainPull({ ...good, methods: ['merge'] }), 'squash')).toBeDefined();
    expect(refusalOf(plainPull({ ...good, reviews: [] }), 'merge')).toBeDefined();
    expect(refusalOf(plainPull({ ...good, state: 'closed' }), 'merge')).toBeDefined();
  });
});

describe('oracles', () => {
  it('import nothing of the importer', () => {
    const files = [
      'subject',
      'standing',
      'labeler',
      'mergify',
      'stale',
      'kodiak',
      'bulldozer',
      'policy-bot',
      'codeowners',
      'others',
      'oracles',
    ];
    for (const file of files) {
      const source = readFileSync(new URL(`${file}.ts`, import.meta.url), 'utf8');
      expect([...source.matchAll(/ from '(\.\.[^']*)'/g)].map(([, path]) => path)).toEqual([]);
    }
  });

  const configurations: Readonly<Record<keyof typeof oracles, string>> = {
    labeler: 'a:\n- base-branch: main',
    mergify:
      'pull_request_rules:\n- {name: r, conditions: [base=main], actions: {label: {add: [a]}, merge: {}}}',
    kodiak: 'version = 1\n[merge]\nautomerge_label = "a"',
    bulldozer: 'version: 1\nmerge: {trigger: {labels: [a]}}',
    'policy-bot': 'policy: {approval: [r]}\napproval_rules: [{name: r, requires: {count: 1, users: [ada]}}]',
    codeowners: '* @ada @acme/core',
    stale: 'jobs: {a: {steps: [{uses: actions/stale@v9}]}}',
    'probot-stale': 'staleLabel: a',
    'no-response': 'responseRequiredLabel: a',
    lock: 'jobs: {a: {steps: [{uses: dessant/lock-threads@v5, with: {issue-inactive-days: 30, pr-inactive-days: 30}}]}}',
    semantic: 'titleOnly: true',
    'semantic-title': 'jobs: {a: {steps: [{uses: amannn/action-semantic-pull-request@v5}]}}',
    'auto-assign': 'addReviewers: true\nreviewers: [ada, bob]\nnumberOfReviewers: 0',
    'auto-assign-app': 'addReviewers: true\nreviewers: [ada, bob]',
    'auto-request-review': 'reviewers: {defaults: [ada]}',
    'release-drafter': 'autolabeler: [{label: a, files: ["*.md"]}]',
    'boring-cyborg': 'labelPRBasedOnFilePath: {a: ["*.md"]}',
    greetings: 'jobs: {a: {steps: [{uses: actions/first-interaction@v1}]}}',
    'backport-action':
      'jobs: {a: {steps: [{uses: korthout/backport-action@v3, with: {label_pattern: "^(.)$"}}]}}',
    backportrc: '{"branchLabelMapping": {"^a$": "dev"}}',
  };
  it.each(Object.keys(oracles) as (keyof typeof oracles)[])(
    '%s decides for random subjects, the same each time, with and without effects',
    (name) => {
      const decide = oracles[name];
      const all = Array.from({ length: 300 }, (_, seed) => {
        const kind =
          ['stale', 'probot-stale', 'no-response', 'lock'].includes(name) && seed % 2 === 0
            ? 'issue'
            : 'pull';
        const drawn = makeSubject(seed, { ...words, bases: ['main', 'dev', 'a'] }, now, kind);
        const subject =
          name === 'probot-stale' || name === 'no-response'
            ? { ...drawn, event: { action: 'schedule', sender: 'x' } }
            : drawn;
        const decision = decide(configurations[name], subject, now);
        expect(decide(configurations[name], subject, now)).toEqual(decision);
        return decision.effects.join();
      });
      expect(new Set(all).size).toBeGreaterThan(1);
    },
  );
});
