import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { type Child, startChild } from './child.ts';
import { compareOperations } from './forge/compare-operations.ts';
import { type BenchAccess, createBenchForge } from './forge/create-bench-forge.ts';
import { type BenchRow, type Measure, median, round } from './row.ts';

const connections = 8;
/** Requests of a load before it is measured, on each forge: the first ones measure how its code is compiled. */
const warmUp = 600;
const sizes = {
  small: { repositories: 10, issues: 100, hooks: 2, branches: 10 },
  large: { repositories: 10_000, issues: 100_000, hooks: 1_000, branches: 200 },
};
/** As `bin/reeve.mjs` starts `reeve forge`. */
const start = {
  nodeFlags: startedAs.nodeFlags.filter((flag) => !flag.startsWith('--max-old-space-size')),
  environment: startedAs.environment,
};
type Name = keyof typeof sizes;
type Asked = { readonly method?: string; readonly path: string; readonly body?: string };
type Started = { readonly url: string; readonly controlToken: string };
type Forge = Started & { readonly child: Child; readonly access: BenchAccess };

/** What is asked; pages are equally long on both forges, so that the size of the forge is all that differs. */
const loads: readonly { name: string; isGit?: boolean; requests: (access: BenchAccess) => Asked[] }[] = [
  { name: 'GET issue', requests: () => [{ path: '/repos/owner/measured/issues/1' }] },
  {
    name: 'list branches',
    isGit: true,
    requests: () => [{ path: '/repos/owner/measured/branches?limit=10' }],
  },
  {
    name: 'GET contents',
    isGit: true,
    requests: () => [{ path: '/repos/owner/measured/contents/README.md' }],
  },
  {
    name: 'PUT labels',
    // In turns, so that every request changes something.
    requests: ({ labels }) =>
      [labels, labels.slice(0, 1)].map((wanted) => ({
        method: 'PUT',
        path: '/repos/owner/measured/issues/1/labels',
        body: JSON.stringify({ labels: wanted }),
      })),
  },
  { name: 'list issues', requests: () => [{ path: '/repos/owner/measured/issues?limit=10' }] },
  { name: 'list own repositories', requests: () => [{ path: '/user/repos?limit=10' }] },
];

/**
 * The embedded forge: requests/s of single operations on a small forge and on a large one, in turns; the operations of the
 * service's description, beside another forge where `PEER_URL` names one; memory.
 */
export const measure: Measure = async ({ quick }) => {
  const rounds = quick ? 3 : 7;
  const amount = quick ? 120 : 600;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const forges = new Map<Name, Forge>();
  try {
    for (const name of ['small', 'large'] as const) {
      const data = join(folder, name);
      const access = await createBenchForge(data, sizes[name]);
      const script = new URL('./forge/server.ts', import.meta.url);
      const { child, ready } = await startChild(script, [data], start);
      // The border between processes: `server.ts` sends this.
      forges.set(name, { child, access, ...(ready as Started) });
    }
    const rows: BenchRow[] = [];
    for (const load of loads) rows.push(await compare(forges, load, { rounds, amount }));
    const { url, controlToken, access } = forgeOf(forges, 'large');
    const folderOf = (id: number): string => join(folder, 'large', 'repositories', `${id}.git`);
    const embedded = { url, token: access.token, controlToken, folderOf };
    rows.push(...(await compareOperations(embedded, { quick })));
    const bytes = await forgeOf(forges, 'large').child.ask<number>('memory');
    const megabytes = Math.round(bytes / 2 ** 20);
    rows.push({
      name: 'embedded forge: memory of the large one under that load, started as reeve forge does',
      value: megabytes,
      unit: 'MB',
      against: '',
      ratio: null,
      target: '<= 250 MB',
      ok: megabytes <= 250,
    });
    return rows;
  } finally {
    for (const { child } of forges.values()) await child.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

async function compare(
  forges: ReadonlyMap<Name, Forge>,
  { name, isGit, requests }: (typeof loads)[number],
  { rounds, amount }: { rounds: number; amount: number },
): Promise<BenchRow> {
  const rates: Record<Name, number[]> = { small: [], large: [] };
  const run = (size: Name, count: number): Promise<number> => {
    const forge = forgeOf(forges, size);
    return shoot(forge, requests(forge.access), isGit ? count / 4 : count);
  };
  for (const size of ['small', 'large'] as const) await run(size, warmUp);
  for (let at = 0; at < rounds; at += 1) {
    for (const size of ['small', 'large'] as const) rates[size].push(await run(size, amount));
  }
  const [small, large] = [median(rates.small), median(rates.large)];
  const times = median(rates.small.map((rate, at) => rate / (rates.large[at] ?? 1)));
  return {
    name: `embedded forge: ${name}, 10,000 repositories, 100,000 issues, 1,000 hooks, 200 branches`,
    value: Math.round(large),
    unit: 'requests/s',
    against: `the time on a small one: ${Math.round(small)}/s`,
    ratio: round(times),
    target: '<= 3 x the time',
    ok: times <= 3,
  };
}

/** Sends requests over kept connections, each as soon as the one before it is answered; returns how many a second. */
async function shoot({ url, access }: Forge, asked: readonly Asked[], amount: number): Promise<number> {
  const headers = { authorization: `token ${access.token}`, 'content-type': 'application/json' };
  let sent = 0;
  const shooter = async (): Promise<void> => {
    while (sent < amount) {
      const { method = 'GET', path, body } = asked[sent % asked.length] ?? { path: '' };
      sent += 1;
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, shooter));
  return amount / ((performance.now() - startedAt) / 1000);
}

function forgeOf(forges: ReadonlyMap<Name, Forge>, name: Name): Forge {
  const forge = forges.get(name);
  if (forge === undefined) throw new Error(`no forge ${name}`);
  return forge;
}
