import { describeTrigger, type Run } from '../../../engine/record.ts';
import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import { type Delivery, itemOfDelivery, type StoreQueries } from '../../../store/store.ts';
import { itemLink, subjectLink } from '../links.ts';
import { type PageView, type TableCell, table } from '../page.ts';
import type { PageLinks, PageRequest } from '../page-handler.ts';
import { operatorAccess, resolveAccess } from '../visibility.ts';
import { doorWords, findDelivery, summarizeRun, viewOutcome } from './deliveries.ts';
import { viewRun } from './run-view.ts';

type RunStore = { readonly store: StoreQueries };

const runHeads = ['outcome', 'event', 'about', 'rules that matched', 'by', 'when'] as const;

/** Runs of one row: the runs of a sweep or another job, or one run. The newest is first. */
export type RunGroup = readonly [Run, ...Run[]];

/** Groups runs, which are ordered newest first: the runs of a job are one group. */
export function groupRuns(runs: readonly Run[]): readonly RunGroup[] {
  const groups = new Map<string, [Run, ...Run[]]>();
  for (const run of runs) {
    const { door, delivery } = run.trigger;
    const key = door === 'webhook' || delivery === undefined ? run.id : `job ${delivery}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  return [...groups.values()];
}

/** Returns a table of runs for operators, each with the subject of its delivery. */
export async function runTable(
  groups: readonly RunGroup[],
  store: Pick<StoreQueries, 'describeDelivery'>,
  pageRequest: PageLinks,
): Promise<Html> {
  const rows = groups.map(async (group) => {
    const { delivery: id } = group[0].trigger;
    const delivery = id === undefined ? undefined : await store.describeDelivery(id);
    return group.length === 1
      ? runRow(group[0], delivery, pageRequest)
      : groupRow(group, delivery, pageRequest);
  });
  return table(runHeads, await Promise.all(rows), noRuns);
}

const noRuns =
  'No run is recorded. A run appears when a webhook of a served repository arrives that a rule listens to, or when a sweep visits an item.';

/** Order of the results of runs, the most severe first. */
const markOrder = ['failed', 'refused', 'deferred', 'applied', 'observed', 'matched', 'unmatched'];

/** Returns the row of several runs of one job. */
function groupRow(
  runs: RunGroup,
  job: Delivery | undefined,
  { root, time, forgeUrl }: PageLinks,
): readonly TableCell[] {
  const [newest] = runs;
  const itemOfJob = (job && itemOfDelivery(job)) ?? '';
  const summaries = runs.map((run) => summarizeRun(run, operatorAccess).mark);
  const marks = markOrder.filter((mark) => summaries.includes(mark));
  const counts = marks.map((mark) => `${summaries.filter((one) => one === mark).length} ${mark}`);
  const items = [...new Set(runs.map(({ trigger }) => trigger.item ?? itemOfJob))];
  const names = [
    ...new Set(
      runs
        .flatMap(({ rules }) => rules.filter(({ verdict }) => verdict === 'matched'))
        .map(({ rule }) => nameOfRule(rule)),
    ),
  ];
  const { kind, door, at, delivery = '' } = newest.trigger;
  const to = job === undefined ? `${root}runs/${newest.id}` : `${root}deliveries/${delivery}`;
  return [
    viewOutcome({ mark: marks[0] ?? 'unmatched', parts: [count(runs.length, 'run'), ...counts] }, to),
    kind,
    items.length === 1 ? itemLink(forgeUrl, items[0] ?? '', root) : count(items.length, 'item'),
    names.join(', '),
    job === undefined ? door : doorWords(job),
    html`<a href="${to}">${time(at)}</a>`,
  ];
}

function runRow(
  run: Run,
  delivery: Delivery | undefined,
  { root, time, forgeUrl }: PageLinks,
): readonly TableCell[] {
  const { trigger, rules } = run;
  const matched = rules.filter(({ verdict }) => verdict === 'matched').map(({ rule }) => nameOfRule(rule));
  const about = delivery ? subjectLink(forgeUrl, delivery, root) : undefined;
  return [
    viewOutcome(summarizeRun(run, operatorAccess), `${root}runs/${run.id}`),
    describeTrigger(trigger),
    trigger.item === undefined ? about : itemLink(forgeUrl, trigger.item, root),
    matched.join(', '),
    delivery === undefined ? trigger.door : doorWords(delivery),
    html`<a href="${root}runs/${run.id}">${time(trigger.at)}</a>`,
  ];
}

/** Shows the recorded runs, newest first. */
export async function runsPage(pageRequest: PageRequest, { store }: RunStore): Promise<PageView> {
  const { query, root } = pageRequest;
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const { items, next } = await store.listRuns(before === undefined ? {} : { before });
  const older = next && html`<p><a rel="next" href="${root}runs?before=${next}">Older</a></p>`;
  const rows = await runTable(
    items.map((run): RunGroup => [run]),
    store,
    pageRequest,
  );
  return { title: 'Runs', content: html`${rows}${older || undefined}` };
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
  const item = trigger.item ?? (found && itemOfDelivery(found.delivery));
  const about = item === undefined ? '' : ` ${item}`;
  const how = found === undefined ? trigger.door : doorWords(found.delivery);
  return {
    title: `Run: ${describeTrigger(trigger)}${about}`,
    content: html`${from}<section><h2>${time(trigger.at)}, ${how === trigger.door ? `by ${how}` : how}</h2>${viewRun(run, viewerAccess, pageRequest)}</section>`,
  };
}
