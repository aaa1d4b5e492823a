import { type Html, html } from '../../http/html.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { CommentRow, IssueRow, LabelRow, PullRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { toInstant } from '../core/time.ts';
import { loadLabels } from '../views/label.ts';
import { loadUsers } from '../views/user.ts';
import { viewReviews } from './reviews.ts';

/** How many lines a page shows; the API has the rest. */
const shown = 50;

/** Shows repositories, as links. */
export function viewRepositories(repositories: readonly (RepositoryRow & { owner: string })[]): Html {
  const lines = repositories.map(
    ({ owner, name, description }) =>
      html`<tr><td><a href="/${owner}/${name}">${owner}/${name}</a></td><td>${description}</td></tr>`,
  );
  return html`<table>${lines}</table>`;
}

/** Shows a repository: where to clone it, its labels, its open issues and pull requests. */
export function viewRepository(context: ForgeContext, { repository, owner }: RepositoryTarget): Html {
  const { db } = context;
  const names = `${owner.name}/${repository.name}`;
  const list = (isPull: number) =>
    db.all<IssueRow>(
      `SELECT * FROM issues WHERE repo_id = ? AND is_closed = 0 AND is_pull = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
      repository.id,
      isPull,
      shown,
    );
  const labels = db.all<LabelRow>(
    'SELECT * FROM labels WHERE repo_id = ? ORDER BY name, id LIMIT ?',
    repository.id,
    shown,
  );
  // Public view: a browser sends credentials only after it was asked for them, which a public page does not do.
  const settings = html`<p><a href="/${names}/settings/hooks">Hooks</a> ·
<a href="/${names}/settings/branches">Protections</a> ·
<a href="/${names}/settings/actions/runners">Runners</a></p>`;
  return html`<p>${repository.description}</p><p><code>git clone ${context.rootUrl()}/${names}.git</code></p>
<p>${viewLabels(labels)}</p>${settings}
<h2>Issues</h2>${viewIssues(context, names, list(0))}<h2>Pull requests</h2>${viewIssues(context, names, list(1))}`;
}

function viewLabels(labels: readonly LabelRow[]): Html {
  return html`${labels.map((label) => html`<span class="label">${label.name}</span> `)}`;
}

function viewIssues(context: ForgeContext, names: string, issues: readonly IssueRow[]): Html {
  const labels = loadLabels(
    context,
    issues.map((issue) => issue.id),
  );
  const lines = issues.map(
    (issue) => html`<tr><td>#${issue.number}</td>
<td><a href="/${names}/${issue.is_pull ? 'pulls' : 'issues'}/${issue.number}">${issue.title}</a></td>
<td>${viewLabels(labels.get(issue.id) ?? [])}</td></tr>`,
  );
  return html`<table>${lines}</table>`;
}

/** Shows an issue or pull request with its labels and comments; a pull request with its reviews and statuses. */
export function viewIssue(context: ForgeContext, issue: IssueRow, caller: UserRow | undefined): Html {
  const { db } = context;
  const sql = 'SELECT * FROM comments WHERE issue_id = ? ORDER BY created_at, id';
  const comments = db.all<CommentRow>(sql, issue.id);
  const people = loadUsers(context, [issue.poster_id, ...comments.map((comment) => comment.poster_id)]);
  const said = (posterId: number, at: number, body: string) =>
    html`<p>${people.get(posterId)?.name ?? 'ghost'}, ${toInstant(at)}</p><pre>${body}</pre>`;
  const pull = db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issue.id);
  return html`<p>${pull?.is_merged ? 'merged' : issue.is_closed ? 'closed' : 'open'}
${viewLabels(loadLabels(context, [issue.id]).get(issue.id) ?? [])}</p>
${pull && html`<p><code>${pull.head_branch}</code> into <code>${pull.base_branch}</code>, ${pull.status}</p>`}
${said(issue.poster_id, issue.created_at, issue.body)}
${comments.map((comment) => said(comment.poster_id, comment.created_at, comment.body))}
${pull && viewReviews(context, pull, caller)}`;
}
