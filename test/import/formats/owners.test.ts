import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runCase } from '../../../src/cli/commands/rules/rule-tests.ts';
import type { SourceFile } from '../../../src/import/conversion.ts';
import { owners } from '../../../src/import/formats/owners.ts';
import { importFile } from '../../../src/import/import-file.ts';
import { createNames, type ForgeNames } from '../../../src/import/names.ts';
import { findPathOwners, parseCodeowners } from '../../../src/patterns/codeowners-file.ts';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { loadRuleTests } from '../../../src/rules/rule-tests.ts';
import { hostileText } from '../support/hostile.ts';

const gitea = { hasRoot: true, hasLookaround: true };

/** Imports a tree: place → text. */
async function imported(tree: Record<string, string>, forge: ForgeNames = { hasOwnerLookahead: true }) {
  const [first, ...others] = Object.entries(tree).map(
    ([place, text]): SourceFile => ({ path: place, place, text }),
  );
  if (first === undefined) throw new Error('no file');
  const result = await importFile(
    { ...first, others },
    {
      format: owners,
      context: { names: createNames({}, forge), target: 'operator' },
      name: 'OWNERS',
      run: runCase,
    },
  );
  const text = (end: string): string => result.files.find(({ name }) => name.endsWith(end))?.text ?? '';
  return { ...result, codeowners: text('CODEOWNERS'), yaml: text('OWNERS.yml') };
}

function ownersOf(file: string, path: string): readonly string[] {
  const found = findPathOwners(parseCodeowners(file, gitea), [path], {
    dialect: gitea,
    meter: createUnlimitedMeter(),
  });
  return [...(found[0]?.owners ?? [])].toSorted();
}

/** Runs the rules on an opened pull request. Returns what they do, as `target`, or `target=value`. */
async function run(
  { rules }: Awaited<ReturnType<typeof imported>>,
  files: readonly string[],
  more: object = {},
) {
  const pull = {
    id: 1,
    number: 7,
    state: 'open',
    title: 'A',
    user: { login: 'eve' },
    labels: [],
    base: { ref: 'main' },
    head: { ref: 'x', sha: 'a'.repeat(40) },
  };
  const written = {
    name: 'a',
    event: {
      kind: 'pull_request',
      activity: 'opened',
      payload: {
        number: 7,
        pull_request: pull,
        repository: { id: 1, full_name: 'acme/demo', default_branch: 'main' },
        sender: { id: 1, login: 'eve' },
      },
    },
    facts: {
      files,
      codeowners: [],
      approvals: [],
      codeowners_problems: { text: '', lines: [] },
      label_definitions: ['docs', 'api', 'all'],
      review_requests: [],
      reviews: [],
      assignable: [],
      ...more,
    },
    expect: {},
  };
  const [one] = loadRuleTests({ path: 'x.test.yml', text: JSON.stringify({ cases: [written] }) }).cases;
  if (one === undefined) throw new Error('no case');
  const done = await runCase(one, { path: 'x.test.yml', cases: [one], rules });
  return done.changes
    .map(({ target, value }) =>
      target.startsWith('status:') ? `${target}=${(value as { state: string }).state}` : target,
    )
    .toSorted();
}

// Rows of `entriesForFile` and `walkFunc` in pkg/repoowners/repoowners.go of kubernetes-sigs/prow at a619408.
describe('approvers of OWNERS', () => {
  const tree = {
    OWNERS: 'approvers: [root]\n',
    'docs/OWNERS': 'approvers: [docs-team, Writer]\nemeritus_approvers: [old]\n',
    'docs/api/OWNERS': 'options: { no_parent_owners: true }\napprovers: [api]\n',
    'closed/OWNERS': 'options: { no_parent_owners: true }\nlabels: [x]\n',
    'closed/in/OWNERS': 'approvers: [inner]\n',
    'lib/OWNERS':
      'filters:\n  "\\\\.go$": { approvers: [gopher] }\n  "^cmd/|^tools/": { approvers: [tools] }\n  ".*": { approvers: [lib] }\n',
    OWNERS_ALIASES: 'aliases:\n  docs-team: [ada, Grace]\n',
  };

  it.each([
    ['x', ['root']],
    ['docs/a', ['ada', 'grace', 'root', 'writer']],
    ['docs/api/a', ['api']],
    // A closed folder without approvers of its own does not end the search.
    ['closed/a', ['root']],
    ['closed/in/a', ['inner']],
    ['lib/a', ['lib', 'root']],
    ['lib/x/a.go', ['gopher', 'lib', 'root']],
    ['lib/cmd/a', ['lib', 'root', 'tools']],
    ['lib/x/cmd/a', ['lib', 'root']],
  ])('own %s: %j', async (path, expected) => {
    expect(ownersOf((await imported(tree)).codeowners, path)).toEqual(expected);
  });

  it('name a closed folder that they may approve on a forge without look-ahead', async () => {
    const { codeowners, entries } = await imported(tree, { hasOwnerLookahead: false });

    expect(codeowners).not.toContain('(?!');
    const differing = entries.filter(({ note = '' }) => note.includes('no_parent_owners'));
    expect(differing.map(({ part }) => part)).toEqual(['OWNERS: approvers', 'docs/OWNERS: approvers']);
    expect(differing[0]?.note).toContain('`docs/api/x`');
  });

  it('have to approve each file: the status decides', async () => {
    const result = await imported(tree);
    const codeowners = [{ file: 'docs/a', users: ['ada', 'root'], teams: [] }];

    expect(await run(result, ['docs/a'], { codeowners })).toContain('status:reeve/owners=pending');
    expect(await run(result, ['docs/a'], { codeowners, approvals: [{ user: { login: 'ada' } }] })).toContain(
      'status:reeve/owners=success',
    );
    expect(
      await run(result, ['docs/a'], {
        codeowners: [...codeowners, { file: 'y', users: [], teams: [] }],
        approvals: [{ user: { login: 'ada' } }],
      }),
    ).toContain('status:reeve/owners=pending');
  });
});

