import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { Run } from '../../../src/engine/record.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createMessageSender } from '../../../src/platform/http/message-sender.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { Store } from '../../../src/store/store.ts';
import { type AlarmOptions, alarmJobs, createHeartbeat } from '../../../src/work/alarms/alarms.ts';
import { noteLook, readHeard, readHeartbeat } from '../../../src/work/alarms/heartbeat.ts';
import { RuleEvaluations, readSight } from '../../../src/work/alarms/rule-sight.ts';
import type { Reeve } from '../../../src/work/reeve.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';
import { makeReeve } from '../../support/make-reeve.ts';
import { storeKinds } from '../../support/store-kinds.ts';
import { acme, people, rulesOf, type SweepHarness, startSweepHarness } from '../../support/sweep-harness.ts';

const secretPath = 'ab12-the-secret-path';
const rules = `version: 1
rules:
  watch:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps:
      - uses: notify
        with: { to: { secret: CHAT }, when: runner.status == "offline", text: "\${{ runner.name }} is offline" }
  urgent:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [urgent] } }]
  elsewhere:
    in: nowhere/*
    on: issues.opened
    steps: [{ uses: comment, with: { text: "hello" } }]
`;

let harness: SweepHarness;
let receiver: HookReceiver;
let answer: { status: number } | undefined = { status: 200 };
beforeAll(async () => {
  harness = await startSweepHarness();
  receiver = await startReceiver(() => answer);
});
afterAll(async () => {
  await receiver.close();
  await harness.close();
});

