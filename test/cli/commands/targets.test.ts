import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../src/engine/record.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDelivery, makeRun } from '../../store/make.ts';
import { reeve } from '../../support/command.ts';

let data: string;
let store: Store;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-targets-'));
  store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker' });
});
afterEach(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});

const body = {
  action: 'opened',
  number: 1,
  issue: { number: 1, title: 'x', labels: [] },
  repository: { id: 1, full_name: 'a/b' },
  sender: { id: 3, login: 'ada' },
};

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  reeve(args, {
    environment: {
      REEVE_DATA: data,
      FORGE_URL: 'http://127.0.0.1:9',
      FORGE_TOKEN: 'a-token-of-the-bot',
      WEBHOOK_SECRET: 'a-secret-that-is-long-enough-for-it',
      ...environment,
    },
  });
const errorOf = (text: string): unknown => JSON.parse(text).error;

/** Stores a handled delivery with one run for each list of changes, and returns the ids. */
async function handled(changes: readonly Run['changes'][]): Promise<{ delivery: string; runs: string[] }> {
  const accepted = await store.accept(
    makeDelivery({ eventType: 'issues', body: Buffer.from(JSON.stringify(body)) }),
  );
  await store.route([{ id: accepted.id, to: 'lane', lane: accepted.id, repository: 'a/b', repositoryId: 1 }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim === undefined) throw new Error('nothing to claim');
  const runs = changes.map((list) => {
    const made = makeRun({});
    return { ...made, changes: list, trigger: { ...made.trigger, delivery: accepted.id } };
  });
  await store.settle(claim, runs);
  return { delivery: accepted.id, runs: runs.map(({ id }) => id) };
}

async function dead(reason: string): Promise<string> {
  const { id } = await store.accept(makeDelivery({ eventType: 'push' }));
  await store.route([{ id, to: 'dead', reason }]);
  return id;
}

/** Change that was never applied, so that its revert sends no request to the forge. */
const change = {
  key: 'label:a',
  target: 'label:a',
  rule: 'r',
  step: 0,
  action: 'set-labels',
  operation: 'addIssueLabels',
  input: {},
  before: false,
  after: true,
} as unknown as Run['changes'][number];

describe('explain, revert, replay and redrive accept a run, a delivery or last', () => {
  it('explain', async () => {
    const { delivery, runs } = await handled([[]]);
    for (const target of [...runs, delivery, 'last']) {
      const { status, out } = await run(['explain', target]);
      expect({ status, out }, target).toEqual({ status: 0, out: expect.stringContaining(`run ${runs[0]}`) });
    }
  });

  it('explain lists the requests of a run', async () => {
    const request = {
      method: 'GET',
      path: '/repos/a/b/issues/1',
      status: 404,
      ms: 7,
      attempt: 2,
      error: 'gone',
    };
    const asked = { ...makeRun({}), forgeRequests: [request], forgeRequestsLeftOut: 2 };
    await store.appendRuns([asked, makeRun({ id: 'of an earlier version' })]);

    const { out } = await run(['explain', asked.id, '--requests']);
    expect(out).toMatch(/GET \/repos\/a\/b\/issues\/1 +404 +7 ms +try 2 +gone/);
    expect(out).toContain('not recorded: 2 later requests');
    expect((await run(['explain', asked.id])).out).not.toContain('/issues/1 ');
    expect(JSON.parse((await run(['explain', asked.id, '--json'])).out).forgeRequests).toEqual([request]);
    expect((await run(['explain', 'of an earlier version', '--requests'])).out).toContain('are not recorded');
  });

  it('last ignores runs that skipped every rule, such as those of our own events', async () => {
    const { runs } = await handled([[]]);
    const verdict = { source: 'r.yml', rule: 'r.yml#r', line: 1, verdict: 'skipped', reason: 'own' } as const;
    const accepted = await store.accept(makeDelivery({ eventType: 'issues' }));
    const lane = { to: 'lane', lane: accepted.id, repository: 'a/b', repositoryId: 1 } as const;
    await store.route([{ id: accepted.id, ...lane }]);
    const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
    if (claim === undefined) throw new Error('nothing to claim');
    await store.settle(claim, [{ ...makeRun({}), rules: [verdict] as unknown as Run['rules'] }]);

    const { out } = await run(['explain', 'last']);

    expect((await store.listRuns({ limit: 1 })).items[0]?.id).not.toBe(runs[0]);
    expect(out).toContain(`run ${runs[0]}`);
  });

  it('revert: last is no run whose changes were only observed, and the head line of explain says so', async () => {
    const verdict = (rule: string) => ({
      source: 'r.yml',
      rule: `r.yml#${rule}`,
      line: 1,
      verdict: 'matched',
      findings: [],
    });
    const planned = {
      ...change,
      id: 'c1',
      observed: true,
      rules: ['r.yml#a'],
      method: 'POST',
      path: '/x',
      reason: 'said',
    };
    const made = { ...planned, id: 'c2', observed: false };
    const rules = ['a', 'b', 'c', 'd', 'e'].map(verdict);
    const watched = makeRun({});
    const mixed = makeRun({});
    const idle = makeRun({});
    const keep = async (one: Run, changes: readonly object[]) =>
      store.appendRuns([{ ...one, rules, changes } as unknown as Run]);
    await keep(watched, [planned]);
    const none = await run(['revert', '--plan', 'last']);
    await keep(mixed, [planned, made]);
    await keep(idle, []);

    const heads = await Promise.all(
      [watched, mixed, idle].map(async ({ id }) => (await run(['explain', id])).out.split('\n')[0]),
    );
    const listed = (await run(['runs'])).out;

    expect(none).toMatchObject({ status: 2, error: expect.stringContaining('newest runs changed anything') });
    expect(heads.map((head) => head?.replace(/^run \S+ {2}\S+ {2}\S+(?:, \S+)?/, ''))).toEqual([
      '  observe',
      '  enforce, 1 change only observed',
      '',
    ]);
    expect(listed).toMatch(new RegExp(`^${mixed.id} .* a, \\+4 without +0 of 2 made$`, 'm'));
    expect(listed).toMatch(new RegExp(`^${idle.id} .* a, b, c, \\+2 +–$`, 'm'));
  });

  it('revert: selects the run of a delivery that changed something', async () => {
    const first = await handled([[], [change]]);
    for (const target of [first.runs[1] ?? '', first.delivery]) {
      const { out } = await run(['revert', '--plan', target, '--json']);
      expect(JSON.parse(out).trigger, target).toMatchObject({ kind: 'revert', item: first.runs[1] });
    }
    const second = await handled([[]]);
    const { out } = await run(['revert', '--plan', 'last', '--json']);
    expect(JSON.parse(out).trigger).toMatchObject({ kind: 'revert', item: first.runs[1] });
    const { out: explained } = await run(['explain', 'last']);
    expect(explained).toContain(`run ${second.runs[0]}`);
    expect(explained).toContain(`The newest run that changed something: reeve explain ${first.runs[1]}`);

    const several = await handled([[change], [change]]);
    const none = await handled([[], []]);
    const unhandled = await dead('the body is not JSON');
    const refusals: readonly (readonly [string, string])[] = [
      [several.delivery, `several runs of delivery ${several.delivery} changed something, name one:`],
      [none.delivery, `no run of delivery ${none.delivery} changed anything`],
      [unhandled, `delivery ${unhandled} has no run: reeve explain ${unhandled} shows why`],
      ['999', 'there is no run or delivery "999"; reeve explain last shows the newest run'],
    ];
    for (const [target, words] of refusals) {
      const { status, error } = await run(['revert', '--plan', target]);
      expect({ status, error }, target).toEqual({ status: 2, error: expect.stringContaining(words) });
    }
  });

  it('replay: accepts a delivery by its id, by the id of its run, or as last', async () => {
    const rules = join(data, 'r.yml');
    await writeFile(
      rules,
      'version: 1\nrules: { a: { on: issues, steps: [{ uses: set-labels, with: { add: [x] } }] } }\n',
    );
    const { delivery, runs } = await handled([[]]);
    await store.enqueue({
      door: 'cli',
      uuid: 'job',
      kind: 'sweep',
      lane: 'sweep',
      receivedAt: new Date(),
      payload: {},
    });
    const replay = (...args: string[]) =>
      reeve(['replay', ...args, '--rules', rules, '--json'], { environment: { REEVE_DATA: data } });

    for (const target of [...runs, delivery, 'last']) {
      const { out, error } = await replay(target);
      expect(error, target).toBe('');
      expect(JSON.parse(out).trigger, target).toMatchObject({ kind: 'issues', activity: 'opened' });
    }
    expect(errorOf((await replay('nothing-of-this-name')).error)).toMatchObject({
      message: expect.stringContaining('there is no run or delivery "nothing-of-this-name"'),
    });
    expect(errorOf((await replay('no-such-file.json')).error)).toMatchObject({
      message: expect.stringContaining('no-such-file.json cannot be read'),
    });
    const ofSweep = { ...makeRun({}), id: 'of-a-sweep' };
    await store.appendRuns([ofSweep]);
    expect(errorOf((await replay('of-a-sweep')).error)).toMatchObject({
      code: 'usage',
      message: 'run of-a-sweep was not started by a delivery',
    });
  });

  it('redrive: states for each delivery why it is not redriven', async () => {
    const { delivery, runs } = await handled([[]]);
    const waiting = (await store.accept(makeDelivery({ eventType: 'issues' }))).id;
    const older = await dead('the body is not JSON');
    const newest = await dead('the body is not JSON');

    const idle = await run(['redrive', delivery, runs[0] ?? '', waiting, '9999']);
    expect(idle).toEqual({
      status: 1,
      error: '',
      out: `delivery ${delivery} is not redriven: it was handled; reeve replay ${delivery} shows what the current rules would do
delivery ${waiting} is not redriven: it waits for its turn; only dead deliveries are redriven
delivery 9999 is not redriven: there is no delivery with this id, or it is deleted
`,
    });
    expect(await run(['redrive', 'last'])).toEqual({
      status: 0,
      error: '',
      out: '1 delivery will be tried again\n',
    });
    expect((await store.describeDelivery(newest))?.state).toBe('accepted');
    const { status, out } = await run(['redrive', older, delivery, '--json']);
    expect({ status, ...JSON.parse(out) }).toEqual({
      status: 1,
      asked: 2,
      redriven: 1,
      deliveries: [
        { delivery: older, redriven: true },
        { delivery, redriven: false, reason: expect.stringContaining('it was handled') },
      ],
    });
    expect(await run(['redrive', '--all'])).toEqual({ status: 0, error: '', out: 'No delivery is dead.\n' });
    expect((await run(['redrive', 'last'])).error).toBe('reeve: no delivery is dead\n');
  });

  it('last fails in an empty store', async () => {
    for (const [command, words] of [
      ['explain', 'there is no run yet'],
      ['revert', 'there is no run yet'],
      ['replay', 'there is no delivery yet'],
      ['redrive', 'no delivery is dead'],
    ] as const) {
      const { status, error } = await run([command, 'last']);
      expect({ status, error }, command).toEqual({ status: 2, error: `reeve: ${words}\n` });
    }
  });
});

describe('with --json, an error is one line of JSON on stderr', () => {
  it('for every kind of error', async () => {
    const rows: readonly (readonly [readonly string[], object])[] = [
      [
        ['explain', 'none', '--json'],
        { code: 'usage', exit: 2, retryable: false, message: expect.stringContaining('no run or delivery') },
      ],
      [
        ['explain', '--json'],
        { code: 'usage', exit: 2, retryable: false, message: "missing required argument 'target'" },
      ],
      [
        ['redrive', '--al', '--json'],
        {
          code: 'usage',
          exit: 2,
          retryable: false,
          message: expect.stringContaining("unknown option '--al'"),
        },
      ],
      [
        ['plan', '--issue', 'a/b#1', '--json'],
        {
          code: 'forge-unreachable',
          exit: 3,
          retryable: true,
          message: expect.stringContaining('cannot be reached'),
        },
      ],
    ];
    for (const [args, wanted] of rows) {
      const { status, out, error } = await run(args);
      expect(out, args.join(' ')).toBe('');
      expect(errorOf(error), args.join(' ')).toEqual(wanted);
      expect(status).toBe((errorOf(error) as { exit: number }).exit);
    }
  });

  it('except if --json is an argument after --', async () => {
    expect((await run(['explain', '--', '--json'])).error).toMatch(/^reeve: there is no run or delivery/);
  });
});

it('sweep reads only REEVE_RULES, and ignores rules and examples in the current folder', async () => {
  const unset = await run(['sweep', 'stale-issues', '--plan']);
  expect(unset).toMatchObject({ status: 2, error: expect.stringContaining('set REEVE_RULES') });

  const rules = join(data, 'rules.yml');
  await writeFile(
    rules,
    'version: 1\nrules: { nightly: { on: { schedule: "7 3 * * *" }, each: repository, steps: [{ uses: sync-labels, with: { labels: [{ name: a, color: ff0000 }] } }] } }\n',
  );
  const { error } = await run(['sweep', 'stale-issues', '--plan'], { REEVE_RULES: rules });
  expect(error).toContain(
    `reeve: no rule with a schedule is named "stale-issues"; there are\n  ${rules}#nightly\nThe rules of served repositories could not be read: `,
  );
});
