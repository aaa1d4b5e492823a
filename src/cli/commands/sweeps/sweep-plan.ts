import type { Run } from '../../../engine/record.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { planSweep } from '../../../work/sweeps/plan-sweep.ts';
import { beginProgress, type SweepProgress, withFailures } from '../../../work/sweeps/progress.ts';
import type { SweepFailure } from '../../../work/sweeps/targets/repositories.ts';
import { createChangeList } from '../../output/change-list.ts';
import { printRun } from '../../output/print-run.ts';
import { createProgressLine, type ProgressStream } from '../../output/progress-line.ts';
import { count, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { withSimulation } from '../planning-context.ts';
import { watchSignals } from '../process.ts';
import { findOpenRules, findSweepRules } from './sweep-rule.ts';

type SweepPlanOptions = {
  readonly in?: readonly string[];
  readonly all?: boolean;
  readonly json?: boolean;
  /** Whether rules are planned for open issues and pull requests instead of for the items of their schedules. */
  readonly open?: boolean;
  /** With `open`: rule files and folders instead of the operator's rules. */
  readonly rules?: readonly string[];
};

/** Maximum number of items that are printed in full; the rest are only counted, unless all are requested. */
const shownAtMost = 50;

/** Exit status of an interrupted command, as in shells. */
export const interrupted = 130;

/**
 * Plans the sweep of a rule, or of every rule with a schedule, and writes nothing; with `open`, a rule or all rules for
 * what is open. Prints a table by rule, then the items with changes, refusals or failures; with `all`, every item. Of
 * several rules for what is open, each change of an item is printed once, with its rules. With `json`, each item is one line, printed when it is
 * planned. Returns the exit status: 1 if a rule failed for an item, a change was refused, or a list could not be read;
 * 130 if interrupted.
 */
export async function printSweepPlan(
  name: string | undefined,
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
  const { found, left } = options.open
    ? await findOpenRules({ name, paths: options.rules, writes: false }, settings)
    : { found: (await findSweepRules(name, settings)).map((rule) => ({ rule, open: undefined })), left: [] };
  const stop = watchSignals();
  const printer = createPrinter(options, terminal, options.open === true && found.length > 1);
  for (const { rule, why } of left) printer.leave(rule.name, why);
  try {
    await withSimulation(
      { settings, rules: undefined, terminal, clock },
      async (context, { recall, login }) => {
        for (const { rule, open } of found) {
          const line = createProgressLine(rule.name, { stream, clock });
          const startedMs = clock.monotonicMs();
          const tally = printer.begin(rule.name);
          let progress = beginProgress(clock.now());
          const pages = planSweep(rule, options.in, {
            ...context,
            served: { login, listed: settings.repositories },
            recall,
            open,
            signal: stop.signal,
          });
          try {
            for await (const { runs, later, passedOver, failures, listingRequests, ...totals } of pages) {
              if (options.json || failures.length > 0) line.end();
              for (const run of runs) tally.add(run, later.has(run));
              tally.passOver(passedOver);
              for (const failure of failures) tally.addFailure(failure);
              progress = {
                ...withFailures(progress, failures),
                ...totals,
                ...tally.counts(listingRequests),
                ms: Math.round(clock.monotonicMs() - startedMs),
              };
              line.show(progress);
            }
          } finally {
            line.end();
          }
        }
      },
    );
    printer.end();
    onChanges?.(printer.changes());
    return printer.isWrong() ? 1 : 0;
  } catch (error) {
    printer.end();
    if (!stop.explains(error)) throw error;
    terminal.error('stopped; nothing was written');
    return interrupted;
  }
}

/** Counts the items of one rule. */
interface Tally {
  /** Adds an item. `isLater`: the changes of the item exceed the limit of one slot. */
  add(run: Run, isLater: boolean): void;
  /** Counts items that were handled in an earlier slot. */
  passOver(count: number): void;
  addFailure(failure: SweepFailure): void;
  /** Returns the counts for the progress line. */
  counts(listingRequests: number): Pick<SweepProgress, 'items' | 'pending' | 'failed' | 'requests'>;
}

/** Collects the plans of items, and prints them at the end. */
interface Printer {
  begin(rule: string): Tally;
  /** Notes a rule that is not planned. */
  leave(rule: string, why: string): void;
  /** Returns the number of planned changes. */
  changes(): number;
  /** Returns whether something failed or was refused. */
  isWrong(): boolean;
  end(): void;
}

type Counts = {
  readonly rule: string;
  items: number;
  changed: number;
  changes: number;
  refused: number;
  failed: number;
  unlisted: number;
  later: number;
  passedOver: number;
  requests: number;
};

function createPrinter(
  { json = false, all = false }: SweepPlanOptions,
  terminal: Terminal,
  isGrouped: boolean,
): Printer {
  const rules: Counts[] = [];
  const left: string[] = [];
  /** The items, if several rules visit the same ones. */
  const list = isGrouped ? createChangeList() : undefined;
  const quiet = new Set<string>();
  const telling = new Set<string>();
  // The table comes first, so the text of the items waits for the end.
  const lines: string[] = [];
  const collected: Terminal = { ...terminal, out: (text) => void lines.push(text) };
  const hidden = { changed: 0, quiet: 0 };
  let shown = 0;

  const print = (run: Run, kind: keyof typeof hidden): void => {
    if (json) {
      terminal.out(JSON.stringify(run));
      return;
    }
    if (list) {
      const item = run.trigger.item ?? '';
      if (list.add(item, run)) telling.add(item);
      else quiet.add(item);
      return;
    }
    if (!all && (kind === 'quiet' || shown >= shownAtMost)) {
      hidden[kind] += 1;
      return;
    }
    shown += 1;
    collected.out(`\n${terminal.style('bold', plain(run.trigger.item ?? ''))}`);
    printRun(run, collected);
  };

  return {
    begin(rule) {
      const counts: Counts = {
        rule,
        items: 0,
        changed: 0,
        changes: 0,
        refused: 0,
        failed: 0,
        unlisted: 0,
        later: 0,
        passedOver: 0,
        requests: 0,
      };
      rules.push(counts);
      let itemRequests = 0;
      return {
        add(run, isLater) {
          const hasFailed = run.rules.some(({ verdict }) => verdict === 'failed');
          counts.items += 1;
          if (hasFailed) counts.failed += 1;
          if (run.changes.length > 0) counts.changed += 1;
          counts.changes += run.changes.length;
          if (isLater) counts.later += 1;
          else counts.refused += run.refused.length;
          itemRequests += run.requests;
          print(run, hasFailed || run.changes.length + run.refused.length > 0 ? 'changed' : 'quiet');
        },
        passOver(number) {
          counts.passedOver += number;
        },
        addFailure({ item, error }) {
          counts.unlisted += 1;
          terminal.error(plain(`${item}: ${error}`));
        },
        counts(listingRequests) {
          const { items, changes, refused, failed, unlisted } = counts;
          counts.requests = itemRequests + listingRequests;
          return {
            items,
            pending: changes + refused,
            failed: failed + unlisted,
            requests: counts.requests,
          };
        },
      };
    },
    leave(rule, why) {
      left.push(plain(`${rule}: not planned (${why})`));
    },
    changes: () => (list && !json ? list.changes() : rules.reduce((sum, { changes }) => sum + changes, 0)),
    isWrong: () => rules.some(({ failed, refused, unlisted }) => failed + refused + unlisted > 0),
    end() {
      if (json) {
        // Stdout contains only runs, so the summary goes to stderr.
        for (const counts of rules) terminal.error(plain(sentenceOf(counts)));
        for (const line of left) terminal.error(line);
        return;
      }
      terminal.out(plainTable(rules));
      for (const line of left) terminal.out(terminal.style('dim', `- ${line}`));
      for (const line of lines) terminal.out(line);
      if (list) {
        if (telling.size > 0) terminal.out('');
        list.print(terminal, { all });
        const others = [...quiet].filter((item) => !telling.has(item));
        if (all) for (const item of others) terminal.out(plain(`${item}: nothing to change`));
        else hidden.quiet = others.length;
      }
      const notShown = [
        ...(hidden.changed === 0 ? [] : [`${count(hidden.changed, 'item')} with changes`]),
        ...(hidden.quiet === 0 ? [] : [`${count(hidden.quiet, 'item')} without changes`]),
      ];
      terminal.out('');
      for (const { rule, items, passedOver } of rules)
        if (items + passedOver === 0)
          terminal.out(
            plain(
              `${rule}: no items: its in and each select none, no repository is served, or the account cannot see them (reeve doctor)`,
            ),
          );
      if (notShown.length > 0) terminal.out(`not shown: ${notShown.join(', ')}; --all shows every item`);
      terminal.out('nothing was written');
    },
  };
}

/** Columns of the table; those after the fourth are left out if they are zero for every rule. */
const columns: readonly (readonly [heading: string, read: (counts: Counts) => number])[] = [
  ['items', ({ items }) => items],
  ['with changes', ({ changed }) => changed],
  ['changes', ({ changes }) => changes],
  ['requests', ({ requests }) => requests],
  ['refused changes', ({ refused }) => refused],
  ['failed items', ({ failed }) => failed],
  ['unread lists', ({ unlisted }) => unlisted],
  ['in later slots', ({ later }) => later],
  ['done in an earlier slot', ({ passedOver }) => passedOver],
];

function plainTable(rules: readonly Counts[]): string {
  const used = columns.filter(([, read], index) => index < 4 || rules.some((counts) => read(counts) > 0));
  return tableOf(
    ['rule', ...used.map(([heading]) => heading)],
    rules.map((counts) => [plain(counts.rule), ...used.map(([, read]) => String(read(counts)))]),
  );
}

/** Returns the counts of a rule as one sentence. */
function sentenceOf(counts: Counts): string {
  const { rule, items, changed, changes, refused, failed, unlisted, later, passedOver, requests } = counts;
  const words = [
    `${count(items, 'item')}, ${count(changes, 'change')} in ${changed} of them`,
    ...(later === 0 ? [] : [`${count(later, 'item')} in later slots`]),
    ...(passedOver === 0 ? [] : [`${count(passedOver, 'item')} had their turn in an earlier slot`]),
    ...(refused === 0 ? [] : [`${count(refused, 'change')} refused`]),
    ...(failed === 0 ? [] : [`${count(failed, 'item')} failed`]),
    ...(unlisted === 0 ? [] : [`${count(unlisted, 'list')} not read`]),
    `${count(requests, 'request')}; nothing was written`,
  ];
  return `${rule}: ${words.join(', ')}`;
}
