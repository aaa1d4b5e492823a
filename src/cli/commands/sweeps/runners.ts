import type { Settings } from '../../../server/settings/config.ts';
import { createRunnerMemory, type RunnerRecord } from '../../../work/sweeps/targets/runner-memory.ts';
import { ageOf, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/** Prints the runners observed by sweeps, offline ones first. Returns the exit status: 1 if a runner is offline. */
export async function runners(
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    const levels = await createRunnerMemory(store).levels();
    const found = Object.entries(levels).flatMap(([level, records]) =>
      Object.entries(records).map(([id, record]) => ({ level, id: Number(id), ...record })),
    );
    const order: readonly RunnerRecord['status'][] = ['offline', 'online', 'gone'];
    const sorted = found.toSorted(
      (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name),
    );
    if (options.json) terminal.out(JSON.stringify(sorted));
    else if (sorted.length === 0)
      terminal.out('no sweep has observed a runner yet: this requires a rule with `each: runner`');
    else {
      const now = new Date();
      const rows = sorted.map(({ name, level, status, since, busy, disabled, labels, changes }) => [
        plain(name),
        plain(level),
        disabled ? `${status}, disabled` : status,
        ageOf(since, now),
        busy ? 'works' : '',
        String(changes.length),
        plain(labels.join(' ')),
      ]);
      terminal.out(tableOf(['runner', 'where', 'status', 'for', 'now', 'flaps', 'labels'], rows));
    }
    return sorted.some(({ status }) => status === 'offline') ? 1 : 0;
  } finally {
    await store.close();
  }
}
