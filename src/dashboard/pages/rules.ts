import type { Pause } from '../../engine/bounds/pauses.ts';
import { html } from '../../http/html.ts';
import type { DashboardData, RuleRow } from '../data.ts';
import { table } from '../look/table.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { pauseControl } from './pauses.ts';
import { ruleLink } from './rule-link.ts';

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
  const rows = data.rules().map((rule) => {
    const { id, name, file, line, mode, listensTo, description } = rule;
    const control = pauseControl({ kind: 'rule', name }, pausesOf(rule, pauses), pageRequest, 'rules');
    const about = description === undefined ? undefined : html`<div class="muted">${description}</div>`;
    return [
      html`${ruleLink(id, pageRequest.root)}${about}`,
      listensTo.join(', '),
      mode,
      `${file}:${line}`,
      control,
    ];
  });
  const heads = ['rule', 'listens to', 'mode', 'place', 'writes'];
  const content = html`${broken.length > 0 ? html`<h2>Files that cannot be used</h2>${broken}` : undefined}
<h2>In force, of the operator</h2>${table(heads, rows, 'There is none.')}
<p>Rules of repositories and organizations stand in their own files; each run says which it asked.</p>`;
  return { title: 'Rules', content };
}

/** A pause of a name holds for every rule with that name. */
function pausesOf({ id, name }: RuleRow, pauses: readonly Pause[]): readonly Pause[] {
  return pauses.filter(({ scope }) => scope.kind === 'rule' && (scope.name === name || scope.name === id));
}
