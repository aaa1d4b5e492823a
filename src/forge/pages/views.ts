import { type Html, html } from '../../platform/http/html.ts';
import type { LabelRow } from '../issues/labels-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import { viewIssues, viewLabels } from './issues.ts';
import { enterRepository, homeOf, repositoryNav, shownLines, showsUnit } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit } from './page-handler.ts';

/** Shows repositories as links. */
export function viewRepositories(repositories: readonly (RepositoryRow & { owner: string })[]): Html {
  if (repositories.length === 0) return html`<p>There are no repositories.</p>`;
  const lines = repositories.map(
    ({ owner, name, description }) =>
      html`<tr><td><a href="/${owner}/${name}">${owner}/${name}</a></td><td>${description}</td></tr>`,
  );
  return html`<table>${lines}</table>`;
}

/** Shows a repository: its clone URL, labels, open issues and open pull requests. */
export function repositoryPage(context: ForgeContext, visit: PageVisit): PageContent {
  const target = enterRepository(context, visit);
  const { repository, owner } = target;
  const { db } = context;
  const { caller } = visit;
  const labels = db.all<LabelRow>(
    'SELECT * FROM labels WHERE repo_id = ? ORDER BY name, id LIMIT ?',
    repository.id,
    shownLines,
  );
  const list = (isPull: 0 | 1): Html | undefined => {
    const unit = isPull ? 'pulls' : 'issues';
    if (!showsUnit(context, target, caller, unit)) return undefined;
    const { table } = viewIssues(context, target, { isPull, isClosed: 0, skip: 0 });
    return html`<h2>${isPull ? 'Pull requests' : 'Issues'}</h2>${table}`;
  };
  const shownLabels = showsUnit(context, target, caller, 'issues')
    ? html`<p>${viewLabels(labels)}</p>`
    : undefined;
  const empty = repository.is_empty
    ? html`<p>The repository is empty. Push a branch to it, or create a file with the API.</p>`
    : undefined;
  const content = html`<p>${repository.description}</p>
<p><code>git clone ${context.rootUrl()}${homeOf(target)}.git</code></p>${empty}${shownLabels}${list(0)}${list(1)}`;
  return { title: `${owner.name}/${repository.name}`, content, nav: repositoryNav(context, target, caller) };
}
