import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { readSight } from '../../../work/alarms/rule-sight.ts';
import { count, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/**
 * Prints when each rule of the operator could last run, and what it cannot see or do, since when. Returns the exit
 * status.
 */
export async function listRules(
  options: { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const files =
    settings.rules === undefined ? [] : await loadRuleFiles([settings.rules], { isOperators: true });
  const store = await openStore(settings);
  try {
    const rules = await readSight(
      files.flatMap((file) => file.rules),
      store,
    );
    if (options.json) {
      for (const rule of rules) terminal.out(JSON.stringify(rule));
      return 0;
    }
    if (rules.length === 0) {
      terminal.out('There are no rules of the operator: REEVE_RULES names their folder.');
      return 0;
    }
    terminal.out(
      tableOf(
        ['RULE', 'COULD LAST RUN', 'CANNOT SEE OR DO'],
        rules.map(({ name, lastRunAt, limits }) => [
          plain(name),
          lastRunAt === undefined ? 'never' : timeOf(lastRunAt),
          limits.length === 0 ? '–' : count(limits.length, 'thing'),
        ]),
      ),
    );
    for (const { name, limits } of rules)
      for (const { text, since } of limits)
        terminal.out(terminal.style('yellow', `${plain(name)}, since ${timeOf(since)}: ${plain(text)}`));
    return 0;
  } finally {
    await store.close();
  }
}

function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
