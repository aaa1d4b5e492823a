import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { mergify } from '../../../src/import/formats/mergify.ts';
import { hostileTexts } from '../support/hostile.ts';
import { conditionOf, type Imported, importText } from '../support/written.ts';

/** What the protection of the base branch asks for, which Mergify adds to the conditions of a queue. */
const allowed =
  '(base_branch.required_approvals == 0 || approvals.size() >= base_branch.required_approvals && rejections.size() == 0) && required_checks.all(c, c.state == "success")';

/** Source of the conditions: src/content/docs/configuration/conditions.mdx and data-types.mdx of Mergifyio/docs. */
async function rule(
  conditions: readonly unknown[],
  actions: object = { label: { add: ['x'] } },
): Promise<Imported> {
  return importText(mergify, stringify({ pull_request_rules: [{ name: 'one', conditions, actions }] }));
}

async function condition(...conditions: readonly unknown[]): Promise<string | undefined> {
  return conditionOf(await rule(conditions));
}

describe('conditions of Mergify', () => {
  it('a pattern with a look-ahead that means something else is left out', async () => {
    for (const pattern of ['^(?=.*a|b).*$', '^(?=.*a)(?=.*b).*$', '^(?=.*\\s).*$', '^(?=a).*$'])
      expect((await rule([`title~=${pattern}`])).entry('rule one')).toMatchObject({ outcome: 'left-out' });
  });

  it('takes many checks apart, because an expression has an end', async () => {
    const names = Array.from({ length: 80 }, (_, place) => `suite / a check with a long name ${place}`);
    const imported = await rule(names.map((name) => `check-success=${name}`));
    expect(imported.entry('rule one')?.outcome).not.toBe('left-out');
    const text = JSON.stringify(imported.written);
    for (const name of names) expect(text).toContain(`${name}`);
  });

  it.each([
    // Texts
    ['base=main', 'pull_request.base.ref == "main"'],
    ['base = main', 'pull_request.base.ref == "main"'],
    ['base!=main', 'pull_request.base.ref != "main"'],
    ['-base=main', '!(pull_request.base.ref == "main")'],
    ['base~=^release/', 'pull_request.base.ref.startsWith("release/")'],
    ['head~=^(feat|fix)/', 'pull_request.head.ref.matches("^(feat|fix)/")'],
    ['title~=WIP', 'pull_request.title.contains("WIP")'],
    ['-title~=^fix$', '!(pull_request.title == "fix")'],
    ['title~=^(?!fix).*$', 'pull_request.title.matches("^(?!fix).*$")'],
    ['title~=^(?=.*(a|b)).*$', 'pull_request.title.matches("^.*(a|b).*$")'],
    ['body~=closes', 'pull_request.body.contains("closes")'],
    ['body-raw~=closes', 'pull_request.body.contains("closes")'],
    ['#title>60', 'pull_request.title.size() > 60'],
    ['repository-full-name=acme/x', 'repository.full_name == "acme/x"'],
    ['author=ada', 'pull_request.user.login == "ada"'],
    ['author!=ada', 'pull_request.user.login != "ada"'],
    ['author=@acme/core', 'pull_request.user.login in team("acme/core")'],
    ['number>=10', 'pull_request.number >= 10'],
    ['milestone=v1', 'has(pull_request.milestone) && pull_request.milestone.title == "v1"'],
    ['milestone!=v1', '!(has(pull_request.milestone) && pull_request.milestone.title == "v1")'],
    ['#milestone=0', '!has(pull_request.milestone)'],
    // Flags
    ['draft', 'pull_request.draft'],
    ['-draft', '!pull_request.draft'],
    ['locked', 'pull_request.is_locked'],
    ['conflict', '!pull_request.draft && !pull_request.mergeable'],
    ['-conflict', '!(!pull_request.draft && !pull_request.mergeable)'],
    ['linear-history', 'commits.all(c, c.parents.size() == 1)'],
    // Lists
    ['label=bug', 'labelled("bug")'],
    ['label!=bug', '!labelled("bug")'],
    ['-label=bug', '!labelled("bug")'],
    ['label~=^kind/', 'labels.exists(l, l.name.startsWith("kind/"))'],
    ['-label~=^kind/', '!labels.exists(l, l.name.startsWith("kind/"))'],
    ['label="with space"', 'labelled("with space")'],
    // Quotation marks around a pattern are a part of it (scripts of Mergifyio/docs warn of them)
    ['-label~="kind"', '!labels.exists(l, l.name.contains("\\"kind\\""))'],
    ['#label=0', 'labels.size() == 0'],
    ['assignee=ada', 'pull_request.assignees.exists(a, a.login == "ada")'],
    ['#assignee=0', 'pull_request.assignees.size() == 0'],
    ['approved-reviews-by=ada', 'approvals.exists(a, a.user.login == "ada")'],
    ['approved-reviews-by=@acme/core', 'approvals.exists(a, a.user.login in team("acme/core"))'],
    ['#approved-reviews-by>=2', 'approvals.size() >= 2'],
    ['#changes-requested-reviews-by=0', 'rejections.size() == 0'],
    ['changes-requested-reviews-by!=ada', '!rejections.exists(r, r.user.login == "ada")'],
    ['#commented-reviews-by=0', '!reviews.exists(r, r.state == "COMMENT")'],
    ['review-requested=ada', 'pull_request.requested_reviewers.exists(r, r.login == "ada")'],
    ['review-requested=@core', 'pull_request.requested_reviewers_teams.exists(t, t.name == "core")'],
    [
      '#review-requested=0',
      'pull_request.requested_reviewers.size() + pull_request.requested_reviewers_teams.size() == 0',
    ],
    // Files: a renamed one has its new name
    ['files=docs/a.md', 'files.exists(f, f.filename == "docs/a.md")'],
    ['files!=docs/a.md', '!files.exists(f, f.filename == "docs/a.md")'],
    ['files~=^docs/', 'files.exists(f, f.filename.glob("docs/**"))'],
    ['-files~=^docs/', '!files.exists(f, f.filename.glob("docs/**"))'],
    ['files~=\\.py$', 'files.exists(f, f.filename.glob("**/*.py"))'],
    ['files~=^a\\.txt$', 'files.exists(f, f.filename.glob("a.txt"))'],
    ['files*=src/**/*.ts', 'files.exists(f, f.filename.glob("src/**/*.ts"))'],
    ['files~=^(src|lib)/', 'files.exists(f, f.filename.matches("^(src|lib)/"))'],
    ['#files<=6', 'files.size() <= 6'],
    ['#added-lines>100', 'pull_request.additions > 100'],
    ['#commits=1', 'commits.size() == 1'],
    ['#commits-behind>5', 'pull_request.behind > 5'],
    ['commits[*].commit_message~=fixup', 'commits.exists(c, c.commit.message.contains("fixup"))'],
    // Checks
    ['check-success=ci/test', 'passed("ci/test")'],
    ['status-success=ci/test', 'passed("ci/test")'],
    ['check-success=build', 'passed("* / build (pull_request)")'],
    ['-check-success=ci/test', '!passed("ci/test")'],
    ['check-failure=ci/test', 'failed("ci/test")'],
    ['check-pending=ci/test', 'statuses.exists(s, s.context == "ci/test" && s.status == "pending")'],
    ['check-skipped=ci/test', 'statuses.exists(s, s.context == "ci/test" && s.status == "skipped")'],
    ['check-success~=^ci/', 'statuses.exists(s, s.context.startsWith("ci/") && s.status == "success")'],
    ['#check-failure=0', '!statuses.exists(s, s.status in ["failure", "error"])'],
    ['#check-pending=0', '!statuses.exists(s, s.status == "pending")'],
    ['#check-success>=3', 'statuses.filter(s, s.status == "success").size() >= 3'],
    // Times
    ['updated-at<14 days ago', 'timestamp(pull_request.updated_at) < now - duration("336h")'],
    ['created-at>=1 day 02:30 ago', 'timestamp(pull_request.created_at) >= now - duration("1590m")'],
    ['updated-at<=2021-04-05', 'timestamp(pull_request.updated_at) <= timestamp("2021-04-05T00:00:00Z")'],
    ['schedule=Mon-Fri', 'now.getDayOfWeek() in [1, 2, 3, 4, 5]'],
    ['schedule!=Sat-Sun', '!(now.getDayOfWeek() in [0, 6])'],
    [
      'schedule=Mon-Fri 09:00-17:30[Europe/Paris]',
      'now.getDayOfWeek("Europe/Paris") in [1, 2, 3, 4, 5] && now.getHours("Europe/Paris") * 60 + now.getMinutes("Europe/Paris") >= 540 && now.getHours("Europe/Paris") * 60 + now.getMinutes("Europe/Paris") < 1050',
    ],
  ])('%s', async (source, expected) => {
    expect(await condition(source)).toBe(expected);
  });

  it('joins conditions with and, or and not', async () => {
    expect(await condition('base=main', { or: ['label=a', 'label=b', { and: ['draft', 'label=c'] }] })).toBe(
      'pull_request.base.ref == "main" && (labelled(["a", "b"]) || pull_request.draft && labelled("c"))',
    );
    expect(await condition({ not: { or: ['label=a', 'draft'] } })).toBe(
      '!(labelled("a") || pull_request.draft)',
    );
    expect(await condition({ not: ['draft', 'label=a'] })).toBe('!(pull_request.draft && labelled("a"))');
  });

  it('joins checks, labels and lists into one call', async () => {
    expect(await condition('check-success=a/b', 'label!=x', 'check-success=c/d', 'label!=y')).toBe(
      'passed(["a/b", "c/d"]) && !labelled(["x", "y"])',
    );
    expect(await condition({ or: ['label~=^a', 'label~=^b'] })).toBe(
      'labels.exists(l, l.name.startsWith("a") || l.name.startsWith("b"))',
    );
  });

  it.each([
    ['queue-position>=0', 'queue'],
    ['#review-threads-unresolved=0', 'conversations'],
    ['title~=a(?=b)', 'cannot be used'],
    ['title~=a{,3}', 'RE2'],
    ['sender=ada', 'sender'],
    ['nonsense=1', 'not known'],
    ['label={{ author }}', 'author'],
    ['base={{ x }}', 'author'],
    ['updated-at=2021-04-05', 'times'],
    ['#files=many', 'number'],
  ])('leaves out a rule with %s', async (source, why) => {
    const entry = (await rule([source])).entry('rule one');
    expect(entry).toMatchObject({ outcome: 'left-out' });
    expect(entry?.note).toContain(why);
  });

  it('leaves out a condition that a comment of YAML has taken', async () => {
    const text =
      'pull_request_rules:\n  - name: one\n    conditions:\n      - #files>1\n    actions: { label: { add: [x] } }\n';
    expect((await importText(mergify, text)).entry('rule one')).toMatchObject({ outcome: 'left-out' });
  });

  it('takes a team without an organization from the forge, and otherwise says that its rules fail', async () => {
    const text = stringify({
      pull_request_rules: [{ name: 'one', conditions: ['author=@devs'], actions: { label: { add: ['x'] } } }],
    });
    const known = await importText(mergify, text, { forge: { teams: ['acme/devs'] } });
    expect(conditionOf(known)).toBe('pull_request.user.login in team("acme/devs")');
    const unknown = await importText(mergify, text);
    expect(unknown.entry('team devs')?.note).toContain('--team devs=');
  });
});

