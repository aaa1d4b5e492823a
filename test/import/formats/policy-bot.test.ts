import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { policyBot } from '../../../src/import/formats/policy-bot.ts';
import { hostileTexts } from '../support/hostile.ts';
import { type Imported, importText } from '../support/written.ts';

/** Source: palantir/policy-bot, `policy/approval`, `policy/disapproval` and `policy/predicate`. */
type Rule = Readonly<Record<string, unknown>>;
const policy = (approval: unknown, rules: readonly Rule[], more: object = {}): Promise<Imported> =>
  importText(policyBot, stringify({ policy: { approval, ...more }, approval_rules: rules }));
const when = ({ written }: Imported): unknown => written.rules['policy-bot']?.steps[0]?.with?.when;
const one = (rule: Rule): Promise<Imported> => policy(['r'], [{ name: 'r', ...rule }]);
const status = async (imported: Imported, pull: object, facts: object = {}): Promise<string | undefined> =>
  (await imported.decide(pull as never, facts as never))
    .find((change) => change.startsWith('set-status'))
    ?.split(' ')
    .at(-1);
const renamed = (test: string) =>
  `${test.replaceAll('@', 'f.filename')} || has(f.previous_filename) && ${test.replaceAll('@', 'f.previous_filename')}`;

describe('predicates of policy-bot', () => {
  it.each<[string, unknown, string]>([
    ['changed_files', { paths: ['^src/.*$'] }, `files.exists(f, ${renamed('@.matches("^src/.*$")')})`],
    [
      'changed_files',
      { paths: ['a'], ignore: ['b'] },
      `files.exists(f, ${renamed('@.contains("a") && !@.contains("b")')})`,
    ],
    ['no_changed_files', { paths: ['a'] }, `!files.exists(f, ${renamed('@.contains("a")')})`],
    [
      'only_changed_files',
      { paths: ['^a', 'b$'] },
      'files.size() > 0 && files.all(f, (f.filename.startsWith("a") || f.filename.endsWith("b")) && (!has(f.previous_filename) || (f.previous_filename.startsWith("a") || f.previous_filename.endsWith("b"))))',
    ],
    [
      'file_not_deleted',
      { paths: ['^a$'] },
      '!files.exists(f, f.status in ["deleted", "removed"] && f.filename == "a" || has(f.previous_filename) && f.status == "renamed" && f.previous_filename == "a")',
    ],
    [
      'has_author_in',
      { users: ['ada'], teams: ['acme/core'] },
      'pull_request.user.login == "ada" || pull_request.user.login in team("acme/core")',
    ],
    [
      'has_contributor_in',
      { users: ['ada'] },
      'pull_request.user.login == "ada" || commits.exists(m, has(m.author) && m.author.login == "ada" || has(m.committer) && m.committer.login == "ada")',
    ],
    [
      'only_has_contributors_in',
      { users: ['ada'] },
      'pull_request.user.login == "ada" && commits.all(m, (!has(m.author) || m.author.login == "ada") && (!has(m.committer) || m.committer.login == "ada"))',
    ],
    ['targets_branch', { pattern: '^main$' }, 'pull_request.base.ref == "main"'],
    ['from_branch', { pattern: '^fix/' }, 'pull_request.head.ref.startsWith("fix/")'],
    [
      'modified_lines',
      { additions: '> 10', total: '< 5' },
      'pull_request.additions > 10 || pull_request.additions + pull_request.deletions < 5',
    ],
    [
      'has_labels',
      ['A', 'b'],
      'labels.exists(l, l.name.lower() == "a") && labels.exists(l, l.name.lower() == "b")',
    ],
    ['has_successful_status', ['ci/a', 'ci/b'], 'passed(["ci/a", "ci/b"])'],
    [
      'has_status',
      { statuses: ['ci/a'], conclusions: ['failure'] },
      'statuses.exists(s, s.context == "ci/a" && s.status == "failure")',
    ],
    ['has_workflow_result', { workflows: ['.github/workflows/ci.yml'] }, 'passed("ci.yml / *")'],
    [
      'title',
      { matches: ['^fix'], not_matches: ['wip', 'x'] },
      'pull_request.title.startsWith("fix") || !(pull_request.title.contains("wip") || pull_request.title.contains("x"))',
    ],
    ['repository', { matches: ['^acme/'] }, 'repository.full_name.startsWith("acme/")'],
    ['has_valid_signatures', true, 'commits.all(m, m.verification.verified)'],
  ])('%s %j', async (name, given, expected) => {
    expect(when(await one({ if: { [name]: given } }))).toBe(expected);
    // The same as a condition that is required.
    expect(when(await one({ requires: { count: 0, conditions: { [name]: given } } }))).toBe(expected);
  });

  it.each([
    ['has_valid_signatures_by_keys', { key_ids: ['A'] }],
    ['has_valid_signatures_by', { users: ['ada'] }],
    ['has_author_in', { organizations: ['acme'] }],
    ['has_author_in', { permissions: ['read'] }],
    ['targets_branch', { pattern: 'a(?=b)' }],
    ['has_workflow_result', { workflows: ['a.yml'], conclusions: ['failure'] }],
    ['strange', {}],
  ])('leaves out a rule with %s, and a policy that needs it', async (name, given) => {
    const imported = await one({ if: { [name]: given } });
    expect(imported.entry('rule r')).toMatchObject({ outcome: 'left-out' });
    expect(imported.entry('policy.approval')).toMatchObject({ outcome: 'left-out' });
    expect(imported.written.rules).toEqual({});
  });

  it('takes a team for an organization, if it is named', async () => {
    const text = stringify({
      policy: { approval: ['r'] },
      approval_rules: [{ name: 'r', if: { has_author_in: { organizations: ['acme'] } } }],
    });
    const imported = await importText(policyBot, text, { names: { teams: new Map([['acme', 'acme/all']]) } });
    expect(when(imported)).toBe('pull_request.user.login in team("acme/all")');
  });
});

