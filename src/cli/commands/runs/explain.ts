import { isObserved } from '../../../engine/describe-change.ts';
import type { Run } from '../../../engine/record.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type Delivery, itemOfDelivery } from '../../../store/store.ts';
import { parseItem, readAboutItem } from '../../../work/runs/about-item.ts';
import { scheduledRules } from '../../../work/sweeps/sweeps.ts';
import { printRun } from '../../output/print-run.ts';
import { count, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';
import { describeTarget, findLastChanging, findRuns, whyNoRun } from './find-target.ts';
import { eventNameOf, itemsOfRuns, printAboutItem } from './list.ts';

/**
 * Prints the recorded verdict of each rule of a run, without requests. `id` is the id of a run, the id of a delivery
 * (for all its runs, or the reason why it has none), `owner/repo#7` (for a list of all runs about it, what waits, when it is looked at next, and the
 * newest run with changes), or `last`. Returns the exit status.
 */
export async function explain(
  id: string,
  options: { json?: boolean; requests?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    const item = parseItem(id);
    if (item !== undefined) {
      const schedules = scheduledRules(await readOperatorRules(settings.rules));
      const about = await readAboutItem(item, { store, schedules, now: systemClock.now() });
      if (about.repositoryId === undefined && about.runs.length === 0)
        throw new ReeveError('usage', `nothing about ${item.repository} is stored`);
      if (options.json) terminal.out(JSON.stringify(about));
      else {
        printAboutItem(id, about, terminal);
        const run = mostTelling(about.runs);
        if (run !== undefined) {
          terminal.out('');
          printExplained(run, run.trigger.item ?? id, terminal);
        }
      }
      return 0;
    }
    const runs = await findRuns(id, store);
    if (runs.length === 0) {
      const delivery = await describeTarget(id, store);
      if (delivery !== undefined) {
        if (options.json) terminal.out(JSON.stringify({ delivery }));
        else printDelivery(delivery, terminal);
        return 0;
      }
      throw new ReeveError(
        'usage',
        id === 'last'
          ? 'there is no run yet'
          : `there is no run or delivery "${id}"; reeve explain last shows the newest run`,
      );
    }
    const items = await itemsOfRuns(runs, store);
    for (const run of runs) {
      if (options.json) terminal.out(JSON.stringify(run));
      else {
        printExplained(run, items.get(run.id), terminal);
        if (options.requests) printRequests(run, terminal);
      }
    }
    if (id === 'last' && !options.json && runs.every(({ changes }) => changes.length === 0)) {
      const changing = await findLastChanging(store);
      if (changing !== undefined)
        terminal.out(
          terminal.style('dim', `The newest run that changed something: reeve explain ${changing.id}`),
        );
    }
    return 0;
  } finally {
    await store.close();
  }
}

/** Returns the newest run with changes, otherwise with a rule that matched or failed, otherwise the newest. */
function mostTelling(runs: readonly Run[]): Run | undefined {
  return (
    runs.find(({ changes, refused }) => changes.length + refused.length > 0) ??
    runs.find(({ rules }) => rules.some(({ verdict }) => verdict === 'matched' || verdict === 'failed')) ??
    runs[0]
  );
}

/** Returns the usable rules of the operator. Files that cannot be read have no schedules; `reeve check` says why. */
async function readOperatorRules(path: string | undefined): Promise<readonly LoadedRule[]> {
  try {
    const files = path === undefined ? [] : await loadRuleFiles([path], { isOperators: true });
    return files.flatMap(({ rules }) => rules);
  } catch (error) {
    if (error instanceof ReeveError) return [];
    throw error;
  }
}

/** Prints why a delivery has no run. */
function printDelivery(delivery: Delivery, terminal: Terminal): void {
  const { id, receivedAt, state, attempts } = delivery;
  const item = itemOfDelivery(delivery);
  const where = item === undefined ? '' : ` in ${item}`;
  const head = `delivery ${id}  ${receivedAt.toISOString()}  ${eventNameOf(delivery)}${where}  ${state}`;
  terminal.out(terminal.style('dim', plain(head)));
  terminal.out(plain(`No run: ${whyNoRun(delivery)}.`));
  if (state === 'dead') terminal.out(`Once the cause is removed, reeve redrive ${id} runs it again.`);
  if (attempts > 1) terminal.out(terminal.style('dim', `${count(attempts, 'attempt')}`));
}

/**
 * Returns the mode of a run as the end of its head line: what became of its changes. A run without changes has nothing
 * that could be enforced, whatever the modes of its rules.
 */
function modeOf(run: Run): string {
  if (run.mode !== 'enforce') return `  ${run.mode}`;
  if (run.changes.length === 0) return '';
  const observed = run.changes.filter((change) => isObserved(run, change)).length;
  if (observed === 0) return '  enforce';
  return observed === run.changes.length
    ? '  observe'
    : `  enforce, ${count(observed, 'change')} only observed`;
}

function printExplained(run: Run, about: string | undefined, terminal: Terminal): void {
  const { trigger } = run;
  const repeated = trigger.repeated ? ' (repeated)' : '';
  const from = trigger.delivery === undefined ? trigger.door : `delivery ${trigger.delivery}${repeated}`;
  const item = about === undefined ? '' : `, ${about}`;
  terminal.out(terminal.style('dim', plain(`run ${run.id}  ${trigger.at}  ${from}${item}${modeOf(run)}`)));
  printRun(run, terminal);
  terminal.out(terminal.style('dim', `${count(run.requests, 'request')}, ${run.ms} ms`));
}

/** Prints the requests of a run to the forge, each with its response. */
function printRequests({ forgeRequests, forgeRequestsLeftOut = 0 }: Run, terminal: Terminal): void {
  if (forgeRequests === undefined) {
    terminal.out(terminal.style('dim', 'The requests of this run are not recorded.'));
    return;
  }
  const rows = forgeRequests.map(({ method, path, status, ms, attempt, error }) => [
    plain(`${method} ${path}`),
    status === undefined ? 'no answer' : String(status),
    `${ms} ms`,
    attempt === 1 ? '' : `try ${attempt}`,
    plain(error ?? ''),
  ]);
  if (rows.length > 0) terminal.out(tableOf(['REQUEST', 'ANSWER', 'TOOK', 'TRY', 'ERROR'], rows));
  if (forgeRequestsLeftOut > 0)
    terminal.out(terminal.style('dim', `not recorded: ${count(forgeRequestsLeftOut, 'later request')}`));
}