/** Source of the actions: src/content/docs/workflow/actions of Mergifyio/docs, and mergify_engine/actions. */
describe('actions of Mergify', () => {
  it.each<[string, object, string, object | undefined]>([
    ['label', { label: { add: ['a'], remove: ['b'] } }, 'set-labels', { add: ['a'], remove: ['b'] }],
    ['label toggle', { label: { toggle: ['a'] } }, 'set-labels', { sync: { a: 'labelled("go")' } }],
    [
      'assign',
      { assign: { add_users: ['ada', '{{ author }}'] } },
      'set-issue',
      { assignees: { add: ['ada', '${{ pull_request.user.login }}'] } },
    ],
    [
      'request_reviews',
      { request_reviews: { users: ['ada'], teams: ['@acme/core'], random_count: 1 } },
      'request-reviewers',
      { users: ['ada'], teams: ['core'], pick: 1 },
    ],
    [
      'review',
      { review: { type: 'REQUEST_CHANGES', message: 'No.' } },
      'review',
      { verdict: 'request-changes', text: 'No.' },
    ],
    [
      'comment',
      { comment: { message: 'Hi @{{author}}' } },
      'comment',
      { key: 'comment-1', text: 'Hi @${{ pull_request.user.login }}' },
    ],
    ['update', { update: {} }, 'update-branch', { how: 'merge' }],
    ['rebase', { rebase: {} }, 'update-branch', { how: 'rebase' }],
    ['merge', { merge: { method: 'squash' } }, 'merge', { when: 'labelled("go")', method: 'squash' }],
    [
      'fast-forward',
      { merge: { method: 'fast-forward' } },
      'merge',
      { when: 'labelled("go")', method: 'fast-forward-only' },
    ],
    [
      'message',
      { merge: { commit_message_template: '{{ title }} (#{{ number }})\n\n{{ body }}' } },
      'merge',
      {
        when: 'labelled("go")',
        title: '${{ pull_request.title }} (#${{ pull_request.number }})',
        message: '${{ pull_request.body }}',
      },
    ],
    [
      'strict merge',
      { merge: { strict: 'smart', method: 'merge' } },
      'queue-merge',
      { when: `labelled("go") && ${allowed}`, method: 'merge' },
    ],
    [
      'queue',
      { queue: { method: 'squash', priority: 'high' } },
      'queue-merge',
      { when: `labelled("go") && ${allowed}`, method: 'squash', priority: 10 },
    ],
    [
      'merge and delete',
      { merge: {}, delete_head_branch: {} },
      'merge',
      { when: 'labelled("go")', 'delete-branch': true },
    ],
    [
      'post_check',
      { post_check: { success_conditions: ['draft'] } },
      'set-status',
      { context: 'one', state: 'success', when: 'pull_request.draft', otherwise: { state: 'failure' } },
    ],
  ])('%s', async (_, actions, uses, given) => {
    const { written } = await rule(['label=go'], actions);
    expect(Object.values(written.rules)[0]?.steps).toEqual([{ uses, with: given }]);
  });

  it('backports after the merge', async () => {
    const { written } = await rule(['merged', 'label=go'], {
      backport: { branches: ['stable-1'], regexes: ['^release/'], labels: ['bp'] },
    });
    expect(Object.values(written.rules)).toEqual([
      {
        description: 'one',
        on: 'auto',
        each: { pull_request: { state: 'all' } },
        if: 'pull_request.merged && labelled("go")',
        steps: [
          {
            uses: 'backport',
            with: {
              to: ['stable-1', 'release/**'],
              labels: ['bp'],
              title: '${{ pull_request.title }} (backport #${{ pull_request.number }})',
            },
          },
        ],
      },
    ]);
  });

  it('closes with a comment', async () => {
    const { written, decide } = await rule(['label=go'], { close: { message: 'Bye' } });
    expect(Object.values(written.rules)[0]?.steps.map(({ uses }) => uses)).toEqual(['comment', 'set-issue']);
    expect(await decide({}, { labels: ['go'] })).toContain('set-issue issue.state');
  });

  it('deletes branches of merged pull requests, of closed ones only if the conditions say so', async () => {
    const merged = await rule(['merged'], { delete_head_branch: {} });
    expect(Object.values(merged.written.rules)[0]).toMatchObject({
      if: 'pull_request.merged',
      steps: [{ uses: 'delete-branch' }],
    });
    expect(merged.entry('rule one')?.note).toMatch(/^as these say: /);
    const closed = await rule(['closed'], { delete_head_branch: {} });
    expect(Object.values(closed.written.rules)[0]).toMatchObject({ steps: [{ with: { closed: true } }] });
    const neither = await rule(['base=main'], { delete_head_branch: {} });
    expect(conditionOf(neither)).toBe('pull_request.base.ref == "main" && pull_request.merged');
    expect(neither.entry('rule one')?.note).toContain('closed without a merge');
  });

  it('dismisses reviews after a push', async () => {
    const { written } = await rule(['base=main'], { dismiss_reviews: { changes_requested: false } });
    expect(Object.values(written.rules)[0]).toMatchObject({
      on: { pull_request: ['synchronized'] },
      steps: [
        {
          uses: 'dismiss-stale-reviews',
          with: { states: ['APPROVED'], message: 'Pull request has been modified.' },
        },
      ],
    });
  });

  it.each([
    ['squash', {}],
    ['copy', { branches: ['x'] }],
    ['github_actions', { workflow: { dispatch: [] } }],
    ['dismiss_reviews', { approved: ['ada'] }],
    ['comment', { message: '{{ title | upper }}' }],
    ['label', { remove_all: true }],
    ['backport', { regexes: ['^(a|b)/'] }],
    ['unknown', {}],
  ])('leaves out a rule whose only action is %s', async (name, given) => {
    const { entry } = await rule(['label=go'], { [name]: given });
    expect(entry('rule one')).toMatchObject({ outcome: 'left-out' });
  });

  it('carries the other actions of a rule, and says what is missing', async () => {
    const { entry, written } = await rule(['label=go'], { squash: {}, label: { add: ['a'] } });
    expect(entry('rule one')).toMatchObject({ outcome: 'differs' });
    expect(entry('rule one')?.note).toContain('squash');
    expect(Object.keys(written.rules)).toEqual(['one']);
  });

  it('includes closed pull requests, if the conditions name them', async () => {
    const { written, entry } = await rule([{ or: ['merged', 'closed'] }, { and: ['label=go'] }], {
      delete_head_branch: {},
    });
    expect(Object.values(written.rules)[0]).toMatchObject({
      each: { pull_request: { state: 'all' } },
      if: '(pull_request.merged || pull_request.state == "closed") && labelled("go")',
      steps: [{ uses: 'delete-branch', with: { closed: true } }],
    });
    expect(entry('rule one')?.note).not.toContain('closed pull requests');
  });

  it('takes `-closed` at the top, also within `and`, for the pull requests that a rule is about', async () => {
    const { written } = await rule([{ and: ['label=go', '-closed', '-merged'] }]);
    expect(Object.values(written.rules)[0]).toMatchObject({ each: 'pull_request', if: 'labelled("go")' });
  });

  it.each([
    [
      "please @{{ assignee | join(', @') }}",
      'please @${{ pull_request.assignees.map(x, x.login).join(", @") }}',
    ],
    [
      '{% for n in approved_reviews_by %}@{{n}} {% endfor %}',
      '${{ approvals.map(x, "@" + x.user.login + " ").join("") }}',
    ],
    ['a ${{ b }} {{title}}', 'a $${{ b }} ${{ pull_request.title }}'],
  ])('converts the template %s', async (message, expected) => {
    const { written, entry } = await rule([], { comment: { message } });
    if (message.includes('${{')) expect(entry('rule one')).toMatchObject({ outcome: 'left-out' });
    else expect(Object.values(written.rules)[0]?.steps[0]?.with?.text).toBe(expected);
  });

  it('does not approve below the operator', async () => {
    const text = stringify({
      pull_request_rules: [{ name: 'one', conditions: [], actions: { review: { type: 'APPROVE' } } }],
    });
    expect((await importText(mergify, text, { target: 'repository' })).entry('rule one')).toMatchObject({
      outcome: 'left-out',
    });
    expect((await importText(mergify, text)).entry('rule one')).toMatchObject({ outcome: 'differs' });
  });
});

