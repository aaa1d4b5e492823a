import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';

const rules = `version: 1
rules:
  greet:
    on: { issues: [opened] }
    if: issue.title.size() > 3 && !labelled("quiet")
    steps:
      - uses: comment
        with: { text: Hello }
  obey:
    on: { issue_comment: [created] }
    permission: write
    steps:
      - uses: comment
        with: { text: Done }
  sort:
    on: { issues: [opened] }
    steps:
      - uses: set-labels
        if: issue.number > 100
        with: { add: [late] }
      - uses: set-labels
        with:
          sync:
            long: issue.title.size() > 10
            short: issue.title.size() < 3
  auto:
    on: auto
    each: { issue: { state: closed } }
    if: labelled("done")
    steps:
      - uses: set-issue
        with: { assignees: { add: [ada] } }
`;
const repository = { id: 1, full_name: 'acme/demo' };
const issue = { number: 4, title: 'Work', state: 'open', labels: [], user: { id: 5, login: 'eve' } };
const opened = {
  event: { kind: 'issues', activity: 'opened', payload: { number: 4, issue, repository } },
  facts: { comments: [], label_definitions: ['long', 'short', 'late'] },
};

/** Runs one case and returns the differences. */
async function differencesOf(one: object, text = rules): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-why-'));
  writeFileSync(join(folder, 'a.yml'), text);
  writeFileSync(join(folder, 'a.test.yml'), JSON.stringify({ cases: [{ name: 'a', ...one }] }));
  try {
    const { results, problems } = await testRules([join(folder, 'a.yml')]);
    expect(problems.filter(({ code }) => code !== 'unheard-change')).toEqual([]);
    return results.flatMap(({ differences }) => differences);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a missing change is explained by the rules that have its action', () => {
  it('names the condition that decides, with the values that it read', async () => {
    const quiet = { ...opened.event.payload, issue: { ...issue, labels: [{ id: 1, name: 'quiet' }] } };
    const differences = await differencesOf({
      ...opened,
      event: { ...opened.event, payload: quiet },
      expect: { includes: [{ action: 'comment' }] },
    });

    expect(differences).toEqual([
      'missing change: {"action":"comment"}',
      '  rule greet: unmatched',
      '    yes: issue.title.size() > 3   [issue.title = Work]',
      '    yes: labelled("quiet")   [labels = ["quiet"]]',
      '  rule obey: skipped (it is for other events or items)',
    ]);
  });

  it('names the permission that the author of a comment lacks', async () => {
    const comment = { id: 9, body: 'hi', user: { login: 'ada' } };
    const differences = await differencesOf({
      event: {
        kind: 'issue_comment',
        activity: 'created',
        payload: { action: 'created', issue, comment, repository, is_pull: false },
      },
      facts: { comments: [], sender_permission: 'read' },
      expect: { includes: [{ action: 'comment' }] },
    });

    expect(differences).toEqual([
      'missing change: {"action":"comment"}',
      '  rule greet: skipped (it is for other events or items)',
      '  rule obey: unmatched',
      '    no: permission: write   [sender_permission = read]',
    ]);
  });

  it('names the step whose condition does not hold, and the condition of the wanted label', async () => {
    const ofStep = await differencesOf({
      ...opened,
      expect: { includes: [{ action: 'set-labels', target: 'label:late' }] },
    });
    const ofLabel = await differencesOf({
      ...opened,
      expect: { includes: [{ action: 'set-labels', target: 'label:long', value: true }] },
    });

    expect(ofStep.slice(0, 3)).toEqual([
      'missing change: {"action":"set-labels","target":"label:late"}',
      '  rule sort: matched',
      '    step 1 set-labels: no: issue.number > 100   [issue.number = 4]',
    ]);
    expect(ofLabel).toContain('    step 2 set-labels: no: issue.title.size() > 10   [issue.title = Work]');
    expect(ofLabel.join('\n')).not.toContain('issue.title.size() < 3');
  });

  it('names the reason of a skipped rule, and says so if no rule has the action', async () => {
    const skipped = await differencesOf({
      ...opened,
      event: { ...opened.event, kind: 'issues', activity: 'label_updated' },
      expect: { includes: [{ action: 'set-issue' }] },
    });
    const unknown = await differencesOf({ ...opened, expect: { includes: [{ action: 'merge' }] } });

    expect(skipped).toEqual([
      'missing change: {"action":"set-issue"}',
      '  rule auto: skipped (state: it is about items in another state: open, or closed)',
    ]);
    expect(unknown).toEqual(['missing change: {"action":"merge"}', '  no rule of the file uses merge']);
  });

  it('explains a rule once, however many changes are missing', async () => {
    const differences = await differencesOf({
      ...opened,
      event: { ...opened.event, payload: { ...opened.event.payload, issue: { ...issue, title: 'No' } } },
      expect: {
        includes: [
          { action: 'comment', target: 'a' },
          { action: 'comment', target: 'b' },
        ],
      },
    });

    expect(differences.filter((line) => line.includes('rule greet'))).toHaveLength(1);
    expect(differences).toContain('missing change: {"action":"comment","target":"b"}');
  });
});

