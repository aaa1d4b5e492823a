import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCase } from '../../../src/cli/commands/rules/rule-tests.ts';
import type { Format, SourceFile, Target } from '../../../src/import/conversion.ts';
import { safeSettings, settings } from '../../../src/import/formats/settings.ts';
import { importFile } from '../../../src/import/import-file.ts';
import { createNames, type NameMappings } from '../../../src/import/names.ts';
import { loadRuleTests } from '../../../src/rules/rule-tests.ts';
import { hostileText } from '../support/hostile.ts';

type Written = {
  readonly rules: Record<
    string,
    {
      readonly in?: string[];
      readonly steps: {
        readonly if?: string;
        readonly uses: string;
        readonly with: Record<string, unknown>;
      }[];
    }
  >;
};

async function imported(
  given: string | Record<string, string>,
  {
    format = settings,
    repository: named = 'acme/shop',
    target = 'operator',
    names = {},
  }: {
    readonly format?: Format;
    readonly repository?: string | null;
    readonly target?: Target;
    readonly names?: NameMappings;
  } = {},
) {
  const repository = named ?? undefined;
  const tree = typeof given === 'string' ? { '.github/settings.yml': given } : given;
  const [first, ...others] = Object.entries(tree).map(
    ([place, text]): SourceFile => ({ path: place, place, text }),
  );
  if (first === undefined) throw new Error('no file');
  const result = await importFile(
    { ...first, others },
    {
      format,
      context: { names: createNames(names), target, repository },
      name: 'settings',
      scopes: repository === undefined ? undefined : [repository],
      run: runCase,
    },
  );
  const text = result.files.find(({ name }) => name === 'settings.yml')?.text;
  const report = result.files.find(({ name }) => name.endsWith('.import.md'))?.text ?? '';
  const written = (text === undefined ? { rules: {} } : parse(text)) as Written;
  const entry = (part: string) => result.entries.find((one) => one.part === part);
  return {
    ...result,
    written: written.rules,
    report,
    entry,
    test: result.files.find(({ name }) => name.endsWith('.test.yml'))?.text,
  };
}

