import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { facts as table } from '../../src/facts/facts.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { type BareServer, json, type ReceivedRequest, startBareServer } from '../support/bare-server.ts';

const pull: Subject = { kind: 'pull_request', index: 7, repository: { id: 1, owner: 'acme', name: 'demo' } };
const open: BareServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function setUp(answer: (seen: ReceivedRequest) => unknown, subject: Subject = pull) {
  const server = await startBareServer((seen, response) => {
    const value = answer(seen);
    if (value === undefined) json(response, { message: 'not found' }, 404);
    else json(response, value, 200, Array.isArray(value) ? { 'x-total-count': String(value.length) } : {});
  });
  open.push(server);
  let now = 0;
  const memory = createFactMemory({ monotonicMs: () => now });
  const client = createClient({ url: server.url, tries: 1 });
  const facts = () => createFacts({ client, subject, memory, clock: { monotonicMs: () => now } });
  return { server, facts, later: (ms: number) => (now += ms), memory };
}

const labels = [{ id: 1, name: 'bug' }];

it('a fact is requested once per run, for any number of readers', async () => {
  const { server, facts } = await setUp(() => labels);
  const run = facts();

  await Promise.all([run.ask({ name: 'labels' }), run.ask({ name: 'labels' })]);
  await run.ask({ name: 'labels' });

  expect(server.requests).toHaveLength(1);
});

it('only facts older than allowed are requested again, and all others are shared', async () => {
  const { server, facts, later } = await setUp((seen) => (seen.path.includes('files') ? [] : labels));
  const run = facts();
  await run.ask({ name: 'labels' });
  await run.ask({ name: 'files' });

  await run.fresh([{ name: 'labels' }], 100).ask({ name: 'labels' });
  expect(server.requests).toHaveLength(2);
  later(101);
  const fresh = run.fresh([{ name: 'labels' }], 100);
  await fresh.ask({ name: 'labels' });
  await fresh.ask({ name: 'files' });

  expect(server.requests).toHaveLength(3);
});

it('label definitions of an earlier run keep their age, and are read again once for all readers that need newer ones', async () => {
  const { server, facts, later } = await setUp((seen) => (seen.path.includes('/orgs/') ? [] : labels));
  const definitions = { name: 'label_definitions' };
  const readings = () => server.requests.filter(({ path }) => path.includes('/repos/')).length;
  await facts().ask(definitions);
  later(2_000);
  const run = facts();
  await run.ask(definitions);
  expect(readings()).toBe(1);

  await run.fresh([definitions], 1_000).ask(definitions);
  expect(readings()).toBe(2);
  await run.fresh([definitions], 1_000).ask(definitions);
  expect(readings()).toBe(2);
  later(1_001);
  await run.fresh([definitions], 1_000).ask(definitions);
  expect(readings()).toBe(3);
});

it('a kept fact is not read again when all other facts are', async () => {
  const { server, facts } = await setUp((seen) => (seen.path.includes('files') ? [] : labels));
  const run = facts();
  await run.ask({ name: 'labels' });
  await run.ask({ name: 'files' });

  const anew = run.anew([{ name: 'files' }, { name: 'comments' }]);
  await anew.ask({ name: 'files' });
  expect(server.requests).toHaveLength(2);
  await anew.ask({ name: 'labels' });
  await anew.anew().ask({ name: 'files' });

  expect(server.requests).toHaveLength(4);
});

it('the inputs of a derived fact are requested again if the oldest input is older than allowed', async () => {
  const { server, facts, later } = await setUp((seen) =>
    seen.path.includes('/pulls/')
      ? {
          id: 1,
          number: 7,
          state: 'open',
          title: 't',
          head: { label: 'work', ref: 'work', sha: `${server.requests.length}` },
        }
      : [],
  );
  const run = facts();
  await run.ask({ name: 'pull_request' });
  later(80);
  const first = await run.ask({ name: 'head' });
  expect(server.requests).toHaveLength(1);

  expect(await run.fresh([{ name: 'head' }], 100).ask({ name: 'head' })).toEqual(first);
  later(30);
  const fresh = run.fresh([{ name: 'statuses' }, { name: 'head' }], 100);
  expect(await fresh.ask({ name: 'head' })).not.toEqual(first);
  expect(server.requests).toHaveLength(2);
  await fresh.ask({ name: 'statuses' });
  expect(await run.ask({ name: 'head' })).toEqual(first);
  expect(await fresh.fresh([{ name: 'statuses' }]).ask({ name: 'head' })).not.toEqual(
    await fresh.ask({ name: 'head' }),
  );
});

it('labels are taken from an already requested pull request, with the age of that response', async () => {
  const { server, facts, later } = await setUp((seen) =>
    seen.path.includes('/pulls/')
      ? { id: 1, number: 7, state: 'open', title: 't', labels }
      : [{ id: 2, name: 'later' }],
  );
  const run = facts();
  await Promise.all([run.ask({ name: 'pull_request' }), run.ask({ name: 'labels' })]);

  expect(await run.ask({ name: 'labels' })).toEqual(labels);
  expect(server.requests).toHaveLength(1);
  later(101);
  expect(await run.fresh([{ name: 'labels' }], 100).ask({ name: 'labels' })).toMatchObject([
    { name: 'later' },
  ]);
  expect(server.requests).toHaveLength(2);
});

