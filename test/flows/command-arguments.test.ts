import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness, type HarnessOptions, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';

const onComment = 'on: [issue_comment.created, pull_request_comment.created]';
const rules = `version: 1
rules:
  assign:
    ${onComment}
    if: command("assign").found || command("unassign").found
    steps:
      - uses: set-issue
        with:
          assignees: { add: '\${{ command("assign").users }}', remove: '\${{ command("unassign").users }}', from: sender }
  cc:
    on: pull_request_comment.created
    if: command("cc").found
    steps: [{ uses: request-reviewers, with: { users: '\${{ command("cc").users }}', from: sender } }]
  milestone:
    ${onComment}
    if: command("milestone").found
    steps: [{ uses: set-issue, with: { milestone: '\${{ command("milestone").milestone }}', only: ["v*"] } }]
  labels:
    ${onComment}
    if: command("kind").found || command("area").found
    steps:
      - { uses: set-labels, with: { add: '\${{ command("kind").args }}', prefix: kind/, only: ["kind/*"] } }
      - { uses: set-labels, with: { add: '\${{ command("area").args }}', prefix: area/, only: ["area/*"] } }
  retitle:
    ${onComment}
    permission: author
    if: command("retitle").text != ""
    steps: [{ uses: set-issue, with: { title: '\${{ command("retitle").text }}' } }]
  close:
    ${onComment}
    permission: author
    if: command("close").found
    steps:
      - uses: comment
        with: { key: closed, text: "Closed by \${{ comment.user.login }}: \${{ command('close').text }}" }
      - { uses: set-issue, with: { state: closed } }
`;

let harness: Harness;
afterEach(() => harness?.close());

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await startOperatorHarness(rules, { labels: ['area/code', 'kind/bug', 'kind/docs'], ...options });
  for (const title of ['v1', 'v2', 'secret'])
    await harness.root.call(operations.createMilestone, { params: at, body: { title } });
}
/** Opens an issue as an account that neither owns the repository nor collaborates. */
async function openAsStranger() {
  const eve = await harness.forge.makePerson(people.eve);
  const { number } = await eve.call(operations.createIssue, { params: at, body: { title: 'Broken' } });
  await harness.idle();
  return { eve, index: number };
}
async function say(who: Client, index: number, body: string): Promise<void> {
  harness.runs.length = 0;
  await who.call(operations.createComment, { params: { ...at, index }, body: { body } });
  await harness.idle();
}
async function stateOf(index: number) {
  const { title, state, assignees, milestone } = await harness.root.call(operations.getIssue, {
    params: { ...at, index },
  });
  const labels = await harness.labelsOf(index);
  return {
    title,
    state,
    assignees: (assignees ?? []).map(({ login }) => login),
    milestone: milestone?.title,
    labels: labels.toSorted(),
  };
}
const untouched = { title: 'Broken', state: 'open', assignees: [], milestone: undefined, labels: [] };
const everything = (who: string) =>
  `/assign @${who}\n/milestone v2\n/kind bug\n/area code\n/retitle Mine\n/close now`;
const verdicts = () =>
  harness.runs.flatMap((run) => run.rules).map(({ rule, verdict }) => `${rule.split('#')[1]}: ${verdict}`);
/** Returns the texts of Reeve, without their markers. */
async function answers(index: number): Promise<readonly string[]> {
  const all = await harness.root.call(operations.listComments, { params: { ...at, index } });
  return all
    .filter(({ user }) => user?.login === people.bot)
    .map(({ body }) => (body ?? '').split('\n').slice(1).join('\n'));
}

