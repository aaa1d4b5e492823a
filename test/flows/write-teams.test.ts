import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { timeoutMs, uniqueName } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile, untilPushListed } from '../support/privilege-setup.ts';

const rules = `version: 1
rules:
  approved:
    on: pull_request_review
    steps:
      - uses: set-status
        with: { context: reeve/approved, state: success, when: approvals.size() > 0, otherwise: { state: pending } }
  quiet:
    on: pull_request_review
    steps:
      - uses: set-status
        with: { context: reeve/quiet, state: success, when: rejections.size() == 0, otherwise: { state: pending } }
  take:
    on: pull_request_comment.created
    permission: write
    if: command("take").found
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
  merge:
    on: { pull_request: [edited] }
    if: labels.exists(l, l.name == "kept")
    steps: [{ uses: merge, with: { method: merge } }]
`;

let harness: Harness;
/** A member of a team that may write the code, and one of a team that reads it and may write issues. */
let coder: Client;
let triager: Client;
let coders: number;
const names = { coder: uniqueName('coder'), triager: uniqueName('triager') };

async function makeTeam(name: string, units: Readonly<Record<string, string>>, members: readonly string[]) {
  const { root } = harness;
  const units_map = Object.fromEntries(Object.entries(units).map(([unit, held]) => [`repo.${unit}`, held]));
  const body = { name, permission: 'read', units_map };
  const { id } = await root.call(operations.createTeam, { params: { org: at.owner }, body });
  await root.call(operations.putTeamRepository, { params: { id, org: at.owner, repo: at.repo } });
  for (const username of members) await root.call(operations.putTeamMember, { params: { id, username } });
  return id;
}

beforeEach(async () => {
  harness = await startOperatorHarness(rules);
  coder = await harness.forge.makePerson(names.coder);
  triager = await harness.forge.makePerson(names.triager);
  const issues = { issues: 'write', pulls: 'write' };
  // With a unit that it only reads, Forgejo states less than write access, too.
  coders = await makeTeam('coders', { ...issues, code: 'write', wiki: 'read' }, [names.coder]);
  await makeTeam('triagers', { ...issues, code: 'read' }, [names.triager]);
});
afterEach(() => harness?.close());

const join = (username: string, id = coders) =>
  harness.root.call(operations.putTeamMember, { params: { id, username } });
const leave = (username: string, id = coders) =>
  harness.root.call(operations.deleteTeamMember, { params: { id, username } });

async function openPull(labels: readonly string[] = []): Promise<number> {
  const { number } = await harness.openPull('topic', { 'a.txt': 'a' }, labels);
  await harness.idle();
  return number;
}

/** Reviews as an account; returns the statuses that the rules write, and what they say about approvals that do not count. */
async function review(by: Client, index: number, event = 'APPROVED') {
  harness.runs.length = 0;
  await by.call(operations.createReview, {
    params: { ...at, index },
    body: { event, body: 'Looked at.' },
  });
  await harness.idle();
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, ref: head?.sha ?? '' };
  const { statuses } = await harness.root.call(operations.getCombinedStatus, { params });
  const stateOf = (name: string) => statuses?.find(({ context }) => context === name)?.status;
  const [approved, quiet] = ['reeve/approved', 'reeve/quiet'].map(stateOf);
  return { approved, quiet, told: JSON.stringify(harness.runs) };
}

async function take(by: Client, index: number) {
  harness.runs.length = 0;
  await by.call(operations.createComment, { params: { ...at, index }, body: { body: '/take' } });
  await harness.idle();
  return { labels: await harness.labelsOf(index), told: JSON.stringify(harness.runs) };
}

/** Pushes to the head as the member of the team. */
async function push(index: number): Promise<void> {
  await addFile(coder, at, 'topic', 'late.txt');
  await untilPushListed(harness.root, { ...at, index, branch: 'topic' }, at);
  await harness.idle();
}

/** Edits the pull request, which runs its rule. */
async function touch(index: number, text: string) {
  harness.runs.length = 0;
  const live = () => harness.root.call(operations.getPull, { params: { ...at, index } });
  await expect.poll(async () => (await live()).mergeable, { timeout: timeoutMs }).toBe(true);
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { body: text } });
  await harness.idle();
  const refused = harness.runs.flatMap((run) => run.refused.map(({ why }) => why));
  return { isMerged: (await live()).merged === true, refused: refused.join('\n') };
}

describe('a member of a team that may write the code', () => {
  it('approves, and a member of another team does not', { timeout: timeoutMs }, async () => {
    await join(people.bot);
    const index = await openPull();

    const refused = await review(triager, index);
    expect(refused.approved).toBe('pending');
    expect(refused.told).toContain(`${names.triager}: has no write access`);
    expect((await review(coder, index)).approved).toBe('success');
    await leave(names.coder);
    expect((await review(triager, index)).approved).toBe('pending');
  });

  it('gives commands, and a member of another team does not', { timeout: timeoutMs }, async () => {
    await join(people.bot);
    const index = await openPull();

    expect((await take(triager, index)).labels).toEqual([]);
    expect((await take(coder, index)).labels).toEqual(['area/code']);
  });

  it('gives no more commands after leaving the team', { timeout: timeoutMs }, async () => {
    await join(people.bot);
    const index = await openPull();
    await leave(names.coder);

    expect((await take(coder, index)).labels).toEqual([]);
  });

  it('may push after the request to merge, and not after leaving the team', {
    timeout: timeoutMs,
  }, async () => {
    await join(people.bot);
    const index = await openPull(['kept']);
    await push(index);
    await leave(names.coder);

    const late = await touch(index, 'left');
    expect(late.isMerged).toBe(false);
    expect(late.refused).toContain(`${names.coder} pushed without write access`);
    await join(names.coder);
    expect((await touch(index, 'back')).isMerged).toBe(true);
  });

  it('is not known to an account that does not see the team, which says what to do', {
    timeout: timeoutMs,
  }, async () => {
    const index = await openPull(['kept']);
    const remedy = `does not see the members of the team coders of ${at.owner}`;

    const approved = await review(coder, index);
    expect(approved.approved).toBe('pending');
    expect(approved.told).toContain(`${names.coder}: Reeve’s account ${remedy}`);
    expect(approved.quiet).toBe('success');
    // What cannot be known delays a merge.
    expect((await review(coder, index, 'REQUEST_CHANGES')).quiet).toBe('pending');
    const commanded = await take(coder, index);
    expect(commanded.labels).toEqual(['kept']);
    expect(commanded.told).toContain(remedy);
    await push(index);
    const touched = await touch(index, 'unseen');
    expect(touched.isMerged).toBe(false);
    expect(touched.refused).toContain(remedy);
  });
});
