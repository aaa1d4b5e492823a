import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createStoredMemory } from '../../src/store/action-memory.ts';
import { planSweep } from '../../src/work/sweeps/plan-sweep.ts';
import { reeve, start, waitForExit } from '../support/command.ts';
import { isThorough } from '../support/figure.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { requiring } from '../support/flow-requirements.ts';
import { acme, at, type Harness } from '../support/harness.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { people, rulesOf, startSweepHarness } from '../support/sweep-harness.ts';
import { type MessageReceiver, startMessageReceiver } from '../support/tls-receiver.ts';

const rules = `version: 1
rules:
  triage:
    on: { schedule: "0 0 1 1 *" }
    each: issue
    if: '!issue.title.startsWith("quiet")'
    steps:
      - uses: set-labels
        with: { add: [area/docs] }
      - uses: set-issue
        with: { when: 'issue.title == "old"', state: closed }
      - uses: notify
        with: { to: { secret: CHAT }, text: "\${{ issue.title }}" }
  clashing:
    on: { schedule: "0 0 1 1 *" }
    each: issue
    limits: { changes: 1 }
    steps:
      - uses: set-labels
        with: { add: [area/docs, area/code] }
  slowly:
    on: { schedule: "0 0 1 1 *" }
    each: issue
    limits: { items: 1 }
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
  failing:
    on: { schedule: "0 0 1 1 *" }
    each: issue
    if: issue.milestone.title == "next"
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
`;

