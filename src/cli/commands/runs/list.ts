import { describeTrigger, type Run } from '../../../engine/record.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import type { Settings } from '../../../server/settings/config.ts';
import {
  type Delivery,
  type DeliveryQuery,
  deliveryStates,
  foundEventKind,
  itemOfDelivery,
  type StoreQueries,
} from '../../../store/store.ts';
import { type AboutItem, findStoredRepository } from '../../../work/runs/about-item.ts';
import { plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';
import { whyNoRun } from './find-target.ts';

/** Maximum number of runs that are searched. */
const maxSearched = 5_000;

type ListOptions = { readonly limit?: string; readonly json?: boolean };

/** Prints stored deliveries, newest first. Returns the exit status. */
export async function deliveries(
  options: ListOptions & { readonly state?: string; readonly search?: string; readonly jobs?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const query: DeliveryQuery = {
    limit: readLimit(options.limit),
    ...(options.jobs ? {} : { door: 'event' }),
    ...(options.state === undefined ? {} : { state: readState(options.state) }),
    ...(options.search === undefined ? {} : { search: options.search }),
  };
  return withStore(settings, async (store) => {
    const { items } = await store.listDeliveries(query);
    if (options.json) {
      for (const item of items) terminal.out(JSON.stringify(item));
      return;
    }
    if (items.length === 0) return terminal.out('No delivery is stored that fits.');
    const rows = items.map((item) => [
      item.id,
      timeOf(item.receivedAt),
      plain(eventNameOf(item)),
      plain(itemOfDelivery(item) ?? ''),
      item.state,
      item.state === 'settled' && item.reason === undefined ? '' : plain(whyNoRun(item)),
    ]);
    terminal.out(tableOf(['ID', 'RECEIVED', 'EVENT', 'SUBJECT', 'STATE', ''], rows, terminal.columns));
    terminal.out(terminal.style('dim', 'reeve explain ID shows why; reeve rerun ID handles it again'));
  });
}

/** Prints recorded runs, newest first. Returns the exit status. */
export async function runs(
  options: ListOptions & { readonly repository?: string; readonly changes?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return withStore(settings, async (store) => {
    const limit = readLimit(options.limit);
    const repositoryId =
      options.repository === undefined ? undefined : await findRepository(options.repository, store);
    const found: Run[] = [];
    let searched = 0;
    for (let before: string | undefined; found.length < limit && searched < maxSearched; ) {
      const page = await store.listRuns({
        limit: options.changes ? 500 : limit,
        ...(repositoryId === undefined ? {} : { repositoryId }),
        ...(before === undefined ? {} : { before }),
      });
      found.push(...page.items.filter(({ changes }) => !options.changes || changes.length > 0));
      searched += page.items.length;
      if (page.next === undefined) break;
      before = page.next;
    }
    const shown = found.slice(0, limit);
    if (options.json) {
      for (const run of shown) terminal.out(JSON.stringify(run));
      return;
    }
    if (shown.length === 0) return terminal.out('No run is recorded that fits.');
    const items = await itemsOfRuns(shown, store);
    terminal.out(
      tableOf(
        runHeads,
        shown.map((run) => rowOfRun(run, items.get(run.id))),
        terminal.columns,
      ),
    );
    terminal.out(terminal.style('dim', 'reeve explain ID shows a run'));
  });
}

const runHeads = ['ID', 'TIME', 'TRIGGER', 'ITEM', 'MATCHED', 'CHANGES'];

/** Returns what each run is about, by the id of the run: the item of its trigger, or of the delivery that started it. */
export async function itemsOfRuns(
  runs: readonly Run[],
  store: Pick<StoreQueries, 'describeDelivery'>,
): Promise<ReadonlyMap<string, string>> {
  const items = new Map<string, string>();
  for (const { id, trigger } of runs) {
    const delivery =
      trigger.item !== undefined || trigger.delivery === undefined
        ? undefined
        : await store.describeDelivery(trigger.delivery);
    const item = trigger.item ?? (delivery && itemOfDelivery(delivery));
    if (item !== undefined) items.set(id, item);
  }
  return items;
}

/** Returns the event of a delivery; for an event that was found by reading the forge, with its activity. */
export function eventNameOf({ eventType, summary }: Pick<Delivery, 'eventType' | 'summary'>): string {
  if (eventType !== foundEventKind) return eventType;
  return summary?.activity?.replace(' ', '.') ?? eventType;
}

/** Maximum number of rules that a row names. */
const maxNamed = 3;

/**
 * Returns the rules that matched: those with changes by name, and the number of the others. Without changes, the first
 * ones by name.
 */
function matchedIn({ rules, changes, refused }: Run): string {
  const wanting = new Set(
    [...changes, ...refused.map(({ change }) => change)].flatMap((change) => change.rules),
  );
  const matched = rules.filter(({ verdict }) => verdict === 'matched').map(({ rule }) => rule);
  const named = [...(wanting.size > 0 ? wanting : matched)];
  const without = wanting.size > 0 ? matched.filter((rule) => !wanting.has(rule)).length : 0;
  return [
    ...named.slice(0, maxNamed).map(nameOfRule),
    ...(named.length > maxNamed ? [`+${named.length - maxNamed}`] : []),
    ...(without > 0 ? [`+${without} without`] : []),
  ].join(', ');
}

function rowOfRun(run: Run, item = run.trigger.item): readonly string[] {
  const { id, trigger, changes, outcomes, refused } = run;
  const failed = outcomes.filter(({ status }) => status === 'failed').length;
  const applied = outcomes.filter(({ status }) => status === 'applied').length;
  const notes = [
    changes.length === 0 ? '' : `${applied} of ${changes.length} made`,
    failed === 0 ? '' : `${failed} failed`,
    refused.length === 0 ? '' : `${refused.length} refused`,
  ].filter(Boolean);
  return [
    id,
    timeOf(new Date(trigger.at)),
    plain(describeTrigger(trigger)),
    plain(item ?? (trigger.delivery === undefined ? '' : `delivery ${trigger.delivery}`)),
    plain(matchedIn(run) || '–'),
    notes.join(', ') || '–',
  ];
}

/**
 * Prints what is stored about an issue or pull request: its runs, its places in merge queues, what waits, and when it is
 * looked at next.
 */
export function printAboutItem(
  text: string,
  { runs: found, waiting, queues, looks, isWhole }: AboutItem,
  terminal: Terminal,
): void {
  if (found.length === 0) terminal.out(`No run about ${plain(text)} is recorded.`);
  else
    terminal.out(
      tableOf(
        runHeads,
        found.map((run) => rowOfRun(run, run.trigger.item ?? text)),
        terminal.columns,
      ),
    );
  if (!isWhole) terminal.out(terminal.style('dim', 'older runs were not searched'));
  for (const { base, position, phase, waitsFor } of queues)
    terminal.out(plain(`number ${position} in the merge queue of ${base}, ${phase}: waits for ${waitsFor}`));
  for (const one of waiting) terminal.out(plain(`delivery ${one.id}, ${one.eventType}: ${whyNoRun(one)}`));
  if (waiting.length === 0) terminal.out('Nothing about it waits.');
  const [next] = looks;
  if (next === undefined) return;
  const { by } = next;
  const cause = 'delivery' in by ? `delivery ${by.delivery}` : `the schedule of ${nameOfRule(by.rule)}`;
  terminal.out(plain(`Next look: ${timeOf(next.at)} UTC, by ${cause}`));
}

async function findRepository(name: string, store: StoreQueries): Promise<number> {
  const found = await findStoredRepository(name, store);
  if (found === undefined) throw new ReeveError('usage', `no delivery about ${name} is stored`);
  return found.repositoryId;
}

async function withStore(settings: Settings, work: (store: StoreQueries) => Promise<void>): Promise<number> {
  const store = await openStore(settings);
  try {
    await work(store);
    return 0;
  } finally {
    await store.close();
  }
}

function readLimit(text = '30'): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 500) return limit;
  throw new ReeveError('usage', `--limit must be a number from 1 to 500, not "${text}"`);
}

function readState(text: string): Delivery['state'] {
  const known = deliveryStates.find((state) => state === text);
  if (known) return known;
  throw new ReeveError('usage', `there is no state "${text}"; known are ${deliveryStates.join(', ')}`);
}

function timeOf(at: Date): string {
  return at.toISOString().replace('T', ' ').slice(0, 19);
}
