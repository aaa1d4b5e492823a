import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { type Causer, OwnWrites } from '../../src/engine/bounds/own-writes.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type FlowForge, startFlowForge } from '../support/flow-forge.ts';
import { people, realServer } from '../support/flow-names.ts';
import { skipWithout } from '../support/flow-requirements.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

/** Time in which a forge sends the events of a write. The embedded forge says when it has sent them. */
const quietMs = realServer ? 1_500 : 50;

let data: string;
let forge: FlowForge;
let receiver: HookReceiver;
let store: Store;
let ownWrites: OwnWrites;
/** Sends Reeve's writes, with the account of the person. */
let reeve: Client;
let person: Client;
let at: { owner: string; repo: string };

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-own-'));
  forge = await startFlowForge({ data });
  receiver = await startReceiver();
  await forge.makePerson(people.root, { isAdministrator: true });
  person = await forge.makePerson(people.bot);
  await forge.makePerson(people.ada);
  store = await openSqliteStore({ path: ':memory:', role: 'worker', clock: systemClock });
  ownWrites = await OwnWrites.open(store, systemClock);
  const { token } = await forge.makeToken(people.bot, ['all']);
  reeve = createClient({
    url: forge.url,
    credentials: { token },
    timeoutMs: 60_000,
    onWrite: (operation, input) => ownWrites.begin(operation, input),
  });
  await person.call(operations.createRepository, {
    body: { name: 'own', auto_init: true, default_branch: 'main' },
  });
  at = { owner: people.bot, repo: 'own' };
  const config = { url: receiver.url, content_type: 'json' };
  await person.call(operations.createHook, {
    params: at,
    body: {
      type: 'gitea',
      config,
      events: ['push', 'create', 'delete', 'issues', 'pull_request', 'status'],
      active: true,
    },
  });
  await person.call(operations.putCollaborator, {
    params: { ...at, collaborator: people.ada },
    body: { permission: 'write' },
  });
  for (const name of ['bug', 'ready'])
    await person.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
});
afterAll(async () => {
  await store.close();
  await receiver.close();
  await forge.close();
  await rm(data, { recursive: true, force: true });
});

/**
 * Calls a function and returns who caused each event that it led to, as `issue_label label_updated: reeve`. The events
 * count as received `afterMs` later. `isAct`: the function leads to at least one event.
 */
