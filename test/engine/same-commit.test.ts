import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { makeEventRun } from '../../src/engine/make-run.ts';
import { isPinned, LiveOpenPulls } from '../../src/engine/same-commit.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';
import { makeFacts } from '../support/make-facts.ts';

const sha = 'a'.repeat(40);
const repository = { id: 1, name: 'shop', full_name: 'acme/shop', owner: { id: 2, login: 'acme' } };

type Pull = { readonly number: number; readonly title: string; readonly base?: string };

/**
 * Plans a rule for an opened pull request while other pull requests have the same commit, and returns the change that
 * the rule wants to write.
 */
async function planWith(
  rule: string,
  own: Pull,
  others: readonly (Pull & Record<string, unknown>)[],
  live: string | undefined = undefined,
) {
  const text = `version: 1\nrules:\n  titled: ${rule}\n`;
  const loaded = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
  expect(loaded.problems).toEqual([]);
  const statuses = live === undefined ? [] : [{ id: 1, context: 'reeve/titled', status: live }];
  const pullOf = ({ number, title, base = 'main' }: Pull) => ({
    number,
    title,
    state: 'open',
    html_url: `https://git.example.org/${number}`,
    head: { ref: 'h', sha },
    base: { ref: base },
    labels: [],
  });
  const payload = { action: 'opened', number: own.number, pull_request: pullOf(own), repository };
  const { run } = await makeEventRun(
    parseEvent('pull_request', payload),
    {
      mode: 'plan',
      door: 'cli',
      rules: createRuleSet(loaded.rules),
    },
    {
      clock: systemClock,
      given: { statuses, head: { sha } },
      others: others.map(({ number, title, base, ...facts }) => ({
        pull_request: pullOf({ number, title, ...(base ? { base } : {}) }),
        statuses,
        ...facts,
      })),
    },
  );
  const [change] = run.changes;
  const { state, description, target_url } = (change?.after ?? {}) as Record<string, string>;
  return change && { state, description, url: target_url };
}

const on = '{ pull_request: [opened, edited, reopened, synchronized] }';
const gate = `{ on: ${on}, steps: [{ uses: set-status, with: { when: 'pull_request.title == "ok"', otherwise: { state: pending, description: Not ok. } } }] }`;
const passed = { state: 'success', description: '', url: '' };
const held = (number: number, state = 'pending', text = 'Not ok.') => ({
  state,
  description: `#${number}: ${text}`,
  url: `https://git.example.org/${number}`,
});
const own = { number: 4, title: 'ok' };

describe('a status that changes to a better state', () => {
  it('is the result of the least favourable pull request at the commit', async () => {
    expect(await planWith(gate, own, [{ number: 7, title: 'ok' }])).toEqual(passed);
    expect(await planWith(gate, own, [{ number: 7, title: 'no' }])).toEqual(held(7));
    const both = [
      { number: 9, title: 'no' },
      { number: 7, title: 'no' },
    ];
    expect(await planWith(gate, own, both)).toEqual(held(7));
    const mixed = `{ on: ${on}, steps: [{ uses: set-status, with: { when: 'pull_request.title == "ok"', otherwise: { state: failure, description: "Not ok." } } }] }`;
    expect(await planWith(mixed, own, [{ number: 7, title: 'no' }])).toEqual(held(7, 'failure'));
  });

  it('is the same, regardless of which pull request triggers the run', async () => {
    const [one, other] = [
      { number: 4, title: 'no' },
      { number: 7, title: 'no' },
    ];

    expect(await planWith(gate, one, [other], 'failure')).toEqual(held(4));
    expect(await planWith(gate, other, [one], 'failure')).toEqual(held(4));
  });

  it('ignores pull requests that its rule excludes by branches, if, the if of a step, or another status name', async () => {
    const step = (more: string) => `{ uses: set-status, ${more} }`;
    const rejected = `with: { state: pending, when: 'pull_request.number != 4', otherwise: { state: success } }`;
    const other = [{ number: 7, title: 'x', base: 'older' }];
    const rules = [
      `{ on: { pull_request: { types: [opened, edited], branches: [main] } }, steps: [${step(rejected)}] }`,
      `{ on: ${on}, if: 'pull_request.base.ref == "main"', steps: [${step(rejected)}] }`,
      `{ on: ${on}, steps: [${step(`if: 'pull_request.base.ref == "main"', ${rejected}`)}] }`,
      `{ on: ${on}, steps: [${step(rejected.replace('with: {', 'with: { context: "reeve/titled ${{ pull_request.base.ref }}",'))}] }`,
    ];

    for (const rule of rules) expect(await planWith(rule, own, other)).toEqual(passed);
    const all = `{ on: ${on}, steps: [${step(rejected)}] }`;
    expect(await planWith(all, own, other)).toEqual(held(7, 'pending', 'pending'));
  });

  it.each([
    ['a fact that cannot be read', '!files.exists(f, f.filename == "x") || pull_request.number == 4'],
    ['an event that it has not', 'event.number == 4'],
    ['a sender that it has not', 'pull_request.number == 4 || sender.login == "ada"'],
  ])('is pending if another pull request cannot be judged because of %s', async (_title, when) => {
    const rule = `{ on: ${on}, steps: [{ uses: set-status, with: { when: '${when}' } }] }`;
    const mine = { ...own, title: 'ok' };
    const others = [{ number: 7, title: 'ok', files: undefined }];

    const found = await planWith(rule.replace('!files', 'pull_request.number == 4 || !files'), mine, others);
    expect(found).toEqual(held(7, 'pending', 'it cannot be evaluated yet'));
  });

  it('is pending if more than fifty pull requests share the commit', async () => {
    const others = Array.from({ length: 60 }, (_, place) => ({ number: place + 10, title: 'ok' }));

    expect(await planWith(gate, own, others.slice(0, 50))).toEqual(passed);
    expect(await planWith(gate, own, others)).toEqual(held(60, 'pending', 'it cannot be evaluated yet'));
  });

  it('is written at once if it gets worse', async () => {
    const worse = { number: 4, title: 'no' };

    expect(await planWith(gate, worse, [{ number: 2, title: 'no' }], 'success')).toEqual({
      state: 'pending',
      description: 'Not ok.',
      url: '',
    });
  });
});

