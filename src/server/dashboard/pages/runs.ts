import type { Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import type { Delivery, StoreQueries } from '../../../store/store.ts';
import { itemLink, subjectLink } from '../links.ts';
import { type PageView, type TableCell, table } from '../page.ts';
import type { PageLinks, PageRequest } from '../page-handler.ts';
import { operatorAccess, resolveAccess } from '../visibility.ts';
import { findDelivery, summarizeRun, viewOutcome } from './deliveries.ts';
import { viewRun } from './run-view.ts';

type RunStore = { readonly store: StoreQueries };

const runHeads = ['outcome', 'event', 'about', 'rules that matched', 'by', 'when'] as const;

/** Returns a table of runs for operators, each with the subject of its delivery. */
export async function runTable(
  runs: readonly Run[],
  store: Pick<StoreQueries, 'describeDelivery'>,
  pageRequest: PageLinks,
): Promise<Html> {
  const rows = runs.map(async (run) => {
    const { delivery: id } = run.trigger;
    const delivery = id === undefined ? undefined : await store.describeDelivery(id);
    return runRow(run, delivery, pageRequest);
  });
  return table(runHeads, await Promise.all(rows), 'No run.');
}

function runRow(
  run: Run,
  delivery: Delivery | undefined,
  { root, time, forgeUrl }: PageLinks,
): readonly TableCell[] {
  const { trigger, rules } = run;
  const activity = trigger.activity === '' ? '' : `.${trigger.activity}`;
  const matched = rules.filter(({ verdict }) => verdict === 'matched').map(({ rule }) => nameOfRule(rule));
  const about = delivery ? subjectLink(forgeUrl, delivery) : itemLink(forgeUrl, trigger.item ?? '');
  return [
    viewOutcome(summarizeRun(run, operatorAccess), `${root}runs/${run.id}`),
    `${trigger.kind}${activity}`,
    trigger.item === undefined ? about : itemLink(forgeUrl, trigger.item),
    matched.join(', '),
    trigger.door,
    html`<a href="${root}runs/${run.id}">${time(trigger.at)}</a>`,
  ];
}

/** Shows the recorded runs, newest first. */
export async function runsPage(pageRequest: PageRequest, { store }: RunStore): Promise<PageView> {
  const { query, root } = pageRequest;
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const { items, next } = await store.listRuns(before === undefined ? {} : { before });
  const older = next && html`<p><a rel="next" href="${root}runs?before=${next}">Older</a></p>`;
  return { title: 'Runs', content: html`${await runTable(items, store, pageRequest)}${older || undefined}` };
}

/** Shows one run to viewers who may see its delivery. A run without a delivery is shown only to operators. */
export async function runPage(pageRequest: PageRequest, { store }: RunStore): Promise<PageView | undefined> {
  const { params, viewer, root, time } = pageRequest;
  const run = await store.readRun(params.id ?? '');
  if (run === undefined) return undefined;
  const { delivery: id } = run.trigger;
  const found = id === undefined ? undefined : await findDelivery(pageRequest, store, id);
  if (found === undefined && !viewer.isOperator) return undefined;
  const viewerAccess = await resolveAccess(viewer, found);
  const from =
    found &&
    html`<p>Of <a href="${root}deliveries/${found.delivery.id}">delivery ${found.delivery.id}</a></p>`;
  const { trigger } = run;
  const about = trigger.item === undefined ? '' : ` ${trigger.item}`;
  return {
    title: `Run: ${trigger.kind}${about}`,
    content: html`${from}<section><h2>${time(trigger.at)}, by ${trigger.door}</h2>${viewRun(run, viewerAccess, pageRequest)}</section>`,
  };
}
