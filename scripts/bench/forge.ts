import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { createForgeInstance } from '../../src/forge/forge.ts';
import { openDatabase } from '../../src/forge/platform/database.ts';
import type { StartedForge } from './children/forge.ts';
import { compareOperations } from './forge/compare-operations.ts';
import type { Child } from './process.ts';
import { type BenchRow, benchRow, inTurns, type Measure, megabytes, onStage } from './runner.ts';

const connections = 8;
/**
 * Number of requests of a load that each forge receives before the measurement: they include the time for compiling
 * code.
 */
const warmUp = 600;
const sizes = {
  small: { repositories: 10, issues: 100, hooks: 2, branches: 10 },
  large: { repositories: 10_000, issues: 100_000, hooks: 1_000, branches: 200 },
};
/** Node flags and environment with which `bin/reeve.mjs` starts `reeve forge`. */
const start = {
  nodeFlags: startedAs.nodeFlags.filter((flag) => !flag.startsWith('--max-old-space-size')),
  environment: startedAs.environment,
};
type Asked = { readonly method?: string; readonly path: string; readonly body?: string };
type Forge = StartedForge & { readonly child: Child; readonly access: BenchAccess };
type Forges = Readonly<Record<keyof typeof sizes, Forge>>;

/** Measured requests. Pages have the same length on both forges, so that only the size of the forge differs. */
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
    // Alternates between two sets of labels, so that every request changes something.
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
 * Measures the embedded forge: requests/s of single operations, alternating between a small and a large forge; the
 * operations of the service's description, compared with the forge at `PEER_URL` if it is set; memory.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async (stage) => {
    const startForge = async (name: keyof typeof sizes): Promise<Forge> => {
      const data = join(stage.folder, name);
      const access = await createBenchForge(data, sizes[name]);
      const { child, ready } = await stage.start<StartedForge>('forge', [data], start);
      return { child, access, ...ready };
    };
    const forges: Forges = { small: await startForge('small'), large: await startForge('large') };
    const rows: BenchRow[] = [];
    for (const load of loads)
      rows.push(await compare(forges, load, quick ? { rounds: 3, amount: 120 } : { rounds: 7, amount: 600 }));
    const { url, controlToken, access, child } = forges.large;
    const folderOf = (id: number): string => join(stage.folder, 'large', 'repositories', `${id}.git`);
    const embedded = { url, token: access.token, controlToken, folderOf };
    rows.push(...(await compareOperations(embedded, { quick })));
    rows.push(
      benchRow({
        name: 'embedded forge: memory of the large one under that load, started as reeve forge does',
        value: megabytes(await child.ask<number>('memory')),
        unit: 'MB',
        target: '<= 250 MB',
      }),
    );
    return rows;
  });

async function compare(
  forges: Forges,
  { name, isGit, requests }: (typeof loads)[number],
  { rounds, amount }: { rounds: number; amount: number },
): Promise<BenchRow> {
  const run = (forge: Forge, count: number): Promise<number> =>
    shoot(forge, requests(forge.access), isGit ? count / 4 : count);
  for (const forge of [forges.small, forges.large]) await run(forge, warmUp);
  const rates = await inTurns(['small', 'large'] as const, { rounds, warmUps: 0 }, (size) =>
    run(forges[size], amount),
  );
  const rateOf = (rate: number): number => rate;
  return benchRow({
    name: `embedded forge: ${name}, 10,000 repositories, 100,000 issues, 1,000 hooks, 200 branches`,
    value: Math.round(rates.median('large', rateOf)),
    unit: 'requests/s',
    against: `the time on a small one: ${Math.round(rates.median('small', rateOf))}/s`,
    ratio: rates.ratio('small', 'large', rateOf),
    target: '<= 3 x the time',
  });
}

/**
 * Sends requests over keep-alive connections, each as soon as the previous one on its connection has been answered.
 * Returns the requests per second.
 */
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

/** Data of a created forge that the load needs. */
type BenchAccess = { readonly token: string; readonly labels: readonly number[] };

