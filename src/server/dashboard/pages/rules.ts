import type { Pause } from '../../../engine/bounds/pauses.ts';
import { html } from '../../../platform/http/html.ts';
import type { DashboardData, RuleRow } from '../data.ts';
import { ruleLink } from '../links.ts';
import { type TableCell, table } from '../look/table.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { pauseControl } from './pauses.ts';
import { coverageText, type RuleEvaluation, readRuleHistory, searchedRuns } from './rule.ts';

/** Shows the rules in force, and first the files that cannot be used, with what is wrong in them. */
export async function rulesPage(
  pageRequest: PageRequest,
  data: Pick<DashboardData, 'rules' | 'incidents' | 'store'>,
): Promise<PageView> {
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
    const { id, name, file, line, mode, listensTo, description, coverage } = rule;
    const control = pauseControl({ kind: 'rule', name }, pausesOf(rule, pauses), pageRequest, 'rules');
    const about = description === undefined ? undefined : html`<div class="muted">${description}</div>`;
    return [
      html`${ruleLink(id, pageRequest.root)}${about}`,
      listensTo.join(', '),
      mode,
      hitRateOf(history.of(id)),
      lastOf(history.of(id), pageRequest),
      lastOf(
        history.of(id).filter(({ verdict }) => verdict.verdict === 'failed'),
        pageRequest,
      ),
      coverageText(coverage),
      `${file}:${line}`,
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
  const content = html`${broken.length > 0 ? html`<h2>Files that cannot be used</h2>${broken}` : undefined}
<h2>Rules of the operator in force</h2>${table(heads, rows, 'No rule of the operator is in force.')}
<p class="muted">Hit rate, last run and last failure are among ${history.isWhole ? 'all runs' : `the newest ${searchedRuns} runs`}.
Tested are the steps that the rule tests beside the file reach; the page of the rule names them.</p>
<p>Rules of repositories and organizations are in their own files; each run names those that it used.</p>`;
  return { title: 'Rules', content };
}

/** Returns the part of its evaluations in which a rule matched. */
function hitRateOf(evaluations: readonly RuleEvaluation[]): string {
  if (evaluations.length === 0) return '–';
  const matched = evaluations.filter(({ verdict }) => verdict.verdict === 'matched').length;
  return `${Math.round((matched / evaluations.length) * 100)} % of ${evaluations.length}`;
}

/** Returns the link to the newest of some evaluations. */
function lastOf([newest]: readonly RuleEvaluation[], { root, time }: PageRequest): TableCell {
  if (newest === undefined) return '–';
  return html`<a href="${root}runs/${newest.run.id}">${time(newest.run.trigger.at)}</a>`;
}

/** A pause of a name holds for every rule with that name. */
function pausesOf({ id, name }: RuleRow, pauses: readonly Pause[]): readonly Pause[] {
  return pauses.filter(({ scope }) => scope.kind === 'rule' && (scope.name === name || scope.name === id));
}
