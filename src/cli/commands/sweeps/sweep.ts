import { setTimeout as sleep } from 'node:timers/promises';
import { describeTrigger } from '../../../engine/record.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { createLog } from '../../../platform/log.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { startServer } from '../../../server/server.ts';
import { type Settings, secretValues } from '../../../server/settings/config.ts';
import { openStoreAt } from '../../../store/open-store.ts';
import type { Delivery, Store } from '../../../store/store.ts';
import { hasSweepEnded, startSweepByHand } from '../../../work/sweeps/by-hand.ts';
import { describeProgress, type SweepCheckpoint, SweepStore } from '../../../work/sweeps/progress.ts';
import { openKeyOf } from '../../../work/sweeps/sweep.ts';
import { type ChangeList, createChangeList } from '../../output/change-list.ts';
import { createProgressLine, type ProgressLine, type ProgressStream } from '../../output/progress-line.ts';
import { confirm } from '../../output/prompt.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
import type { CommandContext } from '../command.ts';
import { openStore } from '../open-store.ts';
import { watchSignals } from '../process.ts';
import { interrupted, printSweepPlan } from './sweep-plan.ts';
import { findOpenRules, findSweepRules } from './sweep-rule.ts';

type SweepOptions = {
  readonly in?: readonly string[];
  readonly json?: boolean;
  /** Whether rules run for open issues and pull requests instead of for the items of their schedules. */
  readonly open?: boolean;
};

/** Runs the sweep of a rule immediately, as `runRules` does. */
export async function sweep(
  name: string,
  options: SweepOptions,
  settings: Settings,
  terminal: Terminal,
  stream: ProgressStream = process.stderr,
): Promise<number> {
  return runRules([(await findSweepRules(name, settings))[0]], options, settings, terminal, stream);
}

/**
 * Runs rules by hand, one after the other, and shows the progress of each, then the items that it changed. If a server is
 * running, the server runs them. What is interrupted is continued by the same command or by a server. Returns the exit
 * status: 1 if items or changes failed, 130 if interrupted. A change that a limit or a pause defers has not failed.
 */
async function runRules(
  rules: readonly LoadedRule[],
  options: SweepOptions,
  settings: Settings,
  terminal: Terminal,
  stream: ProgressStream,
): Promise<number> {
  const { in: patterns = [], open = false } = options;
  const what = open ? (rules.length === 1 ? 'rule' : 'rules') : 'sweep';
  const stop = watchSignals();
  const door = await openDoor(settings, { terminal, signal: stop.signal, what }).catch((error: unknown) => {
    if (stop.explains(error)) return undefined;
    throw error;
  });
  if (door === undefined) return interrupted;
  const list = createChangeList();
  let status = 0;
  let refused: ReeveError | undefined;
  try {
    for (const rule of rules) {
      const line = createProgressLine(rule.name, { stream, clock: systemClock });
      try {
        const job = await startSweepByHand(rule, door.store, { patterns, open, now: new Date() });
        const ended = await Promise.race([
          follow(job, door.store, line),
          stop.received.then(() => undefined),
          door.failed.then((error) => Promise.reject(error)),
        ]);
        line.end();
        if (ended === undefined) {
          terminal.error(
            door.isAlone ? 'stopped; the same command continues' : 'no longer watching; the server continues',
          );
          status = interrupted;
          break;
        }
        status ||= await tell(rule, ended, { options, store: door.store, terminal });
        if (open && !options.json) await addRuns(list, job, door.store);
      } catch (error) {
        // The server does not know this rule, or gave it up: the others run nevertheless.
        if (!(error instanceof ReeveError) || error.code !== 'rules-broken') throw error;
        if (rules.length > 1) terminal.error(plain(`${rule.name}: ${error.message}`));
        refused ??= error;
      } finally {
        line.end();
      }
    }
    list.print(terminal);
    if (refused && status !== interrupted) {
      if (rules.length === 1) throw refused;
      return refused.exit;
    }
    return status;
  } finally {
    await door.close();
  }
}

/** Adds the stored runs of a job: those that changed something, failed or were refused. */
async function addRuns(list: ChangeList, job: string, store: Store): Promise<void> {
  for (let before: string | undefined; ; ) {
    const page = await store.listRuns({
      delivery: job,
      limit: 200,
      ...(before === undefined ? {} : { before }),
    });
    for (const run of page.items) list.add(run.trigger.item ?? describeTrigger(run.trigger), run);
    if (page.next === undefined) return;
    before = page.next;
  }
}

/**
 * Runs a rule, all rules of the operator, or those of files, for the issues and pull requests that are open now: shows the
 * plan, asks, and then runs them. With `yes`, nothing is planned first. Returns the exit status.
 */
