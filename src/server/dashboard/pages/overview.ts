import type { Pause } from '../../../engine/bounds/pauses.ts';
import {
  type Incident,
  type IncidentKind,
  incidentKinds,
  kindRow,
} from '../../../engine/incidents/incident.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { type Delivery, type DeliveryState, deliveryStates, type Health } from '../../../store/store.ts';
import {
  type ChartMark,
  chartStretches,
  marksOf,
  type SampleName,
  sampleSpanOf,
} from '../activity-samples.ts';
import type { DashboardData, DashboardStore, ForgeHealth } from '../data.ts';
import { deliveryLink, itemLink, ruleLink, subjectLink } from '../links.ts';
import { markIds, type PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { formatCount, formatMs, viewSparkline } from './activity.ts';
import { deliveriesPage, stateMark } from './deliveries.ts';
import { isOfRule } from './incidents.ts';
import { pauseLines, pauseMenu } from './pauses.ts';
import { groupRuns, runTable } from './runs.ts';

/** Rows of the table of latest runs; the runs of one job are one row. */
const shownRuns = 10;
/** Runs that are read for these rows. */
const readRuns = 200;

/**
 * Shows what needs attention, 24 hours in numbers, and the latest runs. Viewers other than operators get the list of
 * deliveries that they may see.
 */
export async function overviewPage(pageRequest: PageRequest, data: DashboardData): Promise<PageView> {
  const { viewer, root, time } = pageRequest;
  if (!viewer.isOperator) return deliveriesPage(pageRequest, data);
  const { store } = data;
  const [counts, oldest, runs, drift, runners, incidents, pauses, dead, deferred, health] = await Promise.all(
    [
      store.counts(),
      store.oldestWaiting(),
      store.listRuns({ limit: readRuns }),
      data.drift(),
      data.runners(),
      data.incidents(),
      store.listPauses(),
      store.listDeliveries({ state: 'dead', limit: named }),
      store.listDeliveries({ state: 'deferred', limit: named }),
      store.healthy(),
    ],
  );
  const states = deliveryStates
    .filter((state) => counts[state] > 0)
    .map(
      (state) =>
        html`<li><a href="${root}deliveries?state=${state}">${stateMark(state)} ${counts[state].toLocaleString('en')}</a></li>`,
    );
  const lists = { dead: dead.items, deferred: deferred.items };
  const found = { counts, pauses, incidents, drift, runners, health, ...lists };
  const groups = groupRuns(runs.items).slice(0, shownRuns);
  const content = html`<h2>Needs attention</h2>${viewAttention(pageRequest, data, found)}
<h2>24 hours</h2>${await viewDay(pageRequest, data)}
<ul class="counts"><li>${states.length > 0 ? 'Stored deliveries and jobs:' : 'No delivery is stored.'}</li>${states}</ul>
<p>${oldest ? html`The oldest waiting delivery arrived ${time(oldest)}.` : 'No delivery waits.'}</p>
<h2>Latest runs</h2>${await runTable(groups, store, pageRequest)}
${groups.length > 0 ? html`<p><a href="${root}runs">All runs</a></p>` : undefined}`;
  return { title: 'Overview', content, actions: pauseMenu(pauses, pageRequest) };
}

/** Maximum number of incidents of a kind, dead deliveries, runners and drifts that are named; their pages list all. */
const named = 5;

/** Severities, the highest first: nothing works, work failed, something differs from what is wanted, good to know. */
const severities = ['critical', 'failed', 'warning', 'note'] as const;
type Severity = (typeof severities)[number];

/** Something that needs attention. */
type Notice = {
  readonly severity: Severity;
  readonly text: Html;
  /** Buttons and links that resolve or show it. */
  readonly action?: Html | undefined;
  /** Objects that it is about, each with its action. */
  readonly rows?: readonly { readonly text: Html; readonly action?: Html | undefined }[];
  /** Number of further objects. */
  readonly rest?: number;
};

/** Data of the notices. */
type AttentionData = {
  readonly counts: Readonly<Record<DeliveryState, number>>;
  readonly pauses: readonly Pause[];
  readonly incidents: readonly Incident[];
  readonly drift: Awaited<ReturnType<DashboardData['drift']>>;
  readonly runners: Awaited<ReturnType<DashboardData['runners']>>;
  readonly health: Health;
  readonly dead: readonly Delivery[];
  readonly deferred: readonly Delivery[];
};

function viewAttention(pageRequest: PageRequest, data: DashboardData, found: AttentionData): Html {
  const notices = [
    ...storeNotices(found.health),
    ...forgeNotices(data.forge(), pageRequest),
    ...incidentNotices(found.incidents, pageRequest),
    ...deadNotices(found, pageRequest),
    ...stateNotices(found, pageRequest),
    ...refusalNotices(data.refusals()),
    ...pauseLines(found.pauses, pageRequest).map(
      ({ text, action }): Notice => ({ severity: 'note', text, action }),
    ),
  ].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
  if (notices.length === 0) {
    return html`<p class="empty"><strong>Nothing needs attention.</strong> Failing rules and sweeps, rule files that cannot be used, dead deliveries, drift, offline runners and pauses appear here.</p>`;
  }
  return html`<ul class="attention">${notices.map(viewNotice)}</ul>`;
}

function viewNotice({ severity, text, action, rows = [], rest = 0 }: Notice): Html {
  const lines = rows.map(
    (row) => html`<li><div>${row.text}</div>${row.action && html`<div class="do">${row.action}</div>`}</li>`,
  );
  const more = rest > 0 ? html`<li><div>And ${rest} more.</div></li>` : undefined;
  return html`<li class="${severity}"><div class="what"><div>${text}</div>${action && html`<div class="do">${action}</div>`}</div>${
    lines.length > 0 ? html`<ul>${lines}${more}</ul>` : undefined
  }</li>\n`;
}

function showLink(path: string, text: string, root: string): Html {
  return html`<a class="button" href="${root}${path}">${text}</a>`;
}

function storeNotices({ ok, reason }: Health): readonly Notice[] {
  if (ok) return [];
  const text = html`<strong>The store is not writable</strong>: ${reason ?? 'see the log'}. Deliveries are refused until it is.`;
  return [{ severity: 'critical', text, action: html`<code>reeve doctor</code>` }];
}

function forgeNotices(forge: ForgeHealth, { time }: PageRequest): readonly Notice[] {
  if (forge.state === 'ok') return [];
  const rest = html`, since ${time(forge.since)}: ${forge.reason}. Deliveries are stored and wait.`;
  return forge.state === 'refused'
    ? [
        {
          severity: 'critical',
          text: html`<strong>The forge refuses our credential</strong>${rest} Renew the token: write a new one to the token file. It is used without a restart.`,
          action: html`<code>reeve doctor</code>`,
        },
      ]
    : [
        {
          severity: 'critical',
          text: html`<strong>The forge fails</strong>${rest} They are tried again by themselves.`,
        },
      ];
}

/** Severity of each kind of incident; others are failures. */
const incidentSeverity: Partial<Record<IncidentKind, Severity>> = { 'account-changed': 'warning' };

function incidentNotices(incidents: readonly Incident[], pageRequest: PageRequest): readonly Notice[] {
  const kinds = Object.keys(incidentKinds) as readonly IncidentKind[];
  return kinds.flatMap((kind): readonly Notice[] => {
    const found = incidents.filter((incident) => incident.kind === kind);
    if (found.length === 0) return [];
    const { title, remedy } = kindRow(kind);
    return [
      {
        severity: incidentSeverity[kind] ?? 'failed',
        text: html`<strong>${title}: ${found.length}</strong><div class="muted">${viewCode(remedy)}</div>`,
        rows: found.slice(0, named).map((incident) => incidentRow(incident, pageRequest)),
        rest: found.length - named,
      },
    ];
  });
}

/** Returns a text in which the parts between backticks are code. */
function viewCode(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

function incidentRow(
  { kind, key, subject, count, lastAt, reason, run }: Incident,
  { root, time, forgeUrl }: PageRequest,
): NonNullable<Notice['rows']>[number] {
  const on = subject === undefined ? undefined : html` on ${itemLink(forgeUrl, subject, root)}`;
  const times = count === 1 ? undefined : html`${count.toLocaleString('en')} times, last `;
  const isRule = isOfRule(kind);
  const { page } = kindRow(kind);
  const actions = [
    isRule
      ? html`<a class="button" href="${root}rules/show?${new URLSearchParams({ rule: key }).toString()}">Show rule</a>`
      : undefined,
    kind === 'file-broken' ? showLink(page, 'Show file', root) : undefined,
    page === 'sweeps' ? showLink(page, 'Show sweeps', root) : undefined,
    kind === 'account-changed' ? html`<code>reeve adopt ${key}</code>` : undefined,
    run === undefined ? undefined : showLink(`runs/${run}`, 'Show run', root),
  ];
  return {
    text: html`<strong>${isRule ? ruleLink(key, root, key) : markIds(key)}</strong>${on} <span class="muted">${times}${time(lastAt)}</span><div>${markIds(reason.split('\n', 1)[0] ?? '')}</div>`,
    action: html`${actions}`,
  };
}

function deadNotices(
  { counts, dead }: AttentionData,
  { root, time, forgeUrl, button }: PageRequest,
): readonly Notice[] {
  if (counts.dead === 0) return [];
  return [
    {
      severity: 'failed',
      text: html`<strong><a href="${root}deliveries?state=dead">Dead deliveries: ${counts.dead.toLocaleString('en')}</a></strong> They were given up, and their changes were not made.`,
      action: button('deliveries/dead/run', 'Try all again'),
      rows: dead.map((delivery) => ({
        text: html`${deliveryLink(delivery.id, root)} ${delivery.eventType} ${subjectLink(forgeUrl, delivery, root)} <span class="muted">${time(delivery.receivedAt)}</span><div>${markIds(delivery.reason ?? '')}</div>`,
        action: button(`deliveries/${delivery.id}/run`, 'Try again'),
      })),
      rest: counts.dead - dead.length,
    },
  ];
}

/** Returns the notices about drift, runners and deferred deliveries. */
function stateNotices(
  { counts, drift, runners, deferred }: AttentionData,
  { root, forgeUrl }: PageRequest,
): readonly Notice[] {
  const seen = runners.filter(({ notSeenSince }) => notSeenSince === undefined);
  const offline = seen.filter(({ status }) => status === 'offline').map(({ name }) => name);
  const unseen = runners.filter((runner) => !seen.includes(runner)).map(({ name }) => name);
  const notices: readonly (Notice | false)[] = [
    offline.length > 0 && {
      severity: 'warning',
      text: html`<strong>Runners that are offline: ${offline.length}</strong>${namesOf(offline)}`,
      action: showLink('runners', 'Show runners', root),
    },
    unseen.length > 0 && {
      severity: 'warning',
      text: html`<strong>Runners that are not seen any more: ${unseen.length}</strong>${namesOf(unseen)}`,
      action: showLink('runners', 'Show runners', root),
    },
    drift.length > 0 && {
      severity: 'warning',
      text: html`<strong>Differences from the rules: ${drift.length}</strong>${namesOf(drift.map(({ item, target }) => `${target} in ${item}`))}`,
      action: showLink('drift', 'Show drift', root),
    },
    counts.deferred > 0 && {
      severity: 'note',
      text: html`<strong>Deferred deliveries and jobs: ${counts.deferred.toLocaleString('en')}</strong> They run by themselves.`,
      rows: deferred.map((delivery) => ({
        text: html`${deliveryLink(delivery.id, root)} ${delivery.eventType} ${subjectLink(forgeUrl, delivery, root)}<div>${markIds(delivery.reason ?? '')}</div>`,
      })),
      rest: counts.deferred - deferred.length,
      action: showLink('deliveries?state=deferred', 'Show deliveries', root),
    },
  ];
  return notices.filter((notice) => notice !== false);
}

function namesOf(names: readonly string[]): Html {
  const rest = names.length - named;
  return html` <div class="muted">${markIds(names.slice(0, named).join(', '))}${rest > 0 ? ` and ${rest} more` : ''}</div>`;
}

function refusalNotices(refused: ReadonlyMap<number, number>): readonly Notice[] {
  if (refused.size === 0) return [];
  const refusals = [...refused].map(([code, count]) => `${count} with ${code}`).join(', ');
  return [
    {
      severity: 'warning',
      text: html`<strong>Deliveries refused by the receiver</strong> since the start: ${refusals}. The log has the reasons; 401 is a wrong secret of a webhook.`,
      action: html`<code>reeve doctor</code>`,
    },
  ];
}

/** Shows 24 hours in numbers, each with a small chart. */
async function viewDay(
  { root }: PageRequest,
  { store, now }: { readonly store: Pick<DashboardStore, 'readSamples'>; readonly now: () => Date },
): Promise<Html> {
  const [day] = chartStretches;
  if (day === undefined) return html``;
  const at = now();
  const since = sampleSpanOf(new Date(at.getTime() - day.hours * 3_600_000), day.minutes);
  const marks = marksOf(await store.readSamples({ minutes: day.minutes, since }), day, at);
  const row = (name: SampleName): readonly (number | undefined)[] => marks.map(({ values }) => values[name]);
  const total = (name: SampleName): string =>
    formatCount(row(name).reduce<number>((sum, value = 0) => sum + value, 0));
  const latencies = marks.map(({ p95 }: ChartMark) => p95);
  const slowest = Math.max(...latencies.map((ms = 0) => ms));
  const waiting = row('waiting');
  const tiles = [
    { words: 'deliveries received', number: total('received'), colour: 'busy', values: row('received') },
    {
      words: 'deliveries with a failed rule or change',
      number: total('failed'),
      colour: 'wait',
      values: row('failed'),
    },
    {
      words: 'sweep items with a failed rule or change',
      number: total('failed in sweeps'),
      colour: 'wait',
      values: row('failed in sweeps'),
    },
    { words: 'given up', number: total('dead'), colour: 'bad', values: row('dead') },
    {
      words: 'waiting at most',
      number: formatCount(Math.max(...waiting.map((one = 0) => one))),
      colour: 'busy',
      values: waiting,
    },
    {
      words: 'slowest p95',
      number: slowest > 0 ? formatMs(slowest) : '–',
      colour: 'plain',
      values: latencies,
    },
    { words: 'corrected by sweeps', number: total('corrected'), colour: 'ok', values: row('corrected') },
  ] as const;
  const items = tiles.map(
    ({ words, number, colour, values }) =>
      html`<li><a href="${root}activity"><strong>${number}</strong>${words}${viewSparkline(values, colour)}</a></li>`,
  );
  return html`<ul class="tiles day">${items}</ul>`;
}
