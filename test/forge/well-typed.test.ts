import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { createForgeInstance, type ForgeInstance } from '../../src/forge/forge.ts';
import { type Log, silentLog } from '../../src/platform/log.ts';
import { arbitraryOf } from '../support/arbitrary-of.ts';
import { basic } from '../support/contract-forge.ts';
import { passwordCost } from '../support/privilege-setup.ts';

const isLong = Boolean(process.env.LONG);
/** Number of concurrent requests. The long run of this test together with the garbage test sends 100,000 requests. */
const together = 10;
const runs = isLong ? 5_000 : 60;

/** Operations that would delete what later requests need. They are called with unknown names. */
const deadly =
  /^(repository|organization|user|admin|token|team)\.(delete|edit|rename|transfer|accept|reject|delete-.*|edit-.*|rename-.*)/;

describe('the embedded forge under random requests of valid types', () => {
  let forge: ForgeInstance;
  const failures: unknown[] = [];
  beforeAll(async () => {
    const log: Log = { ...silentLog, error: (...what: unknown[]) => failures.push(what[0]) };
    const seed = {
      version: 1 as const,
      accounts: [
        { name: 'ada', password: 'pw' },
        { name: 'ben', password: 'pw' },
        { name: 'root', password: 'pw', admin: true },
      ],
      organizations: [
        { name: 'acme', owner: 'ada', teams: [{ name: 'team', permission: 'admin', members: ['ben'] }] },
      ],
      repositories: ['acme/shop', 'ada/shop'].map((name) => ({
        name,
        files: { 'README.md': 'text\n', 'src/a.txt': 'a\n' },
        branches: [{ name: 'feature', files: { 'src/a.txt': 'b\n' } }],
        tags: [{ name: 'v1' }],
        wiki: { Home: 'text' },
        labels: [{ name: 'bug', color: 'fff' }],
        milestones: [{ title: 'm' }],
        issues: [{ title: 'one', by: 'ada', comments: [{ by: 'ada', body: 'hm' }] }],
        pulls: [{ title: 'two', by: 'ada', head: 'feature' }],
      })),
      runners: [{ name: 'runner', owner: 'acme', state: 'idle' as const }],
    };
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), log, seed: { seed } });
    await forge.listen();
  });
  afterAll(() => forge.close());

  const names = ['ada', 'ben', 'root', 'acme', 'shop', 'team', 'runner'];
  const known: Readonly<Record<string, readonly string[]>> = {
    owner: ['acme', 'ada'],
    repo: ['shop'],
    org: ['acme'],
    username: ['ada', 'ben'],
    index: ['1', '2'],
    id: ['1', '2', '3'],
  };

  function callOf(row: Operation): fc.Arbitrary<Call> {
    const isDeadly = deadly.test(row.id);
    const params = Object.keys(row.params.shape).map((name) => {
      const real = known[name];
      const any = arbitraryOf(z.string(), names);
      return [
        name,
        real && !isDeadly ? fc.constantFrom(...real) : isDeadly ? fc.constant('missing') : any,
      ] as const;
    });
    return fc.record({
      row: fc.constant(row),
      params: fc.record(Object.fromEntries(params)) as fc.Arbitrary<Record<string, unknown>>,
      query: (row.query ? arbitraryOf(row.query, names) : fc.constant({})) as fc.Arbitrary<
        Record<string, unknown>
      >,
      body: row.body ? arbitraryOf(row.body, names) : fc.constant(undefined),
      who: fc.constantFrom('ada', 'ben', 'root', undefined),
    });
  }

  const rows = Object.values<Operation>(operations).filter(
    ({ id, path }) => !(deadly.test(id) && !path.includes('{')) && !/^token\./.test(id),
  );
  const call = fc.oneof(...rows.map(callOf));

  it('never returns 500 and never crashes', { timeout: 3_600_000 }, async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: together, maxLength: together }), async (calls) => {
        const answers = await Promise.all(calls.map((one) => send(forge.url, one)));
        for (const { status, told: request } of answers) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect(status, request).not.toBe(500);
        }
      }),
      { numRuns: runs },
    );

    // The requests reach their targets, instead of all failing at a check.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(runs / 2);
    expect(failures).toEqual([]);
    expect((await fetch(`${forge.url}/api/v1/version`)).status).toBe(200);
  });
});

type Call = {
  readonly row: Operation;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly who: string | undefined;
};

async function send(
  url: string,
  { row, params, query, body, who }: Call,
): Promise<{ status: number; told: string }> {
  const path = row.path.replace(/\{(\w+)\*?\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name]).toWellFormed()),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  const response = await fetch(`${url}/api/v1${path}?${search}`, {
    method: row.method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...(who === undefined ? {} : basic(who, 'pw')) },
    ...(body === undefined || row.method === 'GET' ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(240_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    told: `${row.method} ${path}?${search} ${JSON.stringify(body)}: ${text}`,
  };
}
