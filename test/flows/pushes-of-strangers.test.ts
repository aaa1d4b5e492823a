import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile, untilPushListed } from '../support/privilege-setup.ts';

let harness: Harness;
let eve: Client;
afterEach(() => harness.close());

const rules = (choice = '', more = '') => `version: 1
rules:
  merge:
    on: { pull_request: [opened, label_updated, synchronized, edited] }
    if: labels.exists(l, l.name == "kept") || pull_request.title.startsWith("Ready")
    steps:
      - { uses: merge, with: { method: merge${choice} } }
${more}`;

const fork = { owner: people.eve, repo: at.repo } as const;

/** Starts a harness with a fork of eve, who has read access only. */
async function start(yaml = rules()): Promise<void> {
  harness = await startOperatorHarness(yaml);
  eve = await harness.forge.makePerson(people.eve);
  await eve.call(operations.createFork, { params: at, body: {} });
  await addFile(eve, fork, 'work', 'a.txt');
}

async function openPull(by: Client, title = 'Work', base = 'main'): Promise<number> {
  const { number } = await by.call(operations.createPull, {
    params: at,
    body: { title, head: `${people.eve}:work`, base },
  });
  await harness.idle();
  return number;
}

async function setLabel(by: Client, index: number): Promise<void> {
  const labels = await harness.root.call(operations.listLabels, { params: at });
  const id = labels.find(({ name }) => name === 'kept')?.id ?? 0;
  await by.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels: [id] } });
}

async function approve(by: Client, index: number): Promise<void> {
  await by.call(operations.createReview, {
    params: { ...at, index },
    body: { event: 'APPROVED', body: 'Good.' },
  });
}

/** Pushes to the head, and waits until the pull request shows it. */
async function pushByEve(path: string, index: number): Promise<void> {
  await addFile(eve, fork, 'work', path);
  await untilPushListed(harness.root, { ...at, index, branch: 'work' }, fork);
}

/** Edits the pull request, which runs its rules again. */
async function touch(index: number, text = 'looked at'): Promise<void> {
  // Gitea computes after a push whether a pull request can be merged.
  const live = () => harness.root.call(operations.getPull, { params: { ...at, index } });
  await expect.poll(async () => (await live()).mergeable, { timeout: timeoutMs }).toBe(true);
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { body: text } });
  await harness.idle();
}

const isMerged = async (index: number): Promise<boolean> =>
  (await harness.root.call(operations.getPull, { params: { ...at, index } })).merged === true;
const lastRefusal = () => harness.runs.flatMap(({ refused }) => refused.map(({ why }) => why)).at(-1);

