import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createLog } from '../../src/platform/log.ts';
import type { Delivery } from '../../src/store/store.ts';
import { makeDeliveries } from '../support/deliveries.ts';
import { recordFigure } from '../support/figure.ts';
import { uniqueName } from '../support/flow-names.ts';
import { at, authorization, type Harness, people, secret, startHarness } from '../support/harness.ts';
import { scrapeMetrics } from '../support/scrape-metrics.ts';

/** Repository of a person who knows a secret for this repository only. */
const own = { owner: people.eve, repo: 'own' } as const;
const evesSecret = 'a-secret-that-covers-the-own-repository';
const heirs = uniqueName('heirs');
const ship = `version: 1
rules:
  ship:
    on: issue_comment.created
    if: comment.body == "/ship"
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  opened:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
`;

let harness: Harness;
let eve: Client;
let folder: string;
let logged: string[];
let demoId: number;
let ownId: number;

const all = { name: 'all', scope: ['*'], authorization: [authorization], hmac: [secret] };
const ofEve = { name: 'eve', scope: [`${own.owner}/*`], authorization: [], hmac: [evesSecret] };

beforeEach(async () => {
  logged = [];
  folder = await mkdtemp(join(tmpdir(), 'reeve-forged-'));
  await writeFile(
    join(folder, 'operator.yml'),
    ship.replace('opened:', 'operator:').replace('area/docs', 'area/code'),
  );
  const log = createLog({ destination: { write: (line) => void logged.push(line) } });
  // These repositories are served as well, so that the only obstacle is the owner of the repository.
  const repositories = [`${own.owner}/*`, `${heirs}/*`];
  harness = await startHarness({
    rules: ship,
    server: { rules: folder, log, secrets: [all, ofEve], repositories },
  });
  eve = await harness.forge.makePerson(people.eve);
  await eve.call(operations.createRepository, { body: { name: own.repo, auto_init: true } });
  await eve.call(operations.createLabel, { params: own, body: { name: 'kept', color: '000000' } });
  demoId = (await harness.root.call(operations.getRepository, { params: at })).id;
  ownId = (await harness.root.call(operations.getRepository, { params: own })).id;
});
afterEach(async () => {
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

/** Sends a body that is signed with eve's secret, and returns the resulting delivery. */
async function send(eventType: string, payload: object): Promise<{ status: number; delivery?: Delivery }> {
  const body = JSON.stringify(payload);
  const answer = await fetch(`${harness.server.url}/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-delivery': randomUUID(),
      'x-gitea-event-type': eventType,
      'x-gitea-signature': createHmac('sha256', evesSecret).update(body).digest('hex'),
    },
  });
  if (answer.status !== 202) return { status: answer.status };
  const { id } = (await answer.json()) as { id: string };
  await harness.idle();
  const delivery = await harness.server.store.describeDelivery(id);
  return delivery ? { status: answer.status, delivery } : { status: answer.status };
}

/** Returns a repository with the victim's id under the name of eve's own. */
const forged = (name = `${own.owner}/${own.repo}`) => ({
  id: demoId,
  name: own.repo,
  full_name: name,
  default_branch: 'main',
  owner: { id: 3, login: own.owner },
});
const push = (repository: object, after = '1'.repeat(40)) => ({
  ref: 'refs/heads/main',
  before: '0'.repeat(40),
  after,
  repository,
  sender: { id: 7, login: people.ada },
});
const writes = (from: number) => harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET');

const metrics = () => scrapeMetrics({ url: harness.server.url, data: harness.data });

async function openIssue(title: string): Promise<number> {
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  await harness.idle();
  return number;
}

describe('a delivery with the id of another repository under a name in the scope of its secret', () => {
  it('changes nothing in that repository, becomes dead with the reason, and is counted and logged with its secret entry', async () => {
    const index = await openIssue('one');
    const comment = await harness.ada.call(operations.createComment, {
      params: { ...at, index },
      body: { body: '/ship' },
    });
    await harness.idle();
    // A person undoes what the genuine delivery did.
    await harness.ada.call(operations.replaceIssueLabels, { params: { ...at, index }, body: { labels: [] } });
    await harness.idle();
    const from = harness.proxy.passed.length;

    const { status, delivery } = await send('issue_comment', {
      action: 'created',
      issue: { id: 1, number: index, title: 'one', state: 'open', user: { id: 7, login: people.ada } },
      comment: { id: comment.id, body: '/ship', user: { id: 7, login: people.ada } },
      repository: forged(),
      sender: { id: 7, login: people.ada },
    });

    expect(status).toBe(202);
    expect(await harness.labelsOf(index)).toEqual([]);
    expect(writes(from)).toEqual([]);
    expect(delivery).toMatchObject({ state: 'dead', entry: 'eve' });
    expect(delivery?.reason).toBe(
      `the delivery names repository ${demoId} as ${own.owner}/${own.repo}, but ${own.owner}/${own.repo} is repository ${ownId}; verified by the secret entry "eve"`,
    );
    expect(logged.join('')).toContain('"entry":"eve"');
    expect(await metrics()).toContain('reeve_deliveries_refused_total{reason="identity"} 1');
    expect((await harness.server.store.listRuns({ delivery: delivery?.id ?? '' })).items).toEqual([]);
  });

  it('evicts nothing from the caches of that repository and stops none of its rules, whatever the kind of delivery', async (context) => {
    await openIssue('warm');
    await eve.call(operations.editRepository, { params: own, body: { archived: true } });

    const states: string[] = [];
    for (const { eventType, payload } of makeDeliveries()) {
      const inside = (member: unknown): object => ({ ...(member as object), repository: forged() });
      const repository = 'repository' in payload ? { repository: forged() } : {};
      const nested = {
        ...('package' in payload ? { package: inside(payload.package) } : {}),
        ...('run' in payload ? { run: inside(payload.run) } : {}),
        ...('forkee' in payload ? { forkee: forged() } : {}),
      };
      const { status, delivery } = await send(eventType, { ...payload, ...repository, ...nested });
      states.push(`${status} ${delivery?.state}`);
    }
    const pushed = await send('push', push(forged()));
    const from = harness.proxy.passed.length;
    const index = await openIssue('after');

    expect(new Set([...states, `${pushed.status} ${pushed.delivery?.state}`])).toEqual(new Set(['202 dead']));
    expect(await harness.labelsOf(index)).toEqual(['area/code', 'area/docs']);
    const asked = harness.proxy.passed.slice(from).map(({ path }) => path);
    expect(asked.filter((path) => /contents|branches/.test(path))).toEqual([]);
    recordFigure(
      context,
      `${states.length} kinds of deliveries under a forged identity: all dead, 0 effects`,
    );
  });

  it('does not advance the snapshot of that repository: catching up invents nothing and misses nothing', async () => {
    await openIssue('one');
    const live = await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } });
    await harness.restart();
    await harness.idle();
    const { delivery } = await send('push', { ...push(forged()), before: live.commit?.id ?? '' });
    await send('issues', {
      action: 'opened',
      number: 99,
      issue: { id: 1, number: 99, title: 'x', state: 'open', updated_at: new Date().toISOString() },
      repository: forged(),
      sender: { id: 7, login: people.ada },
    });

    await harness.restart();
    await harness.idle();

    expect(await harness.server.store.recall(`seen ${demoId}`)).toMatchObject({
      refs: { main: live.commit?.id },
      items: { 1: { state: 'open' } },
    });
    const { items } = await harness.server.store.listDeliveries({ search: 'caught-up', limit: 100 });
    const since = items.filter(
      ({ id, lane }) => Number(id) > Number(delivery?.id) && lane?.startsWith(`${demoId}`),
    );
    expect(delivery?.state).toBe('dead');
    expect(since).toEqual([]);
  });
});

describe('a delivery about the repository that its secret covers', () => {
  it('is handled, also after a rename within the scope', async () => {
    await eve.call(operations.putCollaborator, {
      params: { ...own, collaborator: people.bot },
      body: { permission: 'write' },
    });
    const genuine = { ...forged(), id: ownId };
    const open = async (title: string, repo: string) => {
      const params = { owner: own.owner, repo };
      const issue = await eve.call(operations.createIssue, { params, body: { title } });
      const payload = {
        action: 'opened',
        number: issue.number,
        issue,
        repository: genuine,
        sender: { id: 7, login: people.ada },
      };
      await send('issues', payload);
      const labels = await eve.call(operations.listIssueLabels, {
        params: { ...params, index: issue.number },
      });
      return labels.map(({ name }) => name);
    };
    await eve.call(operations.createLabel, { params: own, body: { name: 'area/code', color: '000000' } });

    expect(await open('one', own.repo)).toEqual(['area/code']);
    await eve.call(operations.editRepository, { params: own, body: { name: 'renamed' } });
    expect(await open('two', 'renamed')).toEqual(['area/code']);
  });

  it('is refused after the repository has moved out of the scope', async () => {
    await harness.root.call(operations.createOrganization, { body: { username: heirs } });
    await harness.root.call(operations.transferRepository, { params: own, body: { new_owner: heirs } });

    const { delivery } = await send('push', push({ ...forged(), id: ownId }));

    expect(delivery).toMatchObject({
      state: 'dead',
      reason: `repository ${ownId} is ${heirs}/${own.repo}: outside the scope of the secret entry "eve"`,
    });
  });

  it('is refused after its secret entry was removed from the settings', async () => {
    const body = Buffer.from(JSON.stringify(push({ ...forged(), id: ownId })));
    const { id } = await harness.server.store.accept({
      uuid: randomUUID(),
      eventType: 'push',
      entry: 'former',
      contentType: 'application/json',
      receivedAt: new Date(),
      body,
    });
    await expect
      .poll(async () => harness.server.store.describeDelivery(id))
      .toMatchObject({
        state: 'dead',
        reason: expect.stringContaining(
          'the secret entry "former", which verified this delivery, is no longer configured',
        ),
      });
  });
});
