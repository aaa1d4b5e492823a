import { familyOf } from '../../../contract/events/event-families.ts';
import { isObserved, observedWords } from '../../../engine/describe-change.ts';
import type { RecordedChange, Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { commonSkip, nameOfRule, ownPrefix } from '../../../rules/verdict.ts';
import {
  type Delivery,
  type DeliveryQuery,
  type DeliveryState,
  deliveryStates,
  foundEventKind,
  isForgeEvent,
  itemOfDelivery,
  type Page,
  type StoreQueries,
} from '../../../store/store.ts';
import type { DashboardData } from '../data.ts';
import { markIds, type PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import {
  type DeliveryAccess,
  maySeeChange,
  resolveAccess,
  type Viewer,
  type ViewerAccess,
} from '../visibility.ts';

const shown = 50;
/** Maximum number of deliveries read for one page of a viewer with limited access. */
const maxLooked = 200;

/** Contents of a list: forge events, internal jobs (sweeps, maintenance), or both. */
const doors = { events: 'event', jobs: 'job', all: undefined } as const;
type Shown = keyof typeof doors;

/** What a list of deliveries shows. The page of a delivery keeps it for its links to the previous and next one. */
export type ListFilter = {
  readonly show: Shown;
  readonly state: DeliveryState | undefined;
  readonly search: string;
  /** Whether events that Reeve itself caused are listed. */
  readonly withOwn: boolean;
};

/**
 * Returns the filter of a query. A list by state includes jobs, like the counts of the overview; other lists include
 * jobs only on request.
 */
export function listFilterOf(query: URLSearchParams): ListFilter {
  const state = deliveryStates.find((one) => one === query.get('state'));
  const asked = query.get('show') ?? '';
  const show = Object.hasOwn(doors, asked) ? (asked as Shown) : state === undefined ? 'events' : 'all';
  const search = (query.get('search') ?? '').trim().slice(0, 200);
  return { show, state, search, withOwn: query.get('own') === 'shown' };
}

/** Returns the query of a filter, with further parameters, as the end of a link; empty for the list without a filter. */
export function queryOfFilter(
  { show, state, search, withOwn }: ListFilter,
  more: Readonly<Record<string, string>> = {},
): string {
  const isUsual = show === (state === undefined ? 'events' : 'all');
  const query = new URLSearchParams({
    ...(isUsual ? {} : { show }),
    ...(state === undefined ? {} : { state }),
    ...(search === '' ? {} : { search }),
    ...(withOwn ? { own: 'shown' } : {}),
    ...more,
  }).toString();
  return query === '' ? '' : `?${query}`;
}

/** Shows the deliveries that a viewer may see, newest first, filtered by kind, state and a search. */
export async function deliveriesPage(pageRequest: PageRequest, { store }: DashboardData): Promise<PageView> {
  const { query, viewer, root } = pageRequest;
  const filter = listFilterOf(query);
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const page = before === undefined ? {} : { before };
  const { items, next, unknown } = viewer.isOperator
    ? await visibleToOperators(store, filter, page)
    : await visibleTo(viewer, store, { filter, page, range: maxLooked });
  const rows = await deliveryRows(items, store, { filter, pageRequest });
  const { show, state, search } = filter;
  const mayRedrive =
    state === 'dead' && show === 'all' && search === '' && viewer.isOperator && rows.length > 0;
  const list =
    rows.length > 0
      ? html`<ul class="rows">${rows}</ul>`
      : emptyList(filter, { hasMore: next !== undefined, pageRequest });
  const newest =
    before === undefined ? undefined : html`<a href="${root}deliveries${queryOfFilter(filter)}">Newest</a>`;
  const older =
    next === undefined
      ? undefined
      : html`<a rel="next" href="${root}deliveries${queryOfFilter(filter, { before: next })}">Older</a>`;
  const content = html`${viewer.isOperator ? kindTabs(root, filter) : undefined}
${filterForm(root, filter)}
${mayRedrive ? pageRequest.button('deliveries/dead/run', 'Try all dead ones again') : undefined}
${list}
${unknown > 0 ? html`<p role="alert">For ${unknown} of them, the forge did not say whether you may see them.</p>` : undefined}
${newest || older ? html`<p class="pager">${newest}${older}</p>` : undefined}`;
  return { title: 'Deliveries', content };
}

type Seen = { readonly delivery: Delivery; readonly access: 'reader' | 'administrator' };
type Visible = Page<Seen> & { readonly unknown: number };
/** Position of a page: deliveries before or after an id. */
type Place = Pick<DeliveryQuery, 'before' | 'after'>;

async function visibleToOperators(
  store: StoreQueries,
  { show, state, search, withOwn }: ListFilter,
  page: Place & { readonly limit?: number },
): Promise<Visible> {
  const door = doors[show];
  const { items, next } = await store.listDeliveries({
    limit: shown,
    ...page,
    ...(door ? { door } : {}),
    ...(state ? { state } : {}),
    ...(search ? { search } : {}),
    withoutOwn: !withOwn,
  });
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
  { filter, page, range }: { readonly filter: ListFilter; readonly page: Place; readonly range: number },
): Promise<Visible> {
  const { search } = filter;
  const repositoryId = search.includes('/') ? await viewer.findRepository(search) : undefined;
  const stretch = await store.listDeliveries({
    limit: range,
    ...page,
    ...(repositoryId === undefined ? {} : { repositoryId }),
  });
  const accesses = await Promise.all(stretch.items.map((delivery) => viewer.accessTo(delivery)));
  const visible = stretch.items.flatMap((delivery, at): readonly Seen[] => {
    const access = accesses[at];
    const isSeen = access === 'reader' || access === 'administrator';
    return isSeen && isWanted(delivery, filter) ? [{ delivery, access }] : [];
  });
  const items = visible.slice(0, shown);
  return {
    items,
    next: visible.length > shown ? items.at(-1)?.delivery.id : stretch.next,
    unknown: accesses.filter((access) => access === 'unknown').length,
  };
}

function isWanted(delivery: Delivery, { show, state, search, withOwn }: ListFilter): boolean {
  const { eventType, repository = '', uuid } = delivery;
  const door = doors[show];
  if (state !== undefined && delivery.state !== state) return false;
  if (door !== undefined && isForgeEvent(delivery) !== (door === 'event')) return false;
  if (!withOwn && delivery.reason?.startsWith(ownPrefix)) return false;
  const text = search.toLowerCase();
  return [eventType, repository, uuid].some((one) => one.toLowerCase().includes(text));
}

/** Maximum number of deliveries in each direction in which the previous and next visible one are searched. */
const neighbourRange = 50;

/** Returns the ids of the next newer and the next older delivery that the viewer may see in a list. */
export async function findNeighbours(
  id: string,
  {
    filter,
    viewer,
    store,
  }: { readonly filter: ListFilter; readonly viewer: Viewer; readonly store: StoreQueries },
): Promise<{ readonly newer: string | undefined; readonly older: string | undefined }> {
  const find = async (page: Place): Promise<string | undefined> => {
    const { items } = viewer.isOperator
      ? await visibleToOperators(store, filter, { ...page, limit: 1 })
      : await visibleTo(viewer, store, { filter, page, range: neighbourRange });
    return items[0]?.delivery.id;
  };
  return { newer: await find({ after: id }), older: await find({ before: id }) };
}

const tabWords: Readonly<Record<Shown, string>> = {
  events: 'Events of the forge',
  jobs: 'Internal jobs',
  all: 'All',
};

function kindTabs(root: string, filter: ListFilter): Html {
  const tabs = (Object.keys(doors) as readonly Shown[]).map((show) => {
    const current = show === filter.show ? html` aria-current="true"` : undefined;
    // Named even if it is the usual one, because the usual one depends on the state.
    const to = queryOfFilter({ ...filter, show }, { show });
    return html`<li><a href="${root}deliveries${to}"${current}>${tabWords[show]}</a></li>`;
  });
  return html`<ul class="tabs">${tabs}</ul>`;
}

function filterForm(root: string, { show, state, search, withOwn }: ListFilter): Html {
  const options = deliveryStates.map((one) =>
    one === state
      ? html`<option value="${one}" selected>${one}</option>`
      : html`<option value="${one}">${one}</option>`,
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<input type="hidden" name="show" value="${show}">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or delivery UUID <input type="search" name="search" value="${search}"></label>
<label class="check"><input type="checkbox" name="own" value="shown"${withOwn ? html` checked` : undefined}> Reeve’s own events</label>
<button>Show</button></form>`;
}

/** What makes a delivery appear in the list of a state. */
const stateWords: Readonly<Record<DeliveryState, string>> = {
  accepted:
    'Nothing waits for its turn. A delivery is listed here between its arrival and its first attempt.',
  claimed: 'Nothing is being handled. A delivery is listed here while its rules run.',
  retry:
    'Nothing waits for a retry. A delivery is listed here if the forge did not answer, until the next attempt.',
  deferred:
    'Nothing is deferred. A delivery is listed here while it waits for room in an hourly budget, for the end of a pause, or for its next look at something that sends no event.',
  settled: 'Nothing has been handled yet. A delivery is listed here once its rules have run.',
  dead: 'Nothing is dead. A delivery is listed here if all its attempts failed, or if its content is malformed.',
};

/** Says what would make a delivery appear. */
function emptyList(
  filter: ListFilter,
  { hasMore, pageRequest }: { readonly hasMore: boolean; readonly pageRequest: PageRequest },
): Html {
  const { root, viewer } = pageRequest;
  const { show, state, search, withOwn } = filter;
  const own = withOwn
    ? undefined
    : html`<p>Events that Reeve itself caused are hidden: <a href="${root}deliveries${queryOfFilter({ ...filter, withOwn: true })}">show them</a>.</p>`;
  if (hasMore)
    return html`<div class="empty"><p>None of the deliveries examined for this page matches, or you may see none of them. There are older ones.</p>${own}</div>`;
  if (search !== '')
    return html`<div class="empty"><p><strong>No delivery matches “${search}”.</strong></p>
<p>The search finds parts of the kind, the repository and the delivery UUID. <a href="${root}deliveries">Clear the filters</a></p>${own}</div>`;
  if (state !== undefined) return html`<div class="empty"><p>${stateWords[state]}</p></div>`;
  if (show === 'jobs')
    return html`<div class="empty"><p><strong>No job has run yet.</strong></p>
<p>A job is listed here when a schedule is due, and when Reeve starts and looks for missed events.</p></div>`;
  const where = viewer.isOperator
    ? html`<p>Open an issue in a repository with a webhook for this address, or press <em>Test delivery</em> in the settings of the
webhook. <code>reeve setup</code> creates webhooks, and <code>reeve doctor</code> finds out why no event arrives.</p>`
    : html`<p>Open an issue in a repository that Reeve serves. You see the events of the repositories that you can read.</p>`;
  return html`<div class="empty"><p><strong>No event has arrived yet.</strong></p>${where}${own}</div>`;
}

async function deliveryRows(
  items: readonly Seen[],
  store: StoreQueries,
  { filter, pageRequest }: { readonly filter: ListFilter; readonly pageRequest: PageRequest },
): Promise<readonly Html[]> {
  const { root, time, viewer } = pageRequest;
  // The newest run of a sweep’s job covers only one of the sweep’s items and does not represent the whole job.
  const ids = items.filter(({ delivery }) => isForgeEvent(delivery)).map(({ delivery }) => delivery.id);
  const runs = await store.readLatestRuns(ids);
  return Promise.all(
    items.map(async (seen) => {
      const { delivery } = seen;
      const run = runs.get(delivery.id);
      const { mark, words } =
        delivery.state === 'settled' && run !== undefined
          ? ofRun(summarizeRun(run, await resolveAccess(viewer, seen)), delivery)
          : ofState(delivery, time);
      const { id, repository = delivery.summary?.item } = delivery;
      const about = [eventWords(delivery), repository && markIds(repository)].filter(
        (one) => one !== undefined,
      );
      return html`<li id="delivery-${id}"><span class="mark ${mark}">${mark}</span>
<div class="row-main"><a class="row-link" href="${root}deliveries/${id}${queryOfFilter(filter)}">${titleOfDelivery(delivery)}</a>
<div class="muted">${about.map((one, at) => html`${at === 0 ? '' : ' · '}${one}`)}</div></div>
<div class="row-result">${words}</div>
<div class="row-time">${time(delivery.receivedAt)}</div></li>
`;
    }),
  );
}

type Outcome = { readonly mark: string; readonly words: Html };

function ofRun({ mark, parts }: RunSummary, { repeatOf }: Delivery): Outcome {
  const words = parts.map((part, at) => html`${at === 0 ? '' : ' · '}<span class="whole">${part}</span>`);
  return { mark, words: html`${words}${repeatOf && html`<div>same content as delivery ${repeatOf}</div>`}` };
}

/**
 * Returns the outcome of a delivery without a run: its state with the reason, or the delivery that it copies or
 * repeats.
 */
function ofState(delivery: Delivery, time: PageRequest['time']): Outcome {
  const { state, reason, retryAt, copyOf, repeatOf } = delivery;
  const isIgnored = state === 'settled' && isForgeEvent(delivery);
  const isWaiting = (state === 'retry' || state === 'deferred') && retryAt !== undefined;
  const next = isWaiting ? html`<div>next attempt ${time(retryAt)}</div>` : undefined;
  const same = copyOf ? `copy of delivery ${copyOf}` : repeatOf && `same content as delivery ${repeatOf}`;
  return { mark: isIgnored ? 'ignored' : state, words: html`${markIds(reason ?? same ?? '')}${next}` };
}

/** Returns the number of the issue or pull request that a delivery is about. */
export function numberOfDelivery(delivery: Delivery): number | undefined {
  const number = /#(\d{1,15})$/.exec(itemOfDelivery(delivery) ?? '')?.[1];
  return number ? Number(number) : undefined;
}

/** Says how an event or job came about: `webhook`, `cron`. */
export function doorWords({ door, eventType }: Pick<Delivery, 'door' | 'eventType'>): string {
  return eventType === foundEventKind ? foundWords : door;
}

const foundWords = 'found by reading the forge';

/** Returns the title of a delivery: `#12 Fix the build`, `main: Fix the build`, `sweep of stale`. */
export function titleOfDelivery(delivery: Delivery): string {
  const { summary, door, eventType, lane = '' } = delivery;
  if (door !== 'webhook' && eventType === 'sweep')
    return `sweep of ${nameOfRule(lane.replace(/^sweep /, ''))}`;
  const number = isForgeEvent(delivery) ? /#(\d{1,15})$/.exec(lane)?.[1] : undefined;
  const words = [number === undefined ? undefined : `#${number}`, summary?.title].filter(Boolean);
  return words.length > 0 ? words.join(' ') : eventWords(delivery);
}

/** Returns the event and the account that caused it as words: `pull request opened by alice`. */
export function eventWords({ eventType, door, summary }: Delivery): string {
  const family = familyOf(eventType) ?? eventType;
  const kind = (family === 'issues' ? 'issue' : family).replaceAll(/[_-]/g, ' ');
  const what = [kind, summary?.activity?.replaceAll('_', ' ')].filter(Boolean).join(' ');
  if (eventType === foundEventKind)
    return `${summary?.activity?.replaceAll('_', ' ') ?? 'event'}, ${foundWords}`;
  if (door !== 'webhook') return `${what}, by ${door === 'cli' ? 'hand' : 'schedule'}`;
  return summary?.actor === undefined ? what : `${what} by ${summary.actor}`;
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

/**
 * Returns whether a viewer may redrive the delivery. Administrators of a repository may redrive its deliveries; sweeps
 * continue by themselves.
 */
export function canRedrive({ state, door }: Delivery, access: DeliveryAccess): boolean {
  const hasEnded = state === 'dead' || (state === 'settled' && door === 'webhook');
  return hasEnded && access === 'administrator';
}