describe('commands with arguments', () => {
  it('of an account with write access assign, label, title and close; what they insert is inert', async () => {
    await start();
    const { index } = await openAsStranger();

    await say(harness.ada, index, `/assign @${people.ada}\n/milestone v2\n/kind bug\n/area code`);
    expect(await stateOf(index)).toEqual({
      title: 'Broken',
      state: 'open',
      assignees: [people.ada],
      milestone: 'v2',
      labels: ['area/code', 'kind/bug'],
    });

    await say(harness.ada, index, `/unassign\n/retitle Ask @${people.ada}, closes #${index}`);
    expect(await stateOf(index)).toMatchObject({
      title: `Ask @\u200b${people.ada}, closes\u200b #${index}`,
      assignees: [],
    });

    await say(harness.ada, index, `/close @${people.root} said so`);
    expect(await stateOf(index)).toMatchObject({ state: 'closed' });
    expect(await answers(index)).toEqual([`Closed by ${people.ada}: @\u200b${people.root} said so`]);
  });

  it('of an account without access change nothing, and are not answered', async () => {
    await start();
    const eve = await harness.forge.makePerson(people.eve);
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Broken' },
    });
    await harness.idle();
    const from = harness.proxy.passed.length;

    await say(eve, index, everything(people.eve));

    expect(await stateOf(index)).toEqual(untouched);
    expect(verdicts().toSorted()).toEqual(
      ['assign', 'close', 'labels', 'milestone', 'retitle'].map((rule) => `${rule}: unmatched`),
    );
    expect(harness.runs.flatMap((run) => run.rules).flatMap(({ findings }) => findings)).toContainEqual(
      expect.objectContaining({
        expression: 'permission: write (default)',
        result: 'not',
        values: { sender_permission: 'read' },
      }),
    );
    expect(writesOf(harness, from)).toEqual([]);
  });

  it('of the author obey the rules for authors alone', async () => {
    await start();
    const { eve, index } = await openAsStranger();

    await say(eve, index, everything(people.eve));

    expect(await stateOf(index)).toEqual({ ...untouched, title: 'Mine', state: 'closed' });
    expect(verdicts()).toEqual(expect.arrayContaining(['retitle: matched', 'close: matched']));
    expect(verdicts()).toEqual(expect.arrayContaining(['assign: unmatched', 'labels: unmatched']));
    expect(await answers(index)).toEqual([`Closed by ${people.eve}: now`]);
  });

  it('are answered if a name is not possible, without mentioning anyone', async () => {
    await start();
    const { index } = await openAsStranger();

    await say(
      harness.ada,
      index,
      `/assign @${people.eve} @${people.ada}\n/milestone secret\n/kind none bug\n/area none`,
    );

    expect(await stateOf(index)).toMatchObject({
      assignees: [people.ada],
      milestone: undefined,
      labels: ['kind/bug'],
    });
    expect((await answers(index)).toSorted()).toEqual([
      expect.stringContaining('- `secret`: commands may not name it here'),
      expect.stringContaining('- `area/none`: it does not exist'),
      expect.stringContaining('- `kind/none`: it does not exist'),
      expect.stringContaining(`- \`${people.eve}\`: issues of this repository cannot be assigned to it`),
    ]);
  });

  it('request reviews of pull requests, never of teams', async () => {
    await start();
    const { number: index } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    await harness.root.call(operations.createTeam, {
      params: { org: at.owner },
      body: { name: 'release', permission: 'write', units_map: { 'repo.code': 'write' } },
    });

    await say(harness.ada, index, `/cc @${people.root}, @${at.owner}/release`);

    const reviews = await harness.root.call(operations.listReviews, { params: { ...at, index } });
    expect(reviews.map(({ user, state }) => `${user?.login}: ${state}`)).toEqual([
      `${people.root}: REQUEST_REVIEW`,
    ]);
    expect(await answers(index)).toEqual([expect.stringContaining(`- \`${at.owner}/release\``)]);
  });

  it('change nothing while Reeve may not read permissions; the run says why', async () => {
    await start({ access: 'write' });
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Broken' },
    });
    await harness.idle();

    await say(harness.ada, index, `/assign @${people.ada}\n/kind bug`);

    expect(await stateOf(index)).toEqual(untouched);
    const failed = harness.runs.flatMap((run) => run.rules).filter(({ verdict }) => verdict === 'failed');
    expect(failed.map(({ rule }) => rule.split('#')[1]).toSorted()).toEqual(['assign', 'labels']);
    expect(failed[0]?.reason).toMatch(/^permission: write: .*administrator access/);
  });
});
