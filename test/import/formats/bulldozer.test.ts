import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { bulldozer } from '../../../src/import/formats/bulldozer.ts';
import { hostileTexts } from '../support/hostile.ts';
import { type Imported, importText } from '../support/written.ts';

/** Source: palantir/bulldozer, `bulldozer/signals.go`, `evaluate.go`, `merge.go`, `update.go` and `config.go`. */
const file = (more: object): Promise<Imported> => importText(bulldozer, stringify({ version: 1, ...more }));
const when = ({ written }: Imported, rule = 'bulldozer-merge'): unknown =>
  written.rules[rule]?.steps[0]?.with?.when;
const green = 'required_checks.size() > 0 && required_checks.all(c, c.state == "success")';
const passing = { required_checks: [{ context: 'ci', state: 'success' }] };

describe('signals of Bulldozer', () => {
  it.each<[string, unknown, string]>([
    ['labels', ['Merge When Ready'], 'labels.exists(l, l.name.lower() == "merge when ready")'],
    ['labels', ['a', 'b'], 'labels.exists(l, l.name.lower() in ["a", "b"])'],
    ['pr_body_substrings', ['==M=='], 'pull_request.body.contains("==M==")'],
    [
      'comment_substrings',
      ['==M=='],
      '(pull_request.body.contains("==M==") || comments.exists(c, c.body.contains("==M==")))',
    ],
    ['comments', ['go'], '(pull_request.body == "go" || comments.exists(c, c.body == "go"))'],
    ['branches', ['main', 'dev'], 'pull_request.base.ref in ["main", "dev"]'],
    ['branch_patterns', ['feature/.*'], 'pull_request.base.ref.matches("^feature/.*$")'],
    ['auto_merge', true, 'scheduled_merge != null'],
  ])('trigger %s', async (key, value, expected) => {
    expect(when(await file({ merge: { trigger: { [key]: value } } }))).toBe(`${expected} && ${green}`);
  });

  it('triggers by one signal, and ignores by one', async () => {
    expect(
      when(
        await file({
          merge: { trigger: { labels: ['a'], branches: ['b'] }, ignore: { labels: ['c'], branches: ['d'] } },
        }),
      ),
    ).toBe(
      `!(labels.exists(l, l.name.lower() == "c") || pull_request.base.ref == "d") && (labels.exists(l, l.name.lower() == "a") || pull_request.base.ref == "b") && ${green}`,
    );
  });

  it('takes the old names where the new ones have no signals', async () => {
    expect(
      when(await file({ merge: { whitelist: { branches: ['a'] }, blacklist: { branches: ['b'] } } })),
    ).toBe(`!(pull_request.base.ref == "b") && pull_request.base.ref == "a" && ${green}`);
    expect(
      when(await file({ merge: { trigger: { branches: ['x'] }, whitelist: { branches: ['a'] } } })),
    ).toBe(`pull_request.base.ref == "x" && ${green}`);
  });

  it('never merges with a trigger of commits alone, nor what an unreadable pattern may ignore', async () => {
    expect(when(await file({ merge: { trigger: { max_commits: 3 } } }))).toBe(false);
    const { entry, written } = await file({ merge: { ignore: { branch_patterns: ['[ab]'.repeat(60)] } } });
    expect(entry('merge.ignore.branch_patterns')).toMatchObject({ outcome: 'left-out' });
    expect(written.rules['bulldozer-merge']?.steps[0]?.with?.when).toBe(false);
  });
});

