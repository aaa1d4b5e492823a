import { randomBytes, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import memory from '../../bin/memory.json' with { type: 'json' };
import type { Run } from '../../src/engine/record.ts';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { openDatabase } from '../../src/forge/platform/database.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { Snapshots } from '../../src/work/sweeps/catch-up/snapshots.ts';
import { bundling, requireBanner } from '../build/bundling.ts';
import type { StartedForge } from './children/forge.ts';
import type { Cost } from './children/sweeps-reeve.ts';
import { acceptOne } from './deliveries.ts';
import { type BenchRow, benchRow, type Measure, megabytes, onStage, round, type Stage } from './runner.ts';

/** Numbers of items. Each measurement is compared with one of a tenth of the items. */
const sizes = {
  quick: { repositories: 1_000, notifications: 5_000, runners: 100 },
  full: { repositories: 10_000, notifications: 50_000, runners: 1_000 },
};
const kinds = ['repositories', 'notifications', 'runners'] as const;

/**
 * Measures sweeps over items that already match the rules, on the embedded forge: with 50 ms latency, the reads, writes
 * and time; without latency, whether memory stays flat and time linear over ten times as many items; and the space used
 * in the store.
 */
export const measure: Measure = async ({ quick }) => {
  const large = quick ? sizes.quick : sizes.full;
  const { repositories, notifications, runners } = large;
  const small = {
    repositories: repositories / 10,
    notifications: notifications / 10,
    runners: runners / 10,
  };
  const rows: BenchRow[] = [];
  await onStage(async (stage) => rows.push(...(await atLatency(stage, quick ? 200 : 1_000))));
  await onStage(async (stage) => {
    const few = await startSweepBench(stage, 'few', small);
    const many = await startSweepBench(stage, 'many', large);
    for (const kind of kinds)
      rows.push(...(await beside(few, many, { kind, small: small[kind], large: large[kind] })));
  });
  return [...rows, ...(await measureRoom(quick ? 1_024 : 8_192))];
};

async function atLatency(stage: Stage, count: number): Promise<readonly BenchRow[]> {
  const sweep = await startSweepBench(stage, 'sync', { repositories: count, notifications: 0, runners: 0 });
  const { reads, writes, seconds } = await sweep('repositories', count, 50);
  const name = `${count.toLocaleString('en')} repositories in sync, 50 ms latency`;
  return [
    benchRow({ name: `${name}: reads`, value: reads, unit: '', target: `<= ${count + count / 50 + 20}` }),
    benchRow({ name: `${name}: writes`, value: writes, unit: '', target: '0' }),
    benchRow({ name: `${name}: time`, value: seconds, unit: 's', target: `<= ${count / 50} s` }),
  ];
}

async function beside(
  few: Sweep,
  many: Sweep,
  { kind, small, large }: { kind: (typeof kinds)[number]; small: number; large: number },
): Promise<readonly BenchRow[]> {
  // The first sweep of a process is slower than later ones, because code is compiled and connections are opened.
  await few(kind, small);
  const less = await few(kind, small);
  const more = await many(kind, large);
  if (more.items !== large || less.items !== small || more.failed + less.failed > 0) {
    throw new Error(`of ${large} ${kind} ${more.items} were swept, ${more.failed} failed`);
  }
  const name = `${large.toLocaleString('en')} ${kind} swept`;
  const perItem = (more.seconds / large) * 1_000;
  const perFew = (less.seconds / small) * 1_000;
  const peak = megabytes(more.peakBytes);
  const rest = megabytes(more.restBytes);
  return [
    benchRow({
      name: `${name}: time of each`,
      value: perItem,
      unit: 'ms',
      against: `a tenth of them: ${round(perFew)} ms`,
      ratio: perItem / perFew,
      target: '<= 1.5 x',
    }),
    benchRow({ name: `${name}: requests`, value: more.reads + more.writes, unit: '' }),
    benchRow({
      name: `${name}: memory of the process`,
      value: peak,
      unit: 'MB',
      against: `before its first sweep: ${rest} MB`,
      ratio: peak / rest,
      target: '<= 1.5 x',
    }),
    benchRow({
      name: `${name}: memory kept from the first tenth to the end`,
      value: Math.max(more.growthBytes / 2 ** 20, 0),
      unit: 'MB',
      target: '<= 15 MB',
    }),
  ];
}

const bodyBytes = 8 * 1024;

/** Kinds of data whose size in the file of the store is measured, written like the server writes them. */
const things: readonly {
  what: string;
  maxBytes: number;
  write: (store: Store, count: number) => Promise<void>;
}[] = [
  {
    what: 'a delivery of 8 KB',
    maxBytes: 12 * 1024,
    async write(store, count) {
      // Random text, because a uniform body would say nothing about the size of packed pages.
      const accept = () =>
        acceptOne(store, 'push', JSON.stringify({ text: randomBytes(bodyBytes / 2).toString('hex') }));
      for (let at = 0; at < count; at += 64) await Promise.all(Array.from({ length: 64 }, accept));
    },
  },
  {
    what: 'a run of two rules with one change',
    maxBytes: 4 * 1024,
    write: async (store, count) => {
      for (let at = 0; at < count; at += 1) await store.appendRuns([makeRun()], { repositoryId: at % 100 });
    },
  },
  {
    what: 'a served repository with 2 branches, 10 tags and 50 issues, for catching up',
    maxBytes: 12 * 1024,
    async write(store, count) {
      const seen = new Snapshots(store, systemClock);
      const name = (prefix: string, length: number) =>
        Object.fromEntries(
          Array.from({ length }, (_, at) => [`${prefix}${at}`, randomBytes(20).toString('hex')]),
        );
      const at = new Date().toISOString();
      const item = {
        kind: 'issue',
        state: 'open',
        updated: at,
        labels: 'bug\nkind/feature',
        text: 'A title of some words\n\n120:99',
      } as const;
      const items = Object.fromEntries(Array.from({ length: 50 }, (_, number) => [number + 1, item]));
      for (let id = 1; id <= count; id += 1)
        await seen.edit(id, () => ({ at, items, refs: name('branch-', 2), tags: name('v1.', 10) }));
    },
  },
];

/** Measures the space that the most frequent kinds of data need in the file of the store. */
async function measureRoom(count: number): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { what, maxBytes, write } of things) {
    await onStage(async ({ folder }) => {
      const path = join(folder, 'reeve.db');
      const empty = await openSqliteStore({ path, role: 'worker' });
      await empty.close();
      const before = (await stat(path)).size;
      const store = await openSqliteStore({ path, role: 'worker' });
      await write(store, count);
      // Closing the store moves the write-ahead log into the file.
      await store.close();
      const value = Math.round(((await stat(path)).size - before) / count);
      rows.push(
        benchRow({ name: `in the store: ${what}`, value, unit: 'bytes', target: `<= ${maxBytes} bytes` }),
      );
    });
  }
  return rows;
}

