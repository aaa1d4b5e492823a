import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import type { QueueHistoryRow, QueueKey } from '../../../store/queue-rows.ts';
import {
  type DescribedEntry,
  type DescribedQueue,
  describeBusyQueues,
} from '../../../work/merge-queue/describe-queue.ts';
import type { DashboardData } from '../data.ts';
import { personLink, subjectPageLink } from '../links.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

/** Maximum number of queues, and of pull requests per queue, on the page; `reeve queue list` prints all. */
const shownQueues = 50;
const shownEntries = 100;
/** Events per page of the history. */
const shownEvents = 50;

/** Words for the events of a pull request in a queue. */
const eventWords: Readonly<Record<QueueHistoryRow['kind'], string>> = {
  entered: 'entered',
  first: 'had its turn',
  updated: 'updated',
  merged: 'merged',
  left: 'left',
  'foreign-write': 'base bypassed',
  moved: 'moved',
  paused: 'paused',
  resumed: 'resumed',
};

/** Shows the merge queues with positions, phases and reasons for waiting, and their history, newest first. */
export async function queuesPage(
  pageRequest: PageRequest,
  {
    store,
  }: { readonly store: Pick<DashboardData['store'], 'listQueues' | 'listQueueHistory' | 'listPauses'> },
): Promise<PageView> {
  const { query } = pageRequest;
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const only = queueOfQuery(query);
  const all = describeBusyQueues(await store.listQueues(), await store.listPauses());
  const queues = all.filter((queue) => only === undefined || isSameQueue(queue, only));
  const sections = queues.slice(0, shownQueues).map((queue) => queueSection(queue, pageRequest));
  const rest = queues.length - sections.length;
  const found = await store.listQueueHistory({
    ...only,
    limit: shownEvents + 1,
    ...(before === undefined ? {} : { before: Number(before) }),
  });
  const content = html`${only && html`<p><a href="${pageRequest.root}queues">All merge queues</a></p>`}
${before === undefined ? undefined : html`<p><a href="${pageRequest.root}queues?${addressOf(only)}">Newest events</a></p>`}
${sections.length > 0 ? sections : html`<p class="empty">No merge queue contains a pull request or is paused. A pull request appears here when a rule with the action <code>queue-merge</code> matches it.</p>`}
${rest > 0 ? html`<p>And ${count(rest, 'more queue')}; <code>reeve queue list</code> prints all.</p>` : undefined}
<h2>History</h2>
${historyTable(found.slice(0, shownEvents), pageRequest, before)}
${olderLink(found, only, pageRequest)}`;
  return { title: 'Merge queues', content };
}

function queueSection(queue: DescribedQueue, pageRequest: PageRequest): Html {
  const { repository, base, entries, blocked, pauses } = queue;
  const { time } = pageRequest;
  const rows = entries.slice(0, shownEntries).map((entry) => entryCells(entry, queue, pageRequest));
  const rest = entries.length - rows.length;
  const heads = [
    'position',
    'pull request',
    'priority',
    'phase',
    'entered',
    'first since',
    'waits for',
    'change',
  ];
  return html`<section><h2>${repository} ${base}</h2>
<div>${pauseOrResume(queue, pageRequest)}</div>
${pauses.map((pause) => html`<p role="status">${pause}.</p>`)}
${blocked && html`<p role="alert">Someone else wrote <code>${blocked.commit.slice(0, 10)}</code> to ${base}: since ${time(blocked.since)} the queue waits for its checks.</p>`}
${table(heads, rows, 'No pull request is in this queue.')}
${rest > 0 ? html`<p>And ${rest} more; <code>reeve queue list</code> prints all.</p>` : undefined}
<p><a href="${pageRequest.root}queues?${addressOf(queue)}">History of ${repository} ${base}</a></p></section>`;
}

function entryCells(
  { position, number, priority, phase, enteredAt, turnAt, waitsFor }: DescribedEntry,
  queue: DescribedQueue,
  { button, time, root }: PageRequest,
): readonly (Html | string | number | undefined)[] {
  const fields = hiddenQueueFields(queue, number);
  const place = html`${fields}<label>Position of #${number} <input name="position" value="1" required autocomplete="off"></label> `;
  const change = html`${button('queues/move', `Move #${number}`, place)}${button('queues/remove', `Remove #${number}`, fields)}`;
  return [
    position,
    subjectPageLink(root, queue.repository, number, { isPull: true, text: `#${number}` }),
    priority,
    html`<span class="mark">${phase}</span>`,
    time(enteredAt),
    time(turnAt),
    waitsFor,
    change,
  ];
}

function pauseOrResume(queue: DescribedQueue, { button, time, forgeUrl }: PageRequest): Html {
  const { paused, repository, base } = queue;
  const fields = hiddenQueueFields(queue);
  if (paused === undefined) return button('queues/pause', `Pause the queue of ${repository} ${base}`, fields);
  return html`Paused since ${time(paused.at)} by ${personLink(forgeUrl, paused.by)} ${button('queues/resume', `Resume the queue of ${repository} ${base}`, fields)}`;
}

function hiddenQueueFields({ repositoryId, base }: QueueKey, number?: number): Html {
  return html`<input type="hidden" name="repository" value="${repositoryId}"><input type="hidden" name="base" value="${base}">
${number === undefined ? undefined : html`<input type="hidden" name="number" value="${number}">`}`;
}

function historyTable(
  events: readonly QueueHistoryRow[],
  { root, time, forgeUrl }: PageRequest,
  before: string | undefined,
): Html {
  const rows = events.map((event) => [
    time(event.at),
    html`<a href="${root}queues?${addressOf(event)}">${event.repository} ${event.base}</a>`,
    event.number === undefined
      ? undefined
      : subjectPageLink(root, event.repository, event.number, { isPull: true, text: `#${event.number}` }),
    event.run === undefined
      ? eventWords[event.kind]
      : html`<a href="${root}runs/${event.run}">${eventWords[event.kind]}</a>`,
    event.text,
    event.by === undefined ? undefined : personLink(forgeUrl, event.by),
    event.enteredAt && durationWords(event.at.getTime() - event.enteredAt.getTime()),
  ]);
  const heads = ['when', 'queue', 'pull request', 'what', 'why', 'who', 'time in the queue'];
  return table(
    heads,
    rows,
    before === undefined
      ? 'Nothing has happened yet. Each pull request that enters, is merged or leaves is listed here.'
      : 'No older events.',
  );
}

function olderLink(
  found: readonly QueueHistoryRow[],
  only: QueueKey | undefined,
  { root }: PageRequest,
): Html | undefined {
  const last = found.length > shownEvents ? found[shownEvents - 1]?.id : undefined;
  return last === undefined
    ? undefined
    : html`<p><a rel="next" href="${root}queues?${addressOf(only, last)}">Older</a></p>`;
}

/** Returns the page's query string for one queue, or for all queues, starting at an event. */
function addressOf(queue: QueueKey | undefined, before?: number): string {
  const query = new URLSearchParams();
  if (queue) query.set('repository', String(queue.repositoryId));
  if (queue) query.set('base', queue.base);
  if (before !== undefined) query.set('before', String(before));
  return query.toString();
}

function queueOfQuery(query: URLSearchParams): QueueKey | undefined {
  const id = /^\d{1,15}$/.exec(query.get('repository') ?? '')?.[0];
  const base = query.get('base');
  return id === undefined || base === null ? undefined : { repositoryId: Number(id), base };
}

function isSameQueue(one: QueueKey, other: QueueKey): boolean {
  return one.repositoryId === other.repositoryId && one.base === other.base;
}

function durationWords(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