describe('files of Mergify', () => {
  const file = (more: object, rules: readonly object[] = []) =>
    importText(mergify, stringify({ pull_request_rules: rules, ...more }));

  it('queues with the conditions of the named queue, and tells queues apart from rules', async () => {
    const {
      written,
      entry,
      file: imported,
    } = await file(
      {
        queue_rules: [
          {
            name: 'q',
            queue_conditions: ['label=ready'],
            merge_conditions: ['check-success=ci/x'],
            merge_method: 'rebase',
            batch_size: 3,
          },
        ],
      },
      [{ name: 'one', conditions: ['base=main'], actions: { queue: { name: 'q' } } }],
    );
    expect(written.rules.one?.steps).toEqual([
      {
        uses: 'queue-merge',
        with: {
          when: `pull_request.base.ref == "main" && labelled("ready") && passed("ci/x") && ${allowed}`,
          method: 'rebase',
        },
      },
    ]);
    expect(imported.counts).toEqual({ exact: 0, differs: 1, leftOut: 0, withoutMeaning: 0 });
    expect(entry('queue q: batch_size')).toMatchObject({ outcome: 'left-out', apart: true });
  });

  it('tries the queues in their order, if none is named', async () => {
    const { written } = await file(
      {
        queue_rules: [
          { name: 'a', queue_conditions: ['label=hot'] },
          { name: 'b', merge_method: 'squash' },
        ],
      },
      [{ name: 'one', conditions: ['base=main'], actions: { queue: null } }],
    );
    expect(Object.values(written.rules).map(({ steps }) => steps[0]?.with?.when)).toEqual([
      `pull_request.base.ref == "main" && labelled("hot") && ${allowed}`,
      `pull_request.base.ref == "main" && ${allowed} && !labelled("hot")`,
    ]);
  });

  it('takes options from defaults, and anchors', async () => {
    const { written } = await importText(
      mergify,
      'shared: { c: &c [base=main] }\ndefaults: { actions: { merge: { method: rebase } } }\npull_request_rules:\n  - { name: one, conditions: *c, actions: { merge: {} } }\n',
    );
    expect(written.rules.one?.steps[0]?.with).toEqual({
      when: 'pull_request.base.ref == "main"',
      method: 'rebase',
    });
  });

  it('names rules that follow each other by labels, and those that undo each other', async () => {
    const { entry, written } = await file({}, [
      { name: 'first', conditions: ['draft'], actions: { label: { add: ['a'] } } },
      { name: 'second', conditions: ['label=a'], actions: { comment: { message: 'x' } } },
      { name: 'third', conditions: ['base=main'], actions: { label: { remove: ['a'] } } },
    ]);
    expect(entry('label a of rule second')?.note).toContain('`first` changes the label');
    expect(entry('label a')?.note).toContain('both `first` and `third`');
    expect(written.rules.second?.on).toEqual(['auto', { schedule: '20 * * * *' }]);
  });

  it('does not call complementary rules contradictory', async () => {
    const { entry } = await file({}, [
      { name: 'first', conditions: ['conflict'], actions: { label: { add: ['a'] } } },
      { name: 'second', conditions: ['-conflict'], actions: { label: { remove: ['a'] } } },
    ]);
    expect(entry('label a')).toBeUndefined();
  });

  it('leaves out what stands elsewhere, and names it', async () => {
    const { entry } = await file({
      extends: 'shared',
      commands_restrictions: { backport: {} },
      priority_rules: [{ name: 'p' }],
      strange: 1,
    });
    for (const part of ['extends', 'commands_restrictions: backport', 'priority rule p', 'strange'])
      expect(entry(part)).toMatchObject({ outcome: 'left-out', apart: true });
  });

  it('makes a status of a merge protection', async () => {
    const { written, decide } = await file({
      merge_protections: [
        { name: 'two reviews', if: ['files~=^test/'], success_conditions: ['#approved-reviews-by>=2'] },
      ],
    });
    expect(Object.values(written.rules)[0]?.steps[0]?.with?.when).toBe(
      '!files.exists(f, f.filename.glob("test/**")) || approvals.size() >= 2',
    );
    expect(await decide({}, { files: ['test/a'] })).toEqual([
      'set-status status:reeve/protection-two-reviews pending',
    ]);
  });

  it('leaves disabled rules, and rules that are only about pushes to merged pull requests, without meaning', async () => {
    const { entry } = await file({}, [
      { name: 'off', disabled: { reason: 'x' }, conditions: [], actions: { label: { add: ['a'] } } },
      { name: 'merged', conditions: ['merged'], actions: { dismiss_reviews: {} } },
      { name: 'empty', conditions: [], actions: {} },
    ]);
    for (const part of ['rule off', 'rule merged', 'rule empty'])
      expect(entry(part)).toMatchObject({ outcome: 'without-meaning' });
  });

  it('gives names to parts of conditions that are too long', async () => {
    const checks = (letter: string) =>
      Array.from({ length: 30 }, (_, n) => `check-success=ci/${letter}-a-rather-long-name-${n}`);
    const { written, decide } = await file({}, [
      {
        name: 'one',
        conditions: ['base=main', { or: [{ and: checks('x') }, { and: checks('y') }] }],
        actions: { label: { add: ['a'] } },
      },
    ]);
    expect(Object.keys(written.conditions ?? {})).toContain('condition_1');
    const statuses = checks('y').map((one) => ({
      context: one.slice('check-success='.length),
      status: 'success',
    }));
    expect(await decide({}, { statuses })).toEqual(['set-labels label:a']);
    expect(await decide({}, { statuses: statuses.slice(1) })).toEqual([]);
  });

  it('refuses a file that is no map, or invalid YAML', async () => {
    await expect(importText(mergify, '- a\n')).rejects.toThrow('a map was expected');
    await expect(importText(mergify, 'a: [\n')).rejects.toThrow();
  });
});

