import type { Pause } from '../../../engine/bounds/pauses.ts';
import { describeTrigger, failedChangesOf, type Run } from '../../../engine/record.ts';
import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule, type Verdict } from '../../../rules/verdict.ts';
import type { StoreQueries } from '../../../store/store.ts';
import type { RuleSight } from '../../../work/alarms/rule-sight.ts';
import type { DashboardData, RuleReach, RuleRow, TestCoverage } from '../data.ts';
import { viewSource } from '../highlight.ts';
import { itemLink, repositoryLink, ruleLink } from '../links.ts';
import { markIds, type PageView, type TableCell, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { incidentTable } from './incidents.ts';
import { pauseControl } from './pauses.ts';

/** Maximum number of evaluations on the page. */
const shown = 50;

/** Shows one rule: its events and schedules, whether it fails, how often it has matched, and its latest evaluations. */
export async function rulePage(
  pageRequest: PageRequest,
  { store, ...data }: DashboardData,
): Promise<PageView | undefined> {
  const asked = pageRequest.query.get('rule') ?? '';
  const row = data.rules().find(({ id, file, name }) => id === asked || `${file}#${name}` === asked);
  const id = row?.id ?? asked;
  const history = await readRuleHistory(store);
  const evaluations = history.of(id);
  const incidents = (await data.incidents()).filter(
    ({ kind, key }) => kind !== 'file-broken' && (key === id || key === `${row?.file}#${row?.name}`),
  );
  if (row === undefined && evaluations.length === 0 && incidents.length === 0) return undefined;
  const rows = evaluations.slice(0, shown).map((one) => evaluationRow(one, id, pageRequest));
  const heads = ['verdict', 'event', 'about', 'changes', 'when'];
  const among = history.isWhole ? 'all runs' : `the newest ${searchedRuns} runs`;
  const source = row && (await data.ruleSource(row.id));
  const sight = (await data.sight()).find((one) => one.id === id);
  const content = html`${row && aboutRule(row)}
${row && actionsOf(row, await store.listPauses(), pageRequest)}
${sight && viewSight(sight, pageRequest)}
${incidents.length > 0 ? html`<h2>It fails</h2>${incidentTable(incidents, pageRequest)}` : undefined}
<h2>Hit rate</h2>${hitRate(evaluations, id)}<p class="muted">Among ${among}. Runs in which the rule was not considered do not count; one in which a change of the rule failed counts as failed.</p>
<h2>Test coverage</h2>${coverageOf(row)}
${row && html`<h2>Repositories that it reaches</h2>${viewReach(await data.reach(row.id), pageRequest)}`}
<h2>Latest evaluations</h2>${table(heads, rows, `No evaluation among ${among}. One is listed here when an event of the rule arrives, or when its schedule finds items.`)}
${row && html`<h2>Source</h2>${source === undefined ? html`<p>The file cannot be read now, or is too large for a page.</p>` : html`<p class="muted">The file as it is now. The rule begins in line ${row.line}.</p>${viewSource(source, row.line)}`}`}`;
  return { title: `Rule ${nameOfRule(id)}`, content };
}

/** Returns the buttons that start the sweep of a rule and pause the rule. */
function actionsOf(row: RuleRow, pauses: readonly Pause[], pageRequest: PageRequest): Html {
  const hidden = html`<input type="hidden" name="rule" value="${row.id}">`;
  const run = (row.clocks ?? []).length > 0 ? pageRequest.button('rules/run', 'Run now', hidden) : undefined;
  const pause = pauseControl({ kind: 'rule', name: row.name }, pausesOf(row, pauses), pageRequest, 'rules');
  return html`<div class="actions">${run}${pause}</div>`;
}

/** Maximum number of repositories that are listed. */
const shownRepositories = 50;

function viewReach(reach: RuleReach, { forgeUrl }: PageRequest): Html {
  if ('error' in reach) return html`<p>The forge does not list them now: ${reach.error}.</p>`;
  const { repositories, served, isWhole } = reach;
  const count = `${repositories.length} of ${isWhole ? '' : 'the first '}${served} served ${served === 1 ? 'repository' : 'repositories'}`;
  if (repositories.length === 0)
    return html`<div class="empty"><p><strong>${count}: the rule can do nothing.</strong></p><p>${
      served === 0
        ? html`A repository is served if Reeve’s account stars it, or if <code>repositories</code> of the operator file or <code>--serve</code> includes it.`
        : html`The <code>in</code> of the rule or of its file matches no served repository.`
    }</p></div>`;
  const names = repositories
    .slice(0, shownRepositories)
    .map((name) => html`<li>${repositoryLink(forgeUrl, name)}</li>`);
  const rest = repositories.length - names.length;
  return html`<p>${count}.</p><ul class="names">${names}${rest > 0 ? html`<li>and ${rest} more</li>` : undefined}</ul>`;
}

/** Returns when a rule could last run, and what it cannot see or do, since when. */
function viewSight({ lastRunAt, limits }: RuleSight, { time }: PageRequest): Html {
  const last =
    lastRunAt === undefined
      ? 'Reeve has not evaluated it yet: no event of its kind has arrived, and no sweep of it has ended.'
      : html`It could last run ${time(lastRunAt)}.`;
  const rows = limits.map(({ text, since }) => [markIds(text), time(since)]);
  return html`<h2>What it sees</h2><p>${last}</p>
${limits.length === 0 ? html`<p class="muted">It sees everything that it needs, as far as Reeve knows.</p>` : table(['cannot see or do', 'since'], rows, '')}`;
}

/** Follows the place of a rule whose file is invalid. */
const lastValidMark = '(last valid version)';

function aboutRule({ file, line, isLastValid, mode, listensTo, clocks = [], description }: RuleRow): Html {
  return html`${description === undefined ? undefined : html`<p>${description}</p>`}
<dl><dt>Place</dt><dd>${markIds(`${file}:${line}`)}${isLastValid ? ` ${lastValidMark}` : undefined}</dd><dt>Mode</dt><dd>${mode}</dd>
<dt>Listens to</dt><dd>${listensTo.join('; ')}</dd>
${clocks.length > 0 ? html`<dt>Schedule</dt><dd>${clocks.map((one) => html`<div><code>${one}</code></div>`)}</dd>` : undefined}</dl>`;
}

/** Returns the steps with their coverage by rule tests, or the reason why the coverage is unknown. */
function coverageOf(row: RuleRow | undefined): Html {
  if (row === undefined) {
    return html`<p>Unknown: the rule is not in a folder of the operator, and Reeve reads files on the forge without their tests.
<code>reeve test</code> and the CI action print it.</p>`;
  }
  const { coverage } = row;
  if (coverage === undefined) return html`<p>Unknown: this process runs no rule tests.</p>`;
  if (coverage.state !== 'known')
    return html`<p>${coverage.state === 'no-tests' ? 'No tests' : 'Not known'}: ${coverage.why}.</p>`;
  const { cases, failed, steps } = coverage;
  const rows = steps.map(({ name, isReached }) => [
    markIds(name),
    html`<span class="mark ${isReached ? 'matched' : 'unmatched'}">${isReached ? 'reached' : 'not reached'}</span>`,
  ]);
  return html`<p>${coverageText(coverage)} reached by the ${count(cases, 'case')} beside its file; ${failed === 0 ? 'all pass' : `${failed} fail: reeve test shows why`}.</p>
${table(['step', 'rule tests'], rows, 'The rule has no steps.')}`;
}

function hitRate(evaluations: readonly RuleEvaluation[], id: string): Html {
  const count = (kind: Verdict['verdict']): number =>
    evaluations.filter(({ result }) => result === kind).length;
  const changes = evaluations.reduce((sum, { run }) => sum + changesOf(run, id), 0);
  const share =
    evaluations.length === 0 ? '–' : `${Math.round((100 * count('matched')) / evaluations.length)} %`;
  const tiles = [
    [share, 'matched'],
    [count('matched'), 'times matched'],
    [count('unmatched'), 'times unmatched'],
    [count('failed'), 'times failed'],
    [changes, 'changes asked for'],
  ] as const;
  return html`<ul class="tiles">${tiles.map(([value, words]) => html`<li><div><strong>${value}</strong>${words}</div></li>`)}</ul>`;
}

function evaluationRow(
  { run, verdict, result, failed }: RuleEvaluation,
  id: string,
  { root, time, forgeUrl }: PageRequest,
): readonly TableCell[] {
  const { trigger } = run;
  const to = trigger.delivery === undefined ? `runs/${run.id}` : `deliveries/${trigger.delivery}`;
  return [
    html`<a href="${root}runs/${run.id}"><span class="mark ${result}">${result}</span></a> ${markIds(verdict.reason ?? failed ?? '')}`,
    describeTrigger(trigger),
    trigger.item === undefined
      ? html`<a href="${root}${to}">${trigger.delivery === undefined ? 'its run' : `delivery ${trigger.delivery}`}</a>`
      : itemLink(forgeUrl, trigger.item),
    changesOf(run, id),
    time(trigger.at),
  ];
}

function changesOf({ changes, refused }: Run, id: string): number {
  return [...changes, ...refused.map(({ change }) => change)].filter(({ rules }) => rules.includes(id))
    .length;
}

/** Returns the number of covered steps as text: `2 of 3 steps`. */
function coverageText(coverage: TestCoverage | undefined): string {
  if (coverage?.state !== 'known') return coverage?.state === 'no-tests' ? 'no tests' : 'not known';
  const { steps } = coverage;
  const reached = steps.filter(({ isReached }) => isReached).length;
  return `${reached} of ${count(steps.length, 'step')}`;
}

/**
 * Maximum number of runs that are searched for evaluations, because a run is stored as one text without an index by
 * rule.
 */
const searchedRuns = 200;

/** One evaluation of a rule. `result` is its verdict, or that it failed because a change failed that it wanted. */
type RuleEvaluation = {
  readonly run: Run;
  readonly verdict: Verdict;
  readonly result: Verdict['verdict'];
  /** The first error of these changes. */
  readonly failed: string | undefined;
};

function evaluationOf(run: Run, verdict: Verdict): RuleEvaluation {
  const [failed] = failedChangesOf(run, verdict.rule);
  return { run, verdict, result: failed === undefined ? verdict.verdict : 'failed', failed };
}

/** Evaluations in the newest runs. `isWhole`: whether there are no older runs. */
type RuleHistory = {
  /** Returns the evaluations of a rule, newest first. */
  readonly of: (id: string) => readonly RuleEvaluation[];
  readonly isWhole: boolean;
};

/** Reads the evaluations of all rules from the newest runs. Runs that skipped a rule do not count. */
async function readRuleHistory(store: StoreQueries): Promise<RuleHistory> {
  const { items, next } = await store.listRuns({ limit: searchedRuns });
  const found = new Map<string, RuleEvaluation[]>();
  for (const run of items) {
    for (const verdict of run.rules) {
      if (verdict.verdict === 'skipped') continue;
      const known = found.get(verdict.rule);
      if (known === undefined) found.set(verdict.rule, [evaluationOf(run, verdict)]);
      else if (known.at(-1)?.run !== run) known.push(evaluationOf(run, verdict));
    }
  }
  return { of: (id) => found.get(id) ?? [], isWhole: next === undefined };
}

/** Shows the invalid rule files with their problems, followed by the rules in force. */
export async function rulesPage(pageRequest: PageRequest, data: DashboardData): Promise<PageView> {
  const incidents = (await data.incidents()).filter(({ kind }) => kind === 'file-broken');
  const broken = incidents.map(
    ({
      key,
      commit,
      reason,
    }) => html`<h3>${key}${commit === undefined ? '' : ` at ${commit.slice(0, 10)}`}</h3>
<pre tabindex="0">${reason}</pre>`,
  );
  const pauses = await data.store.listPauses();
  const history = await readRuleHistory(data.store);
  const rows = data.rules().map((rule) => {
    const { id, name, file, line, isLastValid, mode, listensTo, description, coverage } = rule;
    const control = pauseControl({ kind: 'rule', name }, pausesOf(rule, pauses), pageRequest, 'rules');
    const about = description === undefined ? undefined : html`<div class="muted">${description}</div>`;
    return [
      html`${ruleLink(id, pageRequest.root)}${about}`,
      listensTo.join('; '),
      mode,
      hitRateOf(history.of(id)),
      lastOf(history.of(id), pageRequest),
      lastOf(
        history.of(id).filter(({ result }) => result === 'failed'),
        pageRequest,
      ),
      coverageText(coverage),
      `${file}:${line}${isLastValid ? ` ${lastValidMark}` : ''}`,
      control,
    ];
  });
  const heads = [
    'rule',
    'listens to',
    'mode',
    'hit rate',
    'last run',
    'last failure',
    'tested',
    'place',
    'writes',
  ];
  const content = html`${broken.length > 0 ? html`<h2>Invalid files</h2>${broken}` : undefined}
<h2>Rules of the operator in force</h2>${table(heads, rows, 'No rule of the operator is in force. A rule is listed here when a file in the folder REEVE_RULES contains it; reeve setup writes the first ones.')}
<p class="muted">Hit rate, last run and last failure are among ${history.isWhole ? 'all runs' : `the newest ${searchedRuns} runs`}. A rule also fails if a change that it wants fails.
Tested are the steps that the rule tests beside the file reach; the page of the rule names them.</p>
<p>Rules of repositories and organizations are in their own files; each run names those that it used.</p>`;
  return { title: 'Rules', content };
}

/** Returns the share of evaluations in which a rule matched and none of its changes failed. */
function hitRateOf(evaluations: readonly RuleEvaluation[]): string {
  if (evaluations.length === 0) return '–';
  const matched = evaluations.filter(({ result }) => result === 'matched').length;
  return `${Math.round((matched / evaluations.length) * 100)} % of ${evaluations.length}`;
}

/** Returns the link to the newest evaluation. */
function lastOf([newest]: readonly RuleEvaluation[], { root, time }: PageRequest): TableCell {
  if (newest === undefined) return '–';
  return html`<a href="${root}runs/${newest.run.id}">${time(newest.run.trigger.at)}</a>`;
}

/** Returns the pauses of a rule. A pause by name applies to every rule with that name. */
function pausesOf({ id, name }: RuleRow, pauses: readonly Pause[]): readonly Pause[] {
  return pauses.filter(({ scope }) => scope.kind === 'rule' && (scope.name === name || scope.name === id));
}
