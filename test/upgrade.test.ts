import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../src/client/client.ts';
import { operations } from '../src/contract/operations.ts';
import { createForgeInstance, type ForgeInstance } from '../src/forge/forge.ts';
import { systemClock } from '../src/platform/clock.ts';
import { silentLog } from '../src/platform/log.ts';
import { packageRoot } from '../src/platform/package.ts';
import { startServer } from '../src/server/server.ts';
import { openStoreAt } from '../src/store/open-store.ts';
import { type DeliveryState, deliveryStates } from '../src/store/store.ts';
import { SweepStore } from '../src/work/sweeps/progress.ts';
import { authorization, secret } from './support/bot-hook.ts';
import { reeve, reeveProcess } from './support/command.ts';
import { type PostgresServer, startPostgres } from './support/postgres-server.ts';

/** Contents of a recorded installation, as described in test/fixtures/upgrade/README.md. */
type Recorded = {
  readonly madeAt: string;
  readonly issues: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, string>>;
  readonly sweepJob: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly memory: readonly string[];
  readonly deliveries: readonly {
    readonly id: number;
    readonly door: string;
    readonly event_type: string;
    readonly state: DeliveryState;
    readonly routed: number;
    readonly copy: number;
    readonly checkpoint: number;
  }[];
};

const fixtures = join(packageRoot, 'test/fixtures/upgrade');
/**
 * Folder of the rules. Rules are identified by their path, which was relative to the checkout at the time of the
 * recording.
 */
const rules = 'test/fixtures/upgrade/rules';
const commits = readdirSync(fixtures)
  .filter((name) => name.endsWith('.tar.gz'))
  .map((name) => name.replace('.tar.gz', ''));
const demo = { owner: 'acme', repo: 'demo' };

/** Durable server, because commands and the server require one. */
let server: PostgresServer | undefined;
let schemas = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'reeve-upgrade-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

it('there is a recorded installation', () => {
  expect(commits).toContain('e8eb7d0');
});

/** Installations with both kinds of store. `reeve store copy` has moved the store to PostgreSQL where necessary. */
const installations = commits.flatMap((commit) => [
  { commit, store: 'SQLite' },
  { commit, store: 'PostgreSQL' },
]);