describe('a verdict that was not expected', () => {
  it('is explained by the conditions of the rule', async () => {
    expect(
      await differencesOf({ ...opened, expect: { verdicts: { greet: 'unmatched', sort: 'skipped' } } }),
    ).toEqual([
      'rule greet: expected unmatched, was matched',
      '    yes: issue.title.size() > 3   [issue.title = Work]',
      '    no: labelled("quiet")   [labels = []]',
      expect.stringMatching(/^rule sort: expected skipped, was matched/),
      expect.stringContaining('no: issue.number > 100'),
      expect.stringContaining('no: issue.title.size() > 10'),
      expect.stringContaining('no: issue.title.size() < 3'),
    ]);
  });

  it('of a rule that the file does not have is an error', async () => {
    expect(await differencesOf({ ...opened, expect: { verdicts: { great: 'skipped' } } })).toEqual([
      'expect names the rule great, which the file does not have',
    ]);
  });
});

describe('an expected change that fits several changes', () => {
  it('is named beside the change that is left', async () => {
    const one = {
      ...opened,
      event: {
        ...opened.event,
        payload: { ...opened.event.payload, issue: { ...issue, number: 200, title: 'A long title' } },
      },
      expect: { changes: [{ action: 'comment' }, { action: 'set-labels' }] },
    };

    expect(await differencesOf(one)).toEqual([
      'unexpected change: {"action":"set-labels","target":"label:long","value":true}; {"action":"set-labels"} is matched by {"action":"set-labels","target":"label:late","value":true}: an entry stands for one change',
    ]);
  });
});

describe('a status in an expectation', () => {
  const text = `version: 1
rules:
  gate:
    on: { pull_request: [opened] }
    steps: [{ uses: set-status, with: { context: gate, state: success, description: Fine } }]
`;
  const pull_request = { number: 4, state: 'open', head: { sha: 'abc' }, base: { ref: 'main' } };
  const event = {
    kind: 'pull_request',
    activity: 'opened',
    payload: { number: 4, pull_request, repository },
  };
  const expecting = (value: object) =>
    differencesOf({ event, facts: { statuses: [] }, expect: { changes: [{ value }] } }, text);

  it('may leave out description and target_url', async () => {
    expect(await expecting({ state: 'success' })).toEqual([]);
    expect(await expecting({ state: 'success', description: 'Fine', target_url: '' })).toEqual([]);
  });

  it('is compared in the members that it names', async () => {
    expect((await expecting({ state: 'failure' }))[0]).toContain('missing change');
    expect((await expecting({ state: 'success', description: '' }))[0]).toContain('missing change');
  });
});