describe('a head that is the same before and after', () => {
  const other = 'b'.repeat(40);
  const address = (commit: string) => `https://git.example.org/acme/shop/raw/commit/${commit}/a.txt`;
  /** Creates facts of a pull request with this head, and reads the facts in `given`. */
  async function factsWith(given: Record<string, unknown>) {
    const facts = makeFacts({ head: { sha }, ...given });
    for (const name of Object.keys(given)) await facts.ask({ name }).catch(() => undefined);
    return facts;
  }

  it.each([
    ['the newest commit is', { commits: [{ sha: other }, { sha }] }],
    ['the files are', { files: [{ raw_url: address(sha) }, { raw_url: address(other) }] }],
    ['the contents of files are', { files: [{ raw_url: '', contents_url: `/contents/a.txt?ref=${other}` }] }],
  ])('is not the judged head if %s of another commit', async (_, given) => {
    expect(await isPinned({ sha }, await factsWith(given), undefined)).toBe(false);
  });

  it.each([
    ['is of that commit', { commits: [{ sha }, { sha: other }], files: [{ raw_url: address(sha) }] }],
    ['is empty', { commits: [], files: [] }],
    ['names no commit', { files: [{ filename: 'a.txt' }] }],
    ['could not be read', { files: new Error('403'), commits: new Error('403') }],
  ])('is the judged head if each list %s', async (_, given) => {
    expect(await isPinned({ sha }, await factsWith(given), undefined)).toBe(true);
  });
});

describe('the list of open pull requests', () => {
  let server: BareServer;
  afterEach(() => server.close());

  /** Serves open pull requests in pages; `before` runs before each page is served. */
  async function listing(
    count: number,
    before: (page: number, numbers: number[]) => void = () => {},
    { total = (length: number): number | undefined => length } = {},
  ) {
    const numbers = Array.from({ length: count }, (_, place) => count - place);
    server = await startBareServer(({ path }, response) => {
      const query = new URL(path, 'http://x').searchParams;
      const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
      before(page, numbers);
      const items = numbers
        .slice((page - 1) * limit, page * limit)
        .map((number) => ({ id: number, number, title: '', state: 'open', head: { ref: 'h', sha } }));
      const counted = total(numbers.length);
      json(response, items, 200, counted === undefined ? {} : { 'x-total-count': String(counted) });
    });
    const client = createClient({ url: server.url, backoff: { firstMs: 1 } } as never);
    const subject = {
      kind: 'pull_request',
      repository: { id: 1, owner: 'acme', name: 'shop' },
      index: 1,
    } as const;
    return new LiveOpenPulls(subject, client, () => makeFacts());
  }

  it('costs one request for fifty pull requests, twenty-one for a thousand, and one more to verify that nothing changed', async () => {
    const few = await listing(50);
    expect(await few.list(false)).toHaveLength(50);
    await few.list(false);
    expect(server.requests).toHaveLength(1);
    await few.list(true);
    expect(server.requests).toHaveLength(2);
    await server.close();

    const many = await listing(1_000);
    const [one, two] = await Promise.all([many.list(false), many.list(false)]);
    expect([one?.length, two?.length]).toEqual([1_000, 1_000]);
    expect(server.requests).toHaveLength(21);
    await many.list(true);
    expect(server.requests).toHaveLength(22);
  });

  it('misses no pull request that moves to an already read page because another pull request is closed', async () => {
    let isClosed = false;
    const pulls = await listing(120, (page, numbers) => {
      if (page !== 2 || isClosed) return;
      isClosed = true;
      numbers.splice(10, 1);
    });

    const found = await pulls.list(false);
    expect(found.map(({ number }) => number)).toContain(120 - 50);
    expect(found).toHaveLength(119);
  });

  it('misses no pull request if one is closed while another is reopened', async () => {
    let isDone = false;
    const pulls = await listing(120, (page, numbers) => {
      if (page !== 2 || isDone) return;
      isDone = true;
      numbers.splice(60, 1);
      numbers.unshift(999);
    });

    const found = await pulls.list(false);
    expect(found.map(({ number }) => number)).toContain(999);
  });

  it.each([
    ['changes each time', 120, (page: number, numbers: number[]) => page === 2 && numbers.pop(), undefined],
    ['is shorter than the forge says', 120, () => {}, (length: number) => length + 1],
  ] as const)('cannot be read if it %s; the error is retryable', async (_title, count, before, total) => {
    const pulls = await listing(count, before as never, total ? { total } : {});

    await expect(pulls.list(false)).rejects.toMatchObject({ code: 'forge-paging', retryable: true });
  });

  it('is read twice if the forge sends no total count', async () => {
    const pulls = await listing(60, undefined, { total: () => undefined });

    expect(await pulls.list(false)).toHaveLength(60);
  });
});
