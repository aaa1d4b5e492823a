import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../../../src/engine/record.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { Snapshots } from '../../../src/work/sweeps/catch-up/snapshots.ts';
import type { BenchRow } from '../row.ts';

const bodyBytes = 8 * 1024;

/** What one of them takes in the file of the store, written as the server writes it. */
const things: readonly {
  what: string;
  maxBytes: number;
  write: (store: Store, count: number) => Promise<void>;
}[] = [
  {
    what: 'a delivery of 8 KB',
    maxBytes: 12 * 1024,
    async write(store, count) {
      // Random text: a body that is the same everywhere would say nothing of pages that are packed.
      const accept = () =>
        store.accept({
          uuid: randomUUID(),
          eventType: 'push',
          entry: 'bench',
          contentType: 'application/json',
          receivedAt: new Date(),
          body: Buffer.from(JSON.stringify({ text: randomBytes(bodyBytes / 2).toString('hex') })),
        });
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

/** Measures the file of the store for what it keeps most of. */
export async function measureRoom({ quick }: { quick: boolean }): Promise<readonly BenchRow[]> {
  const count = quick ? 1_024 : 8_192;
  const rows: BenchRow[] = [];
  for (const { what, maxBytes, write } of things) {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
    const path = join(folder, 'reeve.db');
    try {
      const empty = await openSqliteStore({ path, role: 'worker' });
      await empty.close();
      const before = (await stat(path)).size;
      const store = await openSqliteStore({ path, role: 'worker' });
      await write(store, count);
      // Closing brings the log of writes into the file.
      await store.close();
      const bytes = Math.round(((await stat(path)).size - before) / count);
      rows.push({
        name: `in the store: ${what}`,
        value: bytes,
        unit: 'bytes',
        against: '',
        ratio: null,
        target: `<= ${maxBytes} bytes`,
        ok: bytes <= maxBytes,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return rows;
}

/** A run as a pull request of an average repository makes it. */
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