/**
 * Creates a forge in a folder: one repository with branches, a file, an issue and two labels through its API, and the
 * bulk of the data with SQL. The forge is stopped when this function returns.
 */
async function createBenchForge(
  data: string,
  size: Size & { readonly branches: number },
): Promise<BenchAccess> {
  mkdirSync(data, { recursive: true });
  const forge = await createForgeInstance({ clock: () => new Date(), data });
  try {
    await forge.listen();
    await forge.createAdministrator({ name: 'owner', password: 'password' });
    const basic = `Basic ${Buffer.from('owner:password').toString('base64')}`;
    const post = async (path: string, body: object): Promise<{ id: number; sha1: string }> => {
      const response = await fetch(`${forge.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: basic, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      // The responses of these few operations have the fields that are read.
      return (await response.json()) as { id: number; sha1: string };
    };
    const { sha1: token } = await post('/users/owner/tokens', { name: 'bench', scopes: ['all'] });
    const { id } = await post('/user/repos', { name: 'measured', auto_init: true });
    const labels: number[] = [];
    for (const name of ['one', 'two']) {
      labels.push((await post('/repos/owner/measured/labels', { name, color: 'ffffff' })).id);
    }
    await post('/repos/owner/measured/issues', { title: 'measured', body: 'text', labels });
    addBranches(join(data, 'repositories', `${id}.git`), size.branches);
    return { token, labels };
  } finally {
    await forge.close();
    fillForge(join(data, 'forge.db'), size);
  }
}

function addBranches(folder: string, count: number): void {
  const head = execFileSync('git', ['rev-parse', 'main'], { cwd: folder, encoding: 'utf8' }).trim();
  const lines = Array.from({ length: count }, (_, at) => `create refs/heads/branch-${at} ${head}\n`);
  execFileSync('git', ['update-ref', '--stdin'], { cwd: folder, input: lines.join('') });
}

/** Amount of data in a forge. */
type Size = { readonly repositories: number; readonly issues: number; readonly hooks: number };

/**
 * Fills the database of a forge with SQL, because the benchmark measures requests, not creation. All rows belong to the
 * existing account; issues, labels and hooks are spread over the repositories.
 */
function fillForge(file: string, size: Size): void {
  const db = openDatabase(file);
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)`;
  db.transaction(() => {
    db.run(
      `INSERT INTO repositories (owner_id, name, lower_name, created_at, updated_at)
       ${numbers} SELECT 1, 'filler-' || i, 'filler-' || i, 1700000000, 1700000000 FROM n`,
      size.repositories,
    );
    const first = db.get<{ id: number }>(`SELECT min(id) AS id FROM repositories WHERE name LIKE 'filler-%'`);
    const start = first?.id ?? 1;
    db.run(
      `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), CAST(1 + i / ? AS INTEGER), 0, 1, 'issue ' || i, 'text of issue ' || i, 1700000000 + i, 1700000000 + i
       FROM n`,
      size.issues,
      start,
      size.repositories,
      size.repositories,
    );
    db.run(
      `INSERT INTO labels (repo_id, name, color, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), 'label-' || CAST(i / ? AS INTEGER), 'ffffff', 1700000000, 1700000000 FROM n`,
      size.repositories * 3,
      start,
      size.repositories,
      size.repositories,
    );
    db.run(
      `INSERT INTO issue_labels (issue_id, label_id)
       SELECT i.id, (SELECT min(l.id) FROM labels l WHERE l.repo_id = i.repo_id) FROM issues i
       WHERE i.title LIKE 'issue %' AND EXISTS (SELECT 1 FROM labels l WHERE l.repo_id = i.repo_id)`,
    );
    db.run(
      `INSERT INTO hooks (repo_id, type, url, content_type, events, is_active, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), 'gitea', 'http://127.0.0.1:9/', 'json', '["push"]', 1, 1700000000, 1700000000 FROM n`,
      size.hooks,
      start,
      size.repositories,
    );
  });
  db.close();
}