it('labels are requested directly if the pull request cannot be read', async () => {
  const { facts } = await setUp((seen) => (seen.path.includes('/pulls/') ? undefined : labels));
  const run = facts();
  await expect(run.ask({ name: 'pull_request' })).rejects.toThrow('404');

  expect(await run.ask({ name: 'labels' })).toEqual(labels);
});

it('label definitions are cached across runs, by repository, until a label is created or they expire', async () => {
  const { server, facts, later } = await setUp((seen) =>
    seen.path.startsWith('/api/v1/orgs') ? undefined : labels,
  );
  const definitions = { name: 'label_definitions' };

  expect(await facts().ask(definitions)).toEqual([{ id: 1, name: 'bug', level: 'repository' }]);
  await facts().ask(definitions);
  expect(server.requests).toHaveLength(2);
  facts().forget(['label_definitions']);
  await facts().ask(definitions);
  expect(server.requests).toHaveLength(3);
  later(10 * 60_000);
  await facts().ask(definitions);

  expect(server.requests).toHaveLength(5);
});

it('facts that a subject does not have are not requested', async () => {
  const { server, facts } = await setUp(() => labels, {
    kind: 'repository',
    repository: { id: 1, owner: 'acme', name: 'demo' },
  });

  await expect(facts().ask({ name: 'labels' })).rejects.toThrow('a repository has no labels');
  expect(server.requests).toEqual([]);
});

describe('the files of a push', () => {
  const push = (before: string, after: string): Subject => ({
    kind: 'branch',
    ref: 'work',
    range: { before, after },
    repository: { id: 1, owner: 'acme', name: 'demo' },
  });
  const zeros = '0'.repeat(40);
  const one = '1'.repeat(40);
  const two = '2'.repeat(40);
  const commit = { sha: two, parents: [{ sha: one }], files: [{ filename: 'a', status: 'added' }] };
  const comparison = (path: string) =>
    path.endsWith(two) ? { total_commits: 1, commits: [commit] } : { total_commits: 0, commits: [] };

  it.each([
    [
      'are the files changed between its two commits',
      push(one, two),
      [`/api/v1/repos/acme/demo/compare/${one}...${two}`, `/api/v1/repos/acme/demo/compare/${two}...${one}`],
    ],
    [
      'are compared with the default branch if the push created the branch',
      push(zeros, two),
      ['/api/v1/repos/acme/demo', `/api/v1/repos/acme/demo/compare/trunk...${two}`],
    ],
    ['are an empty list if the push deleted the branch', push(one, zeros), []],
  ])('%s', async (_title, subject, paths) => {
    const { server, facts } = await setUp(
      (seen) =>
        seen.path.includes('compare')
          ? comparison(seen.path)
          : {
              id: 1,
              name: 'demo',
              full_name: 'acme/demo',
              owner: { id: 2, login: 'acme' },
              default_branch: 'trunk',
            },
      subject,
    );

    const files = await facts().ask({ name: 'files' });

    expect(server.requests.map(({ path }) => path)).toEqual(paths);
    expect(files).toEqual(paths.length === 0 ? [] : [{ filename: 'a', status: 'added' }]);
  });
});

describe('given facts of a rule test', () => {
  const payload = { pull_request: { number: 7, labels: [{ id: 1, name: 'bug' }] } };

  it('expand the short forms in a file', async () => {
    const facts = createGivenFacts({ subject: pull, given: { labels: ['bug'], files: ['a/b'] } });

    expect(await facts.ask({ name: 'labels' })).toEqual([{ id: 1, name: 'bug' }]);
    expect(await facts.ask({ name: 'files' })).toEqual([{ filename: 'a/b', status: 'changed' }]);
  });

  it('take only the subject from the payload', async () => {
    const facts = createGivenFacts({ subject: pull, given: {}, payload });

    expect(await facts.ask({ name: 'pull_request' })).toEqual(payload.pull_request);
    expect(await facts.ask({ name: 'labels' })).toEqual([{ id: 1, name: 'bug' }]);
    await expect(facts.ask({ name: 'files' })).rejects.toThrow('files is not given');
    await expect(facts.ask({ name: 'constructor' })).rejects.toThrow('constructor is not given');
  });
});

it('every fact is described in a table', () => {
  for (const fact of table) {
    expect(fact.meaning, fact.name).toMatch(/^[A-Z].*\.$/s);
    expect(fact.of.length, fact.name).toBeGreaterThan(0);
    expect(fact.example, fact.name).toContain(fact.name);
  }
  expect(new Set(table.map(({ name }) => name)).size).toBe(table.length);
});
