import { html } from '../../http/html.ts';
import type { DashboardData } from '../data.ts';
import { type PageView, table } from '../page.ts';

/** Shows the rules in force, and first the files that cannot be used, with what is wrong in them. */
export async function rulesPage(
  _visit: unknown,
  data: Pick<DashboardData, 'rules' | 'incidents'>,
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
  const rows = data
    .rules()
    .map(({ name, file, line, mode, listensTo, description }) => [
      name,
      listensTo.join(', '),
      mode,
      `${file}:${line}`,
      description,
    ]);
  const heads = ['rule', 'listens to', 'mode', 'place', 'what for'];
  const content = html`${broken.length > 0 ? html`<h2>Files that cannot be used</h2>${broken}` : undefined}
<h2>In force, of the operator</h2>${table(heads, rows, 'There is none.')}
<p>Rules of repositories and organizations stand in their own files; each run says which it asked.</p>`;
  return { title: 'Rules', content };
}
