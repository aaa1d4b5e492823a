import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { acme, at, type Harness, people, repositoryScopes, startHarness } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

let harness: Harness;
afterEach(() => harness.close());

/** Waits for the nth run (from 1) of this kind and activity that was not caused by Reeve itself. */
function nth(kind: string, activity: string, count = 1): Promise<Run> {
  const isIt = (run: Run): boolean =>
    run.trigger.kind === kind &&
    run.trigger.activity === activity &&
    run.rules.every(({ reason }) => reason !== 'own');
  return harness.waitForRun((run) => isIt(run) && harness.runs.filter(isIt).indexOf(run) === count - 1);
}

const outcomes = (run: Run) => run.outcomes.map(({ status, error }) => error ?? status);

describe('comment', () => {
  const rules = `version: 1
rules:
  describe-it:
    on: { pull_request: [opened, edited] }
    steps:
      - uses: comment
        with:
          when: pull_request.body == ""
          text: "\${{ pull_request.title }} has no description."
`;

  it('is present while its condition holds, edited in place, then deleted, and never duplicated', async () => {
    harness = await startHarness({ rules });
    const pull = await harness.openPull('work', { 'a.md': 'a' });
    const params = { ...at, index: pull.number };
    const texts = async () =>
      (await harness.ada.call(operations.listComments, { params })).map(({ id, body }) => [id, body]);
    await nth('pull_request', 'opened');
    const [[id]] = (await texts()) as [[number, string]];
    expect(await texts()).toEqual([[id, '<!-- reeve:describe-it/main -->\nFrom work has no description.']]);

    await harness.ada.call(operations.editPull, { params, body: { title: `Hello @${people.ada}` } });
    await nth('pull_request', 'edited');
    expect(await texts()).toEqual([
      [id, `<!-- reeve:describe-it/main -->\nHello @\u200b${people.ada} has no description.`],
    ]);

    await harness.ada.call(operations.editPull, { params, body: { body: 'Because.' } });
    await nth('pull_request', 'edited', 2);
    expect(await texts()).toEqual([]);

    const from = harness.proxy.passed.length;
    await harness.ada.call(operations.editPull, { params, body: { body: 'Because of that.' } });
    await nth('pull_request', 'edited', 3);
    expect(writesOf(harness, from)).toEqual([]);
  });
});

describe('comment from a wiki page', () => {
  it('has the text of the page, and follows its changes', async () => {
    harness = await startHarness({
      rules: `version: 1
rules:
  checklist:
    on: { pull_request: [opened, edited] }
    steps: [{ uses: comment, with: { wiki: Checklist } }]
`,
    });
    const write = (text: string, isNew: boolean) => {
      const body = { title: 'Checklist', content_base64: Buffer.from(text).toString('base64') };
      return isNew
        ? harness.root.call(operations.createWikiPage, { params: at, body })
        : harness.root.call(operations.editWikiPage, { params: { ...at, pageName: 'Checklist' }, body });
    };
    await write('- [ ] tests', true);
    const pull = await harness.openPull('work', { 'a.md': 'a' });
    const params = { ...at, index: pull.number };
    const texts = async () =>
      (await harness.ada.call(operations.listComments, { params })).map(({ body }) => body);
    await nth('pull_request', 'opened');
    expect(await texts()).toEqual(['<!-- reeve:checklist/main -->\n- [ ] tests']);

    await write('- [ ] tests\n- [ ] notes', false);
    await harness.ada.call(operations.editPull, { params, body: { title: 'Other' } });
    await nth('pull_request', 'edited');
    expect(await texts()).toEqual(['<!-- reeve:checklist/main -->\n- [ ] tests\n- [ ] notes']);
  });
});

describe('set-status', () => {
  it('sets its own context on the newest commit, once per state', async () => {
    const rules = `version: 1
rules:
  described:
    on: { pull_request: [opened, edited] }
    steps:
      - uses: set-status
        with: { context: reeve-repo/described, when: 'pull_request.body != ""', description: Says what it is for. }
`;
    harness = await startHarness({ rules, scopes: repositoryScopes });
    const pull = await harness.openPull('work', { 'a.md': 'a' });
    const params = { ...at, sha: pull.head?.sha ?? '' };
    const statuses = async () =>
      (await harness.ada.call(operations.listStatuses, { params }))
        .toSorted((a, b) => a.id - b.id)
        .map(({ context, status }) => [context, status]);
    expect(outcomes(await nth('pull_request', 'opened'))).toEqual(['applied']);
    expect(await statuses()).toEqual([['reeve-repo/described', 'failure']]);

    const edit = (body: string) =>
      harness.ada.call(operations.editPull, { params: { ...at, index: pull.number }, body: { body } });
    await edit('Because.');
    await nth('pull_request', 'edited');
    await edit('Because of that.');
    const again = await nth('pull_request', 'edited', 2);

    expect(again.changes).toEqual([]);
    expect(await statuses()).toEqual([
      ['reeve-repo/described', 'failure'],
      ['reeve-repo/described', 'success'],
    ]);
  });
});

