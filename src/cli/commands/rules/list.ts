import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { findLastValid, readSight } from '../../../work/alarms/rule-sight.ts';
import { count, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/**
 * Prints the mode of each rule of the operator, when it could last run and failed last, what it cannot see or do, since when, and the
 * invalid files.
 * Returns the exit status.
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
    const loaded = files.flatMap((file) => file.rules);
    const modes = new Map(loaded.map(({ id, mode }) => [id, mode]));
    const rules = (await readSight(loaded, store)).map((sight) => ({
      ...sight,
      mode: modes.get(sight.id) ?? '',
    }));
    const kept = await findLastValid(files, store);
    const broken = files
      .filter(({ problems }) => problems.length > 0)
      .map(({ path, problems }) => ({ path, problems: problems.length, isLastValid: kept.includes(path) }));
    if (options.json) {
      for (const row of [...rules, ...broken]) terminal.out(JSON.stringify(row));
      return 0;
    }
    for (const { path, problems, isLastValid } of broken) {
      const inForce = isLastValid
        ? 'the running server has its last valid version in force'
        : 'none of its rules is in force';
      const text = `${path} is invalid (${count(problems, 'problem')}; reeve check lists them): ${inForce}`;
      terminal.out(terminal.style('red', plain(text)));
    }
    if (rules.length === 0 && broken.length > 0) return 0;
    if (rules.length === 0) {
      terminal.out('There are no rules of the operator: REEVE_RULES names their folder.');
      return 0;
    }
    terminal.out(
      tableOf(
        ['RULE', 'MODE', 'COULD LAST RUN', 'LAST FAILURE', 'CANNOT SEE OR DO'],
        rules.map(({ name, mode, lastRunAt, lastFailureAt, limits }) => [
          plain(name),
          mode,
          lastRunAt === undefined ? 'never' : timeOf(lastRunAt),
          lastFailureAt === undefined ? '–' : timeOf(lastFailureAt),
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