/** Returns a run like that of a pull request in an average repository. */
function makeRun(): Run {
  const id = randomUUID();
  const rule = 'rules/labels.yml#label-by-path';
  const expression = 'files.exists(f, f.filename.glob(["docs/**", "**/*.md"]))';
  const finding = {
    expression,
    result: 'held',
    values: { files: '3 items' },
    file: 'rules/labels.yml',
    line: 14,
    column: 23,
  } as const;
  const verdict = {
    source: 'rules/labels.yml',
    commit: '',
    line: 6,
    verdict: 'matched',
    findings: [finding, finding],
  } as const;
  return {
    schema: 1,
    id,
    mode: 'enforce',
    trigger: {
      door: 'webhook',
      kind: 'pull_request',
      activity: 'opened',
      delivery: id,
      at: new Date().toISOString(),
    },
    rules: [
      { rule, ...verdict },
      { rule: 'rules/labels.yml#label-by-size', ...verdict },
    ],
    changes: [
      {
        id: 'c1',
        rules: [rule],
        step: '1 set-labels',
        action: 'set-labels',
        operation: 'issue.replace-labels',
        method: 'PUT',
        path: '/repos/acme/demo/issues/7/labels',
        input: { params: { owner: 'acme', repo: 'demo', index: 7 }, body: { labels: [1, 2, 3] } },
        target: 'label:area/docs',
        value: true,
        before: false,
        after: true,
        reason: `${expression} holds`,
      },
    ],
    refused: [],
    outcomes: [{ change: 'c1', status: 'applied' }],
    requests: 3,
    ms: 41,
  };
}

