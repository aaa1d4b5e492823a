import { parseArgs } from 'node:util';
import { judgeSoak, type SoakRow } from './soak/judge.ts';
import { runSoak } from './soak/run-soak.ts';

/**
 * `npm run soak -- [--store sqlite|postgres] [--minutes M] [--deliveries N] [--json]`: runs `reeve serve` under load and
 * faults for an hour, or until N deliveries were acknowledged, and prints the results for memory, descriptors, store and deliveries. Exit 1
 * when a target is missed, 2 for wrong usage.
 */
const usage = 'usage: soak [--store sqlite|postgres] [--minutes M] [--deliveries N] [--json]';
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => abort.abort());

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', default: 'sqlite' },
      minutes: { type: 'string', default: '60' },
      deliveries: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const deliveries = values.deliveries === undefined ? undefined : Number(values.deliveries);
  const isCount = deliveries === undefined || (Number.isSafeInteger(deliveries) && deliveries > 0);
  const { store } = values;
  if (!(minutes > 0) || !isCount || (store !== 'sqlite' && store !== 'postgres')) throw new Error(usage);
  let lastMs = 0;
  const record = await runSoak({
    store,
    seconds: minutes * 60,
    deliveries,
    signal: abort.signal,
    onSample(sample, acknowledged) {
      if (sample.atMs - lastMs < 30_000) return;
      lastMs = sample.atMs;
      const { heapBytes, rssBytes, descriptors, logBytes, waiting } = sample;
      const [heap, resident, log] = [heapBytes, rssBytes, logBytes].map((bytes) =>
        (bytes / 2 ** 20).toFixed(1),
      );
      console.error(
        `${(sample.atMs / 60_000).toFixed(1)} min: ${acknowledged} acknowledged, ${waiting} waiting, heap ${heap} MiB, resident ${resident} MiB, ${descriptors} descriptors, log ${log} MiB`,
      );
    },
  });
  const rows = judgeSoak(record);
  if (values.json) console.log(JSON.stringify({ rows, samples: record.samples }));
  else for (const row of rows) console.log(lineOf(row));
  return rows.every(({ ok }) => ok !== false) ? 0 : 1;
}

function lineOf({ name, value, target, ok }: SoakRow): string {
  const verdict = ok === undefined ? '' : ` (${ok ? 'ok' : 'MISSED'}: ${target})`;
  return `${name}: ${value}${verdict}`;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = abort.signal.aborted ? 130 : 2;
}