describe('repository', () => {
  // lib/plugins/repository.js of probot/settings at 54668ca, and "Update a repository" of the API of GitHub.
  it.each<[written: string, expected: Record<string, unknown> | undefined, outcome: string, note?: string]>([
    ['description: Pull requests', { description: 'Pull requests' }, 'exact'],
    ['description: null', { description: '' }, 'exact'],
    ['description: "${{ x }}"', undefined, 'left-out', 'template'],
    ['homepage: https://example.org', { website: 'https://example.org' }, 'exact'],
    ['homepage: example.org', undefined, 'left-out', 'begins with http'],
    ['topics: a, b-c,d', { topics: ['a', 'b-c', 'd'] }, 'exact'],
    ['topics: [a]', { topics: ['a'] }, 'differs', 'fails for this list'],
    ['topics: ""', undefined, 'without-meaning'],
    ['topics: Big_Topic', undefined, 'left-out', '`Big_Topic`'],
    ['private: true', { private: true }, 'exact'],
    ['private: false', { private: false, publish: true }, 'exact'],
    ['visibility: internal', { private: true }, 'differs', 'members of the enterprise'],
    ['archived: true', { archived: true }, 'exact'],
    ['is_template: true', { template: true }, 'exact'],
    ['has_issues: false', { has_issues: false }, 'exact'],
    ['has_wiki: "no"', undefined, 'left-out', 'neither true nor false'],
    ['has_projects: true', { has_projects: true }, 'exact'],
    ['default_branch: main', { default_branch: 'main' }, 'exact'],
    ['default_branch: a b', undefined, 'left-out'],
    ['allow_squash_merge: true', { allow_squash_merge: true }, 'exact'],
    ['allow_merge_commit: true', { allow_merge_commits: true }, 'exact'],
    ['allow_merge_commit: false', { allow_merge_commits: false, allow_rebase_explicit: false }, 'exact'],
    ['allow_rebase_merge: false', { allow_rebase: false, allow_rebase_explicit: false }, 'exact'],
    [
      'delete_branch_on_merge: true',
      { default_delete_branch_after_merge: true },
      'differs',
      'may keep the branch',
    ],
    ['allow_update_branch: true', { allow_rebase_update: true }, 'differs'],
    ['allow_auto_merge: true', undefined, 'without-meaning'],
    ['allow_auto_merge: false', undefined, 'left-out'],
    ['has_downloads: true', undefined, 'without-meaning'],
    ['enable_vulnerability_alerts: true', undefined, 'without-meaning'],
    ['name: shop', undefined, 'without-meaning', 'has this name'],
    ['name: store', undefined, 'left-out', 'in: [acme/shop, acme/store]'],
    ['squash_merge_commit_title: PR_TITLE', undefined, 'left-out', 'no such setting'],
  ])('%s', async (written, expected, outcome, note = '') => {
    const key = written.replace(/:.*/, '');
    const { written: rules, entry } = await imported(`repository:\n  ${written}\n`);

    expect(rules.repository?.steps[0]?.with).toEqual(expected);
    expect(entry(`repository.${key}`)).toMatchObject({ outcome, line: 2 });
    expect(entry(`repository.${key}`)?.note ?? '').toContain(note);
  });

  it('is for no repository until its owner is known', async () => {
    const { written, report } = await imported('repository: { name: shop, has_wiki: false }', {
      repository: null,
    });

    expect(written.repository?.in).toEqual(['OWNER/shop']);
    expect(report).toContain('Replace `OWNER` in `in`');
  });

  it('is refused in files of repositories, and the report says so', async () => {
    const { report, written } = await imported('repository: { has_wiki: false }', { target: 'repository' });

    expect(written.repository?.in).toBeUndefined();
    expect(report).toMatch(/## Needed[\s\S]*sync-repository/);
  });
});

describe('labels', () => {
  // lib/plugins/labels.js: `new_name` renames, and what is not listed is deleted.
  it('are kept with their color as it is written, and others are deleted', async () => {
    const { written, entry, report } = await imported(
      'labels:\n  - { name: bug, color: "#CC0000", description: Broken }\n  - { name: zero, color: 000000 }\n  - { name: exp, color: 5319e7 }\n  - { name: Help, new_name: help wanted, color: aabbcc }\n  - { name: new, oldname: old, color: ffffff, aliases: [x] }\n  - name: bare\n',
    );

    expect(written.labels?.steps).toEqual([
      {
        uses: 'sync-labels',
        with: {
          labels: [
            { name: 'bug', color: 'CC0000', description: 'Broken' },
            { name: 'zero', color: '000000' },
            { name: 'exp', color: '5319e7' },
            { name: 'help wanted', color: 'aabbcc', previously: ['Help'] },
            { name: 'new', color: 'ffffff', previously: ['old'] },
            { name: 'bare', color: 'ededed' },
          ],
          prune: true,
        },
      },
    ]);
    expect(entry('labels.bug')?.outcome).toBe('exact');
    for (const part of ['labels.zero', 'labels.exp', 'labels.Help', 'labels.new', 'labels.bare', 'labels'])
      expect([part, entry(part)?.outcome]).toEqual([part, 'differs']);
    expect(entry('labels.new.aliases')?.outcome).toBe('without-meaning');
    expect(report).toMatch(/## Dangerous[\s\S]*`labels` deletes what is not listed/);
  });

  it.each([
    ['a color that is none', '{ name: x, color: red }', 'no color'],
    ['a template', '{ name: "a${{ x }}", color: ffffff }', 'template'],
    ['no name', '{ color: ffffff }', 'no name'],
  ])('with %s never delete others: the one that is left out would be among them', async (_, label, note) => {
    const { written, entries } = await imported(`labels:\n  - { name: a, color: ffffff }\n  - ${label}\n`);

    expect(written.labels?.steps[0]?.with).toEqual({ labels: [{ name: 'a', color: 'ffffff' }] });
    expect(entries).toContainEqual(
      expect.objectContaining({ outcome: 'left-out', note: expect.stringContaining(note) }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ part: 'labels', outcome: 'left-out' }));
  });

  it('of more than one step never delete others', async () => {
    const list = Array.from({ length: 250 }, (_, n) => `  - { name: l${n}, color: ffffff }`);
    const { written } = await imported(`labels:\n${list.join('\n')}\n`);

    expect(
      written.labels?.steps.map((one) => [(one.with.labels as unknown[]).length, one.with.prune]),
    ).toEqual([
      [200, undefined],
      [50, undefined],
    ]);
  });
});

it('milestones keep title, description and state, and the due date is dropped as by the bot', async () => {
  const { written, entry } = await imported(
    'milestones:\n  - { title: v1, description: First, state: closed, due_on: 2026-01-01 }\n',
  );

  expect(written.milestones?.steps[0]).toEqual({
    uses: 'sync-milestones',
    with: { milestones: [{ title: 'v1', description: 'First', state: 'closed' }], prune: true },
  });
  expect(entry('milestones.v1.due_on')?.outcome).toBe('without-meaning');
  expect(entry('milestones')?.note).toContain('never one that has issues');
});

describe('collaborators and teams', () => {
  it('have the access of the forge that is nearest', async () => {
    const { written, entry } = await imported(
      'collaborators:\n  - { username: Ada, permission: push }\n  - { username: b, permission: pull }\n  - { username: c, permission: admin }\n  - { username: d, permission: maintain }\n  - { username: e, permission: triage }\n',
      { names: { users: new Map([['b', 'bob']]) } },
    );

    expect(written.collaborators?.steps[0]?.with).toEqual({
      collaborators: [
        { login: 'ada', permission: 'write' },
        { login: 'bob', permission: 'read' },
        { login: 'c', permission: 'admin' },
        { login: 'd', permission: 'write' },
        { login: 'e', permission: 'read' },
      ],
      prune: true,
    });
    expect(entry('collaborators.d')).toMatchObject({
      outcome: 'differs',
      note: expect.stringContaining('may maintain'),
    });
  });

  it('never remove others if one is left out', async () => {
    const { written } = await imported(
      'collaborators:\n  - { username: "renovate[bot]", permission: push }\n  - { username: a, permission: custom }\n  - { username: b }\n',
    );

    expect(written.collaborators?.steps[0]?.with).toEqual({
      collaborators: [{ login: 'b', permission: 'write' }],
    });
  });

  it('a team gets the repository, and keeps its permission, which is that of all its repositories', async () => {
    const { written, entry } = await imported('teams:\n  - { name: core, permission: admin }\n');

    expect(written.teams?.steps[0]?.with).toEqual({ teams: [{ name: 'core', repositories: ['shop'] }] });
    expect(entry('teams.core')?.note).toContain('`admin` is not set');
    expect(entry('teams')?.outcome).toBe('left-out');
  });
});

const protection = (body: string): string =>
  `branches:\n  - name: main\n    protection:\n${body.replace(/^/gm, '      ')}\n`;
const all =
  'required_pull_request_reviews: null\nrequired_status_checks: null\nenforce_admins: true\nrestrictions: null';

describe('branches', () => {
  // "Update branch protection" of the API of GitHub replaces the whole protection.
  it.each<[body: string, expected: Record<string, unknown>]>([
    [
      all,
      {
        required_approvals: 0,
        enable_push: true,
        enable_push_whitelist: false,
        enable_merge_whitelist: false,
        enable_status_check: false,
        block_on_outdated_branch: false,
        block_admin_merge_override: true,
        enable_force_push: false,
      },
    ],
    [
      all.replace(
        'reviews: null',
        'reviews: { required_approving_review_count: 2, dismiss_stale_reviews: true }',
      ),
      {
        required_approvals: 2,
        dismiss_stale_approvals: true,
        block_on_rejected_reviews: true,
        enable_push: false,
      },
    ],
    [
      all.replace('reviews: null', 'reviews: {}'),
      { required_approvals: 1, dismiss_stale_approvals: false, enable_push: false },
    ],
    [
      all.replace('checks: null', 'checks: { strict: true, contexts: ["ci/build [x]", build] }'),
      {
        block_on_outdated_branch: true,
        enable_status_check: true,
        status_check_contexts: ['ci/build \\[x\\]', '* / build (pull_request)'],
      },
    ],
    // With an empty list, the forge would require that every status passes.
    [
      all.replace('checks: null', 'checks: { strict: true, contexts: [] }'),
      { block_on_outdated_branch: true, enable_status_check: false },
    ],
    [
      all.replace('restrictions: null', 'restrictions: { users: [ada], teams: [core], apps: [] }'),
      {
        enable_merge_whitelist: true,
        merge_whitelist_usernames: ['ada'],
        merge_whitelist_teams: ['core'],
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: ['ada'],
        push_whitelist_teams: ['core'],
      },
    ],
    [
      all.replace('restrictions: null', 'restrictions: { users: [], teams: [] }'),
      { enable_merge_whitelist: true, merge_whitelist_usernames: [], merge_whitelist_teams: [] },
    ],
    [all.replace('admins: true', 'admins: null'), { block_admin_merge_override: false }],
    [
      `${all}\nallow_force_pushes: true\nrequired_signatures: true`,
      { enable_force_push: true, require_signed_commits: true },
    ],
  ])('%s', async (body, expected) => {
    const { written } = await imported(protection(body));
    const [given] = (written.branches?.steps[0]?.with.protections ?? []) as Record<string, unknown>[];

    expect(given).toMatchObject({ rule_name: 'main', ...expected });
    if (expected.enable_status_check === false) expect(given).not.toHaveProperty('status_check_contexts');
  });

  it.each<[key: string, value: string, outcome: string, note: string]>([
    ['required_linear_history', 'true', 'left-out', 'in all branches'],
    ['required_conversation_resolution', 'true', 'left-out', 'conversations'],
    ['required_conversation_resolution', 'false', 'without-meaning', 'off'],
    ['allow_deletions', 'true', 'left-out', 'cannot be deleted'],
    ['lock_branch', 'null', 'without-meaning', 'off'],
    ['something', 'true', 'left-out', 'not known'],
  ])('%s: %s is %s', async (key, value, outcome, note) => {
    const { entry } = await imported(protection(`${all}\n${key}: ${value}`));

    expect(entry(`branches.main.protection.${key}`)).toMatchObject({
      outcome,
      note: expect.stringContaining(note),
    });
  });

  it('say what GitHub refuses, what administrators may, and what is not deleted', async () => {
    const partial = await imported(protection('required_pull_request_reviews: {}\nenforce_admins: false'));
    const deleted = await imported('branches: [{ name: main, protection: null }, { name: other }]');

    expect(partial.entry('branches.main.protection')?.note).toContain(
      'GitHub refuses a protection without `required_status_checks`, `restrictions`',
    );
    expect(partial.entry('branches.main.protection.enforce_admins')?.note).toContain(
      'the forge refuses the push',
    );
    expect(deleted.entry('branches.main')).toMatchObject({ outcome: 'left-out' });
    expect(deleted.entry('branches.other')).toMatchObject({ outcome: 'without-meaning' });
    expect(deleted.written).toEqual({});
  });

  it('that need owners have a status of their own, and the status decides', async () => {
    const body = protection(all.replace('reviews: null', 'reviews: { require_code_owner_reviews: true }'));
    const { written, rules } = await imported(body);
    const decide = async (codeowners: object[], approvals: string[]) => {
      const pull = {
        id: 1,
        number: 7,
        state: 'open',
        title: 'A',
        user: { login: 'eve' },
        base: { ref: 'main' },
        head: { ref: 'x', sha: 'a'.repeat(40) },
      };
      const event = {
        kind: 'pull_request',
        activity: 'opened',
        payload: {
          number: 7,
          pull_request: pull,
          repository: { id: 1, full_name: 'acme/shop', default_branch: 'main' },
          sender: { id: 1, login: 'eve' },
        },
      };
      const facts = {
        codeowners,
        approvals: approvals.map((login) => ({ user: { login } })),
        codeowners_problems: { text: '', lines: [] },
      };
      const [one] = loadRuleTests({
        path: 'x.test.yml',
        text: JSON.stringify({ cases: [{ name: 'a', event, facts, expect: {} }] }),
      }).cases;
      if (one === undefined) throw new Error('no case');
      const { changes } = await runCase(one, { path: 'x.test.yml', cases: [one], rules });
      return changes.map(({ value }) => (value as { state: string }).state);
    };

    expect(written.branches?.steps[0]?.with.protections).toMatchObject([
      { enable_status_check: true, status_check_contexts: ['reeve/owners'] },
    ]);
    expect(await decide([{ file: 'a', users: ['ada'], teams: [] }], [])).toEqual(['pending']);
    expect(await decide([{ file: 'a', users: ['ada'], teams: [] }], ['ada'])).toEqual(['success']);
    expect(await decide([{ file: 'a', users: [], teams: [] }], [])).toEqual(['success']);
    // The author cannot approve, and nobody knows who is in a team: not yet.
    expect(await decide([{ file: 'a', users: ['eve'], teams: [] }], [])).toEqual(['pending']);
    expect(await decide([{ file: 'a', users: [], teams: ['acme/core'] }], ['ada'])).toEqual(['pending']);
    const below = await imported(body, { target: 'organization' });
    expect(below.written.branches?.steps[0]?.with.protections).toMatchObject([
      { status_check_contexts: ['reeve-org/owners'] },
    ]);
  });
});

it.each(['environments', 'autolinks', 'custom_properties', 'variables', '_extends', 'nonsense'])(
  'section %s is left out, key by key',
  async (section) => {
    const { entries, written } = await imported(`${section}:\n  - { name: a }\n  - { name: b }\n`);

    expect(entries.map(({ part, outcome, line }) => [part, outcome, line])).toEqual([
      [`${section}.a`, 'left-out', 2],
      [`${section}.b`, 'left-out', 3],
    ]);
    expect(written).toEqual({});
  },
);

describe('safe-settings', () => {
  const tree = {
    '.github/settings.yml':
      'repository: { has_wiki: false, visibility: public }\nlabels:\n  include:\n    - { name: bug, color: ff0000 }\n  exclude:\n    - { name: "^x" }\nteams:\n  - { name: core, permission: push }\n  - { name: docs, exclude: [a] }\nbranches:\n  - name: default\n    protection: { required_pull_request_reviews: null, required_status_checks: null, enforce_admins: true, restrictions: null }\n',
    '.github/suborgs/web.yml': 'suborgrepos: [web-*]\nrepository: { has_issues: true }\n',
    '.github/repos/web-shop.yml':
      'repository: { description: Shop, visibility: public, default_branch: trunk }\nlabels:\n  include:\n    - { name: bug, color: "00ff00" }\n    - { name: shop, color: "0000ff" }\n',
  };

  // lib/settings.js and lib/mergeDeep.js of github/safe-settings at 90ae0ae.
  it('merges the files that a repository has, and each repository has one rule of a kind', async () => {
    const { written, entry } = await imported(tree, { format: safeSettings, repository: null });

    expect(written.repository).toMatchObject({
      in: ['OWNER/*', '!OWNER/web-*', '!OWNER/web-shop'],
      steps: [{ with: { has_wiki: false } }],
    });
    expect(written['web-repository']).toMatchObject({
      in: ['OWNER/web-*', '!OWNER/web-shop'],
      steps: [{ with: { has_wiki: false, has_issues: true } }],
    });
    expect(written['web-shop-repository']).toMatchObject({
      in: ['OWNER/web-shop'],
      steps: [
        {
          with: {
            has_wiki: false,
            has_issues: true,
            description: 'Shop',
            default_branch: 'trunk',
            private: false,
          },
        },
      ],
    });
    expect(written['web-shop-labels']?.steps[0]?.with).toEqual({
      labels: [
        { name: 'bug', color: '00ff00' },
        { name: 'shop', color: '0000ff' },
      ],
    });
    expect(written['web-shop-branches']?.steps[0]?.with.protections).toMatchObject([{ rule_name: 'trunk' }]);
    expect(written.branches?.steps.map((one) => one.if)).toEqual([
      'repository.default_branch == "main"',
      'repository.default_branch == "master"',
    ]);
    expect(written.teams?.steps[0]?.with).toEqual({
      teams: [{ name: 'core', permission: 'write', includes_all_repositories: true }],
    });
    // Nothing makes every repository of an organization public.
    expect(written.repository?.steps[0]?.with).not.toHaveProperty('private');
    expect(entry('settings.yml: repository.visibility')?.outcome).toBe('left-out');
    expect(entry('settings.yml: labels.exclude')?.outcome).toBe('left-out');
    expect(entry('repos/web-shop.yml: labels.include.shop')?.outcome).toBe('exact');
  });

  it('one status of owners serves the protections of all files', async () => {
    const text =
      'branches:\n  - name: main\n    protection: { required_pull_request_reviews: { require_code_owner_reviews: true }, required_status_checks: null, enforce_admins: true, restrictions: null }\n';
    const { written } = await imported(
      { '.github/settings.yml': text, '.github/repos/a.yml': text },
      { format: safeSettings, repository: null },
    );

    expect(written.owners?.in).toEqual(['OWNER/*']);
    expect(written['a-branches']?.in).toEqual(['OWNER/a']);
  });

  it('rulesets become protections of branches and tags', async () => {
    const rules =
      'rules:\n      - { type: deletion }\n      - { type: creation }\n      - { type: update }\n';
    const text = `rulesets:
  - name: main
    target: branch
    enforcement: active
    conditions: { ref_name: { include: ["refs/heads/release/**", "~DEFAULT_BRANCH"], exclude: [] }, repository_name: { include: ["web-*"], exclude: [web-x] } }
    rules:
      - { type: non_fast_forward }
      - { type: pull_request, parameters: { required_approving_review_count: 2, dismiss_stale_reviews_on_push: true, require_last_push_approval: true } }
      - { type: required_status_checks, parameters: { strict_required_status_checks_policy: true, required_status_checks: [{ context: ci/x }] } }
      - { type: branch_name_pattern, parameters: {} }
  - name: off
    enforcement: evaluate
    rules: [{ type: deletion }]
  - name: tags
    target: tag
    enforcement: active
    conditions: { ref_name: { include: ["refs/tags/v*"], exclude: [] } }
    ${rules}`;
    const { written, entry } = await imported(text, { format: safeSettings });

    expect(written['ruleset-main']?.in).toEqual(['acme/web-*', '!acme/web-x']);
    expect(
      written['ruleset-main']?.steps.map((one) => [
        one.if,
        (one.with.protections as Record<string, unknown>[])[0]?.rule_name,
      ]),
    ).toEqual([
      [undefined, 'release/**'],
      ['repository.default_branch == "main"', 'main'],
      ['repository.default_branch == "master"', 'master'],
    ]);
    expect(written['ruleset-main']?.steps[0]?.with.protections).toMatchObject([
      {
        required_approvals: 2,
        dismiss_stale_approvals: true,
        block_on_outdated_branch: true,
        status_check_contexts: ['ci/x'],
        enable_force_push: false,
        enable_push: false,
      },
    ]);
    expect(entry('rulesets.main.rules.pull_request')).toMatchObject({
      outcome: 'differs',
      note: expect.stringContaining('require_last_push_approval'),
    });
    expect(entry('rulesets.main.rules.branch_name_pattern')?.outcome).toBe('left-out');
    expect(entry('rulesets.off.rules.deletion')?.outcome).toBe('without-meaning');
    expect(written['tags-tags']?.steps[0]?.with).toEqual({
      tags: [{ name_pattern: '/^v[^/]*$/', whitelist_usernames: [], whitelist_teams: [] }],
    });
  });

  it.each([
    ['.github/settings.yml', 'labels: []', settings],
    ['.github/settings.yml', 'validator: { pattern: x }', safeSettings],
    ['.github/repos/a.yml', 'labels: []', safeSettings],
  ])('%s with %s is told from the other format', (place, text, expected) => {
    const file = { path: place, place, text };
    expect([settings, safeSettings].filter((format) => format.isFormat?.(file))).toEqual([expected]);
  });
});

it('hostile texts add no rule, no key and no expression', async () => {
  const hostile = hostileText({ maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(hostile, hostile, hostile, async (label, description, branch) => {
      const text = JSON.stringify({
        repository: { description },
        labels: [
          { name: label, color: 'ffffff', description },
          { name: 'docs', color: 'ffffff' },
        ],
        branches: [
          {
            name: branch,
            protection: {
              required_pull_request_reviews: null,
              required_status_checks: { strict: true, contexts: [label] },
              enforce_admins: true,
              restrictions: { users: [label], teams: [branch], apps: [] },
            },
          },
        ],
      });
      const { written, rules } = await imported(`# ${description.replace(/[\n\u0000]/g, ' ')}\n${text}`);
      expect(
        Object.keys(written).filter((name) => !['repository', 'labels', 'branches'].includes(name)),
      ).toEqual([]);
      for (const { steps } of rules) for (const step of steps) expect(step.condition).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

it('more labels than one run may create have a case all the same, and the report says what a run does', async () => {
  const labels = Array.from({ length: 61 }, (_, n) => `  - { name: label ${n}, color: "ffffff" }`);
  const { test, entry, todo } = await imported(
    `repository: { has_wiki: true }\nlabels:\n${labels.join('\n')}\n`,
  );
  const cases = loadRuleTests({ path: 'settings.yml', text: test ?? '' }).cases;
  expect(cases.map(({ name }) => name)).toEqual(['repository applies', 'labels applies']);
  expect(todo.join(' ')).not.toContain('Write a test');
  expect(entry('labels')?.note).toContain('none of these 61, the bot creates all at once, and the rule 50');
});