/** Returns the complete content of the store. */
function contentOf(data: string): unknown {
  const database = new DatabaseSync(join(data, 'reeve.db'), { readOnly: true });
  try {
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all();
    return tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]);
  } finally {
    database.close();
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const runsOf = (out: string): readonly Run[] => linesOf(out).map((line) => JSON.parse(line));
const wishes = (run: Run | undefined) =>
  run?.changes.map(({ rules: of, step, action, target, value }) => [of, step, action, target, value]);

describe('a planned sweep', () => {
  let harness: Harness;
  let receiver: MessageReceiver;
  const swept: Run[] = [];
  beforeAll(async () => {
    receiver = await startMessageReceiver();
    harness = await startOperatorHarness(rules, {
      server: {
        namedSecrets: new Map([['CHAT', `http://127.0.0.1:${receiver.port}/hook`]]),
        notifyHosts: ['127.0.0.1'],
        onSweepRun: (run) => void swept.push(run),
      },
    });
    for (const title of ['new', 'old', 'quiet one'])
      await harness.ada.call(operations.createIssue, { params: at, body: { title } });
    await harness.idle();
  });
  afterAll(async () => {
    await harness?.close();
    await receiver?.close();
  });

  const run = (...args: readonly string[]) =>
    reeve(args, {
      environment: {
        ...harness.environment,
        REEVE_RULES: harness.rules ?? '',
        REEVE_SECRET_CHAT: `http://127.0.0.1:${receiver.port}/hook`,
      },
    });

  it('prints a table by rule and the items with changes, and writes nothing to forge, receiver or store', async () => {
    const before = contentOf(harness.data);
    const from = harness.proxy.passed.length;

    const { status, out } = await run('sweep', 'triage', '--plan');

    expect(status).toBe(0);
    expect(out).toMatch(/^rule +items +with changes +changes +requests\ntriage +3 +2 +\d+ +\d+\n\n/);
    expect(out).toMatch(/acme.*\/demo#1\n.*schedule\n.*triage: matched/);
    expect(out).not.toContain('quiet one');
    expect(out).toContain(
      '+ message:triage/main to CHAT on #2: "old" (cannot be reverted)  (the rule sends a message)',
    );
    expect(out).toMatch(
      /\n\nnot shown: 1 item without changes; --all shows every item\nnothing was written\n$/,
    );
    expect(writesOf(harness, from)).toEqual([]);
    expect(receiver.connections()).toBe(0);
    expect(contentOf(harness.data)).toEqual(before);
  });

  it('shows the items without changes with --all', async () => {
    const { out } = await run('sweep', 'triage', '--plan', '--all');

    expect(out).toContain('issue.title = quiet one');
    expect(out.match(/\/demo#\d+$/gm)).toHaveLength(3);
    expect(out).not.toContain('not shown');
  });

  it('plans every rule with a schedule without a name, and needs one to run', async () => {
    const { status, out } = await run('sweep', '--plan', '--in', `${acme}/demo`);
    const unnamed = await run('sweep');

    expect(status).toBe(1);
    const rows = out
      .split('\n\n')[0]
      ?.split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows?.map(([name, items]) => [name, items])).toEqual([
      ['rule', 'items'],
      ['triage', '3'],
      ['clashing', '3'],
      ['slowly', '3'],
      ['failing', '3'],
    ]);
    expect(rows?.[0]).toEqual([
      'rule',
      'items',
      'with changes',
      'changes',
      'requests',
      'refused changes',
      'failed items',
      'in later slots',
    ]);
    expect(unnamed).toMatchObject({ status: 2, error: expect.stringContaining('reeve sweep --plan') });
  });

  it('plans each item as `reeve plan --issue` does', async () => {
    const { out, error } = await run('sweep', 'triage', '--plan', '--json');
    const runs = runsOf(out);

    expect(runs.map(({ mode, trigger }) => [mode, trigger.door, trigger.item?.split('#')[1]])).toEqual(
      ['3', '2', '1'].map((number) => ['plan', 'cli', number]),
    );
    expect(error).toContain('nothing was written');
    for (const planned of runs) {
      const single = await run('plan', '--issue', planned.trigger.item ?? '', '--json');
      const same = runsOf(single.out).find(({ rules: [first] }) => first?.rule.endsWith('#triage'));
      expect(wishes(planned)).toEqual(wishes(same));
      expect(planned.rules).toEqual(same?.rules);
    }
  });

  it.each([
    ['clashing', 'over the limit of changes', '3 changes refused', 'refused changes'],
    ['failing', 'failed', '3 items failed', 'failed items'],
  ])('exits with 1, as plan does: %s', async (rule, reason, summary, column) => {
    const { status, out } = await run('sweep', rule, '--plan');
    const json = await run('sweep', rule, '--plan', '--json');

    expect([status, json.status]).toEqual([1, 1]);
    expect(out).toContain(reason);
    expect(json.error).toContain(summary);
    expect(out).toMatch(new RegExp(`^.* ${column}\n.* 3\n`));
  });

  it('shows what one slot changes, and what is left for later ones', async () => {
    const { status, out } = await run('sweep', 'slowly', '--plan');
    const json = await run('sweep', 'slowly', '--plan', '--json');
    const runs = runsOf(json.out);

    expect(status).toBe(0);
    expect(out).toContain('at most 1 item is changed in one slot: it follows in a later slot');
    expect(out).toMatch(/^rule .* in later slots\nslowly .* 2\n/);
    expect(json.error).toMatch(
      /slowly: 3 items, 1 change in 1 of them, 2 items in later slots, \d+ requests/,
    );
    expect(runs.map(({ changes, refused }) => [changes.length, refused.length])).toEqual([
      [1, 0],
      [0, 1],
      [0, 1],
    ]);
  });

  it('plans only the items given with --in', async () => {
    const { status, out } = await run('sweep', 'triage', '--plan', '--in', `${acme}/other`);

    expect([status, out.trim()]).toEqual([
      0,
      expect.stringMatching(/\ntriage +0 +0 +0 +\d+\n\ntriage: no items: its in and each select none/),
    ]);
  });

  it('exits with 2 for an unknown rule or without a forge, and with 3 if the forge cannot be reached', async () => {
    const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };
    const away = { ...environment, FORGE_URL: 'http://127.0.0.1:9' };
    const alone = { REEVE_DATA: harness.data, REEVE_RULES: harness.rules ?? '' };

    expect((await run('sweep', 'triages', '--plan')).status).toBe(2);
    expect((await reeve(['sweep', 'triage', '--plan'], { environment: alone })).status).toBe(2);
    expect((await reeve(['sweep', 'triage', '--plan'], { environment: away })).status).toBe(3);
  });

  it('predicts what the sweep then does; a pause stops the writes, and its end makes the changes', async () => {
    const planned = runsOf((await run('sweep', 'triage', '--plan', '--json')).out);
    expect(await run('pause', 'triage')).toMatchObject({ status: 0 });
    const from = harness.proxy.passed.length;

    const paused = await run('sweep', 'triage');
    const again = runsOf((await run('sweep', 'triage', '--plan', '--json')).out);

    expect(paused.status).toBe(0);
    expect(paused.out).toMatch(/0 changes, \d+ wanted and not made/);
    expect(paused.out).toMatch(/rule triage is paused since .* by .*: a running server continues at/);
    expect(writesOf(harness, from)).toEqual([]);
    expect(receiver.received).toEqual([]);
    expect(swept.flatMap(({ refused }) => refused.map(({ why }) => /is paused/.test(why)))).toContain(true);
    // A plan shows the wanted changes, whether writes are paused or not.
    expect(again.map(wishes)).toEqual(planned.map(wishes));

    swept.length = 0;
    expect(await run('resume', 'triage')).toMatchObject({ status: 0 });
    const isDone = (): boolean => swept.filter(({ outcomes }) => outcomes.length > 0).length === 2;
    await expect.poll(isDone, { timeout: timeoutMs }).toBe(true);
    const done = swept.toSorted((one, other) =>
      (other.trigger.item ?? '').localeCompare(one.trigger.item ?? ''),
    );
    expect(done.map(wishes)).toEqual(planned.map(wishes));
    expect(done.flatMap(({ outcomes }) => outcomes.map(({ status }) => status))).toEqual(
      planned.flatMap(({ changes }) => changes.map(() => 'applied')),
    );
    expect(receiver.received.map(({ body }) => body).toSorted()).toEqual(['new', 'old']);

    const after = await run('sweep', 'triage', '--plan');
    // The closed issue is no longer an item.
    expect(after.out).toMatch(/\ntriage +2 +0 +0 /);
  });
});

it('a planned sweep over runners stores nothing about them', async () => {
  const harness = await startSweepHarness();
  try {
    await harness.putRunners([{ name: 'builder', owner: acme, state: 'offline' }]);
    const [rule] = rulesOf(`version: 1
rules:
  told:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps: [{ uses: report-issue, with: { repository: ${acme}/ops, key: "r\${{ runner.id }}", title: "\${{ runner.name }}" } }]
`);
    if (rule === undefined) throw new Error('no rule');
    const self = await harness.bot.call(operations.getSelf, {});
    const runs: Run[] = [];
    const from = harness.proxy.passed.length;

    const pages = planSweep(rule, undefined, {
      client: harness.bot,
      account: async () => ({ id: self.id }),
      served: { login: async () => people.bot, listed: [] },
      memory: createFactMemory(systemClock),
      actionMemory: createStoredMemory(harness.store),
      recall: (key) => harness.store.recall(key),
      clock: systemClock,
      signal: new AbortController().signal,
    });
    for await (const page of pages) runs.push(...page.runs);

    expect(runs.flatMap(({ changes }) => changes.map(({ action }) => action))).toEqual(['report-issue']);
    expect(harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await harness.store.recall('runners')).toBeUndefined();
    expect((await harness.store.counts()).accepted).toBe(0);
  } finally {
    await harness.close();
  }
});

describe('many items', () => {
  const played = requiring('a played forge');
  let folder: string;
  let forge: ManyRepositories;
  let environment: Record<string, string>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-sweep-plan-'));
    await writeFile(
      join(folder, 'rules.yml'),
      `version: 1
rules:
  labelled:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`,
    );
  });
  afterEach(async () => {
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  });
  const setForge = async (count: number): Promise<void> => {
    forge = await startManyRepositories(count);
    environment = {
      FORGE_URL: forge.url,
      FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
      REEVE_RULES: join(folder, 'rules.yml'),
      REEVE_DATA: join(folder, 'data'),
    };
  };
  const writes = () => forge.asked.filter(({ method }) => method !== 'GET');

  const usualItems = isThorough ? 1_000 : 250;
  const items = process.env.LONG ? 10_000 : usualItems;
  played(`are counted beyond the first fifty, and each is a line of JSON (${items} items)`, async () => {
    await setForge(items);
    forge.labels.forEach((labels, name) => {
      if (Number(name.slice(1)) % 2 === 0) labels.push('kept');
    });

    const { status, out } = await reeve(['sweep', 'labelled', '--plan'], { environment });
    const asked = forge.asked.length;
    const json = await reeve(['sweep', 'labelled', '--plan', '--json'], { environment });
    const whole = await reeve(['sweep', 'labelled', '--plan', '--all'], { environment });

    expect(status).toBe(0);
    const shownIn = (text: string) => linesOf(text).filter((line) => /^acme\/r\d+$/.test(line)).length;
    expect([shownIn(out), shownIn(whole.out)]).toEqual([50, items]);
    expect(linesOf(out).length).toBeLessThan(400);
    expect(out).toMatch(new RegExp(`\nlabelled +${items} +${items / 2} +${items / 2} `));
    expect(out).toContain(
      `not shown: ${items / 2 - 50} items with changes, ${items / 2} items without changes; --all shows every item`,
    );
    const runs = runsOf(json.out);
    expect(runs.map(({ trigger }) => trigger.item)).toEqual(
      Array.from({ length: items }, (_, place) => `acme/r${place + 1}`),
    );
    expect(runs.filter(({ changes }) => changes.length > 0).length).toBe(items / 2);
    // One page of labels for each item, and a second page if the first is not empty.
    expect(asked).toBeLessThan(items * 1.6);
    expect(writes()).toEqual([]);
  });

  played('of which one cannot be read are planned all the same, and the status is 1', async () => {
    await setForge(60);
    forge.meddle = ({ path, repository }) =>
      repository === 'r7' && path.includes('/labels') ? { status: 500 } : undefined;

    const { status, out } = await reeve(['sweep', 'labelled', '--plan'], { environment });

    expect(status).toBe(1);
    expect(out).toMatch(/^rule .* failed items\nlabelled +60 +59 +59 +\d+ +1\n/);
  });

  played('end at Ctrl-C, with nothing written', async () => {
    await setForge(300);
    const child = start(['sweep', 'labelled', '--plan'], { environment });
    forge.meddle = () => {
      if (forge.asked.length === 150) child.kill('SIGINT');
      return undefined;
    };

    const { status, error } = await waitForExit(child);

    expect(status).toBe(130);
    expect(error).toContain('stopped; nothing was written');
    expect(forge.asked.length).toBeLessThan(300);
    expect(writes()).toEqual([]);
  });
});