describe('requirements of policy-bot', () => {
  const noContributor = (user: string) =>
    `!commits.exists(m, has(m.author) && m.author.login == ${user} || has(m.committer) && m.committer.login == ${user})`;
  const github = { methods: { comments: [] } };

  it('counts reviews and comments by default, but not those of the author and of contributors', async () => {
    const others = (v: string) =>
      `${v}.user.login == "ada" && ${v}.user.login != pull_request.user.login && ${noContributor(`${v}.user.login`)}`;
    expect(when(await one({ requires: { count: 1, users: ['ada'] } }))).toBe(
      `reviews.exists(a, a.state == "APPROVED" && !a.dismissed && ${others('a')}) || comments.exists(c, (c.body.contains(":+1:") || c.body.contains("👍")) && ${others('c')})`,
    );
  });

  it.each<[object, string]>([
    [
      { allow_author: true },
      `reviews.exists(a, a.state == "APPROVED" && !a.dismissed && a.user.login == "ada" && (a.user.login == pull_request.user.login || ${noContributor('a.user.login')}))`,
    ],
    [
      { allow_contributor: true },
      'reviews.exists(a, a.state == "APPROVED" && !a.dismissed && a.user.login == "ada")',
    ],
    [
      { allow_non_author_contributor: true },
      'reviews.exists(a, a.state == "APPROVED" && !a.dismissed && a.user.login == "ada" && a.user.login != pull_request.user.login)',
    ],
    [{ allow_contributor: true, invalidate_on_push: true }, 'approvals.exists(a, a.user.login == "ada")'],
  ])('options %j', async (options, expected) => {
    expect(
      when(await one({ requires: { count: 1, users: ['ada'] }, options: { ...options, ...github } })),
    ).toBe(expected);
  });

  it.each<[object, string]>([
    [
      { count: 2, teams: ['acme/core'] },
      'reviews.filter(a, a.state == "APPROVED" && !a.dismissed && a.user.login in team("acme/core")).map(a, a.user.login).distinct().size() >= 2',
    ],
    [{ count: 1, permissions: ['write'] }, 'approvals.size() > 0'],
    [{ count: 2, write_collaborators: true }, 'approvals.map(a, a.user.login).distinct().size() >= 2'],
    [
      { count: 1, permissions: ['admin'] },
      'approvals.exists(a, collaborator_permissions.exists(p, p.login == a.user.login && p.permission in ["admin", "owner"]))',
    ],
  ])('requires %j', async (requires, expected) => {
    expect(when(await one({ requires, options: { allow_contributor: true, ...github } }))).toBe(expected);
  });

  it('reads the methods', async () => {
    const of = (methods: object) =>
      one({ requires: { count: 1, users: ['ada'] }, options: { allow_contributor: true, methods } });
    expect(when(await of({ github_review: false, comment_patterns: ['^ok$'], comments: [] }))).toBe(
      'comments.exists(c, c.body == "ok" && c.user.login == "ada")',
    );
    expect(when(await of({ comments: [], github_review_comment_patterns: ['lgtm'] }))).toBe(
      'reviews.exists(a, a.state == "APPROVED" && !a.dismissed && a.body.contains("lgtm") && a.user.login == "ada")',
    );
    expect(when(await of({ comments: [], github_review: false, body_patterns: ['self'] }))).toBe(
      'pull_request.body.contains("self") && pull_request.user.login == "ada"',
    );
  });

  it('requests reviews while the rule is pending', async () => {
    const { written } = await one({
      if: { targets_branch: { pattern: '^main$' } },
      requires: { count: 1, users: ['ada'], teams: ['acme/core'] },
      options: {
        allow_contributor: true,
        request_review: { enabled: true, mode: 'random-users', count: 2 },
        ...github,
      },
    });
    expect(written.rules['request-r']).toMatchObject({
      if: '!pull_request.draft && pull_request.base.ref == "main" && !reviews.exists(a, a.state == "APPROVED" && !a.dismissed && (a.user.login == "ada" || a.user.login in team("acme/core")))',
      steps: [{ uses: 'request-reviewers', with: { users: ['ada'], teams: ['core'], pick: 2 } }],
    });
  });
});

