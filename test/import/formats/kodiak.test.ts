import { describe, expect, it } from 'vitest';
import { kodiak } from '../../../src/import/formats/kodiak.ts';
import { hostileTexts } from '../support/hostile.ts';
import { type Imported, importText } from '../support/written.ts';

/** Source: chdsbd/kodiak, `bot/kodiak/config.py`, `evaluation.py` and `dependencies.py`. */
const file = (more: string): Promise<Imported> => importText(kodiak, `version = 1\n${more}`);
const when = ({ written }: Imported): unknown => written.rules['kodiak-merge']?.steps[0]?.with?.when;
const protectedAndGreen =
  'base_branch.protected && (base_branch.required_approvals == 0 || approvals.size() >= base_branch.required_approvals && rejections.size() == 0) && required_checks.all(c, c.state == "success")';
const title = '!pull_request.title.matches("^WIP:.*")';
const enabled = '!labelled("kodiak:disabled")';

describe('conditions of Kodiak', () => {
  it.each([
    ['', `labelled("automerge") && ${enabled} && ${title} && ${protectedAndGreen}`],
    [
      'merge.automerge_label = ["a", "b"]',
      `labelled(["a", "b"]) && ${enabled} && ${title} && ${protectedAndGreen}`,
    ],
    ['merge.require_automerge_label = false', `${enabled} && ${title} && ${protectedAndGreen}`],
    [
      'merge.blocking_labels = ["x"]\nmerge.blacklist_labels = ["y"]',
      `labelled("automerge") && ${enabled} && !labelled(["x", "y"]) && ${title} && ${protectedAndGreen}`,
    ],
    ['merge.blocking_title_regex = ""', `labelled("automerge") && ${enabled} && ${protectedAndGreen}`],
    [
      'merge.blacklist_title_regex = "wip"',
      `labelled("automerge") && ${enabled} && !pull_request.title.contains("wip") && ${protectedAndGreen}`,
    ],
    [
      'merge.block_on_reviews_requested = true',
      `labelled("automerge") && ${enabled} && ${title} && pull_request.requested_reviewers.size() + pull_request.requested_reviewers_teams.size() == 0 && ${protectedAndGreen}`,
    ],
    [
      'disable_bot_label = "off"',
      `labelled("automerge") && !labelled("off") && ${title} && ${protectedAndGreen}`,
    ],
    [
      'update.ignored_usernames = ["ada"]',
      `labelled("automerge") && ${enabled} && ${title} && !(pull_request.user.login == "ada" && pull_request.behind > 0) && ${protectedAndGreen}`,
    ],
  ])('%s', async (source, expected) => {
    expect(when(await file(source))).toBe(expected);
  });

  it('merges nothing with a title that cannot be read, and says so', async () => {
    const imported = await file('merge.blocking_title_regex = "a(?=b)"');
    expect(when(imported)).toBe(false);
    expect(imported.entry('merge.blocking_title_regex = a(?=b)')).toMatchObject({ outcome: 'left-out' });
  });

  const minor =
    'merge.automerge_dependencies = { versions = ["minor", "patch"], usernames = ["dependabot", "ada"] }';
  it.each([
    [minor, 'Bump x from 1.2.3 to 1.2.4', true],
    [minor, 'Bump x from 1.2.3 to 1.3.0 in /web', true],
    [minor, 'Bump x from 1.2.3 to 2.0.0', false],
    [minor, 'Bump x from 1 to 1.1', true],
    [minor, 'Bump x from a to b', false],
    [minor, 'Bump x', false],
    [minor, 'from 9 to 9 from 1.0 to 2.0', false],
    [minor.replace('"minor", ', ''), 'Bump x from 1.2.3 to 1.2.4+1', true],
    [minor.replace('"minor", ', ''), 'Bump x from 1.2.3 to 1.3.0', false],
    [minor.replace('"minor", "patch"', '"major"'), 'Bump x from 1.2.3 to 2.0.0', true],
    [minor.replace('"minor", "patch"', '"major"'), 'Bump x from 1.2.3 to 1.3.0', false],
  ])('%s: %s', async (source, text, merges) => {
    const { decide } = await file(source);
    const changes = await decide({ title: text, user: { id: 2, login: 'ada' } }, {});
    expect(changes.includes('queue-merge queue:#7')).toBe(merges);
    expect(await decide({ title: text, user: { id: 3, login: 'eve' } }, {})).toEqual([]);
  });
});

