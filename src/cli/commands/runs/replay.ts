import { existsSync } from 'node:fs';
import type { Event } from '../../../contract/events/events.ts';
import { namedEvent } from '../../../contract/events/named-event.ts';
import { isObserved, observedWords } from '../../../engine/describe-change.ts';
import { makeEventRun } from '../../../engine/make-run.ts';
import type { Run } from '../../../engine/record.ts';
import { createFactMemory } from '../../../facts/ask.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { createRuleSet, type RuleSet } from '../../../rules/rule.ts';
import { createIdentities, eventAbout } from '../../../rules/sources/admission.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { parseDurationMs } from '../../../server/settings/operator-file.ts';
import type { Delivery, Store } from '../../../store/store.ts';
import { eventOf } from '../../../work/runs/route-delivery.ts';
import { printRun } from '../../output/print-run.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
import { clientOf, openStore } from '../open-store.ts';
import { readData } from '../read-data.ts';
import { findRulesToTry, readRules } from '../rules-to-try.ts';
import { isDeliveryId, requireDelivery } from './find-target.ts';

type ReplayOptions = {
  readonly event?: string;
  readonly since?: string;
  readonly rules?: string;
  readonly json?: boolean;
};

/**
 * Evaluates the current rules for a recorded or stored delivery (`given`: a file, the id of the delivery or of its run,
 * or `last`), or with `since` for every stored delivery of that period, and prints the plan. Writes nothing. Returns
 * the exit status: 1 if a rule failed.
 */
export async function replay(
  given: string | undefined,
  options: ReplayOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if ((given === undefined) === (options.since === undefined))
    throw new ReeveError('usage', 'name a file, a delivery, a run or last, or give --since 7d');
  if (settings.forge === undefined && options.rules === undefined) {
    throw new ReeveError(
      'usage',
      'the rules in force are read from the forge, and none is configured: set FORGE_URL and FORGE_TOKEN, or try a rule file with --rules',
    );
  }
  if (options.since !== undefined) return replaySince(options.since, options, settings, terminal);
  const { event, delivery } = await readGiven(given ?? '', options, settings);
  const player = await createPlayer(options, settings, terminal);
  const run = await player(event, delivery);
  if (options.json) terminal.out(JSON.stringify(run));
  else printRun(run, terminal);
  return run.rules.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

type GivenEvent = { readonly event: Event; readonly delivery?: string };

/**
 * Reads the given file, otherwise the stored delivery: by its id, by the id of its run, or the newest one for `last`.
 */
async function readGiven(given: string, options: ReplayOptions, settings: Settings): Promise<GivenEvent> {
  // Ids contain neither dots nor slashes, so a misspelt file name is not looked up in the store.
  const isTarget = given === 'last' || isDeliveryId(given) || (/^[\w-]+$/.test(given) && !existsSync(given));
  if (!isTarget) return { event: await readRecorded(given, options) };
  const store = await openStore(settings);
  try {
    const isMeant = ({ door, copyOf }: Delivery): boolean => door === 'webhook' && copyOf === undefined;
    const id = await requireDelivery(given, store, { isMeant });
    const delivery = await store.readDelivery(id);
    if (delivery === undefined) throw new ReeveError('usage', `delivery ${id} is not stored any more`);
    if (delivery.door !== 'webhook') throw new ReeveError('usage', `delivery ${id} is a job of Reeve's own`);
    return { event: eventOf(delivery), delivery: id };
  } finally {
    await store.close();
  }
}

/** Reads a recording, which is `{ eventType, payload }`, or only the body, which requires `--event`. */
async function readRecorded(path: string, { event }: ReplayOptions): Promise<Event> {
  const data = await readData(path);
  const { eventType, payload } = data;
  if (typeof eventType === 'string' && typeof payload === 'object' && payload !== null)
    return namedEvent(eventType, payload as Record<string, unknown>);
  if (event === undefined)
    throw new ReeveError(
      'usage',
      `${path} does not contain its event type: set --event, or write { eventType, payload }`,
    );
  return namedEvent(event, data);
}

type Player = (event: Event, delivery?: string) => Promise<Run>;

/**
 * Creates the function that replays an event. With a forge, the rules in force are read from the forge, and facts are
 * live; without a forge, only the payload is used.
 */
async function createPlayer(options: ReplayOptions, settings: Settings, terminal: Terminal): Promise<Player> {
  const select = await createSelection(options, settings, terminal);
  const memory = createFactMemory(systemClock);
  const client = settings.forge ? clientOf(settings) : undefined;
  return async (event, delivery) => {
    const { rules, event: found } = await select(event);
    const request = { mode: 'plan', door: 'cli', rules, explainAll: true } as const;
    const { run } = client
      ? await makeEventRun(found, { ...request, delivery }, { client, memory, clock: systemClock })
      : await makeEventRun(event, { ...request, id: 'replay' }, { given: {}, clock: systemClock });
    return run;
  };
}

/** Returns the rules for an event, and the event with the current identity of its repository. */
type Select = (event: Event) => Promise<{ readonly rules: RuleSet; readonly event: Event }>;

/**
 * Creates the selection of rules. Without a forge, the rules of the file or folder are evaluated, and the event is
 * unchanged.
 */
async function createSelection(
  options: ReplayOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<Select> {
  if (options.rules !== undefined || settings.forge === undefined) {
    const rules = createRuleSet(
      await readRules(options.rules ?? settings.rules, terminal, {
        isOperators: options.rules === undefined,
      }),
    );
    return async (event) => ({ rules, event });
  }
  const client = clientOf(settings);
  const identities = createIdentities({ client, clock: systemClock });
  const rulesFor = await findRulesToTry({ only: undefined, settings, client }, terminal);
  return async (event) => {
    if (event.repository === undefined || event.subject === undefined) {
      return {
        rules: createRuleSet(await readRules(settings.rules, terminal, { isOperators: true })),
        event,
      };
    }
    const { at } = await identities.read(event.repository);
    const found = eventAbout(event, event.subject, at);
    return { rules: (await rulesFor(found)).rules, event: found };
  };
}

async function replaySince(
  since: string,
  options: ReplayOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const from = new Date(Date.now() - durationMs(since));
  const store = await openStore(settings);
  try {
    const player = await createPlayer(options, settings, terminal);
    const compared: Comparison[] = [];
    for await (const { id, event, before } of storedSince(from, store)) {
      const after = await unlessGone(player(event, id), `delivery ${id}`, terminal);
      if (after) compared.push(compareRuns({ id, before, after, event }));
    }
    if (options.json) for (const one of compared) terminal.out(JSON.stringify(one));
    else printComparison(compared, since, terminal);
    return compared.some(({ failed }) => failed.length > 0) ? 1 : 0;
  } finally {
    await store.close();
  }
}

/** Returns undefined if the repository was removed or replaced, so that other deliveries can still be compared. */
async function unlessGone(run: Promise<Run>, what: string, terminal: Terminal): Promise<Run | undefined> {
  try {
    return await run;
  } catch (error) {
    const isGone =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'delivery-refused');
    if (!isGone) throw error;
    terminal.error(`${what} is left out: ${error.message}\n`);
    return undefined;
  }
}

async function* storedSince(from: Date, store: Store) {
  for (let before: string | undefined; ; ) {
    const page = await store.listDeliveries({ limit: 200, ...(before === undefined ? {} : { before }) });
    for (const { id, door, receivedAt, copyOf } of page.items) {
      if (receivedAt < from) return;
      const delivery = door === 'webhook' && copyOf === undefined ? await store.readDelivery(id) : undefined;
      if (delivery === undefined || delivery.state === 'dead') continue;
      const event = eventOf(delivery);
      if (event.family === undefined) continue;
      const [run] = (await store.listRuns({ delivery: id, limit: 1 })).items;
      yield { id, event, before: run };
    }
    if (page.next === undefined) return;
    before = page.next;
  }
}

/** Parses a period. Throws `usage`. */
function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new ReeveError('usage', `"${text}" is not a duration: write 30m, 12h or 7d`);
  return ms;
}

