import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import { createMetrics, type MetricData, metricTable } from '../../../src/server/dashboard/metrics.ts';
import { isSignedIn } from '../../../src/server/dashboard/sign-in/sign-in.ts';
import type { StoreProcess } from '../../../src/store/store.ts';
import { at, type Harness, startHarness } from '../../support/harness.ts';

const basic = (user: string, password: string): string => `Basic ${btoa(`${user}:${password}`)}`;

describe('the password', () => {
  const password = 'correct horse battery';
  const given: readonly [string, string | undefined, boolean][] = [
    ['with any user', basic('prometheus', password), true],
    ['with none', basic('', password), true],
    ['with colons in it', basic('a:b', password), false],
    ['a wrong one', basic('reeve', 'correct horse'), false],
    ['an empty one', basic('reeve', ''), false],
    ['without a user before it', `Basic ${btoa(password)}`, false],
    ['nothing', undefined, false],
    ['another scheme', `Bearer ${password}`, false],
    ['what is no base64', 'Basic %%%', false],
    ['the password itself', password, false],
  ];

  it.each(given)('%s', (_title, authorization, expected) => {
    expect(isSignedIn(authorization, password)).toBe(expected);
  });
});

describe('the metrics of a running server', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      rules: `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [kept] } }] }
`,
    });
    await harness.ada.call(operations.createIssue, { params: at, body: { title: 'one' } });
    await harness.waitForRun(({ changes }) => changes.length > 0);
    await harness.idle();
  });
  afterAll(() => harness.close());

  const file = () => join(harness.data, 'dashboard.password');
  const scrape = (authorization?: string) =>
    fetch(`${harness.server.url}/metrics`, { headers: authorization ? { authorization } : {} });

  it('are refused without the password, and the response contains no metric', async () => {
    for (const authorization of [undefined, basic('reeve', 'wrong'), basic('root', 'password')]) {
      const answer = await scrape(authorization);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('Basic');
      expect(await answer.text()).not.toContain('reeve_');
    }
  });

  it('are served to a client with the password, which only the owner of the data folder can read', async () => {
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const answer = await scrape(basic('prometheus', readFileSync(file(), 'utf8').trim()));
    const text = await answer.text();

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    for (const name of Object.keys(metricTable)) expect(text).toContain(`# HELP ${name} `);
    expect(text).toMatch(/reeve_webhook_requests_total\{code="202",result="stored"\} [1-9]/);
    expect(text).toMatch(/reeve_webhook_seconds_count [1-9]/);
    expect(text).toMatch(/^reeve_changes_total\{action="set-labels",status="applied"\} 1$/m);
    expect(text).toMatch(/reeve_rule_verdicts_total\{verdict="matched"\} 1/);
    expect(text).toMatch(/reeve_forge_requests_total\{method="PUT",code="200"\} 1/);
    expect(text).toMatch(/reeve_deliveries\{state="settled"\} [1-9]/);
    expect(text).toMatch(/^reeve_queue_oldest_seconds 0$/m);
    expect(text).toMatch(/process_resident_memory_bytes [1-9]/);
  });

  it('name no repository, no person and no secret', async () => {
    const answer = await scrape(basic('prometheus', readFileSync(file(), 'utf8').trim()));
    const text = await answer.text();

    for (const word of [harness.token, `${at.owner}`, 'demo', 'ada']) expect(text).not.toContain(word);
  });

  it('are protected against guessing: after ten wrong passwords, even the right password is rejected without a comparison', async () => {
    const codes: number[] = [];
    for (let n = 0; n < 14; n += 1) codes.push((await scrape(basic('reeve', `guess ${n}`))).status);

    const right = await scrape(basic('reeve', readFileSync(file(), 'utf8').trim()));

    expect(codes.at(-1)).toBe(429);
    expect([right.status, await right.text()]).toEqual([429, '429: too many wrong passwords\n']);
    expect((await scrape()).status).toBe(401);
  });
});

const makeProcess = (role: StoreProcess['role']): StoreProcess => ({
  id: role,
  name: `host ${role}`,
  role,
  version: '1.0.0',
  startedAt: new Date('2030-01-01T00:00:00Z'),
  seenAt: new Date('2030-01-01T00:00:00Z'),
  isLeader: false,
  isSelf: false,
});

