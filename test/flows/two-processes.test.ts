import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve, start } from '../support/command.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { scrapeWithPassword } from '../support/scrape-metrics.ts';
import { hookSecrets, markRule, startSecondServer } from '../support/second-server.ts';

describe('processes that share a PostgreSQL database', () => {
  let database: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    // A separate server that syncs to disk, because the bot refuses one that does not.
    database = await startPostgres();
  });
  afterAll(() => database.stop());

  const inSchema = (schema: string): string => {
    const url = new URL(database.url.replace(/^postgres:/, 'http:'));
    url.searchParams.set('schema', schema);
    return url.href.replace(/^http:/, 'postgres:');
  };
  const open = async (harness: Harness, count: number): Promise<readonly number[]> => {
    const issues: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: `${n}` } });
      issues.push(issue.number ?? 0);
    }
    await harness.idle();
    return issues;
  };

  it('both use a rule that was changed on the forge', async () => {
    const databaseUrl = inSchema('rules');
    const harness = await startHarness({ on: 'the embedded forge', server: { databaseUrl } });
    let handledByOther = 0;
    const other = await startSecondServer(harness, databaseUrl, {
      onRun: () => {
        handledByOther += 1;
      },
    });
    /** Opens issues until both processes have handled some. Returns all labels that the issues got. */
    const labelsByBoth = async (): Promise<ReadonlySet<string>> => {
      const labels = new Set<string>();
      const [before, otherBefore] = [harness.runs.length, handledByOther];
      for (let rounds = 0; rounds < 30; rounds += 1) {
        for (const issue of await open(harness, 4)) labels.add((await harness.labelsOf(issue)).join(' '));
        if (harness.runs.length > before && handledByOther > otherBefore) return labels;
      }
      throw new Error('one process handles everything');
    };
    /**
     * Returns the labels that both processes set once neither sets the old label any more. The notification may arrive
     * after the first issues. Without it, the other process keeps the old rule for ten minutes.
     */
    const labelsAfter = async (old: string): Promise<readonly string[]> => {
      let labels = await labelsByBoth();
      for (let rounds = 0; rounds < 5 && labels.has(old); rounds += 1) labels = await labelsByBoth();
      return [...labels];
    };
    try {
      await harness.setRules(markRule('kept'));
      expect(await labelsAfter('')).toEqual(['kept']);

      await harness.setRules(markRule('area/docs'));
      expect(await labelsAfter('kept')).toEqual(['area/docs']);
    } finally {
      await other.stop();
      await harness.close();
    }
  });

  it('share the work by their roles, and continue the work of a killed process', async () => {
    const databaseUrl = inSchema('roles');
    const harness = await startHarness({
      on: 'the embedded forge',
      rules: markRule('kept'),
      // Named like the secret from the environment, so that the worker recognizes it.
      server: { databaseUrl, role: 'web', secrets: [{ name: 'environment', ...hookSecrets }] },
    });
    const environment = { ...harness.environment, DATABASE_URL: databaseUrl, PORT: '0' };
    const startWorker = async () => {
      const child = start(['serve', '--role', 'worker'], { environment });
      let printed = '';
      const url = await new Promise<string>((resolve, reject) => {
        child.once('exit', () => reject(new Error(`the worker ended: ${printed}`)));
        for (const stream of [child.stdout, child.stderr])
          stream?.on('data', (part) => {
            printed += String(part);
            const found = /"url":"([^"]+)"/.exec(printed)?.[1];
            if (found !== undefined) resolve(found);
          });
      });
      return { child, url };
    };
    try {
      const first = await startWorker();
      const [early] = await open(harness, 1);
      expect(await harness.labelsOf(early ?? 0)).toEqual(['kept']);
      expect(harness.runs).toEqual([]);
      const statusOf = async (path: string, method = 'GET') =>
        (await fetch(`${first.url}${path}`, { method })).status;
      expect([await statusOf('/healthz'), await statusOf('/metrics')]).toEqual([200, 401]);
      expect([await statusOf('/'), await statusOf('/webhook', 'POST')]).toEqual([404, 404]);

      // The process is killed while it handles a delivery whose request the forge never answers.
      let asked = 0;
      harness.proxy.decide = () => {
        asked += 1;
        return { kind: 'hang' };
      };
      const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'late' } });
      await expect.poll(() => asked).toBeGreaterThan(0);
      first.child.kill('SIGKILL');
      harness.proxy.decide = () => ({ kind: 'pass' });
      const second = await startWorker();
      await harness.idle();
      expect(await harness.labelsOf(issue.number ?? 0)).toEqual(['kept']);
      // A killed process counts as alive until it is detected as missing.
      const roles = async () => (await harness.server.store.listProcesses()).map(({ role }) => role);
      await expect.poll(roles).toEqual(['web', 'worker']);
      // Metrics can be summed over the processes: a value about all processes is reported by only one of them.
      const { status, out } = await reeve(['password'], { environment });
      expect(status).toBe(0);
      const total = async (metric: string): Promise<readonly number[]> => {
        const scraped = [harness.server.url, second.url].map((url) => scrapeWithPassword(url, out.trim()));
        const lines = (await Promise.all(scraped)).join('').split('\n');
        return lines
          .filter((line) => line.startsWith(`${metric} `))
          .map((line) => Number(line.split(' ')[1]));
      };
      const takeovers = await total('reeve_takeovers_total');
      expect(takeovers).toHaveLength(2);
      expect(Math.max(...takeovers)).toBeGreaterThan(0);
      await expect.poll(() => total('reeve_leader')).toEqual([0, 1]);
      expect(await total('reeve_processes{role="web"}')).toEqual([1]);
      expect(await total('reeve_deliveries{state="dead"}')).toEqual([0]);
    } finally {
      await harness.close();
    }
  });
});
