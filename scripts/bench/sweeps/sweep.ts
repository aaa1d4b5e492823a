import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../../src/client/client.ts';
import { createFactMemory } from '../../../src/facts/ask.ts';
import { silentLog } from '../../../src/log.ts';
import { loadRuleFile } from '../../../src/rules/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import { createStoredMemory } from '../../../src/store/action-memory.ts';
import { openSqliteStore } from '../../../src/store/sqlite.ts';
import { createRunnerMemory } from '../../../src/sweeps/runner-memory.ts';
import { runSweep } from '../../../src/sweeps/sweep.ts';
import { createSweepStore } from '../../../src/sweeps/sweep-store.ts';
import { startManyRepositories } from '../../../test/support/many-repositories.ts';

/** What a sweep over many repositories cost. */
export type SweepResult = {
  readonly reads: number;
  readonly writes: number;
  readonly seconds: number;
  /** What the heap has grown by from the first tenth to the end, garbage collected. */
  readonly growthBytes: number;
};

const rule = `
version: 1
rules:
  protected:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps:
      - uses: sync-branch-protections
        with: { protections: [{ rule_name: main, required_approvals: 2 }] }
`;

/** Sweeps repositories whose protections are as the rule wants them, with the given latency before every answer. */
export async function sweepInSync(repositories: number, latencyMs: number): Promise<SweepResult> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const forge = await startManyRepositories(repositories, latencyMs);
  const store = await openSqliteStore({ path: join(folder, 'reeve.db'), role: 'worker' });
  try {
    const [loaded] = loadRuleFile({
      path: 'rules.yml',
      text: rule,
      level: 'operator',
      commit: '',
      registry,
    }).rules;
    if (loaded === undefined) throw new Error('the rule of the benchmark is broken');
    const nowMs = (): number => performance.now();
    let done = 0;
    let early = 0;
    const startedMs = nowMs();
    await runSweep(
      {
        client: createClient({ url: forge.url }),
        account: async () => ({ id: 2 }),
        served: { login: async () => 'reeve', listed: [] },
        memory: createFactMemory(nowMs),
        actionMemory: createStoredMemory(store),
        runners: createRunnerMemory(store),
        store: createSweepStore(store),
        clock: { now: () => new Date() },
        nowMs,
        sleep: async () => {},
        log: silentLog,
        onRun: () => {
          done += 1;
          // What the stand-in remembers of its requests is not ours to count.
          if (done === Math.ceil(repositories / 10)) early = heapBytes();
        },
      },
      { rule: loaded, slot: 'bench', job: '1', door: 'cli', isInScope: () => true },
      {
        signal: new AbortController().signal,
        stopping: new AbortController().signal,
        giveBack: (reason) => new Error(reason),
        advance: async () => {},
      },
    );
    const seconds = (nowMs() - startedMs) / 1_000;
    const growthBytes = heapBytes() - early;
    const reads = forge.asked.filter(({ method }) => method === 'GET').length;
    return { reads, writes: forge.asked.length - reads, seconds, growthBytes };
  } finally {
    await store.close();
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
