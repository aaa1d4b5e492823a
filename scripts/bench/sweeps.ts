import { type BenchRow, type Measure, round } from './row.ts';
import { measureRoom } from './sweeps/room.ts';
import { type SweepBench, startSweepBench } from './sweeps/sweep-bench.ts';

/** Whatever is measured beside a tenth of it. */
const sizes = {
  quick: { repositories: 1_000, notifications: 5_000, runners: 100 },
  full: { repositories: 10_000, notifications: 50_000, runners: 1_000 },
};
const kinds = ['repositories', 'notifications', 'runners'] as const;
const alone = { against: '', ratio: null } as const;

/**
 * Sweeps over what is as the rules want it, on the embedded forge: at 50 ms latency what is read and written and how
 * long it takes; without, whether memory stays flat and time linear over ten times as many items; and what the store takes.
 */
export const measure: Measure = async ({ quick }) => {
  const large = quick ? sizes.quick : sizes.full;
  const small = {
    repositories: large.repositories / 10,
    notifications: large.notifications / 10,
    runners: large.runners / 10,
  };
  const latent = quick ? 200 : 1_000;
  const rows: BenchRow[] = [];
  const sync = await startSweepBench({ repositories: latent, notifications: 0, runners: 0 });
  rows.push(...(await atLatency(sync, latent)).flat());
  await sync.stop();
  const [few, many] = [await startSweepBench(small), await startSweepBench(large)];
  for (const kind of kinds)
    rows.push(...(await beside(few, many, { kind, small: small[kind], large: large[kind] })));
  await few.stop();
  await many.stop();
  rows.push(...(await measureRoom({ quick })));
  return rows;
};

async function atLatency(bench: SweepBench, count: number): Promise<readonly BenchRow[]> {
  const { reads, writes, seconds } = await bench.sweep('repositories', count, 50);
  const name = `${count.toLocaleString('en')} repositories in sync, 50 ms latency`;
  const maxReads = count + count / 50 + 20;
  const maxSeconds = count / 50;
  return [
    {
      name: `${name}: reads`,
      value: reads,
      unit: '',
      ...alone,
      target: `<= ${maxReads}`,
      ok: reads <= maxReads,
    },
    { name: `${name}: writes`, value: writes, unit: '', ...alone, target: '0', ok: writes === 0 },
    {
      name: `${name}: time`,
      value: round(seconds),
      unit: 's',
      ...alone,
      target: `<= ${maxSeconds} s`,
      ok: seconds <= maxSeconds,
    },
  ];
}

async function beside(
  few: SweepBench,
  many: SweepBench,
  { kind, small, large }: { kind: (typeof kinds)[number]; small: number; large: number },
): Promise<readonly BenchRow[]> {
  // The first sweep of a process is slower than those that follow: code is compiled, connections are made.
  await few.sweep(kind, small);
  const less = await few.sweep(kind, small);
  const more = await many.sweep(kind, large);
  if (more.items !== large || less.items !== small || more.failed + less.failed > 0) {
    throw new Error(`of ${large} ${kind} ${more.items} were swept, ${more.failed} failed`);
  }
  const name = `${large.toLocaleString('en')} ${kind}`;
  const perItem = (more.seconds / large) * 1_000;
  const perFew = (less.seconds / small) * 1_000;
  const ratio = round(perItem / perFew);
  const peak = Math.round(more.peakBytes / 2 ** 20);
  const rest = Math.round(more.restBytes / 2 ** 20);
  const growth = Math.max(round(more.growthBytes / 2 ** 20), 0);
  return [
    {
      name: `${name} swept: time of each`,
      value: round(perItem),
      unit: 'ms',
      against: `a tenth of them: ${round(perFew)} ms`,
      ratio,
      target: '<= 1.5 x',
      ok: ratio <= 1.5,
    },
    {
      name: `${name} swept: requests`,
      value: more.reads + more.writes,
      unit: '',
      ...alone,
      target: '–',
      ok: true,
    },
    {
      name: `${name} swept: memory of the process`,
      value: peak,
      unit: 'MB',
      against: `before its first sweep: ${rest} MB`,
      ratio: round(peak / rest),
      target: '<= 1.5 x',
      ok: peak / rest <= 1.5,
    },
    {
      name: `${name} swept: memory kept from the first tenth to the end`,
      value: growth,
      unit: 'MB',
      ...alone,
      target: '<= 15 MB',
      ok: growth <= 15,
    },
  ];
}
