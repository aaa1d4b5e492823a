import { basename } from 'node:path';
import { stringify } from 'yaml';
import { eventFamilies, familyOf } from '../../../contract/events/event-families.ts';
import type { Event } from '../../../contract/events/events.ts';
import { parsePayload } from '../../../contract/events/parse-payload.ts';
import { isRecord } from '../../../contract/events/payload-members.ts';
import { isOfRepository, type Pause } from '../../../engine/bounds/pauses.ts';
import type { Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import { type Delivery, type DeliveryWithBody, isForgeEvent, itemOfDelivery } from '../../../store/store.ts';
import { eventOf } from '../../../work/runs/route-delivery.ts';
import type { SimulatedKind } from '../../../work/runs/simulate.ts';
import type { DashboardStore } from '../data.ts';
import { deliveryLink, isAboutPull, personLink, simulateLink, subjectLink, subjectPath } from '../links.ts';
import { markIds, type PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { resolveAccess } from '../visibility.ts';
import {
  canRedrive,
  doorWords,
  eventWords,
  findDelivery,
  findNeighbours,
  listFilterOf,
  numberOfDelivery,
  queryOfFilter,
  stateMark,
  summarizeRun,
  titleOfDelivery,
} from './deliveries.ts';
import { pauseControl } from './pauses.ts';
import { viewHeaders, viewRun } from './run-view.ts';

/** Maximum number of payload bytes on a page; a link leads to the complete payload. */
const maxShownBytes = 256 * 1024;
/** Maximum number of runs of one delivery on a page. A redriven delivery has several runs, a sweep’s job very many. */
const maxRuns = 20;

/** Shows one delivery: what was decided and from which values, then the delivery itself. */
export async function deliveryPage(
  pageRequest: PageRequest,
  { store }: { readonly store: DashboardStore },
): Promise<PageView | undefined> {
  const { root, viewer, time, forgeUrl } = pageRequest;
  const found = await findDelivery(pageRequest, store);
  if (found === undefined) return undefined;
  const { delivery, access } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const viewerAccess = await resolveAccess(viewer, found);
  const runs = items.map((run) => {
    const title = items.length === 1 ? 'What was decided' : html`Run of ${time(run.trigger.at)}`;
    return html`<section><h2>${title}</h2>${viewRun(run, viewerAccess, pageRequest)}</section>`;
  });
  const whole = access === 'administrator' ? await store.readDelivery(delivery.id) : undefined;
  const event = whole && readEvent(whole);
  const headers = whole?.door === 'webhook' ? await store.readHeaders(delivery.id) : undefined;
  const pauses = viewer.isOperator ? await store.listPauses() : [];
  const [newest] = items;
  const mark =
    delivery.state === 'settled' && newest !== undefined && isForgeEvent(delivery)
      ? summarizeRun(newest, viewerAccess).mark
      : delivery.state;
  const subject = subjectLink(forgeUrl, delivery);
  const content = html`${await steps(delivery, pageRequest, store)}
<p class="lead"><span class="mark ${mark}">${mark}</span> ${eventWords(delivery)}${subject && html` in ${subject}`}, ${time(delivery.receivedAt)}</p>
<div class="actions">${aboutLink(delivery, root)}${viewer.isOperator && event ? simulation(event, root) : undefined}
${canRedrive(delivery, access) ? pageRequest.button(`deliveries/${delivery.id}/run`, 'Run it again') : undefined}
${viewer.isOperator ? repositoryPause(delivery, pauses, pageRequest) : undefined}</div>
${runs.length > 0 ? runs : withoutRun(delivery)}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : undefined}
<section><h2>Delivery</h2>${aboutDelivery(delivery, pageRequest)}</section>
${whole?.door === 'webhook' ? viewHeaders(headers) : undefined}${whole && viewPayload(whole, root)}
${viewer.isOperator && event && newest ? viewTestCases(event, newest) : undefined}`;
  return { title: titleOfDelivery(delivery), content };
}

/** Says why there is no run. */
function withoutRun({ state, reason }: Delivery): Html {
  const hasEnded = state === 'settled' || state === 'dead';
  const why = reason === undefined ? undefined : html`<p>${markIds(reason)}</p>`;
  const next = hasEnded
    ? undefined
    : html`<p>The conditions of the rules and the values that they read are shown here after the next attempt.</p>`;
  return html`<section><h2>What was decided</h2><div class="empty"><p><strong>No rule was evaluated: this delivery has no run.</strong></p>${why}${next}</div></section>`;
}

/** Returns the links to the neighbours in the list from which the viewer came. */
async function steps(
  delivery: Delivery,
  { query, viewer, root }: PageRequest,
  store: DashboardStore,
): Promise<Html> {
  const asked = listFilterOf(query);
  const isUsual = asked.state === undefined && !query.has('show');
  const filter = isUsual ? ({ ...asked, show: isForgeEvent(delivery) ? 'events' : 'jobs' } as const) : asked;
  const { newer, older } = await findNeighbours(delivery.id, { filter, viewer, store });
  const to = queryOfFilter(filter);
  return html`<p class="pager">${newer && html`<a rel="prev" href="${root}deliveries/${newer}${to}">Newer</a>`}
<a href="${root}deliveries${to}">All deliveries</a>
${older && html`<a rel="next" href="${root}deliveries/${older}${to}">Older</a>`}</p>`;
}

function aboutLink(delivery: Delivery, root: string): Html | undefined {
  const number = numberOfDelivery(delivery);
  const [repository] = itemOfDelivery(delivery)?.split('#') ?? [];
  if (number === undefined || repository === undefined) return undefined;
  const isPull = isAboutPull({ ...delivery, eventType: familyOf(delivery.eventType) ?? delivery.eventType });
  const path = subjectPath(repository, number, isPull);
  return path === undefined
    ? undefined
    : html`<a class="button" href="${root}${path}">All about this ${isPull ? 'pull request' : 'issue'}</a>`;
}

/** Returns the event of a delivery; undefined for jobs, malformed deliveries and those too large for a page. */
export function readEvent(delivery: DeliveryWithBody): Event | undefined {
  if (delivery.door !== 'webhook' || delivery.body.byteLength > maxShownBytes) return undefined;
  try {
    return eventOf(delivery);
  } catch {
    return undefined;
  }
}

/** Returns the link to the simulation of the subject as it is now; undefined if it cannot be simulated. */
function simulation({ subject, family, payload, repository }: Event, root: string): Html | undefined {
  if (subject === undefined || repository === undefined || family === undefined) return undefined;
  const name = `${repository.owner}/${repository.name}`;
  const { index, ref, isTag } = subject;
  if (index !== undefined) {
    const isPull =
      eventFamilies[family].subject === 'pull_request' ||
      (isRecord(payload.issue) && isRecord(payload.issue.pull_request));
    return simulateLink(root, isPull ? 'pull_request' : 'issue', `${name}#${index}`);
  }
  if (ref !== undefined) return isTag ? undefined : simulateLink(root, 'branch', `${name}@${ref}`);
  return simulateLink(root, 'repository' satisfies SimulatedKind, name);
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
    ['By', doorWords(delivery)],
    ['Kind', delivery.eventType],
    ['About', subjectLink(forgeUrl, delivery)],
    ['Delivery UUID', delivery.door === 'webhook' ? markIds(delivery.uuid) : undefined],
    ['Verified with', (delivery.door === 'webhook' && delivery.entry) || undefined],
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
  return html`<section><details><summary><h2>Payload</h2></summary>
<p><a href="${root}deliveries/${delivery.id}/payload">As it came</a>, ${delivery.bytes} bytes</p>
<pre tabindex="0">${formatPayload(delivery)}</pre></details></section>`;
}

/** Shows a case for the rule tests of each file whose rules the run evaluated. */
function viewTestCases(event: Event, run: Run): Html | undefined {
  const evaluated = run.rules.filter(({ verdict }) => verdict !== 'skipped');
  const files = [...Map.groupBy(evaluated, ({ source }) => source)].map(([source, verdicts]) => {
    const name = basename(source).replace(/\.yml$/, '.test.yml');
    return html`<h3>${markIds(name)}</h3><pre tabindex="0">${testCaseOf(event, run, verdicts)}</pre>`;
  });
  if (files.length === 0) return undefined;
  return html`<section><details><summary><h2>As a rule test</h2></summary>
<p>For <code>reeve test</code>, beside the rule file. Facts are not stored with a delivery: the test lists those that the rules read, and <code>facts</code> of the case then gives their values.</p>
${files}</details></section>`;
}

/** Returns a case of a rule test with this event, which expects what the run decided about the rules of one file. */
function testCaseOf(
  { family, eventType, activity, payload }: Event,
  run: Run,
  verdicts: Run['rules'],
): string {
  const ids = new Set(verdicts.map(({ rule }) => rule));
  const ofFile = run.changes.filter(({ rules }) => rules.some((id) => ids.has(id)));
  const failed = verdicts.find(({ verdict }) => verdict === 'failed');
  const expect = {
    changes: ofFile.map(({ action, target, value }) => ({ action, target, value })),
    verdicts: Object.fromEntries(verdicts.map(({ rule, verdict }) => [nameOfRule(rule), verdict])),
    ...(failed && { failed: nameOfRule(failed.rule) }),
  };
  const kind = family ?? eventType;
  const name = [kind, activity].filter(Boolean).join(' ');
  const cases = [{ name, event: { kind, ...(activity && { activity }), payload }, expect }];
  return stringify({ cases }, { lineWidth: 0, aliasDuplicateObjects: false });
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
