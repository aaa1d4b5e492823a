import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { Store } from '../../../store/store.ts';
import { runnersAdvice } from '../../../work/alarms/blind-spots.ts';
import { readSight } from '../../../work/alarms/rule-sight.ts';
import { type KnownRunner, readKnownRunners, runnerRules } from '../../../work/alarms/runner-sight.ts';
import type { RunnerRecord } from '../../../work/sweeps/targets/runner-memory.ts';
import { ageOf, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/**
 * Prints the runners observed by sweeps, offline ones first, and what the rules about runners cannot see. Returns the exit
 * status: 1 if a runner is offline or is not seen now, or if a rule cannot see runners.
 */
export async function runners(
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const files =
    settings.rules === undefined ? [] : await loadRuleFiles([settings.rules], { isOperators: true });
  const rules = runnerRules(files.flatMap((file) => file.rules));
  const store = await openStore(settings);
  try {
    const now = new Date();
    const found = await readKnownRunners(rules, store, now);
    const order: readonly RunnerRecord['status'][] = ['offline', 'online', 'gone'];
    const sorted = found.toSorted(
      (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name),
    );
    const missing = await missingSight(rules, store, { isNoneKnown: sorted.length === 0 });
    if (options.json) terminal.out(JSON.stringify(sorted));
    else {
      if (sorted.length > 0)
        terminal.out(
          tableOf(
            ['runner', 'where', 'status', 'for', 'now', 'flaps', 'labels'],
            sorted.map((one) => rowOf(one, now)),
          ),
        );
      else if (rules.length === 0)
        terminal.out('no sweep has observed a runner yet: this requires a rule with `each: runner`');
      else if (missing.length === 0) terminal.out('no sweep has observed a runner yet');
      else terminal.out('no sweep has observed a runner:');
      for (const line of missing) terminal.out(terminal.style('yellow', plain(line)));
    }
    const isWrong = sorted.some(({ status, notSeenSince }) => status === 'offline' || notSeenSince);
    return isWrong || missing.length > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}

function rowOf(
  { name, level, status, since, busy, disabled, labels, changes, notSeenSince }: KnownRunner,
  now: Date,
): readonly string[] {
  const was = disabled ? `${status}, disabled` : status;
  return [
    plain(name),
    plain(level),
    notSeenSince ? `not seen since ${timeOf(notSeenSince)}, was ${was}` : was,
    ageOf(notSeenSince?.toISOString() ?? since, now),
    busy && !notSeenSince ? 'works' : '',
    String(changes.length),
    plain(labels.join(' ')),
  ];
}

/** Returns a line for each thing that a rule about runners cannot see. */
async function missingSight(
  rules: readonly LoadedRule[],
  store: Store,
  { isNoneKnown }: { readonly isNoneKnown: boolean },
): Promise<readonly string[]> {
  const sights = await readSight(rules, store);
  return sights.flatMap(({ name, limits, isBlind }) => {
    const lines = limits.map(({ text, since }) => `rule ${name}, since ${timeOf(since)}: ${text}`);
    if (lines.length > 0) return [...lines, `  ${runnersAdvice}`];
    // No server has looked for blind spots since.
    return isBlind && isNoneKnown ? [`rule ${name}: its last sweep saw no runner`, `  ${runnersAdvice}`] : [];
  });
}

function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