describe('merges of Bulldozer', () => {
  it('merges everything that is green without a section', async () => {
    const { decide } = await file({});
    expect(await decide({}, passing)).toEqual(['merge merge:#7']);
    expect(await decide({}, { required_checks: [] })).toEqual([]);
    expect(await decide({}, { required_checks: [{ context: 'ci', state: 'pending' }] })).toEqual([]);
  });

  it('wants its own statuses, and needs no checks if the file says so', async () => {
    expect(when(await file({ merge: { required_statuses: ['policy-bot: main', 'ci/x'] } }))).toBe(
      'required_checks.all(c, c.state == "success") && passed(["policy-bot: main", "ci/x"])',
    );
    expect(when(await file({ merge: { allow_merge_with_no_checks: true } }))).toBe(
      'required_checks.all(c, c.state == "success")',
    );
  });

  it.each<[object, object]>([
    [{}, { title: '${{ pull_request.title }} (#${{ pull_request.number }})' }],
    [
      { title: 'first_commit_title' },
      {
        title:
          '${{ commits[commits.size() - 1].commit.message.split("\\n")[0] }} (#${{ pull_request.number }})',
      },
    ],
    [{ title: 'github_default', body: 'summarize_commits' }, {}],
    [
      { body: 'pull_request_body' },
      {
        title: '${{ pull_request.title }} (#${{ pull_request.number }})',
        message: '${{ pull_request.body }}',
      },
    ],
    [
      { body: 'pull_request_body', message_delimiter: '==M==' },
      {
        title: '${{ pull_request.title }} (#${{ pull_request.number }})',
        message:
          '${{ pull_request.body.split("==M==").size() > 2 ? pull_request.body.split("==M==")[1].trim() : "" }}',
      },
    ],
  ])('squash with %j', async (squash, expected) => {
    const { written } = await file({
      merge: { method: 'squash', options: { squash }, delete_after_merge: true },
    });
    expect(written.rules['bulldozer-merge']?.steps[0]?.with).toEqual({
      when: green,
      method: 'squash',
      ...expected,
      'delete-branch': true,
    });
  });

  it('chooses the method by signals, all of which have to match, then by branch', async () => {
    const { written, decide } = await file({
      merge: {
        method: 'ff-only',
        branch_method: { dev: 'squash' },
        merge_method: [{ method: 'rebase', trigger: { labels: ['r'], max_commits: 1 } }],
      },
    });
    expect(
      written.rules['bulldozer-merge']?.steps.map(({ if: of, with: given }) => [given?.method, of]),
    ).toEqual([
      ['rebase', 'labels.exists(l, l.name.lower() == "r") && commits.size() <= 1'],
      [
        'squash',
        '!(labels.exists(l, l.name.lower() == "r") && commits.size() <= 1) && pull_request.base.ref == "dev"',
      ],
      [
        'fast-forward-only',
        '!(labels.exists(l, l.name.lower() == "r") && commits.size() <= 1) && !(pull_request.base.ref == "dev")',
      ],
    ]);
    expect(await decide({}, passing)).toEqual(['merge merge:#7']);
  });

  it('updates by a trigger, and otherwise by drafts and statuses', async () => {
    expect(
      when(
        await file({
          update: { trigger: { branches: ['a'] }, ignore: { branches: ['b'] }, ignore_drafts: true },
        }),
        'bulldozer-update',
      ),
    ).toBe('!(pull_request.base.ref == "b") && pull_request.base.ref == "a"');
    expect(
      when(await file({ update: { ignore_drafts: true, required_statuses: ['ci/x'] } }), 'bulldozer-update'),
    ).toBe('!pull_request.draft && passed("ci/x")');
    expect((await file({ update: {} })).written.rules['bulldozer-update']).toBeUndefined();
  });

  it.each([
    [
      'whitelist',
      'labels.exists(l, l.name.lower() in ["merge when ready", "merge-when-ready", "merge_when_ready"])',
    ],
    [
      'blacklist',
      '!labels.exists(l, l.name.lower() in ["wip", "do not merge", "do-not-merge", "do_not_merge"])',
    ],
    [
      'pr_body',
      '(pull_request.body.contains("==MERGE_WHEN_READY==") || comments.exists(c, c.body.contains("==MERGE_WHEN_READY==")))',
    ],
  ])('reads the first version with the mode %s', async (mode, expected) => {
    const imported = await importText(
      bulldozer,
      stringify({ mode, strategy: 'squash', deleteAfterMerge: true }),
    );
    expect(when(imported)).toBe(`${expected} && ${green}`);
    expect(imported.file.counts).toMatchObject({ exact: 2, differs: 1, leftOut: 0 });
    expect(Object.keys(imported.written.rules)).toEqual(['bulldozer-merge', 'bulldozer-update']);
  });

  it('names a file that stands elsewhere, and refuses other versions', async () => {
    expect((await importText(bulldozer, 'remote: acme/config\n')).entry('remote')).toMatchObject({
      outcome: 'left-out',
    });
    await expect(importText(bulldozer, 'version: 2\n')).rejects.toThrow('version: 1');
  });
});

/** Bulldozer reads with yaml.UnmarshalStrict: bulldozer/config.go. */
it.each<[string, object]>([
  ['strange', { strange: 1 }],
  ['merge.ignored', { merge: { ignored: { labels: ['wip'] } } }],
  ['merge.ignore.label', { merge: { ignore: { label: ['wip'] } } }],
  ['merge.merge_method.0.when', { merge: { merge_method: [{ method: 'squash', when: 1 }] } }],
  ['merge.options.squash.text', { merge: { options: { squash: { text: 'x' } } } }],
  ['update.drafts', { update: { drafts: true } }],
])('merges nothing with the unknown key %s, for which Bulldozer refuses the file', async (part, given) => {
  const { file: imported, entry } = await file(given);
  expect(imported.rules).toEqual([]);
  expect(entry(part)).toMatchObject({ outcome: 'left-out' });
});

it('takes no notice of a pattern that Go cannot read', async () => {
  const { written, entry } = await file({ merge: { trigger: { branch_patterns: ['release/**', 'a.*b'] } } });
  expect(written.rules['bulldozer-merge']?.steps[0]?.with?.when).toBe(
    `pull_request.base.ref.matches("^a.*b$") && ${green}`,
  );
  expect(entry('merge.trigger.branch_patterns: release/**, a.*b')).toMatchObject({ outcome: 'exact' });
});

it.each([
  ['title', 'github_default_title', 'differs'],
  ['title', 'pull_request_title', 'exact'],
  ['body', 'sumarize_commits', 'differs'],
  ['body', 'empty_body', 'exact'],
])('squash %s: %s %s', async (key, value, outcome) => {
  const { entry } = await file({ merge: { method: 'squash', options: { squash: { [key]: value } } } });
  expect(entry(`squash ${key}: ${value}`)).toMatchObject({ outcome });
});

it.each(hostileTexts)('a hostile text adds nothing: %j', async (hostile) => {
  const { written } = await file({
    merge: {
      trigger: { labels: [hostile], comments: [hostile], branches: [hostile] },
      method: 'squash',
      options: { squash: { body: 'pull_request_body', message_delimiter: hostile } },
    },
  });
  expect(Object.keys(written.rules).length).toBeLessThanOrEqual(1);
  for (const { steps } of Object.values(written.rules))
    expect(steps.map(({ uses }) => uses)).toEqual(['merge']);
});
