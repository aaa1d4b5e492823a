import { describeTrigger, type Run } from '../../../engine/record.ts';
import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import { type Delivery, isForgeEvent } from '../../../store/store.ts';
import type { AboutItem, ComingLook, NumberedItem, QueuePlace } from '../../../work/runs/about-item.ts';
import type { DashboardData } from '../data.ts';
import { deliveryLink, issueLink, personLink, ruleLink } from '../links.ts';
import { markIds, type PageView, type TableCell, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { operatorAccess, resolveAccess } from '../visibility.ts';
import { findDelivery, stateMark, summarizeRun, viewOutcome } from './deliveries.ts';

/** Maximum number of runs on the page; `reeve explain` prints all. */
const shownRuns = 50;
/** Maximum number of runs whose access is checked for a viewer who is no operator. */
const maxLooked = 200;

type SeenDelivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>;
/** A run with its delivery; absent for runs of sweeps by a deleted job. */
type SeenRun = { readonly run: Run; readonly seen: SeenDelivery | undefined };

/**
 * Shows everything about one issue or pull request: when it is looked at next, what it waits for, its places in merge
 * queues, and its runs. Viewers who are no operators see the deliveries and runs that they may see one by one.
 */
export async function subjectPage(
  pageRequest: PageRequest,
  data: DashboardData,
): Promise<PageView | undefined> {
  const { params, viewer } = pageRequest;
  const asked = itemOf(params);
  if (asked === undefined) return undefined;
  const repositoryId = viewer.isOperator ? undefined : await viewer.findRepository(asked.repository);
  if (!viewer.isOperator && repositoryId === undefined) return undefined;
  const about = await data.aboutItem(asked);
  if (viewer.isOperator) {
    const runs = await Promise.all(
      about.runs.slice(0, shownRuns).map((run) => withDelivery(run, pageRequest, data)),
    );
    return subjectView({ ...about, runs, total: about.runs.length }, pageRequest);
  }
  // The name may have belonged to another repository, about which this viewer may see nothing.
  const isSame = about.repositoryId === repositoryId;
  const visible = isSame ? await visibleRuns(about.runs, pageRequest, data) : [];
  const waiting = isSame ? await visibleWaiting(about.waiting, pageRequest) : [];
  const looks = about.looks.filter(
    ({ by }) => 'delivery' in by && waiting.some(({ id }) => id === by.delivery),
  );
  const item = isSame ? about.item : asked;
  return subjectView(
    {
      item,
      isWhole: about.isWhole,
      runs: visible.slice(0, shownRuns),
      total: visible.length,
      waiting,
      looks,
      queues: [],
    },
    pageRequest,
  );
}

function itemOf({
  owner = '',
  repo = '',
  kind,
  index = '',
}: PageRequest['params']): NumberedItem | undefined {
  const isItem = (kind === 'pulls' || kind === 'issues') && /^[1-9]\d{0,8}$/.test(index);
  const isName = [owner, repo].every((part) => /^[\w.-]{1,100}$/.test(part));
  return isItem && isName ? { repository: `${owner}/${repo}`, index: Number(index) } : undefined;
}

async function withDelivery(run: Run, pageRequest: PageRequest, { store }: DashboardData): Promise<SeenRun> {
  const { delivery: id } = run.trigger;
  return { run, seen: id === undefined ? undefined : await findDelivery(pageRequest, store, id) };
}

/** Returns the newest runs whose deliveries the viewer may see. Runs of sweeps are for operators. */
async function visibleRuns(
  runs: readonly Run[],
  pageRequest: PageRequest,
  data: DashboardData,
): Promise<readonly SeenRun[]> {
  const found = await Promise.all(
    runs.slice(0, maxLooked).map((run) => withDelivery(run, pageRequest, data)),
  );
  return found.filter(({ seen }) => seen !== undefined);
}

async function visibleWaiting(
  waiting: readonly Delivery[],
  { viewer }: PageRequest,
): Promise<readonly Delivery[]> {
  const accesses = await Promise.all(waiting.slice(0, maxLooked).map((one) => viewer.accessTo(one)));
  return waiting.filter((_one, at) => accesses[at] === 'reader' || accesses[at] === 'administrator');
}

type ShownSubject = Pick<AboutItem, 'item' | 'isWhole' | 'waiting' | 'looks' | 'queues'> & {
  readonly runs: readonly SeenRun[];
  /** Number of runs, shown or not. */
  readonly total: number;
};

async function subjectView(subject: ShownSubject, pageRequest: PageRequest): Promise<PageView> {
  const { item, runs, total, isWhole, waiting, queues } = subject;
  const { root, viewer } = pageRequest;
  const name = `${item.repository}#${item.index}`;
  const isPull = isPullRequest(subject, pageRequest.params.kind);
  const rows = await Promise.all(runs.map((one) => runRow(one, pageRequest)));
  const simulate = new URLSearchParams({ kind: isPull ? 'pull_request' : 'issue', subject: name }).toString();
  const actions = html`<div class="actions">${
    viewer.isOperator ? html`<a class="button" href="${root}simulate?${simulate}">Simulate</a>` : undefined
  }</div>`;
  const empty = html`No run about ${markIds(name)} is recorded. A run appears here when the forge sends an event about it that a rule listens to, or when a sweep visits it.`;
  const heads = ['outcome', 'event', 'rules that matched', 'when', 'delivery'];
  const content = html`${aboutSubject(subject, isPull, pageRequest)}
<h2>What it waits for</h2>${waitingTable(waiting, queues, pageRequest)}
<h2>Runs</h2>${table(heads, rows, empty)}
${total > runs.length ? html`<p>These are the newest ${runs.length} of ${count(total, 'run')}; <code>reeve explain ${name}</code> prints all.</p>` : undefined}
${isWhole ? undefined : html`<p class="muted">Older runs were not searched.</p>`}`;
  return { title: `${isPull ? 'Pull request' : 'Issue'} ${name}`, content, actions };
}

/** An event shows whether an item is a pull request. Without one, the address of the page decides. */
function isPullRequest({ runs, waiting, queues }: ShownSubject, kind: string | undefined): boolean {
  const kinds = [...runs.map(({ run }) => run.trigger.kind), ...waiting.map(({ eventType }) => eventType)];
  if (queues.length > 0 || kinds.some((one) => one.startsWith('pull_request'))) return true;
  return kind === 'pulls' && !kinds.includes('issues');
}

function aboutSubject(
  { item, looks, queues, waiting }: ShownSubject,
  isPull: boolean,
  pageRequest: PageRequest,
): Html {
  const { forgeUrl, time } = pageRequest;
  const [next] = looks;
  const places = queues.map(
    ({ base, position, phase }) =>
      html`<div>number ${position} in the <a href="${pageRequest.root}queues">merge queue</a> of ${base} <span class="mark">${phase}</span></div>`,
  );
  return html`<dl><dt>On the forge</dt><dd>${issueLink(forgeUrl, item.repository, item.index, isPull)}</dd>
<dt>Next look</dt><dd>${next ? html`${time(next.at)} by ${lookLink(next, waiting, pageRequest)}` : 'at its next event'}</dd>
${places.length > 0 ? html`<dt>Merge queue</dt><dd>${places}</dd>` : undefined}</dl>`;
}

function lookLink({ by }: ComingLook, waiting: readonly Delivery[], { root }: PageRequest): Html {
  if ('delivery' in by) {
    const isJob = waiting.some((one) => one.id === by.delivery && !isForgeEvent(one));
    return html`${isJob ? 'job' : 'delivery'} ${deliveryLink(by.delivery, root)}`;
  }
  return html`the schedule of ${ruleLink(by.rule, root)}`;
}

function waitingTable(
  waiting: readonly Delivery[],
  queues: readonly QueuePlace[],
  { root, time, forgeUrl }: PageRequest,
): Html {
  const ofQueues = queues.map(({ base, paused, blocked, waitsFor, enteredAt }): readonly TableCell[] => [
    html`<span class="mark">queued</span>`,
    html`${markIds(waitsFor)}${paused && html`<div>The queue of ${base} is paused since ${time(paused.at)} by ${personLink(forgeUrl, paused.by)}.</div>`}
${blocked && html`<div>Someone else wrote <code>${blocked.commit.slice(0, 10)}</code> to ${base}.</div>`}`,
    time(enteredAt),
    undefined,
    html`<a href="${root}queues">merge queue of ${base}</a>`,
  ]);
  const ofDeliveries = waiting.map(
    ({ id, state, reason, eventType, receivedAt, retryAt }): readonly TableCell[] => [
      stateMark(state),
      reason?.replace(/^deferred: /, '') ?? (state === 'claimed' ? 'it is being handled now' : 'its turn'),
      time(receivedAt),
      time(retryAt),
      html`${eventType} ${deliveryLink(id, root)}`,
    ],
  );
  const heads = ['state', 'waits for', 'since', 'next attempt', 'what'];
  return table(
    heads,
    [...ofQueues, ...ofDeliveries],
    'Nothing about it waits: each event is handled when it arrives.',
  );
}

async function runRow(
  { run, seen }: SeenRun,
  { root, time, viewer }: PageRequest,
): Promise<readonly TableCell[]> {
  const { id, trigger, rules } = run;
  const access = viewer.isOperator ? operatorAccess : await resolveAccess(viewer, seen);
  const matched = rules.filter(({ verdict }) => verdict === 'matched');
  return [
    viewOutcome(summarizeRun(run, access), `${root}runs/${id}`),
    describeTrigger(trigger),
    matched.map(({ rule }) => nameOfRule(rule)).join(', '),
    html`<a href="${root}runs/${id}">${time(trigger.at)}</a>`,
    seen && deliveryLink(seen.delivery.id, root),
  ];
}