it.each([
  ['emeritus_approvers: [old]', 'without-meaning', 'former owners'],
  ['approvers: [a]\nfilters: { ".*": { approvers: [b] } }', 'without-meaning', 'ignores filters'],
  ['options: { auto_approve_unowned_subfolders: true }', 'left-out', 'an approval of the owners above'],
  ['filters: { "(?=x)": { approvers: [b] } }', 'left-out', 'in different ways'],
  ['filters: { "\\\\.go$": { reviewers: [b] } }', 'left-out', 'reviewers for files that match'],
  ['approver: [a]', 'left-out', 'not known'],
  ['approvers: a', 'left-out', 'a list of names'],
])('%s is %s', async (text, outcome, note) => {
  const { entries } = await imported({ OWNERS: text });

  expect(entries).toContainEqual(expect.objectContaining({ outcome, note: expect.stringContaining(note) }));
});

it('files in folders that Prow does not read have no meaning', async () => {
  const { entries, codeowners } = await imported({ 'vendor/k8s.io/api/OWNERS': 'approvers: [a]' });

  expect([entries.map(({ outcome }) => outcome), codeowners]).toEqual([['without-meaning'], '']);
});

// pkg/plugins/blunderbuss/blunderbuss.go and `LeafReviewers`.
it('reviewers are those of the nearest folder, and two of them are asked', async () => {
  const result = await imported({
    OWNERS: 'reviewers: [r1, r2, r3]\nrequired_reviewers: [boss]\n',
    'docs/OWNERS': 'reviewers: [d1]\n',
    'docs/api/OWNERS': 'reviewers: [a1]\n',
    '!odd [x]/OWNERS': 'reviewers: [o1]\n',
  });

  expect(await run(result, ['docs/a'])).toEqual(['reviewer:boss', 'reviewer:d1']);
  expect(await run(result, ['docs/api/a'])).toEqual(['reviewer:a1', 'reviewer:boss']);
  expect(await run(result, ['!odd [x]/a'])).toEqual(['reviewer:boss', 'reviewer:o1']);
  expect((await run(result, ['x'])).filter((one) => /r\d$/.test(one))).toHaveLength(2);
});

// `FindLabelsForFile` and pkg/plugins/owners-label/owners-label.go.
it('labels of all folders above are added, up to one without parents', async () => {
  const result = await imported({
    OWNERS: 'labels: [all]\n',
    'docs/OWNERS': 'labels: [docs]\n',
    'docs/api/OWNERS': 'options: { no_parent_owners: true }\nlabels: [api]\n',
  });

  expect(await run(result, ['docs/a'])).toEqual(['label:all', 'label:docs']);
  expect(await run(result, ['docs/api/a'])).toEqual(['label:api']);
});

it('hundreds of folders become rules of ten steps', async () => {
  const tree = Object.fromEntries(
    Array.from({ length: 205 }, (_, n) => [`d${n}/OWNERS`, `reviewers: [r${n}]\napprovers: [a${n}]\n`]),
  );
  const { rules, codeowners } = await imported(tree);

  expect(rules).toHaveLength(1 + 21);
  expect(parseCodeowners(codeowners, gitea)).toHaveLength(205);
});

it('leaves out reviewers whose condition would be too long, and not the others of their rule', async () => {
  const tree = Object.fromEntries(
    Array.from({ length: 120 }, (_, n) => [`a-folder-with-a-long-name-${n}/OWNERS`, `reviewers: [r${n}]\n`]),
  );
  const { entries } = await imported({ OWNERS: 'reviewers: [ada]\n', ...tree });
  expect(entries.filter(({ outcome }) => outcome === 'left-out').map(({ part }) => part)).toEqual([
    'OWNERS: reviewers',
  ]);
});

it('an alias without members adds nobody', async () => {
  const { entries } = await imported({
    OWNERS: 'approvers: [ada]\n',
    'test/OWNERS': 'approvers: [testers]\n',
    OWNERS_ALIASES: 'aliases:\n  testers: []\n',
  });
  expect(entries.find(({ part }) => part === 'test/OWNERS: approvers')).toMatchObject({
    outcome: 'without-meaning',
  });
});

it('hostile names add no rule, no step and no owner', async () => {
  const hostile = hostileText({ minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(hostile, hostile, hostile, async (user, label, folder) => {
      const { rules, codeowners } = await imported({
        [`${folder}/OWNERS`]: JSON.stringify({
          approvers: [user],
          reviewers: [user, 'ada'],
          labels: [label, 'docs'],
          filters: {},
        }),
      });
      expect(
        rules.map(({ name }) => name).filter((name) => !/^(owners|reviewers|owners-labels)$/.test(name)),
      ).toEqual([]);
      for (const { owners: names } of parseCodeowners(codeowners, gitea))
        expect(names).toEqual([user.toLowerCase().replace(/^@/, '')]);
      for (const { steps } of rules) expect(steps).toHaveLength(1);
    }),
    { numRuns: 60 },
  );
});