async function causers(
  act: () => Promise<unknown>,
  { afterMs = 0, isAct = true } = {},
): Promise<readonly string[]> {
  const before = receiver.received.length;
  await act();
  // A busy server sends the events of a push late.
  for (let waits = 0; isAct && receiver.received.length === before && waits < 300; waits += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  for (let seen = -1; seen < receiver.received.length; ) {
    seen = receiver.received.length;
    await forge.settle();
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
  const found: string[] = [];
  for (const { headers, body } of receiver.received.slice(before)) {
    const type = String(headers['x-gitea-event-type']);
    const event = parseEvent(type, movedBy(afterMs, JSON.parse(body)));
    // Runs of workflows belong to the forge's own account.
    if (event.sender?.login !== people.bot) continue;
    const receivedAt = new Date(Date.now() + afterMs);
    const id = String(headers['x-gitea-delivery']);
    const delivery = { id, receivedAt, firstId: id, firstAt: receivedAt };
    const causer: Causer = await ownWrites.find(event, delivery);
    found.push(`${type} ${event.activity}: ${causer}`.replace(' :', ':'));
  }
  return found;
}

/** Returns a payload whose times are later. */
// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
function movedBy(ms: number, payload: any): unknown {
  for (const item of [payload.comment, payload.issue, payload.pull_request])
    if (item?.updated_at) item.updated_at = new Date(Date.parse(item.updated_at) + ms).toISOString();
  return payload;
}

const issue = async (client: Client, title: string): Promise<number> =>
  (await client.call(operations.createIssue, { params: at, body: { title } })).number;

/** Creates a branch with a commit, and a pull request from it. */
async function pull(client: Client, branch: string): Promise<number> {
  await commit(client, `${branch}.txt`, branch);
  const body = { title: branch, head: branch, base: 'main' };
  return (await client.call(operations.createPull, { params: at, body })).number;
}

const commit = (client: Client, path: string, branch?: string, onto = 'main') =>
  client.call(operations.changeFiles, {
    params: at,
    body: {
      message: `add ${path}`,
      files: [{ operation: 'create', path, content: 'eA==' }],
      ...(branch === undefined ? {} : { branch: onto, new_branch: branch }),
    },
  });

/** Acts that lead to events, each with the way in which one account repeats it with other values. */
const acts: Readonly<Record<string, (client: Client, name: string) => Promise<unknown>>> = {
  'a new issue': (client, name) => issue(client, name),
  'labels of an issue': async (client, name) =>
    client.call(operations.replaceIssueLabels, {
      params: { ...at, index: numbers.issue },
      body: { labels: name === 'first' ? ['bug', 'ready'] : ['ready'] },
    }),
  'title, text and state of an issue': (client, name) =>
    client.call(operations.editIssue, {
      params: { ...at, index: numbers.issue },
      body: { title: `title ${name}`, body: `text ${name}`, state: name === 'first' ? 'closed' : 'open' },
    }),
  'assignees of an issue': (client, name) =>
    client.call(operations.editIssue, {
      params: { ...at, index: numbers.issue },
      body: { assignees: name === 'first' ? [people.ada, people.bot] : [] },
    }),
  'milestone of an issue': async (client, name) => {
    const { id } = await person.call(operations.createMilestone, { params: at, body: { title: name } });
    const params = { ...at, index: numbers.issue };
    return client.call(operations.editIssue, { params, body: { milestone: id } });
  },
  'a comment, edited and deleted': async (client, name) => {
    const params = { ...at, index: numbers.issue };
    const { id } = await client.call(operations.createComment, { params, body: { body: name } });
    await client.call(operations.editComment, { params: { ...at, id }, body: { body: `${name} again` } });
    await client.call(operations.deleteComment, { params: { ...at, id } });
  },
  'a branch, created and deleted': async (client, name) => {
    const branch = `branch-${name}`;
    await client.call(operations.createBranch, { params: at, body: { new_branch_name: branch } });
    await client.call(operations.deleteBranch, { params: { ...at, branch } });
  },
  'a commit on the default branch': (client, name) => commit(client, `${name}.txt`),
  'a pull request with a review request': async (client, name) => {
    numbers.pull = await pull(client, `pull-${name}`);
    const params = { ...at, index: numbers.pull };
    await client.call(operations.requestReviews, { params, body: { reviewers: [people.ada] } });
    await client.call(operations.cancelReviewRequests, { params, body: { reviewers: [people.ada] } });
  },
  'a commit on the branch of a pull request': (client, name) => {
    const body = {
      message: name,
      branch: 'topic',
      files: [{ operation: 'create', path: `topic-${name}.txt`, content: 'eA==' } as const],
    };
    return client.call(operations.changeFiles, { params: at, body });
  },
  'a status': async (client, name) => {
    const { commit: tip } = await person.call(operations.getBranch, { params: { ...at, branch: 'main' } });
    const body = { context: name, state: 'success' } as const;
    return client.call(operations.createStatus, { params: { ...at, sha: tip?.id ?? '' }, body });
  },
};

const numbers = { issue: 0, pull: 0 };
beforeAll(async () => {
  numbers.issue = await issue(person, 'an issue');
  await pull(person, 'topic');
  await causers(async () => {}, { isAct: false });
});

describe.each(Object.entries(acts))('the events of %s', (name, act) => {
  it('are explained by the writes of Reeve, and not if a person acts', async (context) => {
    const { version } = await person.capabilities();
    const isSent = name !== 'a status' || !version.includes('+gitea-');
    skipWithout('Forgejo sends no event for a status', isSent, context);
    const own = await causers(() => act(reeve, 'first'));
    // What the forge does because of a write is explained for ten seconds.
    const others = await causers(() => act(person, 'second'), { afterMs: 20_000 });

    expect(own).not.toEqual([]);
    expect(own.filter((line) => !line.endsWith(': reeve'))).toEqual([]);
    expect(others.filter((line) => line.endsWith(': person'))).not.toEqual([]);
    expect(others.filter((line) => line.endsWith(': unknown'))).toEqual([]);
  });
});

describe('a merge by Reeve', () => {
  it('explains the issues that the forge closes and the branch that it deletes', async () => {
    const closing = await issue(person, 'to close');
    const index = await pull(person, 'closing');
    const params = { ...at, index };
    await person.call(operations.editPull, { params, body: { body: `closes #${closing}` } });
    await causers(async () => {}, { isAct: false });
    const own = await causers(() => mergeWhenReady(reeve, index));

    expect(own).toContain('issues closed: reeve');
    expect(own).toContain('delete: reeve');
    // The push is explained by the record of consequences, which reads the merged commit.
    expect(own.filter((line) => line.endsWith(': person') && !line.startsWith('push'))).toEqual([]);
    expect((await person.call(operations.getIssue, { params: { ...at, index: closing } })).state).toBe(
      'closed',
    );
  });
});

/** Merges a pull request. A real server refuses until it has checked for conflicts. */
async function mergeWhenReady(client: Client, index: number): Promise<void> {
  const body = { do: 'merge', delete_branch_after_merge: true } as const;
  for (let tries = 0; ; tries += 1) {
    try {
      await client.call(operations.mergePull, { params: { ...at, index }, body });
      return;
    } catch (error) {
      if (tries > 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
