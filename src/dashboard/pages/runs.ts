import { isObserved, observedWords } from '../../engine/describe-change.ts';
import type { Run } from '../../engine/record.ts';
import { type Html, html } from '../../http/html.ts';
import { nameOfRule } from '../../rules/verdict.ts';
import type { Store } from '../../store/store.ts';
import { type PageView, table, timeTag } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { resolveAccess } from '../visibility.ts';
import { formatSubject } from './deliveries.ts';
import { findDelivery } from './delivery.ts';
import { viewRun } from './run-view.ts';

type RunStore = { readonly store: Pick<Store, 'listRuns' | 'readRun' | 'describeDelivery'> };

const runHeads = ['when', 'by', 'about', 'rules that matched', 'changes'] as const;

/** Returns runs as a table, each with what its delivery is about. */
export async function runTable(
  runs: readonly Run[],
  store: Pick<Store, 'describeDelivery'>,
  root: string,
): Promise<Html> {
  const rows = runs.map(async (run) => {
    const { delivery: id } = run.trigger;
    const delivery = id === undefined ? undefined : await store.describeDelivery(id);
    return runRow(run, delivery && formatSubject(delivery), root);
  });
  return table(runHeads, await Promise.all(rows), 'There is none.');
}

function runRow(run: Run, subject: string | undefined, root: string): readonly (Html | string)[] {
  const { trigger, rules, outcomes, changes, refused } = run;
  const activity = trigger.activity === '' ? '' : `.${trigger.activity}`;
  const matched = rules.filter(({ verdict }) => verdict === 'matched').map(({ rule }) => nameOfRule(rule));
  const failed = rules.filter(({ verdict }) => verdict === 'failed').length;
  const applied = outcomes.filter(({ status }) => status === 'applied').length;
  const observed = changes.filter((change) => isObserved(run, change)).length;
  const sent = changes.length - observed;
  const wrong = outcomes.filter(({ status }) => status === 'failed').length;
  const said = [
    sent === 0 ? '' : `${applied} of ${sent}`,
    observed === 0 ? '' : `${observed} ${observedWords}`,
    wrong > 0 ? `${wrong} failed` : '',
    refused.length > 0 ? `${refused.length} refused` : '',
  ];
  return [
    html`<a href="${root}runs/${run.id}">${timeTag(trigger.at)}</a>`,
    trigger.door,
    [`${trigger.kind}${activity}`, trigger.item ?? subject].filter(Boolean).join(' '),
    `${matched.join(', ')}${failed > 0 ? ` (${failed} failed)` : ''}`,
    said.filter(Boolean).join(', ') || 'none',
  ];
}

/** Shows the runs there were, newest first. */
export async function runsPage({ query, root }: PageRequest, { store }: RunStore): Promise<PageView> {
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const { items, next } = await store.listRuns(before === undefined ? {} : { before });
  const older = next && html`<p><a rel="next" href="${root}runs?before=${next}">Older</a></p>`;
  return { title: 'Runs', content: html`${await runTable(items, store, root)}${older || undefined}` };
}

/** Shows one run. Viewers who may see its delivery may see it; a run without one is for operators. */
export async function runPage(pageRequest: PageRequest, { store }: RunStore): Promise<PageView | undefined> {
  const { params, viewer, root } = pageRequest;
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
    content: html`${from}<section><h2>${timeTag(trigger.at)}, by ${trigger.door}</h2>${viewRun(run, viewerAccess)}</section>`,
  };
}