describe('rules from Kodiak', () => {
  it.each([
    ['merge.method = "squash"', { method: 'squash' }],
    ['merge.method = "rebase_fast_forward"', { method: 'fast-forward-only' }],
    [
      'merge.message.title = "pull_request_title"',
      { title: '${{ pull_request.title }} (#${{ pull_request.number }})' },
    ],
    [
      'merge.message = { title = "pull_request_title", include_pr_number = false, body = "empty" }',
      { title: '${{ pull_request.title }}' },
    ],
    ['merge.message.body = "pull_request_body"', { message: '${{ pull_request.body }}' }],
    [
      'merge.message = { body = "pull_request_body", include_pull_request_url = true }',
      { message: '${{ pull_request.body }}\n\nPR-URL: ${{ pull_request.html_url }}' },
    ],
    [
      'merge.message = { body = "pull_request_body", cut_body_after = "---" }',
      {
        message:
          '${{ pull_request.body.contains("---") ? pull_request.body.substring(0, pull_request.body.indexOf("---") + 3) : pull_request.body }}',
      },
    ],
    [
      'merge.message = { body = "pull_request_body", cut_body_before = "---", cut_body_and_text = true }',
      {
        message:
          '${{ pull_request.body.contains("---") ? pull_request.body.substring(pull_request.body.indexOf("---") + 3) : pull_request.body }}',
      },
    ],
  ])('%s', async (source, expected) => {
    const { when: _, ...given } = (await file(source)).written.rules['kodiak-merge']?.steps[0]?.with ?? {};
    expect(given).toEqual(expected);
  });

  it('gives priority to a label', async () => {
    const { written } = await file('merge.priority_merge_label = "now"');
    expect(
      written.rules['kodiak-merge']?.steps.map(({ if: of, with: given }) => [of, given?.priority]),
    ).toEqual([
      ['labelled("now")', 10],
      ['!labelled("now")', undefined],
    ]);
  });

  it('deletes branches, updates, approves and tells conflicts', async () => {
    const { written, decide } = await file(
      'merge.delete_branch_on_merge = true\n[update]\nalways = true\nautoupdate_label = "up"\nignored_usernames = ["eve"]\n[approve]\nauto_approve_usernames = ["bob"]\nauto_approve_labels = ["ok"]\n',
    );
    expect(written.rules['kodiak-delete-branch']).toMatchObject({
      each: { pull_request: { state: 'all' } },
      if: `pull_request.merged && base_branch.protected && labelled("automerge") && ${enabled} && ${title}`,
    });
    expect(written.rules['kodiak-update']?.steps[0]?.with?.when).toBe(
      `(labelled("automerge") && !(pull_request.user.login == "eve") || labelled("up")) && base_branch.protected && ${enabled}`,
    );
    expect(written.rules['kodiak-approve']?.if).toBe(
      `(pull_request.user.login == "bob" || labelled("ok")) && !pull_request.draft && base_branch.protected && ${enabled}`,
    );
    expect(await decide({ mergeable: false }, { labels: ['automerge'] })).toEqual(
      expect.arrayContaining([
        'set-labels label:automerge off',
        'comment comment:kodiak-conflict/main on #7',
      ]),
    );
    expect(await decide({ mergeable: false }, { labels: ['automerge', 'kodiak:disabled'] })).toEqual([]);
  });

  it('updates everything if no label is needed, and merges nothing if told so', async () => {
    const { written } = await file(
      'merge.do_not_merge = true\nupdate = { always = true, require_automerge_label = false }',
    );
    expect(Object.keys(written.rules)).toEqual(['kodiak-update', 'kodiak-conflict']);
    expect(written.rules['kodiak-update']?.steps[0]?.with?.when).toBe(`base_branch.protected && ${enabled}`);
  });

  it('does not approve below the operator', async () => {
    const imported = await importText(kodiak, 'version = 1\napprove.auto_approve_usernames = ["bob"]\n', {
      target: 'repository',
    });
    expect(imported.written.rules['kodiak-approve']).toBeUndefined();
    expect(imported.entry('approve.auto_approve_usernames = ["bob"]')).toMatchObject({ outcome: 'left-out' });
  });

  it.each([
    ['merge.prioritize_ready_to_merge = true', 'differs'],
    ['merge.optimistic_updates = false', 'differs'],
    ['merge.optimistic_updates = true', 'without-meaning'],
    ['merge.block_on_neutral_required_check_runs = true', 'differs'],
    ['merge.dont_wait_on_status_checks = ["a"]', 'left-out'],
    ['merge.dont_wait_on_status_checks = []', 'exact'],
    ['merge.show_missing_automerge_label_message = false', 'without-meaning'],
    ['merge.update_branch_immediately = true', 'differs'],
    ['merge.strange = true', 'without-meaning'],
  ])('has an entry for %s', async (source, outcome) => {
    const { file: imported } = await file(source);
    expect(imported.entries.find(({ part }) => part.startsWith(source.split(' ')[0] ?? ''))).toMatchObject({
      outcome,
      line: 2,
    });
  });

  it('refuses invalid TOML, other versions, and deep nesting', async () => {
    await expect(importText(kodiak, 'version = \n')).rejects.toThrow();
    await expect(importText(kodiak, 'version = 2\n')).rejects.toThrow('version = 1');
    await expect(
      importText(kodiak, `version = 1\na = ${'['.repeat(5000)}${']'.repeat(5000)}\n`),
    ).rejects.toThrow();
  });
});

it.each(hostileTexts)('a hostile text adds nothing: %j', async (hostile) => {
  const text = JSON.stringify(hostile).replace(
    /\u007f|[\u0080-\u009f\u2028\u202e]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const { written } = await file(
    `merge.automerge_label = ${text}\nmerge.blocking_labels = [${text}]\napprove.auto_approve_usernames = [${text}]\n`,
  );
  for (const name of Object.keys(written.rules)) expect(name).toMatch(/^kodiak-(merge|approve|conflict)$/);
});