describe('report-issue', () => {
  const rules = `version: 1
rules:
  watch-title:
    on: { issues: [opened, edited] }
    steps:
      - uses: report-issue
        with:
          when: issue.title.startsWith("BROKEN")
          repository: ${acme}/ops
          key: "\${{ repository.name }}-\${{ issue.number }}"
          title: "\${{ issue.title }}"
`;

  it('opens one issue in another repository, closes and reopens it, and never overrules a person', async () => {
    harness = await startOperatorHarness(rules);
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: acme },
      body: { name: 'ops', auto_init: true },
    });
    const ops = { owner: acme, repo: 'ops' };
    const reports = async () =>
      (
        await harness.root.call(operations.listIssues, {
          params: ops,
          query: { state: 'all', type: 'issues' },
        })
      ).map(({ number, state, title }) => [number, state, title]);
    let edits = 0;
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'BROKEN pump' },
    });
    const rename = async (title: string) => {
      await harness.ada.call(operations.editIssue, { params: { ...at, index }, body: { title } });
      edits += 1;
      return nth('issues', 'edited', edits);
    };
    await nth('issues', 'opened');
    expect(await reports()).toEqual([[1, 'open', 'BROKEN pump']]);

    await rename('BROKEN pump again');
    expect(await reports()).toEqual([[1, 'open', 'BROKEN pump again']]);
    await rename('pump');
    expect(await reports()).toEqual([[1, 'closed', 'BROKEN pump again']]);
    await rename('BROKEN');
    expect(await reports()).toEqual([[1, 'open', 'BROKEN']]);

    await harness.root.call(operations.editIssue, {
      params: { ...ops, index: 1 },
      body: { state: 'closed' },
    });
    const overruled = await rename('BROKEN still');
    expect([await reports(), overruled.changes]).toEqual([[[1, 'closed', 'BROKEN']], []]);
    await rename('fine');
    await rename('BROKEN anew');
    expect(await reports()).toEqual([[1, 'open', 'BROKEN anew']]);
  });
});

describe('dismiss-stale-reviews', () => {
  const rules = `version: 1
rules:
  fresh-approvals:
    on: { pull_request: [synchronized] }
    steps:
      - uses: dismiss-stale-reviews
        with: { message: "Pushed since: \${{ pull_request.head.ref }}", ignore-paths: ["docs/**"] }
`;

  it('dismisses an approval after a push, keeps it if only documentation changed, and then plans nothing more', async () => {
    harness = await startOperatorHarness(rules);
    const pull = await harness.openPull('work', { 'src/a.ts': 'a' });
    const params = { ...at, index: pull.number };
    const reviews = async () =>
      (await harness.root.call(operations.listReviews, { params })).map(({ state, dismissed }) => [
        state,
        dismissed,
      ]);
    await harness.root.call(operations.createReview, { params, body: { event: 'APPROVED' } });

    // A server may announce one push several times, so all resulting runs count.
    const push = async (file: string): Promise<readonly Run[]> => {
      const seen = harness.runs.length;
      await addFile(harness.ada, at, 'work', file);
      await harness.waitForRun(
        (run) => harness.runs.indexOf(run) >= seen && run.trigger.activity === 'synchronized',
      );
      await harness.idle();
      return harness.runs.slice(seen);
    };
    await push('docs/a.md');
    expect(await reviews()).toEqual([['APPROVED', false]]);

    const runs = await push('src/b.ts');
    const run = runs.find(({ changes }) => changes.length > 0);
    expect(runs.flatMap(outcomes)).toEqual(['applied']);
    expect(run?.changes[0]?.input).toMatchObject({ body: { message: 'Pushed since: work' } });
    expect(await reviews()).toEqual([['APPROVED', true]]);

    expect((await push('src/c.ts')).flatMap(({ changes }) => changes)).toEqual([]);
  });
});