describe.each(installations)('an installation of commit $commit in $store', ({ commit, store: kind }) => {
  const recorded: Recorded = JSON.parse(readFileSync(join(fixtures, `${commit}.json`), 'utf8'));
  beforeEach(async () => {
    mkdirSync(data, { recursive: true });
    execFileSync('tar', ['--extract', '--gzip', '--file', join(fixtures, `${commit}.tar.gz`), '-C', data]);
    place = { data, databaseUrl: undefined };
    if (kind === 'SQLite') return;
    schemas += 1;
    const databaseUrl = `${server?.url}&schema=upgrade_${schemas}`;
    const args = ['store', 'copy', '--from', data, '--to', 'env:DATABASE_URL'];
    const { status, error } = await reeve(args, { environment: { DATABASE_URL: databaseUrl } });
    expect({ status, error }).toEqual({ status: 0, error: '' });
    rmSync(join(data, 'reeve.db'));
    place = { data, databaseUrl };
  });
  let place: { readonly data: string; readonly databaseUrl: string | undefined };
  /** Returns the settings of a command that uses the installation. */
  const environmentOf = ({ data, databaseUrl }: typeof place): Record<string, string> => ({
    REEVE_DATA: data,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });

  /** The clock starts an hour after the recording, so that retries are due and nothing is too old. */
  const startMs = performance.now();
  const clock = {
    ...systemClock,
    now: () => new Date(Date.parse(recorded.madeAt) + 3_600_000 + performance.now() - startMs),
  };

  async function startForge(): Promise<{ forge: ForgeInstance; url: string; root: Client }> {
    const forge = await createForgeInstance({ clock: clock.now, data: join(data, 'forge') });
    const url = await forge.listen({ port: 0 });
    const root = createClient({ url, credentials: { user: 'root', password: 'root-password' } });
    return { forge, url, root };
  }

  const labelsOf = async (root: Client, index: number): Promise<readonly string[]> =>
    (await root.call(operations.listIssueLabels, { params: { ...demo, index } })).map(({ name }) => name);
  const commentsOf = async (root: Client, index: number): Promise<number> =>
    (await root.call(operations.listComments, { params: { ...demo, index } })).length;

  it('has deliveries in every state, and runs with every verdict and outcome', () => {
    const states = new Set(recorded.deliveries.map(({ state }) => state));

    // When the installation was recorded, deferred runs did not exist.
    expect([...states].toSorted()).toEqual(deliveryStates.filter((state) => state !== 'deferred').toSorted());
    expect(recorded.deliveries.some(({ state, routed }) => state === 'accepted' && routed === 0)).toBe(true);
    expect(
      recorded.deliveries.some(({ state, checkpoint }) => state === 'accepted' && checkpoint === 1),
    ).toBe(true);
    expect(recorded.deliveries.some(({ copy }) => copy === 1)).toBe(true);
    expect(Object.keys(recorded.outcomes).toSorted()).toEqual(
      ['applied', 'failed', 'planned', 'refused', 'skipped'].toSorted(),
    );
    expect(Object.keys(recorded.verdicts).toSorted()).toEqual(['failed', 'matched', 'skipped', 'unmatched']);
  });

  it('opens with all of its deliveries, runs and memory', async () => {
    const store = await openStoreAt(place, { role: 'all', clock });
    try {
      const { items } = await store.listDeliveries({ limit: 500 });
      const found = items.map(({ id, door, eventType, state, copyOf, checkpoint }) => [
        ...[Number(id), door, eventType, state],
        ...[copyOf !== undefined, checkpoint !== undefined && checkpoint !== null],
      ]);
      const expected = recorded.deliveries.map(({ id, door, event_type, state, copy, checkpoint }) => [
        // The process that had claimed the delivery is gone.
        ...[id, door, event_type, state === 'claimed' ? 'accepted' : state],
        ...[copy === 1, checkpoint === 1],
      ]);
      expect(found.toReversed()).toEqual(expected);
      for (const { id } of items) expect((await store.readDelivery(id))?.body.length).toBeGreaterThan(0);

      const { items: runs } = await store.listRuns({ limit: 500 });
      const verdicts: Record<string, number> = {};
      for (const { verdict } of runs.flatMap((run) => run.rules))
        verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      expect(verdicts).toEqual(recorded.verdicts);
      for (const key of recorded.memory) expect(await store.recall(key), key).toBeDefined();
      // Before pauses existed, nothing was paused and no audit log was kept.
      expect([await store.listPauses(), await store.listAudit()]).toEqual([[], []]);
      expect(await store.pause({ kind: 'all' }, 'ada')).toBe(true);
      expect(await store.listAudit()).toMatchObject([{ action: 'pause', object: 'all writes', by: 'ada' }]);
      expect(await store.resume({ kind: 'all' }, 'ada')).toBe(true);
      // When the installation was recorded, merge queues did not exist. They can be used from now on.
      expect([await store.listQueues(), await store.listQueueHistory()]).toEqual([[], []]);
      const queue = { repositoryId: 1, base: 'main', repository: 'acme/demo' };
      const lease = await store.claimQueue(queue, 60_000);
      const entered = { at: clock.now(), kind: 'entered', number: 3, text: 'entered' } as const;
      const begun = { ...queue, state: { n: 1 }, revision: 0, lease, events: [entered] };
      expect(await store.saveQueue(begun)).toBe(true);
      expect(await store.listQueues()).toMatchObject([{ ...queue, revision: 1, state: { n: 1 } }]);
      expect(await store.listQueueHistory()).toMatchObject([{ ...queue, ...entered }]);
      // Failures are counted from now on; failures in earlier versions are not counted.
      expect(await store.listIncidents()).toEqual([]);
      const incident = {
        kind: 'sweep-failed',
        key: 'rules.yml#a',
        reason: 'refused',
        level: 'operator',
      } as const;
      await store.raise([{ ...incident, at: clock.now() }]);
      expect(await store.listIncidents()).toMatchObject([{ ...incident, count: 1 }]);
    } finally {
      await store.close();
    }
  });

  it('defers a waiting delivery, and hands it out again', async () => {
    let now = clock.now();
    const store = await openStoreAt(place, { role: 'all', clock: { ...systemClock, now: () => now } });
    try {
      const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
      if (claim === undefined) throw new Error('nothing waits');
      const before = await store.counts();

      await store.defer(claim, [], { afterMs: 3_600_000, why: 'over a budget', key: 'rule' });

      expect(await store.counts()).toEqual({ ...before, claimed: before.claimed - 1, deferred: 1 });
      expect((await store.listDeliveries({ state: 'deferred' })).items.map(({ id }) => id)).toEqual([
        claim.id,
      ]);
      now = new Date(now.getTime() + 3_600_000);
      const ids: string[] = [];
      for (;;) {
        const claims = await store.claim({ limit: 50, leaseMs: 60_000 });
        if (claims.length === 0) break;
        for (const one of claims) {
          ids.push(one.id);
          await store.settle(one, []);
        }
      }
      expect(ids).toContain(claim.id);
      expect((await store.counts()).deferred).toBe(0);
    } finally {
      await store.close();
    }
  });

  it('explains its runs and deliveries', async () => {
    const environment = environmentOf(place);
    const { redriven = '', ...runs } = recorded.runs;
    for (const [name, id] of Object.entries(runs)) {
      const { status, out, error } = await reeve(['explain', id], { environment });
      expect({ status, error }, name).toEqual({ status: 0, error: '' });
      expect(out).toContain(id);
      expect(out).toContain('mark');
    }
    const twice = await reeve(['explain', redriven, '--json'], { environment });
    expect(twice.status).toBe(0);
    // One run before the redrive, and one after it.
    expect(twice.out.trim().split('\n')).toHaveLength(2);
  });

  it('reverts a run on the forge where it was applied', async () => {
    const { forge, url, root } = await startForge();
    try {
      const { labelled = 0 } = recorded.issues;
      const { reverted = '' } = recorded.runs;
      const environment = {
        ...environmentOf(place),
        WEBHOOK_SECRET: secret,
        FORGE_URL: url,
        FORGE_USER: 'reeve',
        FORGE_PASSWORD: 'reeve-password',
      };
      expect(await labelsOf(root, labelled)).toEqual(['area/code', 'area/docs']);

      const planned = await reeve(['revert', '--plan', reverted], { environment });
      expect(planned).toMatchObject({ status: 0, error: '' });
      expect(await labelsOf(root, labelled)).toEqual(['area/code', 'area/docs']);
      const done = await reeveProcess(['revert', reverted], { environment });

      expect(done).toMatchObject({ status: 0, error: '' });
      expect(await labelsOf(root, labelled)).toEqual([]);
      expect(await commentsOf(root, labelled)).toBe(0);
    } finally {
      await forge.close();
    }
  });

  it('drains: waiting deliveries are handled once, and an interrupted sweep continues', async () => {
    const { forge, url, root } = await startForge();
    const server = await startServer({
      forge: { url, credentials: { user: 'reeve', password: 'reeve-password' } },
      secrets: [{ name: 'recorded', scope: ['*'], authorization: [authorization], hmac: [secret] }],
      ...place,
      rules,
      repositories: [],
      allowAdmin: false,
      host: '127.0.0.1',
      port: 0,
      log: silentLog,
      clock,
    });
    try {
      const waiting = recorded.deliveries.filter(({ state }) => state !== 'settled' && state !== 'dead');
      const stateOf = async ({ id }: { id: number }) =>
        (await server.store.describeDelivery(String(id)))?.state;
      await expect
        .poll(async () => [...new Set(await Promise.all(waiting.map(stateOf)))])
        .toEqual(['settled']);
      await expect
        .poll(() => server.store.counts())
        .toMatchObject({ accepted: 0, claimed: 0, retry: 0, dead: 1 });

      for (const name of ['labelled', 'retried', 'waiting', 'waitingToo', 'unrouted']) {
        const index = recorded.issues[name] ?? 0;
        expect([name, await labelsOf(root, index)]).toEqual([name, ['area/code', 'area/docs']]);
        expect([name, await commentsOf(root, index)]).toEqual([name, 1]);
      }
      for (const repo of ['demo', 'ops', 'site']) {
        const labels = await root.call(operations.listLabels, { params: { ...demo, repo } });
        expect(labels.map(({ name }) => name)).toEqual(
          expect.arrayContaining(['kind/bug', 'kind/feature', 'kind/question']),
        );
      }
      const result = await new SweepStore(server.store).readResult(`${rules}/operator.yml#labels`);
      expect(result).toMatchObject({ slot: 'recorded', isComplete: true, failed: 0, items: 3 });
    } finally {
      await server.stop();
      await forge.close();
    }
  });
});