describe('decisions of rules from Mergify', () => {
  it('merges when approved, green and not blocked', async () => {
    const { decide } = await rule(
      ['#approved-reviews-by>=1', 'check-success=ci/test', 'label!=hold', '-draft'],
      { merge: { method: 'squash' } },
    );
    const green = {
      approvals: [{ user: { login: 'bob' } }],
      statuses: [{ context: 'ci/test', status: 'success' }],
    };
    expect(await decide({}, green)).toEqual(['merge merge:#7']);
    expect(await decide({}, { ...green, labels: ['hold'] })).toEqual([]);
    expect(await decide({}, { ...green, approvals: [] })).toEqual([]);
    expect(await decide({}, { ...green, statuses: [] })).toEqual([]);
  });

  it('tells a conflict', async () => {
    const { decide } = await rule(['conflict'], { label: { toggle: ['conflict'] } });
    expect(await decide({ mergeable: false })).toEqual(['set-labels label:conflict']);
    expect(await decide({ mergeable: false, draft: true })).toEqual([]);
    expect(await decide({}, { labels: ['conflict'] })).toEqual(['set-labels label:conflict off']);
  });

  it('compares the new name of a renamed file', async () => {
    const { decide } = await rule(['files~=^(src|lib)/']);
    const renamed = [{ filename: 'src/a', previous_filename: 'docs/a', status: 'renamed' }];
    expect(await decide({}, { files: renamed })).toEqual(['set-labels label:x']);
    const away = [{ filename: 'docs/a', previous_filename: 'src/a', status: 'renamed' }];
    expect(await decide({}, { files: away })).toEqual([]);
  });
});

it.each(hostileTexts)('a hostile text adds nothing: %j', async (hostile) => {
  const text = stringify({
    pull_request_rules: [
      {
        name: hostile,
        conditions: [`label=${hostile}`, `title=${hostile}`, `check-success=${hostile}`],
        actions: { label: { add: [hostile] }, comment: { message: hostile } },
      },
    ],
  });
  const { written, file } = await importText(mergify, text);
  expect(Object.keys(written.rules).length).toBeLessThanOrEqual(1);
  expect(Object.keys(written)).not.toContain('evil');
  for (const { steps } of Object.values(written.rules)) {
    expect(steps.map(({ uses }) => uses)).toEqual(['set-labels', 'comment']);
    expect(String(steps[1]?.with?.text)).not.toMatch(/(^|[^$])\$\{\{/);
  }
  for (const { text: one } of file.files) expect(one).not.toMatch(/^#\s*yaml-language-server/m);
});