/** Rules whose value a label and a status decide: without the label skipped, otherwise approved by the status. */
const three = (name: string): Rule => ({
  name,
  if: { has_labels: [name] },
  requires: { count: 0, conditions: { has_successful_status: [`ci/${name}`] } },
});
const facts = (values: Readonly<Record<string, string>>) => ({
  labels: Object.keys(values).filter((name) => values[name] !== 'skipped'),
  statuses: Object.keys(values)
    .filter((name) => values[name] === 'approved')
    .map((name) => ({ context: `ci/${name}`, status: 'success' })),
});

describe('the three values of a policy', () => {
  // As policy/approval/evaluate.go evaluates it.
  const evaluate = (written: unknown, values: Readonly<Record<string, string>>): string => {
    if (typeof written === 'string') return values[written] ?? '';
    const [[key, list] = []] = Object.entries(written as Record<string, readonly unknown[]>);
    const found = (list ?? []).map((inner) => evaluate(inner, values));
    const has = (value: string) => found.includes(value);
    if (key === 'or') return has('approved') ? 'approved' : has('pending') ? 'pending' : 'skipped';
    return has('pending') ? 'pending' : has('approved') ? 'approved' : 'skipped';
  };

  it.each<[unknown[]]>([
    [['a']],
    [['a', 'b']],
    [[{ or: ['a', 'b'] }]],
    [[{ or: ['a', { and: ['b', 'c'] }] }]],
    [[{ and: ['a', { or: ['b', 'c'] }] }]],
    [['a', { or: ['b', { and: ['a', 'c'] }] }]],
  ])('%j has the same value as in policy-bot', async (approval) => {
    const imported = await policy(approval, ['a', 'b', 'c'].map(three));
    const states = ['skipped', 'pending', 'approved'];
    for (const a of states)
      for (const b of states)
        for (const c of states) {
          const values = { a, b, c };
          const expected = evaluate({ and: approval }, values) === 'approved' ? 'success' : 'pending';
          expect([values, await status(imported, {}, facts(values))]).toEqual([values, expected]);
        }
  });

  it('keeps a rule that is left out pending where it is not skipped', async () => {
    const missing = { name: 'b', if: { has_labels: ['b'] }, requires: { count: 1, organizations: ['acme'] } };
    const imported = await policy(['a', 'b'], [three('a'), missing]);
    expect(imported.entry('rule b')).toMatchObject({ outcome: 'left-out' });
    expect(await status(imported, {}, facts({ a: 'approved', b: 'skipped' }))).toBe('success');
    expect(await status(imported, {}, facts({ a: 'approved', b: 'pending' }))).toBe('pending');
  });

  it('approves without a policy, and names rules that no policy uses', async () => {
    expect(when(await policy([], []))).toBe(true);
    expect((await policy(['a'], [three('a'), three('b')])).entry('rule b')).toMatchObject({
      outcome: 'without-meaning',
    });
    expect((await policy(['x'], [three('a')])).entry('policy.approval')?.note).toContain('not defined');
    expect((await policy([{ xor: ['a'] }], [three('a')])).entry('policy.approval')).toMatchObject({
      outcome: 'left-out',
    });
  });

  it('writes the status that branches require already', async () => {
    const { written, file } = await policy(['a'], [three('a')]);
    expect(written.rules['policy-bot']?.steps[0]?.with?.context).toBe(
      'policy-bot: ${{ pull_request.base.ref }}',
    );
    expect(file.counts).toMatchObject({ leftOut: 0 });
    const below = await importText(
      policyBot,
      stringify({ policy: { approval: ['a'] }, approval_rules: [three('a')] }),
      { target: 'repository' },
    );
    expect(below.written.rules['policy-bot']?.steps[0]?.with?.context).toBeUndefined();
  });
});