describe('metrics data read at each scrape', () => {
  const readings: MetricData = {
    store: {
      counts: async () => ({ accepted: 2, claimed: 0, retry: 1, deferred: 0, settled: 9, dead: 3 }),
      oldestWaiting: async () => new Date('2030-01-01T00:00:00Z'),
      listQueues: async () => [],
      isLeader: () => true,
      listProcesses: async () => [makeProcess('all'), makeProcess('worker'), makeProcess('worker')],
    },
    now: () => new Date('2030-01-01T00:01:30Z'),
    forge: () => ({ state: 'refused' }),
    runners: async () => [
      { level: 'organization acme', status: 'online' },
      { level: 'organization other', status: 'online' },
      { level: 'instance', status: 'offline' },
    ],
    incidents: async () =>
      (['operator', 'repository'] as const).map((level) => ({
        kind: 'rule-failed',
        level,
        key: `${level}.yml#guard`,
        reason: 'no such label',
        count: 7,
        firstAt: new Date('2029-12-31T00:00:00Z'),
        lastAt: new Date('2030-01-01T00:00:00Z'),
      })),
    sweeps: async () => [
      { rule: 'tags.yml#guard', endedAt: new Date('2030-01-01T00:00:00Z'), items: 7, failed: 1, drift: 3 },
      { rule: 'main.yml#guard', endedAt: new Date('2030-01-01T00:00:00Z'), items: 7, failed: 0, drift: 1 },
    ],
  };

  it('covers the queue, runners by level, drift, and the latest sweeps', async () => {
    const text = await createMetrics().text(readings);

    expect(text).toContain('reeve_deliveries{state="dead"} 3');
    expect(text).toContain('reeve_forge_state{state="refused"} 1');
    expect(text).toContain('reeve_forge_state{state="ok"} 0');
    expect(text).toContain('reeve_queue_oldest_seconds 90');
    expect(text).toContain('reeve_runners{level="organization",status="online"} 2');
    expect(text).toContain('reeve_runners{level="instance",status="offline"} 1');
    expect(text).toContain('reeve_drift 4');
    expect(text).toContain(
      `reeve_sweep_last_end_timestamp_seconds{rule="tags.yml#guard"} ${Date.UTC(2030, 0, 1) / 1_000}`,
    );
    expect(text).toContain('reeve_sweep_failed_items{rule="tags.yml#guard"} 1');
  });

  it('C2: covers each failing rule of the operator, and the number of incidents', async () => {
    const text = await createMetrics().text(readings);

    expect(text).toContain('reeve_incidents{kind="rule-failed"} 2');
    expect(text).toContain('reeve_incidents{kind="sweep-failed"} 0');
    expect(text).toContain('reeve_rule_failures{rule="operator.yml#guard"} 7');
    expect(text).toContain(
      `reeve_rule_last_failure_timestamp_seconds{rule="operator.yml#guard"} ${Date.UTC(2030, 0, 1) / 1_000}`,
    );
    expect(text).not.toContain('repository.yml#guard');
  });

  it('is complete for two concurrent scrapes', async () => {
    const metrics = createMetrics();

    for (const text of await Promise.all([metrics.text(readings), metrics.text(readings)])) {
      expect(text).toContain('reeve_runners{level="organization",status="online"} 2');
    }
  });

  it('omits runners that no longer exist', async () => {
    let there = await readings.runners();
    const metrics = createMetrics();
    const read = () => metrics.text({ ...readings, runners: async () => there });
    await read();
    there = [];

    expect(await read()).not.toContain('reeve_runners{');
  });

  /** Returns values by name and labels. */
  const samplesOf = (text: string): ReadonlyMap<string, number> =>
    new Map([...text.matchAll(/^(reeve_\S+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]));

  it('is exported only by the leader if it describes the whole installation, so that a sum over processes is correct', async () => {
    const events = [{ kind: 'merged', at: new Date(), enteredAt: undefined }] as const;
    const [leader, other] = [createMetrics(), createMetrics()];
    for (const metrics of [leader, other]) metrics.countQueueEvent({ ...events[0] });
    leader.countTakeover(3);
    const follower = { ...readings, store: { ...readings.store, isLeader: () => false } };

    const [led, followed] = [samplesOf(await leader.text(readings)), samplesOf(await other.text(follower))];

    expect(led.get('reeve_processes{role="worker"}')).toBe(2);
    expect(led.get('reeve_processes{role="web"}')).toBe(0);
    for (const [name, row] of Object.entries(metricTable)) {
      const of = (samples: ReadonlyMap<string, number>) =>
        [...samples.keys()].filter((key) => key.split('{', 1)[0] === name);
      if (!('ofInstallation' in row)) continue;
      expect(of(led), name).not.toEqual([]);
      expect(of(followed), name).toEqual([]);
    }
    const gauges = Object.entries(metricTable).filter(([, { type }]) => type === 'gauge');
    expect(gauges.flatMap(([name, row]) => ('ofInstallation' in row ? [] : [name]))).toEqual([
      'reeve_build_info',
      'reeve_leader',
      'reeve_forge_state',
    ]);
    expect([led.get('reeve_leader'), followed.get('reeve_leader')]).toEqual([1, 0]);
    expect([led.get('reeve_takeovers_total'), followed.get('reeve_takeovers_total')]).toEqual([3, 0]);
    // Each process counts its own work and reports its own view of the forge.
    expect(followed.get('reeve_merge_queue_merged_total')).toBe(1);
    expect(followed.get('reeve_forge_state{state="refused"}')).toBe(1);
  });

  it('is omitted by a process that is no longer the leader, and returns when the process leads again', async () => {
    let isLeader = true;
    const metrics = createMetrics();
    const read = async () =>
      samplesOf(await metrics.text({ ...readings, store: { ...readings.store, isLeader: () => isLeader } }));
    const first = await read();
    isLeader = false;
    const second = await read();
    isLeader = true;

    expect(second.has('reeve_drift')).toBe(false);
    expect(second.has('reeve_deliveries{state="dead"}')).toBe(false);
    expect(await read()).toEqual(first);
  });
});

it('a probe by setup or doctor does not count as a refused delivery', () => {
  const metrics = createMetrics();
  metrics.countDelivery(400, 'probe');
  metrics.countDelivery(400, 'malformed');
  metrics.countDelivery(202, 'stored');

  expect([...metrics.refusals()]).toEqual([[400, 1]]);
});