describe.each(storeKinds)('with a store in $title', ({ make }) => {
  let store: Store;
  let lines: string[];
  let leads = true;
  let monotonicMs = 0;
  let now = harnessNow();
  beforeEach(async () => {
    lines = [];
    leads = true;
    answer = { status: 200 };
    receiver.received.length = 0;
    now = harnessNow();
    const made = await make({ clock: { ...systemClock, now: () => now } });
    store = made.store;
    return made.close;
  });

  function harnessNow(): Date {
    return new Date('2026-05-04T10:00:00Z');
  }

  async function makeBot(yaml = rules): Promise<Reeve> {
    const clock = { ...harness.clock, now: () => now, monotonicMs: () => monotonicMs };
    const { FORGE_URL: url = '', FORGE_TOKEN: token = '' } = harness.environment;
    const log = createLog({
      level: 'debug',
      destination: { write: (line: string) => void lines.push(line) },
    });
    const operator = rulesOf(yaml);
    return makeReeve({
      client: createClient({ url, credentials: { token }, sleep: async () => {} }),
      account: async () => ({ id: (await harness.bot.call(operations.getSelf, {})).id }),
      clock,
      log,
      store: { ...store, isLeader: () => leads },
      rules: { operator: () => operator },
      served: { login: async () => people.bot, listed: [] },
    });
  }

  function options(more: Partial<AlarmOptions> = {}): AlarmOptions {
    return {
      hosts: ['127.0.0.1'],
      secrets: new Map([['CHAT', `${receiver.url}/${secretPath}`]]),
      uses: [],
      send: createMessageSender({ hosts: ['127.0.0.1'], timeoutMs: 500, sleep: async () => {} }),
      forge: () => ({ state: 'ok' }),
      ...more,
    };
  }

  const incidents = async () =>
    (await store.listIncidents()).map(({ kind, key, reason }) => `${kind} ${key}: ${reason}`).toSorted();

  it('a secret that does not exist, is forbidden or does not resolve is an incident without its address, until it is corrected', async () => {
    const bot = await makeBot();
    const run = async (more: Partial<AlarmOptions>): Promise<readonly string[]> => {
      await alarmJobs(bot, options(more)).secrets?.run(now, 'slot');
      return incidents();
    };
    const unknownName = (_name: string, _options: unknown, done: (error: Error) => void): void =>
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${secretPath}`), { code: 'ENOTFOUND' }));
    const at = (url: string) => new Map([['CHAT', url]]);

    const missing = await run({ secrets: new Map() });
    const internal = await run({ secrets: at(`http://10.0.0.8/${secretPath}`) });
    const unresolved = await run({
      secrets: at(`https://${secretPath}.example.org/`),
      lookup: unknownName as never,
    });
    const junk = await run({ secrets: at(`not a url ${secretPath}`) });
    const solved = await run({});

    expect(missing).toEqual([
      expect.stringMatching(/^secret-unusable CHAT: there is no secret named "CHAT"/),
    ]);
    expect(internal).toEqual([expect.stringContaining('which rule watch names: it is not an https: URL')]);
    expect(unresolved).toEqual([expect.stringContaining('its name cannot be resolved (ENOTFOUND)')]);
    expect(junk).toEqual([expect.stringContaining('it is not a URL')]);
    expect(solved).toEqual([]);
    const said = [missing, internal, unresolved, junk, lines].join('\n');
    for (const part of [secretPath, '10.0.0.8', 'example.org']) expect(said).not.toContain(part);
  });

  it('what rules cannot see or do is an incident until it is mended, and the rule says since when', async () => {
    const bot = await makeBot();
    const job = alarmJobs(bot, options())['blind-spots'];
    await harness.putRunners([]);
    const began = now;

    await job?.run(now, 'slot');
    now = new Date(now.getTime() + 3_600_000);
    await job?.run(now, 'slot');

    expect(await incidents()).toEqual([
      'rule-blind rules.yml#elsewhere: in: nowhere/* does not include any of the served repositories: the rule never runs',
      'rule-blind rules.yml#watch: sees no runner',
      expect.stringMatching(
        /^rule-hindered rules.yml#urgent: there is no label "urgent" in acme\/\w+ and 1 more/,
      ),
    ]);
    const sight = await readSight(bot.rules.operator(), store);
    expect(
      sight.map(({ name, lastRunAt, limits }) => [name, lastRunAt, limits.map(({ since }) => since)]),
    ).toEqual(['watch', 'urgent', 'elsewhere'].map((name) => [name, undefined, [began]]));

    await harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]);
    await job?.run(now, 'slot');
    expect((await incidents()).filter((one) => one.includes('#watch'))).toEqual([]);
  });

  it('a rule that visits organizations and can select none is blind, until it can', async () => {
    const over = (scope: string): string => `version: 1
rules:
  settings:
    in: ${scope}
    on: { schedule: "17 3 * * *" }
    each: organization
    steps: [{ uses: sync-organization, with: { website: https://acme.example.org } }]
`;
    await alarmJobs(await makeBot(over('nowhere/*')), options())['blind-spots']?.run(now, 'slot');
    expect(await incidents()).toEqual([
      'rule-blind rules.yml#settings: sees no organization (nowhere: the account is not a member of it)',
    ]);

    await alarmJobs(await makeBot(over(`${acme}/*`)), options())['blind-spots']?.run(now, 'slot');
    expect(await incidents()).toEqual([]);
  });

  it('the time of the latest evaluation is kept, whichever process evaluated the rule', async () => {
    const [rule] = rulesOf(rules);
    const runAt = (at: string, verdict = 'unmatched', mode = 'enforce'): Run =>
      ({
        mode,
        trigger: { at },
        rules: [{ rule: rule?.id, source: 'rules.yml', verdict }],
        changes: [],
        outcomes: [],
      }) as unknown as Run;
    const [one, other] = [new RuleEvaluations(), new RuleEvaluations()];
    one.note(runAt('2026-05-04T10:00:00.000Z'));
    other.note(runAt('2026-05-04T11:00:00.000Z', 'failed'));
    one.note(runAt('2026-05-04T12:00:00.000Z', 'skipped'));
    one.note(runAt('2026-05-04T13:00:00.000Z', 'matched', 'plan'));

    await other.save(store);
    await one.save(store);

    const [watch] = await readSight(rulesOf(rules), store);
    expect(watch?.lastRunAt).toEqual(new Date('2026-05-04T11:00:00Z'));
    expect(watch?.lastFailureAt).toEqual(new Date('2026-05-04T11:00:00Z'));
  });

  it('a rule failed last when a change failed that it wanted, although it matched, and a later success keeps that', async () => {
    const [rule] = rulesOf(rules);
    const runAt = (at: string, wantedBy: string | undefined, status: string): Run =>
      ({
        mode: 'enforce',
        trigger: { at },
        rules: [{ rule: rule?.id, source: 'rules.yml', verdict: 'matched' }],
        changes: [{ id: 'c1', rules: [wantedBy] }],
        outcomes: [{ change: 'c1', status, error: 'the forge answered 422' }],
      }) as unknown as Run;
    const evaluations = new RuleEvaluations();
    evaluations.note(runAt('2026-05-04T10:00:00.000Z', rule?.id, 'failed'));
    evaluations.note(runAt('2026-05-04T11:00:00.000Z', rule?.id, 'applied'));
    evaluations.note(runAt('2026-05-04T12:00:00.000Z', 'rules.yml#another', 'failed'));

    await evaluations.save(store);

    const [watch] = await readSight(rulesOf(rules), store);
    expect(watch?.lastRunAt).toEqual(new Date('2026-05-04T12:00:00Z'));
    expect(watch?.lastFailureAt).toEqual(new Date('2026-05-04T10:00:00Z'));
  });

  describe('the heartbeat', () => {
    const beat = async (more: Partial<AlarmOptions> = {}, bot?: Reeve) => {
      const heartbeat = createHeartbeat(
        bot ?? (await makeBot()),
        options({ heartbeat: { to: 'CHAT', everyMs: 300_000 }, ...more }),
      );
      if (heartbeat === undefined) throw new Error('there is no heartbeat');
      return heartbeat;
    };
    const heard = async () => {
      await store.remember('catch-up ended', now.toISOString());
      await noteLook(store, { at: now.toISOString(), repositories: 1 });
    };
    const state = async () => {
      const { state: is, why } = (await readHeartbeat(store)) ?? {};
      return `${is}: ${why ?? ''}`;
    };

    it('is sent at its interval while all is well, by the leader alone', async () => {
      await heard();
      const heartbeat = await beat();

      leads = false;
      await heartbeat.look();
      expect(receiver.received).toEqual([]);
      leads = true;
      await heartbeat.look();
      monotonicMs += 60_000;
      await heartbeat.look();
      expect(receiver.received).toHaveLength(1);
      monotonicMs += 240_000;
      await heartbeat.look();

      expect(receiver.received.map(({ method, url, body }) => `${method} ${url}${body}`)).toEqual([
        `GET /hook/${secretPath}`,
        `GET /hook/${secretPath}`,
      ]);
      expect(await state()).toBe('sent: ');
      expect(lines.join('\n')).not.toContain(secretPath);
      await heartbeat.stop();
    });

    it('is held until what the rules can see was examined after the start', async () => {
      await heard();
      now = new Date(now.getTime() + 60_000);
      const heartbeat = await beat();
      await heartbeat.look();
      expect(await state()).toBe('held: what the rules can see was not examined since the start');

      await heard();
      await heartbeat.look();
      expect(await state()).toBe('sent: ');
      await heartbeat.stop();
    });

    it('hears the last poll, but not one that failed', async () => {
      const polled = {
        at: now.toISOString(),
        repositories: 1,
        found: 0,
        failed: 0,
        requests: 4,
        usualRequests: 4,
      };
      await store.remember('poll', { ...polled, error: 'it answers 503' });
      expect((await readHeard(store)).poll).toBeUndefined();

      await store.remember('poll', polled);
      expect((await readHeard(store)).poll).toEqual(now);
    });

    it('is held while nothing was heard, the forge fails, the store fails or a severe incident is open', async () => {
      const bot = await makeBot();
      const silent = await beat({}, bot);
      await silent.look();
      const reasons = [await state()];
      await heard();
      const failing = await beat({
        forge: () => ({ state: 'failing', since: now, reason: 'it answers 503' }),
      });
      await failing.look();
      reasons.push(await state());
      const full = await beat({}, {
        ...bot,
        store: { ...bot.store, healthy: async () => ({ ok: false, reason: 'no space', freeBytes: 0 }) },
      } as Reeve);
      await full.look();
      reasons.push(await state());
      const about = { level: 'operator', reason: 'sees no runner', at: now } as const;
      await store.raise([{ kind: 'rule-blind', key: 'rules.yml#watch', ...about }]);
      await silent.look();
      reasons.push(await state());
      expect(receiver.received).toEqual([]);

      await store.clear('rule-blind', ['rules.yml#watch']);
      await store.raise([
        { kind: 'rule-failed', key: 'rules.yml#urgent', ...about },
        { kind: 'file-broken', key: 'acme/demo/.reeve.yml', ...about, level: 'repository' },
      ]);
      await silent.look();

      expect(reasons).toEqual([
        'held: for 90 minutes, no delivery was verified and no look for missed events ended',
        'held: the forge fails: it answers 503',
        'held: the store is not writable: no space',
        'held: Rules that cannot see what they need: rules.yml#watch: sees no runner',
      ]);
      expect(receiver.received).toHaveLength(1);
      expect(await state()).toBe('sent: ');
    });

    it('is held if the forge refuses the token, and ends in bounded time if the receiver does not answer', async () => {
      await heard();
      const { FORGE_URL: url = '' } = harness.environment;
      const bot = await makeBot();
      const client = createClient({ url, credentials: { token: 'revoked' }, sleep: async () => {} });
      await (await beat({}, { ...bot, client })).look();
      expect(await state()).toMatch(/^held: .*401/);

      answer = undefined;
      await (await beat({}, bot)).look();
      expect(await state()).toBe('failed: {secret: CHAT} cannot be reached: no answer within 0.5 s');
      expect(lines.join('\n')).not.toContain(secretPath);
    });
  });

  describe('the report', () => {
    const settings = {
      to: 'CHAT',
      chat: true,
      repository: 'acme/ops',
      schedule: { cron: '0 8 * * 1', timezone: 'UTC' },
    };

    it('says what needs attention and when each rule could last run, in a message and in one issue that is open meanwhile', async () => {
      const bot = await makeBot();
      const job = alarmJobs(bot, options({ report: settings })).report;
      expect(job).toMatchObject({ cron: '0 8 * * 1', timezone: 'UTC' });
      const about = { level: 'operator', reason: 'sees no runner @ada ```', at: now } as const;
      await store.raise([{ kind: 'rule-blind', key: 'rules.yml#watch', ...about }]);

      await job?.run(now, 'report#1');
      const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
      const issueOf = async () =>
        (
          await harness.bot.call(operations.listIssues, {
            params: { owner: acme, repo: 'ops' },
            query: { state: 'all', type: 'issues' },
          })
        )[0];
      const open = await issueOf();
      await store.clear('rule-blind', ['rules.yml#watch']);
      await job?.run(now, 'report#2');
      const closed = await issueOf();

      expect(text).toContain('1 thing needs attention:');
      expect(text).toContain('watch: never; sees no runner @ada ``` (since 2026-05-04 10:00 UTC)');
      expect(receiver.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
        'report.report#1',
        'report.report#2',
      ]);
      expect(open).toMatchObject({ state: 'open', title: 'Reeve: 1 thing needs attention' });
      // A longer fence than any in the text keeps mentions inside the block.
      expect(open?.body).toContain('````text\n1 thing');
      expect(closed).toMatchObject({
        number: open?.number,
        state: 'closed',
        title: 'Reeve: nothing needs attention',
      });
    });

    it('is sent as a message even if the forge refuses the issue, and says so', async () => {
      const { FORGE_URL: url = '' } = harness.environment;
      const client = createClient({ url, credentials: { token: 'expired' }, sleep: async () => {} });
      const bot = { ...(await makeBot()), client } as Reeve;
      await alarmJobs(bot, options({ report: settings })).report?.run(now, 'report#4');

      const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
      expect(text).toMatch(/^The issue in acme\/ops could not be written: .*401/);
      expect(text).toContain('When each rule could last run:');

      const { to: _to, ...issueAlone } = settings;
      const job = alarmJobs(bot, options({ report: issueAlone })).report;
      await expect(job?.run(now, 'report#5')).rejects.toThrow('401');
    });

    it('lists the pauses, and is sent as a message while they prevent the issue', async () => {
      await store.pause({ kind: 'rule', name: 'urgent' }, 'ada by reeve pause');
      await store.pause({ kind: 'all' }, 'root by reeve pause');
      const issues = async () =>
        harness.bot.call(operations.listIssues, {
          params: { owner: acme, repo: 'ops' },
          query: { state: 'all', type: 'issues' },
        });
      const before = await issues();

      await alarmJobs(await makeBot(), options({ report: settings })).report?.run(now, 'report#3');

      const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
      expect(text).toMatch(
        /^The issue in acme\/ops was not written: all writes are paused since \S+ by root by reeve pause; reeve resume all ends it\.\n\n2 things need attention:/,
      );
      expect(text).toMatch(
        /- Paused: rule urgent is paused since \S+ by ada by reeve pause; reeve resume urgent/,
      );
      expect(await issues()).toEqual(before);
    });
  });
});