describe('disapproval', () => {
  const disapproval = { requires: { users: ['bob', 'carol'] } };
  const review = (login: string, state: string, hour: number) => ({
    id: hour,
    user: { login },
    state,
    dismissed: false,
    submitted_at: `2026-06-01T0${hour}:00:00Z`,
  });
  const comment = (login: string, body: string, hour: number) => ({
    id: hour,
    user: { login },
    body,
    created_at: `2026-06-01T0${hour}:00:00Z`,
  });

  it.each<[string, object, string]>([
    ['nobody', {}, 'success'],
    ['a review', { reviews: [review('bob', 'REQUEST_CHANGES', 1)] }, 'pending'],
    ['a review of somebody else', { reviews: [review('eve', 'REQUEST_CHANGES', 1)] }, 'success'],
    ['a comment', { comments: [comment('bob', 'no 👎', 1)] }, 'pending'],
    [
      'a review that another person revokes',
      { reviews: [review('bob', 'REQUEST_CHANGES', 1), review('carol', 'APPROVED', 2)] },
      'success',
    ],
    [
      'a review after a revocation',
      { reviews: [review('carol', 'APPROVED', 1), review('bob', 'REQUEST_CHANGES', 2)] },
      'pending',
    ],
    [
      'a review that a comment revokes',
      { reviews: [review('bob', 'REQUEST_CHANGES', 1)], comments: [comment('carol', ':+1:', 2)] },
      'success',
    ],
    [
      'a revocation by somebody else',
      { reviews: [review('bob', 'REQUEST_CHANGES', 1), review('eve', 'APPROVED', 2)] },
      'pending',
    ],
    [
      'a dismissed review',
      { reviews: [{ ...review('bob', 'REQUEST_CHANGES', 1), dismissed: true }] },
      'success',
    ],
  ])('%s', async (_, given, expected) => {
    const imported = await policy(['a'], [three('a')], { disapproval });
    expect(await status(imported, {}, { ...facts({ a: 'approved' }), ...given })).toBe(expected);
  });

  it('disapproves by a condition', async () => {
    const imported = await policy(['a'], [three('a')], {
      disapproval: { if: { title: { matches: ['^WIP'] } } },
    });
    expect(await status(imported, { title: 'WIP x' }, facts({ a: 'approved' }))).toBe('pending');
    expect(await status(imported, {}, facts({ a: 'approved' }))).toBe('success');
  });

  it('holds back what anyone rejects, if those who may disapprove are not known', async () => {
    const imported = await policy(['a'], [three('a')], {
      disapproval: { requires: { organizations: ['acme'] } },
    });
    expect(imported.entry('policy.disapproval')).toMatchObject({ outcome: 'differs' });
    expect(
      await status(imported, {}, { ...facts({ a: 'approved' }), rejections: [{ user: { login: 'eve' } }] }),
    ).toBe('pending');
  });
});