/** Sweeps with a rule of `sweeps.yml` over this many items, with this latency before every response. */
type Sweep = (rule: (typeof kinds)[number], count: number, latencyMs?: number) => Promise<Cost>;

/** Creates an embedded forge of this size, and starts the forge and Reeve, each in a separate process. */
async function startSweepBench({ folder, start }: Stage, name: string, size: Size): Promise<Sweep> {
  const data = join(folder, `forge-${name}`);
  const empty = await createForgeInstance({ clock: () => new Date(), data });
  await empty.createAdministrator({ name: 'root', password: 'password' });
  await empty.close();
  fillForSweeps(join(data, 'forge.db'), size);
  const forge = await start<StartedForge>('forge', [data]);
  const rules = fileURLToPath(new URL('./sweeps.yml', import.meta.url));
  const args = [forge.ready.url, join(folder, `reeve-${name}`), rules];
  // Starts like `reeve sweep`, and exposes the garbage collector.
  const reeve = await start(await bundleReeve(), args, {
    ...memory,
    nodeFlags: [...memory.nodeFlags, '--expose-gc'],
  });
  return async (rule, count, latencyMs = 0) => {
    await forge.child.ask('latency', latencyMs);
    return reeve.child.ask<Cost>('sweep', { rule, count });
  };
}

/**
 * Returns Reeve's script as JavaScript, like in the installed package: stripping types from sources occupies about 25
 * MB as long as the process runs.
 */
async function bundleReeve(): Promise<URL> {
  const outfile = fileURLToPath(new URL('../../node_modules/.cache/reeve-bench/reeve.mjs', import.meta.url));
  const entryPoints = [fileURLToPath(new URL('./children/sweeps-reeve.ts', import.meta.url))];
  await build({ ...bundling, entryPoints, outfile, banner: { js: requireBanner } });
  return pathToFileURL(outfile);
}

/** Number of items to sweep. */
type Size = {
  readonly repositories: number;
  readonly notifications: number;
  readonly runners: number;
};

/**
 * Fills the database of a stopped forge: repositories that the first account owns and has starred, each with the tag
 * protection that the rule requires; unread notifications of open issues; runners of the account, all online. Uses SQL,
 * because the benchmark measures requests, not creation.
 */
function fillForSweeps(file: string, size: Size): void {
  const db = openDatabase(file);
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const at = '1700000000';
  db.transaction(() => {
    db.run(
      `INSERT INTO repositories (owner_id, name, lower_name, created_at, updated_at)
       ${numbers} SELECT 1, 'r' || i, 'r' || i, ${at}, ${at} FROM n`,
      size.repositories,
    );
    db.run(`INSERT INTO stars (user_id, repo_id, created_at) SELECT 1, id, ${at} FROM repositories`);
    db.run(
      `INSERT INTO tag_protections (repo_id, name_pattern, created_at, updated_at)
       SELECT id, 'v*', ${at}, ${at} FROM repositories`,
    );
    db.run(
      `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, created_at, updated_at)
       ${numbers} SELECT (SELECT min(id) FROM repositories), i, 0, 1, 'issue ' || i, '', ${at} + i, ${at} + i FROM n`,
      size.notifications,
    );
    db.run(
      `INSERT INTO notifications (user_id, repo_id, source, issue_id, created_at, updated_at)
       SELECT 1, repo_id, 'issue', id, created_at, updated_at FROM issues`,
    );
    db.run(
      `INSERT INTO runners (owner_id, name, last_online_at, created_at)
       ${numbers} SELECT 1, 'runner ' || i, 253402300799, ${at} FROM n`,
      size.runners,
    );
  });
  db.close();
}
