import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { QueueHistoryRow } from '../../../store/queue-rows.ts';
import type { Store } from '../../../store/store.ts';
import { type DescribedQueue, describeBusyQueues } from '../../../work/merge-queue/describe-queue.ts';
import { findQueues } from '../../../work/merge-queue/queue-commands.ts';
import { ageOf, count, plain, type Terminal, tableOf } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/** Number of events of a queue that `--history` prints. */
const shownEvents = 50;

/**
 * Prints the merge queues that contain a pull request or are paused, with positions and the reason for waiting; with
 * `history`, prints the latest events instead. Returns the exit status.
 */
export async function listMergeQueues(
  name: string | undefined,
  options: { branch?: string; history?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const asked = name === undefined ? undefined : readQueueName(name);
  const store = await openStore(settings);
  try {
    const all = asked === undefined ? await store.listQueues() : await findQueues(store, asked);
    const rows = all.filter(({ base }) => options.branch === undefined || base === options.branch);
    if (options.history) return await printHistory(rows, options, { store, terminal });
    const queues = describeBusyQueues(rows, await store.listPauses());
    if (options.json) terminal.out(JSON.stringify(queues));
    else if (queues.length === 0) terminal.out('No merge queue contains a pull request or is paused.');
    else for (const queue of queues) printQueue(queue, terminal);
    return 0;
  } finally {
    await store.close();
  }
}

function printQueue(
  { repository, base, paused, pauses, blocked, entries }: DescribedQueue,
  terminal: Terminal,
): void {
  const now = new Date();
  terminal.out(
    terminal.style('bold', plain(`${repository} ${base}: ${count(entries.length, 'pull request')}`)),
  );
  if (paused) terminal.out(plain(`  paused since ${paused.at.toISOString()} by ${paused.by}`));
  for (const pause of pauses) terminal.out(plain(`  ${pause}`));
  if (blocked) {
    const since = blocked.since.toISOString();
    terminal.out(
      plain(`  waits since ${since} for checks of ${blocked.commit}, which someone else wrote to ${base}`),
    );
  }
  if (entries.length === 0) return;
  const lines = entries.map(({ position, number, priority, phase, enteredAt, waitsFor }) => [
    String(position),
    `#${number}`,
    String(priority),
    phase,
    ageOf(enteredAt.toISOString(), now),
    plain(waitsFor),
  ]);
  terminal.out(tableOf(['position', 'pull request', 'priority', 'phase', 'queued', 'waits for'], lines));
}

async function printHistory(
  queues: readonly { readonly repositoryId: number; readonly repository: string; readonly base: string }[],
  options: { readonly json?: boolean },
  { store, terminal }: { readonly store: Pick<Store, 'listQueueHistory'>; readonly terminal: Terminal },
): Promise<number> {
  const found: { readonly events: readonly QueueHistoryRow[]; readonly title: string }[] = [];
  for (const { repositoryId, repository, base } of queues) {
    const events = await store.listQueueHistory({ repositoryId, base, limit: shownEvents });
    if (events.length > 0) found.push({ events, title: `${repository} ${base}` });
  }
  if (options.json) terminal.out(JSON.stringify(found.flatMap(({ events }) => events)));
  else if (found.length === 0) terminal.out('Nothing has happened in a merge queue yet.');
  else {
    for (const { events, title } of found) {
      terminal.out(terminal.style('bold', plain(title)));
      for (const event of events) terminal.out(plain(`  ${lineOf(event)}`));
    }
  }
  return 0;
}

function lineOf({ at, number, kind, text, by, run }: QueueHistoryRow): string {
  const what = number === undefined ? kind : `#${number} ${kind}`;
  return `${at.toISOString()}  ${what}: ${text}${by === undefined ? '' : `, by ${by}`}${run === undefined ? '' : `; reeve explain ${run}`}`;
}

/** Parses `OWNER/REPO`. Throws `usage`. */
export function readQueueName(text: string): { readonly repository: string } {
  if (!/^[^/\s#]+\/[^/\s#]+$/.test(text))
    throw new ReeveError('usage', `"${text}" is not a repository name: write OWNER/REPO`);
  return { repository: text };
}

/** Parses `OWNER/REPO#NUMBER`. Throws `usage`. */
export function readQueuedPull(text: string): { readonly repository: string; readonly number: number } {
  const [, repository, number] = /^([^/\s#]+\/[^/\s#]+)#([1-9]\d{0,9})$/.exec(text) ?? [];
  if (repository === undefined)
    throw new ReeveError('usage', `"${text}" is not a pull request: write OWNER/REPO#NUMBER`);
  return { repository, number: Number(number) };
}

/** Parses a position in a queue, starting at 1. Throws `usage`. */
export function readPosition(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new ReeveError('usage', `"${text}" is not a position: write a number, 1 is the first`);
  return Number(text);
}