it('holds back what anyone rejects, if permissions tell who revokes', async () => {
  const imported = await policy(['a'], [{ name: 'a', requires: { count: 1, users: ['ada'] } }], {
    disapproval: {
      requires: { permissions: ['write'] },
      options: { methods: { revoke: { github_review: true } } },
    },
  });
  expect(imported.entry('rule a')?.outcome).not.toBe('left-out');
  expect(imported.entry('policy.disapproval')).toMatchObject({ outcome: 'differs' });
  expect(when(imported)).toMatch(/^!\(rejections\.size\(\) > 0\) && /);
});

/** policy-bot reads with yaml.UnmarshalStrict: server/handler/fetcher.go. */
describe('keys that policy-bot does not know', () => {
  const open = { name: 'open', if: { has_labels: ['ok'] } };
  it.each<[string, Rule]>([
    ['of a predicate', { if: { no_changed_files: { globs: ['.github/**'] } } }],
    ['of the options', { options: { github_review: true } }],
    ['of the methods', { requires: { count: 1, users: ['ada'] }, options: { methods: { reviews: true } } }],
    ['of the rule', { unless: { has_labels: ['x'] } }],
    ['of the requirement', { requires: { counts: 2 } }],
    ['that is a predicate', { if: { has_milestone: true } }],
    ['in a pattern', { if: { changed_files: { paths: ['*.go'] } } }],
  ])('a rule with one %s approves nothing', async (_, rule) => {
    const imported = await policy([{ or: ['r', 'open'] }], [{ name: 'r', ...rule }, open]);
    expect(imported.entry('rule r')).toMatchObject({
      outcome: 'left-out',
      note: expect.stringContaining('policy-bot refuses the whole file'),
    });
    expect(when(imported)).toBe('labels.exists(l, l.name.lower() == "ok")');
  });

  it('names one of the file', async () => {
    const text = stringify({ policy: { approval: ['open'] }, approval_rules: [open], approval_defaults: {} });
    expect((await importText(policyBot, text)).entry('approval_defaults')).toMatchObject({
      outcome: 'left-out',
    });
  });
});

it('names a file that stands elsewhere', async () => {
  expect((await importText(policyBot, 'remote: acme/config\n')).entry('remote')).toMatchObject({
    outcome: 'left-out',
    apart: true,
  });
});

it.each(hostileTexts)('a hostile text adds nothing: %j', async (hostile) => {
  const { written } = await policy(
    [hostile],
    [
      {
        name: hostile,
        if: { has_labels: [hostile], has_author_in: { users: [hostile] }, has_successful_status: [hostile] },
        requires: { count: 1, users: [hostile] },
        options: { methods: { comments: [hostile] } },
      },
    ],
  );
  expect(Object.keys(written.rules).length).toBeLessThanOrEqual(1);
  for (const { steps } of Object.values(written.rules)) {
    expect(steps.map(({ uses }) => uses)).toEqual(['set-status']);
    expect(steps[0]?.with?.context).toBe('policy-bot: ${{ pull_request.base.ref }}');
  }
});
