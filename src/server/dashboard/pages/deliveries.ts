import { parsePayload } from '../../../contract/events/parse-payload.ts';
import { isOfRepository, type Pause } from '../../../engine/bounds/pauses.ts';
import { isObserved, observedWords } from '../../../engine/describe-change.ts';
import type { RecordedChange, Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { commonSkip } from '../../../rules/verdict.ts';
import type { StoreQueries } from '../../../store/store.ts';
import {
  type Delivery,
  type DeliveryQuery,
  type DeliveryState,
  type DeliveryWithBody,
  deliveryStates,
  type Page,
} from '../../../store/store.ts';
import type { DashboardData, DashboardStore } from '../data.ts';
import { deliveryLink, personLink, subjectLink } from '../links.ts';
import { markIds, type PageView, type TableCell, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import {
  type DeliveryAccess,
  maySeeChange,
  resolveAccess,
  type Viewer,
  type ViewerAccess,
} from '../visibility.ts';
import { pauseControl } from './pauses.ts';
import { viewHeaders, viewRun } from './run-view.ts';

const shown = 50;
/** Maximum number of deliveries read for one page of a viewer with limited access. */
const maxLooked = 200;

/** Contents of a list: forge events, internal jobs (sweeps, maintenance), or both. */
const doors = { events: 'webhook', jobs: 'job', all: undefined } as const;
type Shown = keyof typeof doors;

/** Shows the deliveries that a viewer may see, newest first, filtered by kind, state and a search. */
export async function deliveriesPage(pageRequest: PageRequest, { store }: DashboardData): Promise<PageView> {
  const { query, viewer, root } = pageRequest;
  const state = deliveryStates.find((one) => one === query.get('state'));
  const search = (query.get('search') ?? '').trim().slice(0, 200);
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const show = shownOf(query, state);
  const door = doors[show];
  const asked = {
    ...(door ? { door } : {}),
    ...(state ? { state } : {}),
    ...(search ? { search } : {}),
    ...(before ? { before } : {}),
  };
  const { items, next, unknown } = viewer.isOperator
    ? await visibleToOperators(store, asked)
    : await visibleTo(viewer, store, asked);
  const rows = await deliveryRows(items, store, pageRequest);
  const filter = { show, state: state ?? '', search };
  const older = next && new URLSearchParams({ ...filter, before: next }).toString();
  const mayRedrive =
    state === 'dead' && show === 'all' && search === '' && viewer.isOperator && rows.length > 0;
  const empty = next ? 'You may see none of these; there are older ones.' : 'No delivery.';
  const content = html`${viewer.isOperator ? kindTabs(root, filter) : undefined}
${filterForm(root, filter)}
${mayRedrive ? pageRequest.button('deliveries/dead/run', 'Try all dead ones again') : undefined}
${table(['outcome', 'event', 'about', 'received', 'id'], rows, empty)}
${unknown > 0 ? html`<p role="alert">For ${unknown} of them, the forge did not say whether you may see them.</p>` : undefined}
${older ? html`<p><a rel="next" href="${root}deliveries?${older}">Older</a></p>` : undefined}`;
  return { title: 'Deliveries', content };
}

/**
 * Returns which deliveries a list shows. A list by state includes jobs, like the counts of the overview; other lists
 * include jobs only on request.
 */
function shownOf(query: URLSearchParams, state: DeliveryState | undefined): Shown {
  const asked = query.get('show') ?? '';
  if (asked in doors) return asked as Shown;
  return state === undefined ? 'events' : 'all';
}

type Seen = { readonly delivery: Delivery; readonly access: 'reader' | 'administrator' };

type DeliveryFilter = Pick<DeliveryQuery, 'door' | 'state' | 'search' | 'before'>;
type Visible = Page<Seen> & { readonly unknown: number };

async function visibleToOperators(store: StoreQueries, filter: DeliveryFilter): Promise<Visible> {
  const { items, next } = await store.listDeliveries({ ...filter, limit: shown });
  return { items: items.map((delivery) => ({ delivery, access: 'administrator' })), next, unknown: 0 };
}

/**
 * Returns a page of the deliveries that a viewer may see; a page with few rows may still have a `next`. The result does
 * not depend on hidden deliveries: a fixed range is scanned, and the search applies only to visible deliveries. A
 * search for the full name of a readable repository scans a range of that repository.
 */
async function visibleTo(
  viewer: Viewer,
  store: StoreQueries,
  { door, state, search = '', before }: DeliveryFilter,
): Promise<Visible> {
  const repositoryId = search.includes('/') ? await viewer.findRepository(search) : undefined;
  const stretch = await store.listDeliveries({
    limit: maxLooked,
    ...(before === undefined ? {} : { before }),
    ...(repositoryId === undefined ? {} : { repositoryId }),
  });
  const accesses = await Promise.all(stretch.items.map((delivery) => viewer.accessTo(delivery)));
  const isWanted = (delivery: Delivery): boolean =>
    (state === undefined || delivery.state === state) &&
    (door === undefined || (delivery.door === 'webhook') === (door === 'webhook')) &&
    isFoundBy(delivery, search);
  const visible = stretch.items.flatMap((delivery, at): readonly Seen[] => {
    const access = accesses[at];
    const isSeen = access === 'reader' || access === 'administrator';
    return isSeen && isWanted(delivery) ? [{ delivery, access }] : [];
  });
  const items = visible.slice(0, shown);
  return {
    items,
    next: visible.length > shown ? items.at(-1)?.delivery.id : stretch.next,
    unknown: accesses.filter((access) => access === 'unknown').length,
  };
}

function isFoundBy({ eventType, repository = '', uuid }: Delivery, search: string): boolean {
  const text = search.toLowerCase();
  return [eventType, repository, uuid].some((one) => one.toLowerCase().includes(text));
}

type ListFilter = { readonly show: Shown; readonly state: string; readonly search: string };

const tabWords: Readonly<Record<Shown, string>> = {
  events: 'Events of the forge',
  jobs: 'Internal jobs',
  all: 'All',
};

function kindTabs(root: string, filter: ListFilter): Html {
  const tabs = (Object.keys(doors) as readonly Shown[]).map((show) => {
    const to = new URLSearchParams({ ...filter, show }).toString();
    const current = show === filter.show ? html` aria-current="true"` : undefined;
    return html`<li><a href="${root}deliveries?${to}"${current}>${tabWords[show]}</a></li>`;
  });
  return html`<ul class="tabs">${tabs}</ul>`;
}

function filterForm(root: string, { show, state, search }: ListFilter): Html {
  const options = deliveryStates.map((one) =>
    one === state
      ? html`<option value="${one}" selected>${one}</option>`
      : html`<option value="${one}">${one}</option>`,
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<input type="hidden" name="show" value="${show}">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or delivery UUID <input type="search" name="search" value="${search}"></label>
<button>Show</button></form>`;
}

async function deliveryRows(
  items: readonly Seen[],
  store: StoreQueries,
  pageRequest: PageRequest,
): Promise<readonly (readonly TableCell[])[]> {
  const { root, time, forgeUrl, viewer } = pageRequest;
  // The newest run of a sweep’s job covers only one of the sweep’s items and does not represent the whole job.
  const ids = items.filter(({ delivery }) => delivery.door === 'webhook').map(({ delivery }) => delivery.id);
  const runs = await store.readLatestRuns(ids);
  return Promise.all(
    items.map(async (seen) => {
      const { delivery } = seen;
      const run = runs.get(delivery.id);
      const outcome =
        delivery.state === 'settled' && run !== undefined
          ? html`${viewOutcome(summarizeRun(run, await resolveAccess(viewer, seen)), `${root}deliveries/${delivery.id}`)}${repeatNote(delivery, root)}`
          : viewState(delivery, pageRequest);
      return [
        outcome,
        delivery.eventType,
        subjectLink(forgeUrl, delivery),
        time(delivery.receivedAt),
        deliveryLink(delivery.id, root),
      ];
    }),
  );
}

/**
 * Returns the outcome of a delivery without a run: its state with the reason, or the delivery that it copies or
 * repeats.
 */
function viewState(
  { id, state, door, reason, retryAt, copyOf, repeatOf }: Delivery,
  { root, time }: PageRequest,
): Html {
  const isIgnored = state === 'settled' && door === 'webhook';
  const word = isIgnored ? 'ignored' : state;
  const mark = html`<a href="${root}deliveries/${id}"><span class="mark ${word}">${word}</span></a>`;
  if (copyOf !== undefined) return html`${mark} copy of ${deliveryLink(copyOf, root)}`;
  const isWaiting = (state === 'retry' || state === 'deferred') && retryAt !== undefined;
  const next = isWaiting ? html`<div>next attempt ${time(retryAt)}</div>` : undefined;
  const why = reason === undefined ? repeatNote({ repeatOf }, root) : markIds(reason);
  return html`<div class="outcome">${mark} ${why}${next}</div>`;
}

function repeatNote(
  { repeatOf }: { readonly repeatOf: Delivery['repeatOf'] },
  root: string,
): Html | undefined {
  if (repeatOf === undefined) return undefined;
  return html`<div class="muted">repeated: the same as ${deliveryLink(repeatOf, root)}</div>`;
}

/**
 * Returns the subject of a delivery: `acme/demo#7` if its lane belongs to one issue or pull request, otherwise the
 * repository; undefined if there is none.
 */
function formatSubject({ repository, lane }: Delivery): string | undefined {
  return repository && `${repository}${/#\d+$/.exec(lane ?? '')?.[0] ?? ''}`;
}

export function stateMark(state: string): Html {
  return html`<span class="mark ${state}">${state}</span>`;
}

/** Result of a run: a word that has a colour, and the counts as text. */
type RunSummary = { readonly mark: string; readonly parts: readonly string[] };

/** Returns the part of a run's result that the viewer may see: `2 rules matched · 3 changes · 52 ms`. */
export function summarizeRun(run: Run, viewerAccess: ViewerAccess): RunSummary {
  const counts = countChanges(run, viewerAccess);
  const matched = run.rules.filter(({ verdict }) => verdict === 'matched').length;
  const broken = run.rules.filter(({ verdict }) => verdict === 'failed').length;
  const evaluated = run.rules.filter(({ verdict }) => verdict !== 'skipped').length;
  const changed = counts.applied + counts.unchanged;
  const words = [
    evaluated === 0
      ? ['no rule was evaluated', commonSkip(run.rules)].filter(Boolean).join(': ')
      : `${countWords(matched, 'rule')} matched`,
    broken > 0 ? `${countWords(broken, 'rule')} failed` : '',
    counts.failed > 0 ? `${counts.failed} of ${countWords(changed + counts.failed, 'change')} failed` : '',
    counts.failed === 0 && changed > 0 ? countWords(changed, 'change') : '',
    counts.observed > 0 ? `${countWords(counts.observed, 'change')} ${observedWords}` : '',
    counts.refused > 0 ? `${countWords(counts.refused, 'change')} refused` : '',
    counts.deferred > 0 ? `${countWords(counts.deferred, 'change')} deferred` : '',
    `${run.ms} ms`,
  ];
  return { mark: markOf({ ...counts, broken, matched }), parts: words.filter(Boolean) };
}

/** Returns the result of a run as a mark that links to the explanation, followed by the counts. */
export function viewOutcome({ mark, parts }: RunSummary, explanation: string): Html {
  const words = parts.map((part, at) => html`${at === 0 ? '' : ' · '}<span class="whole">${part}</span>`);
  return html`<div class="outcome"><a href="${explanation}"><span class="mark ${mark}">${mark}</span></a> ${words}</div>`;
}

type ChangeCounts = Readonly<
  Record<'applied' | 'unchanged' | 'failed' | 'observed' | 'refused' | 'deferred', number>
>;

function countChanges(run: Run, viewerAccess: ViewerAccess): ChangeCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0, observed: 0, refused: 0, deferred: 0 };
  const count = (kind: keyof ChangeCounts, change: RecordedChange, status: string): void => {
    if (maySeeChange(change, status, viewerAccess)) counts[kind] += 1;
  };
  const outcomes = new Map(run.outcomes.map(({ change, status }) => [change, status]));
  for (const change of run.changes) {
    const status = outcomes.get(change.id) ?? 'planned';
    if (isObserved(run, change)) count('observed', change, observedWords);
    else if (status === 'applied' || status === 'failed') count(status, change, status);
    else count('unchanged', change, status);
  }
  for (const { change, until } of run.refused) {
    if (until === undefined) count('refused', change, 'refused');
    else count('deferred', change, 'deferred');
  }
  return counts;
}

/** The most severe result determines the mark. */
function markOf(counts: ChangeCounts & { readonly broken: number; readonly matched: number }): string {
  if (counts.broken + counts.failed > 0) return 'failed';
  const kinds = ['refused', 'deferred', 'applied', 'observed'] as const;
  return kinds.find((kind) => counts[kind] > 0) ?? (counts.matched > 0 ? 'matched' : 'unmatched');
}

function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Maximum number of payload bytes on a page; a link leads to the complete payload. */
const maxShownBytes = 256 * 1024;
/** Maximum number of runs of one delivery on a page. A redriven delivery has several runs, a sweep’s job very many. */
const maxRuns = 20;

/** Returns a delivery without its body, and the access of the viewer; undefined if the viewer may not see it. */
export async function findDelivery(
  { viewer, params }: PageRequest,
  store: StoreQueries,
  id = params.id ?? '',
): Promise<{ delivery: Delivery; access: 'reader' | 'administrator' } | undefined> {
  const delivery = await store.describeDelivery(id);
  if (delivery === undefined) return undefined;
  const access = await viewer.accessTo(delivery);
  return access === 'reader' || access === 'administrator' ? { delivery, access } : undefined;
}

/** Shows one delivery: its data, the verdict of each rule with the reason, and the changes. */
export async function deliveryPage(
  pageRequest: PageRequest,
  {
    store,
  }: {
    store: DashboardStore;
  },
): Promise<PageView | undefined> {
  const { root, viewer, time } = pageRequest;
  const found = await findDelivery(pageRequest, store);
  if (found === undefined) return undefined;
  const { delivery, access } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const viewerAccess = await resolveAccess(viewer, found);
  const runs = items.map(
    (run) =>
      html`<section><h2>Run of ${time(run.trigger.at)}</h2>${viewRun(run, viewerAccess, pageRequest)}</section>`,
  );
  const whole = access === 'administrator' ? await store.readDelivery(delivery.id) : undefined;
  const headers = whole?.door === 'webhook' ? await store.readHeaders(delivery.id) : undefined;
  const pauses = viewer.isOperator ? await store.listPauses() : [];
  const content = html`${aboutDelivery(delivery, pageRequest)}
<div class="actions">${canRedrive(delivery, access) ? pageRequest.button(`deliveries/${delivery.id}/run`, 'Run it again') : undefined}
${viewer.isOperator ? repositoryPause(delivery, pauses, pageRequest) : undefined}</div>
${runs.length > 0 ? runs : html`<p>No rule was evaluated: this delivery has no run.</p>`}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : undefined}
${whole?.door === 'webhook' ? viewHeaders(headers) : undefined}${whole && viewPayload(whole, root)}`;
  const subject = formatSubject(delivery);
  const what = subject ? `${delivery.eventType} in ${subject}` : delivery.eventType;
  return { title: `Delivery ${delivery.id}: ${what}`, content };
}

/**
 * Returns whether a viewer may redrive the delivery. Administrators of a repository may redrive its deliveries; sweeps
 * continue by themselves.
 */
export function canRedrive({ state, door }: Delivery, access: DeliveryAccess): boolean {
  const hasEnded = state === 'dead' || (state === 'settled' && door === 'webhook');
  return hasEnded && access === 'administrator';
}

/** Returns the button that pauses writes to the repository of a delivery, or the buttons that end its pauses. */
function repositoryPause(
  { id, repository: name, repositoryId }: Delivery,
  pauses: readonly Pause[],
  pageRequest: PageRequest,
): Html | undefined {
  if (name === undefined) return undefined;
  const own = pauses.filter(({ scope }) => isOfRepository(scope, { name, id: repositoryId }));
  return pauseControl({ kind: 'repository', name }, own, pageRequest, `deliveries/${id}`);
}

function aboutDelivery(delivery: Delivery, { root, time, forgeUrl }: PageRequest): Html {
  const { state, reason, redrivenAt, redrivenBy, retryAt, copyOf, repeatOf } = delivery;
  const about: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['State', stateMark(state)],
    ['Reason', reason && markIds(reason)],
    ['Received', time(delivery.receivedAt)],
    ['By', delivery.door],
    ['Kind', delivery.eventType],
    ['About', subjectLink(forgeUrl, delivery)],
    ['Delivery UUID', delivery.door === 'webhook' ? markIds(delivery.uuid) : undefined],
    ['Verified with', delivery.entry || undefined],
    ['Type', delivery.contentType || undefined],
    ['Attempts', delivery.attempts],
    ['Failing since', time(delivery.failingSince)],
    ['Next attempt', time(retryAt)],
    ['Settled', time(delivery.settledAt)],
    ['Copy of', copyOf && deliveryLink(copyOf, root)],
    ['Repeated', repeatOf && html`has the content of delivery ${deliveryLink(repeatOf, root)}`],
    [
      'Run again',
      redrivenAt && html`${time(redrivenAt)} by ${personLink(forgeUrl, redrivenBy ?? 'an unknown person')}`,
    ],
  ];
  const entries = about
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<dl>${entries}</dl>`;
}

/** Shows the payload. Only administrators of the repository see it, because they could also create hooks there. */
function viewPayload(delivery: DeliveryWithBody, root: string): Html {
  return html`<section><h2>Payload</h2>
<p><a href="${root}deliveries/${delivery.id}/payload">As it came</a>, ${delivery.bytes} bytes</p>
<pre tabindex="0">${formatPayload(delivery)}</pre></section>`;
}

/** Returns a payload as indented JSON, or unchanged if it is not JSON or is nested too deep. */
function formatPayload({ body }: DeliveryWithBody): string {
  const text = Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8');
  if (body.byteLength > maxShownBytes) return `${text}…`;
  try {
    return JSON.stringify(parsePayload(body), null, 2);
  } catch {
    return text;
  }
}