describe('a push by an account without write access', () => {
  it('invalidates a label until someone with write access approves the new head', async () => {
    await start();
    const number = await openPull(eve);
    await touch(number);
    await addFile(eve, fork, 'work', 'seen.txt');
    await harness.idle();
    // The pull request is a draft, so that the label alone does not merge it.
    await harness.root.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'WIP: Work' },
    });
    await setLabel(harness.ada, number);
    await harness.idle();
    expect(await isMerged(number)).toBe(false);
    await addFile(eve, fork, 'work', 'late.txt');
    await harness.idle();
    await harness.root.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'Work' },
    });
    await touch(number);
    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain(`${people.eve} pushed without write access`);

    await approve(harness.ada, number);
    await touch(number, 'approved');
    expect(await isMerged(number)).toBe(true);
  });

  it('before a label by someone with write access does not matter, even in the same second', async () => {
    await start();
    const number = await openPull(eve);
    await pushByEve('seen.txt', number);
    await setLabel(harness.ada, number);
    await harness.idle();

    await touch(number);
    expect(await isMerged(number)).toBe(true);
  });

  it('after the label counts, even in the same second', async () => {
    await start(rules('', '').replace('label_updated, synchronized, ', ''));
    const number = await openPull(eve);
    await setLabel(harness.ada, number);
    await addFile(eve, fork, 'work', 'late.txt');
    await harness.idle();

    await touch(number);
    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain('pushed without write access');
  });

  it('is not hidden by our own update of the head', async () => {
    await start(rules('', '').replace('label_updated, synchronized, ', ''));
    const number = await openPull(eve);
    await setLabel(harness.ada, number);
    await pushByEve('late.txt', number);
    await addFile(harness.root, at, 'main', 'base.txt');
    await harness.idle();
    await harness.bot.call(operations.updatePull, {
      params: { ...at, index: number },
      query: { style: 'merge' },
    });
    await untilPushListed(harness.root, { ...at, index: number, branch: 'work' }, fork);
    await harness.idle();

    await touch(number);
    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain(`${people.eve} pushed without write access`);
    await setLabel(harness.ada, number);
    await harness.idle();
  });

  it('is not confirmed by a label that a rule set', async () => {
    await start(
      rules(
        '',
        `  labels:
    on: { pull_request: [opened] }
    steps:
      - { uses: set-labels, with: { add: [kept] } }
`,
      ),
    );
    const number = await openPull(eve);
    await touch(number);

    expect(await harness.labelsOf(number)).toEqual(['kept']);
    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain('pushed without write access');
  });

  it('before the opening is attributed to the account that opened the pull request', async () => {
    await start();
    const number = await openPull(eve, 'Ready');
    expect(await isMerged(number)).toBe(false);
    await harness.root.call(operations.editPull, {
      params: { ...at, index: number },
      body: { state: 'closed' },
    });
    await harness.idle();

    const again = await openPull(harness.ada, 'Ready too');
    expect(await isMerged(again)).toBe(true);
  });

  it('is assumed before a change of the base, after which the forge no longer shows who pushed', async () => {
    await start();
    await harness.root.call(operations.createBranch, { params: at, body: { new_branch_name: 'next' } });
    const number = await openPull(eve, 'WIP: Work', 'next');
    await setLabel(harness.ada, number);
    await harness.idle();
    await eve.call(operations.editPull, {
      params: { ...at, index: number },
      body: { base: 'main', title: 'Work' },
    });
    await harness.idle();

    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toMatch(/its base was changed|pushed without write access/);
  });

  it('is assumed for the time in which the pull request was closed, because the forge does not record pushes then', async () => {
    await start(rules('', '').replace('label_updated, synchronized, ', ''));
    const number = await openPull(eve);
    await setLabel(harness.ada, number);
    for (const state of ['closed', 'open']) {
      await eve.call(operations.editPull, { params: { ...at, index: number }, body: { state } });
      await harness.idle();
    }
    await touch(number);
    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain(`it was reopened by ${people.eve}`);

    await approve(harness.ada, number);
    await touch(number, 'approved');
    expect(await isMerged(number)).toBe(true);
  });

  it('is not confirmed by an approval of the same head for another base', async () => {
    await start();
    await harness.root.call(operations.createBranch, { params: at, body: { new_branch_name: 'next' } });
    const number = await openPull(eve, 'WIP: Work', 'next');
    await setLabel(harness.ada, number);
    await approve(harness.ada, number);
    await harness.idle();
    await eve.call(operations.editPull, {
      params: { ...at, index: number },
      body: { base: 'main', title: 'Work' },
    });
    await harness.idle();

    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toMatch(/its base was changed|pushed without write access/);
    await approve(harness.ada, number);
    await touch(number, 'approved');
    expect(await isMerged(number)).toBe(true);
  });

  it.each<[string, (index: number, review: number) => Promise<unknown>]>([
    [
      'whose author may no longer write',
      () =>
        harness.root.call(operations.putCollaborator, {
          params: { ...at, collaborator: people.ada },
          body: { permission: 'read' },
        }),
    ],
    [
      'whose author has since requested changes',
      (index) =>
        harness.ada.call(operations.createReview, {
          params: { ...at, index },
          body: { event: 'REQUEST_CHANGES', body: 'Wait.' },
        }),
    ],
    [
      'whose author has since requested changes, even if that request was dismissed',
      async (index) => {
        const params = { ...at, index };
        const { id } = await harness.ada.call(operations.createReview, {
          params,
          body: { event: 'REQUEST_CHANGES', body: 'Wait.' },
        });
        await harness.root.call(operations.dismissReview, {
          params: { ...params, id },
          body: { message: 'No.' },
        });
      },
    ],
    [
      'that was dismissed',
      (index, id) =>
        harness.root.call(operations.dismissReview, {
          params: { ...at, index, id },
          body: { message: 'No.' },
        }),
    ],
  ])('is not confirmed by an approval %s', async (_, undo) => {
    await start(rules('', '').replace('label_updated, synchronized, ', ''));
    const number = await openPull(eve, 'WIP: Ready');
    const { id } = await harness.ada.call(operations.createReview, {
      params: { ...at, index: number },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    await undo(number, id);
    await harness.root.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'Ready' },
    });
    await harness.idle();

    expect(await isMerged(number)).toBe(false);
    expect(lastRefusal()).toContain('pushed without write access');
    await approve(harness.root, number);
    await harness.root.call(operations.editPull, {
      params: { ...at, index: number },
      body: { body: 'approved' },
    });
    await harness.idle();
    expect(await isMerged(number)).toBe(true);
  });

  it('does not matter if the rule allows pushes by anyone', async () => {
    await start(rules(', after-push: anyone'));
    const number = await openPull(eve, 'Ready');

    expect(await isMerged(number)).toBe(true);
  });
});

it('a pull request whose base changes at the moment of its merge is a failure with a comment', async () => {
  harness = await startOperatorHarness(rules());
  await harness.root.call(operations.createBranch, { params: at, body: { new_branch_name: 'next' } });
  const { number } = await harness.openPull('work', { 'a.txt': 'a' });
  await harness.idle();
  let isRetargeted = false;
  harness.proxy.decide = ({ method, path }) =>
    method === 'POST' && path.endsWith('/merge') && !isRetargeted
      ? {
          kind: 'pass',
          async before() {
            isRetargeted = true;
            const params = { ...at, index: number };
            await harness.ada.call(operations.editPull, { params, body: { base: 'next' } });
          },
        }
      : { kind: 'pass' };
  await harness.ada.call(operations.editPull, { params: { ...at, index: number }, body: { title: 'Ready' } });
  const run = await harness.waitForRun(({ changes }) => changes.some(({ action }) => action === 'merge'));
  await harness.idle();

  expect(run.outcomes).toMatchObject([
    { status: 'failed', error: expect.stringContaining('merged into `next`') },
  ]);
  const comments = await harness.root.call(operations.listComments, { params: { ...at, index: number } });
  expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining('instead of `main`')]);
  const incidents = await harness.server.store.listIncidents();
  expect(incidents.map(({ kind }) => kind)).toContain('merged-elsewhere');
});