/** Differences between the recorded run of a delivery and its run under the current rules. */
type Comparison = {
  readonly delivery: string;
  readonly event: string;
  readonly repository: string;
  /** Rules with a different verdict; `before` or `after` is absent if the rule did not exist then. */
  readonly verdicts: readonly { readonly rule: string; readonly before?: string; readonly after?: string }[];
  /** Changes that the current rules would still make, given the live state. */
  readonly changes: readonly {
    readonly target: string;
    readonly value: unknown;
    readonly reason: string;
    /** Planned only by rules in `observe` mode. */
    readonly observed?: true;
  }[];
  /** Rules that failed. */
  readonly failed: readonly string[];
};

/** Compares the recorded run of a delivery, if any, with its replay. Skipped rules count as absent. */
export function compareRuns(given: {
  id: string;
  event: Event;
  before: Run | undefined;
  after: Run;
}): Comparison {
  const { id, event, before, after } = given;
  const old = verdictsOf(before);
  const now = verdictsOf(after);
  const rules = [...new Set([...old.keys(), ...now.keys()])];
  const { repository } = event;
  return {
    delivery: id,
    event: event.activity === '' ? (event.family ?? '') : `${event.family}.${event.activity}`,
    repository: repository ? `${repository.owner}/${repository.name}` : '',
    verdicts: rules
      .filter((rule) => old.get(rule) !== now.get(rule))
      .map((rule) => {
        const [was, is] = [old.get(rule), now.get(rule)];
        return {
          rule,
          ...(was === undefined ? {} : { before: was }),
          ...(is === undefined ? {} : { after: is }),
        };
      }),
    changes: after.changes.map((change) => {
      const { target, value, reason } = change;
      return { target, value, reason, ...(isObserved(after, change) ? { observed: true as const } : {}) };
    }),
    failed: after.rules.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule),
  };
}

function verdictsOf(run: Run | undefined): ReadonlyMap<string, string> {
  const considered = (run?.rules ?? []).filter(({ verdict }) => verdict !== 'skipped');
  return new Map(considered.map(({ rule, verdict }) => [rule, verdict]));
}

/** Prints the differences by delivery; deliveries without differences are only counted. */
export function printComparison(compared: readonly Comparison[], since: string, terminal: Terminal): void {
  const different = compared.filter(({ verdicts, changes }) => verdicts.length + changes.length > 0);
  for (const { delivery, event, repository, verdicts, changes } of different) {
    terminal.out(terminal.style('bold', plain(`delivery ${delivery}  ${event}  ${repository}`)));
    for (const { rule, before = 'not considered', after = 'not considered' } of verdicts) {
      terminal.out(terminal.style('yellow', plain(`  ~ ${rule}: ${before} → ${after}`)));
    }
    for (const { target, value, reason, observed } of changes) {
      const mark = observed ? `  ${observedWords}` : '';
      terminal.out(
        terminal.style('green', plain(`  + ${target} = ${JSON.stringify(value)}  (${reason})${mark}`)),
      );
    }
  }
  terminal.out(
    `different: ${different.length} of ${count(compared.length, 'delivery')} of the last ${since}`,
  );
}
