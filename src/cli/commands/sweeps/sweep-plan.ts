import type { Run } from '../../../engine/record.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { planSweep } from '../../../work/sweeps/plan-sweep.ts';
import { beginProgress, withFailures } from '../../../work/sweeps/progress.ts';
import type { SweepFailure } from '../../../work/sweeps/targets/repositories.ts';
import { printRun } from '../../output/print-run.ts';
import { createProgressLine, type ProgressStream } from '../../output/progress-line.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
import { withSimulation } from '../planning-context.ts';
import { watchSignals } from '../process.ts';
import { findOpenRule, findSweepRule } from './sweep-rule.ts';

type SweepPlanOptions = {
  readonly in?: readonly string[];
  readonly json?: boolean;
  /** Whether the rule is planned for open issues and pull requests instead of for the items of its schedule. */
  readonly open?: boolean;
};

/**
 * Maximum number of items that are printed in full; the rest are only counted. The limit is lower for items without a
 * change, which show only why nothing changes.
 */
const shownAtMost = { telling: 50, quiet: 10 } as const;

/** Exit status of an interrupted command, as in shells. */
const interrupted = 130;

/**
 * Prints the plan of a rule's sweep item by item, and writes nothing. With `json`, each item is one line; otherwise the
 * first items are printed in full, with a summary. Returns the exit status: 1 if the rule failed for an item, a change
 * was refused, or a list could not be read; 130 if interrupted.
 */
export async function printSweepPlan(
  name: string,
  options: SweepPlanOptions,
  settings: Settings,
  terminal: Terminal,
  {
    stream = process.stderr,
    clock = systemClock,
    onChanges,
  }: {
    readonly stream?: ProgressStream;
    readonly clock?: Clock;
    /** Called at the end with the number of planned changes. */
    readonly onChanges?: (changes: number) => void;
  } = {},
): Promise<number> {
  if (settings.forge === undefined)
    throw new ReeveError('usage', 'a sweep needs a forge: set FORGE_URL and FORGE_TOKEN');
  const { rule, open } = options.open
    ? await findOpenRule(name, settings)
    : { rule: await findSweepRule(name, settings), open: undefined };
  const stop = watchSignals();
  const line = createProgressLine(rule.name, { stream, clock });
  const printer = createPrinter(options.json ?? false, terminal);
  try {
    await withSimulation(
      { settings, rules: undefined, terminal, clock },
      async (context, { recall, login }) => {
        const startedMs = clock.monotonicMs();
        let progress = beginProgress(clock.now());
        const pages = planSweep(rule, options.in, {
          ...context,
          served: { login, listed: settings.repositories },
          recall,
          open,
          signal: stop.signal,
        });
        for await (const { runs, later, passedOver, total, failures, listingRequests } of pages) {
          line.end();
          for (const run of runs) printer.add(run, later.has(run));
          printer.passOver(passedOver);
          for (const failure of failures) printer.addFailure(failure);
          progress = {
            ...withFailures(progress, failures),
            ...printer.counts(),
            total,
            requests: printer.requests() + listingRequests,
            ms: Math.round(clock.monotonicMs() - startedMs),
          };
          line.show(progress);
        }
        line.end();
        printer.end(rule.name, progress.requests);
        onChanges?.(printer.changes());
      },
    );
    return printer.isWrong() ? 1 : 0;
  } catch (error) {
    if (!stop.explains(error)) throw error;
    line.end();
    terminal.error('stopped; nothing was written');
    return interrupted;
  } finally {
    line.end();
  }
}

/** Prints the plans of items as they arrive, and counts the items. */
interface Printer {
  /** Prints an item. `isLater`: the changes of the item exceed the limit of one slot. */
  add(run: Run, isLater: boolean): void;
  /** Counts items that were handled in an earlier slot. */
  passOver(count: number): void;
  addFailure(failure: SweepFailure): void;
  counts(): { readonly items: number; readonly pending: number; readonly failed: number };
  /** Returns the number of planned changes. */
  changes(): number;
  /** Returns the number of requests that the items needed. */
  requests(): number;
  /** Returns whether something failed or was refused. */
  isWrong(): boolean;
  end(rule: string, requests: number): void;
}

function createPrinter(json: boolean, terminal: Terminal): Printer {
  const items = { all: 0, changed: 0, later: 0, passedOver: 0, failed: 0, hidden: 0 };
  const shown = { telling: 0, quiet: 0 };
  let changes = 0;
  let refused = 0;
  let requests = 0;
  let unlisted = 0;

  const print = (run: Run, kind: 'telling' | 'quiet'): void => {
    if (!json && shown[kind] >= shownAtMost[kind]) {
      items.hidden += 1;
      return;
    }
    if (json) {
      terminal.out(JSON.stringify(run));
      return;
    }
    shown[kind] += 1;
    terminal.out(terminal.style('bold', plain(run.trigger.item ?? '')));
    printRun(run, terminal);
  };

  return {
    add(run, isLater) {
      const hasFailed = run.rules.some(({ verdict }) => verdict === 'failed');
      items.all += 1;
      if (hasFailed) items.failed += 1;
      if (run.changes.length > 0) items.changed += 1;
      changes += run.changes.length;
      if (isLater) items.later += 1;
      else refused += run.refused.length;
      requests += run.requests;
      print(run, hasFailed || run.changes.length + run.refused.length > 0 ? 'telling' : 'quiet');
    },
    passOver(count) {
      items.passedOver += count;
    },
    addFailure({ item, error }) {
      unlisted += 1;
      terminal.error(plain(`${item}: ${error}`));
    },
    counts: () => ({ items: items.all, pending: changes + refused, failed: items.failed + unlisted }),
    changes: () => changes,
    requests: () => requests,
    isWrong: () => items.failed + refused + unlisted > 0,
    end(rule, allRequests) {
      // With `--json`, stdout contains only runs, so the summary goes to stderr.
      const say = json ? terminal.error : terminal.out;
      const waiting = [
        ...(items.later === 0 ? [] : [`${count(items.later, 'item')} in later slots`]),
        ...(items.passedOver === 0
          ? []
          : [`${count(items.passedOver, 'item')} had their turn in an earlier slot`]),
      ];
      const wrong = [
        ...(refused === 0 ? [] : [`${count(refused, 'change')} refused`]),
        ...(items.failed === 0 ? [] : [`${count(items.failed, 'item')} failed`]),
        ...(unlisted === 0 ? [] : [`${count(unlisted, 'list')} not read`]),
      ];
      const words = [
        `${count(items.all, 'item')}, ${count(changes, 'change')} in ${items.changed} of them`,
        ...waiting,
        ...wrong,
        `${count(allRequests, 'request')}; nothing was written`,
      ];
      say(plain(`${rule}: ${words.join(', ')}`));
      if (items.hidden > 0) say(`${count(items.hidden, 'item')} not shown; --json prints each`);
    },
  };
}