export async function applyToOpen(
  name: string | undefined,
  {
    yes,
    rules: paths,
    ...options
  }: SweepOptions & { readonly yes?: boolean; readonly rules?: readonly string[] },
  settings: Settings,
  { terminal, prompt }: Pick<CommandContext, 'terminal' | 'prompt'>,
  stream: ProgressStream = process.stderr,
): Promise<number> {
  const asked = { ...options, open: true };
  // A rule that cannot run is the first thing to know.
  const { found, left } = await findOpenRules({ name, paths, writes: true }, settings);
  if (!yes) {
    if (prompt === undefined || options.json) {
      throw new ReeveError(
        'usage',
        'the changes have to be confirmed: --yes makes them without asking, --plan only shows them',
      );
    }
    let changes = 0;
    const onChanges = (count: number): void => {
      changes = count;
    };
    const planned = { ...asked, ...(paths === undefined ? {} : { rules: paths }) };
    const status = await printSweepPlan(name, planned, settings, terminal, { onChanges });
    if (status === interrupted || changes === 0) return status;
    const these = changes === 1 ? 'this change' : `these ${count(changes, 'change')}`;
    if (!(await confirm(prompt, `Make ${these}?`))) {
      terminal.error('nothing was written');
      return 0;
    }
  } else for (const { rule, why } of left) terminal.error(plain(`${rule.name}: does not run (${why})`));
  return runRules(
    found.map(({ rule }) => rule),
    asked,
    settings,
    terminal,
    stream,
  );
}

/** Executes the job in this process, or in the server of this store. */
type SweepDoor = {
  readonly store: Store;
  readonly isAlone: boolean;
  /** Resolves when the job can no longer run in this process. */
  readonly failed: Promise<ReeveError>;
  close(): Promise<void>;
};

/** `what`: what runs, as a message names it. */
async function openDoor(
  settings: Settings,
  {
    terminal,
    signal,
    what,
  }: { readonly terminal: Terminal; readonly signal: AbortSignal; readonly what: string },
): Promise<SweepDoor> {
  const { forge } = settings;
  if (forge === undefined) throw new ReeveError('usage', 'this needs a forge: set FORGE_URL and FORGE_TOKEN');
  const log = createLog({ level: quietest(settings.logLevel), secrets: secretValues(settings) });
  if (settings.secrets.length === 0) await requireNoDeliveries(settings);
  try {
    const server = await startServer({ ...settings, forge, log, signal, jobsOnly: true });
    return { store: server.store, isAlone: true, failed: server.failed, close: () => server.stop() };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'store-locked') throw error;
    terminal.error(`a server uses this store: it runs the ${what}`);
    const store = await openStore(settings);
    return { store, isAlone: false, failed: new Promise(() => {}), close: () => store.close() };
  }
}

/**
 * Throws `usage` if deliveries wait in a store that no server uses. This process would handle them, and without the
 * secrets of the hooks it would have to refuse them.
 */
async function requireNoDeliveries(settings: Settings): Promise<void> {
  const opened = openStoreAt(settings, { role: 'worker', isAlone: true });
  const store = await opened.catch((error: unknown) => {
    if (error instanceof ReeveError && error.code === 'store-locked') return undefined;
    throw error;
  });
  try {
    for (const state of ['accepted', 'claimed', 'retry', 'deferred'] as const) {
      const found = await store?.listDeliveries({ door: 'webhook', state, limit: 1 });
      if (found === undefined || found.items.length === 0) continue;
      throw new ReeveError(
        'usage',
        'deliveries wait in this store: set the secrets of the hooks as well, because this command handles them too, or let the server run',
      );
    }
  } finally {
    await store?.close();
  }
}

/** Returns the log level of the sweep. `info` becomes `error`, because the progress line shows the sweep. */
function quietest(level: Settings['logLevel']): Settings['logLevel'] {
  return level === 'info' ? 'error' : level;
}

async function follow(job: string, store: Store, line: ProgressLine): Promise<Delivery> {
  for (;;) {
    const delivery = await store.readDelivery(job);
    if (delivery === undefined) throw new ReeveError('internal', `job ${job} is gone`);
    const checkpoint = delivery.checkpoint as SweepCheckpoint | null | undefined;
    if (checkpoint?.progress) line.show(checkpoint.progress);
    if (hasSweepEnded(delivery)) return delivery;
    await sleep(200);
  }
}

async function tell(
  rule: LoadedRule,
  job: Delivery,
  { options, store, terminal }: { options: SweepOptions; store: Store; terminal: Terminal },
): Promise<number> {
  if (job.state === 'dead') throw new ReeveError('rules-broken', `it was given up: ${job.reason}`);
  const result = await new SweepStore(store).readResult(options.open ? openKeyOf(rule) : rule.id);
  if (result?.slot !== job.uuid) {
    throw new ReeveError(
      'rules-broken',
      `the process that ran it does not know ${rule.id}: is REEVE_RULES the same?`,
    );
  }
  if (options.json) terminal.out(JSON.stringify({ rule: rule.id, ...result }));
  else {
    const rest = result.isComplete ? '' : ', the rest continues with the next slot';
    terminal.out(`${rule.name}: ${describeProgress(result)}${rest}, ${(result.ms / 1_000).toFixed(1)} s`);
    for (const { item, error } of result.failures) terminal.out(plain(`  ${item}: ${error}`));
    if (result.failed > result.failures.length) {
      terminal.out(`  and ${result.failed - result.failures.length} more`);
    }
    const explained = result.failures.find(({ run }) => run !== undefined);
    if (explained) terminal.out(plain(`  why ${explained.item} failed: reeve explain ${explained.run}`));
    if (job.state === 'deferred') {
      terminal.out(plain(`  ${job.reason}: a running server continues at ${job.retryAt?.toISOString()}`));
    }
  }
  return result.failed > 0 ? 1 : 0;
}
