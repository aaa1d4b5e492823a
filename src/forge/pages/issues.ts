import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { loadUsers } from '../accounts/users-rows.ts';
import { contentHeaders, type FileAnswer } from '../code/serve-file.ts';
import type { CommentRow } from '../issues/comments-rows.ts';
import { type LabelRow, loadLabels } from '../issues/labels-rows.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import type { Bit, IssueRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { readPullDiff } from '../pulls/pull-branches-service.ts';
import {
  enterRepository,
  enterUnit,
  homeOf,
  pageNumberOf,
  pagingLinks,
  repositoryNav,
  shownLines,
} from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit, SendFile, Show } from './page-handler.ts';
import { viewPull } from './pulls.ts';

/**
 * Shows labels, each with a disc in the label's color: the content security policy allows no inline styles, and the
 * text stays readable.
 */
export function viewLabels(labels: readonly LabelRow[]): Html {
  return html`${labels.map(
    ({ name, color }) =>
      html`<span class="label"><svg viewBox="0 0 2 2" aria-hidden="true"><circle cx="1" cy="1" r="1" fill="#${color}"/></svg> ${name}</span> `,
  )}`;
}

/** Maximum comments on a page; the next page has more. */
const shownComments = 200;

/** Registers the lists of issues and pull requests, their pages, and the diff files of pull requests. */
export function registerIssuePages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, sendFile }: { readonly show: Show; readonly sendFile: SendFile },
): void {
  for (const unit of ['issues', 'pulls'] as const) {
    app.get(`/:owner/:repo/${unit}`, (request, reply) =>
      show(request, reply, (visit) => listPage(context, visit, unit)),
    );
    app.get(`/:owner/:repo/${unit}/:id`, (request, reply) =>
      show(request, reply, (visit) => issuePage(context, visit)),
    );
  }
  app.get('/:owner/:repo/pulls/:id(\\d+).:kind(diff|patch)', (request, reply) =>
    sendFile(request, reply, (visit) => servePullDiff(context, visit)),
  );
}

function listPage(context: ForgeContext, visit: PageVisit, unit: 'issues' | 'pulls'): PageContent {
  const target = enterUnit(context, visit, unit);
  const isClosed = visit.query.get('state') === 'closed' ? 1 : 0;
  const number = pageNumberOf(visit);
  const list = { isPull: unit === 'pulls' ? 1 : 0, isClosed, skip: (number - 1) * shownLines } as const;
  const { table, hasNext } = viewIssues(context, target, list);
  const path = `${homeOf(target)}/${unit}`;
  const states = html`<p>${isClosed ? html`<a href="${path}">Open</a> · <strong>Closed</strong>` : html`<strong>Open</strong> · <a href="${path}?state=closed">Closed</a>`}</p>`;
  const more = isClosed ? { state: 'closed' } : {};
  return {
    title: `${unit === 'pulls' ? 'Pull requests' : 'Issues'} of ${homeOf(target).slice(1)}`,
    content: html`${states}${table}${pagingLinks(path, { number, hasNext, more })}`,
    nav: repositoryNav(context, target, visit.caller),
  };
}

/** Shows a page of the issues or pull requests of a repository, newest first. */
export function viewIssues(
  context: ForgeContext,
  target: RepositoryTarget,
  list: { readonly isPull: Bit; readonly isClosed: Bit; readonly skip: number },
): { readonly table: Html; readonly hasNext: boolean } {
  const rows = context.db.all<IssueRow>(
    `SELECT * FROM issues WHERE repo_id = ? AND is_closed = ? AND is_pull = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
    target.repository.id,
    list.isClosed,
    list.isPull,
    shownLines + 1,
    list.skip,
  );
  const issues = rows.slice(0, shownLines);
  const labels = loadLabels(
    context,
    issues.map(({ id }) => id),
  );
  const home = homeOf(target);
  const lines = issues.map(
    (issue) => html`<tr><td class="short">#${issue.number}</td>
<td><a href="${home}/${issue.is_pull ? 'pulls' : 'issues'}/${issue.number}">${issue.title}</a></td>
<td>${viewLabels(labels.get(issue.id) ?? [])}</td></tr>`,
  );
  const table = lines.length > 0 ? html`<table>${lines}</table>` : html`<p>There are none.</p>`;
  return { table, hasNext: rows.length > shownLines };
}

/**
 * Shows an issue or pull request with its labels and comments, and a pull request also with its reviews, checks,
 * commits and changes.
 */
async function issuePage(context: ForgeContext, visit: PageVisit): Promise<PageContent> {
  const { db } = context;
  const anyUnit = enterRepository(context, visit);
  const sql = 'SELECT * FROM issues WHERE repo_id = ? AND number = ?';
  const number = /^\d{1,15}$/.test(visit.names.id) ? Number(visit.names.id) : 0;
  const issue = found(db.get<IssueRow>(sql, anyUnit.repository.id, number));
  const target = enterUnit(context, visit, issue.is_pull ? 'pulls' : 'issues');
  const page = pageNumberOf(visit);
  const comments = db.all<CommentRow>(
    'SELECT * FROM comments WHERE issue_id = ? ORDER BY created_at, id LIMIT ? OFFSET ?',
    issue.id,
    shownComments + 1,
    (page - 1) * shownComments,
  );
  const shown = comments.slice(0, shownComments);
  const path = `${homeOf(target)}/${issue.is_pull ? 'pulls' : 'issues'}/${issue.number}`;
  const paging = pagingLinks(path, { number: page, hasNext: comments.length > shownComments });
  const people = loadUsers(context, [issue.poster_id, ...shown.map((comment) => comment.poster_id)]);
  const said = (posterId: number, at: number, body: string): Html =>
    html`<p>${people.get(posterId)?.name ?? 'ghost'}, ${toInstant(at)}</p>${body === '' ? undefined : html`<pre>${body}</pre>`}`;
  const discussion = shown.map(
    ({ id, poster_id, created_at, body }) =>
      html`<article id="issuecomment-${id}">${said(poster_id, created_at, body)}</article>`,
  );
  const pull = issue.is_pull ? await viewPull(context, { target, visit, issue }) : undefined;
  const state = pull?.isMerged ? 'merged' : issue.is_closed ? 'closed' : 'open';
  const labels = viewLabels(loadLabels(context, [issue.id]).get(issue.id) ?? []);
  const content = html`<p>${state} ${labels}</p>${pull?.branches}
${said(issue.poster_id, issue.created_at, issue.body)}${paging}${discussion}${paging}${pull?.rest}`;
  return {
    title: `#${issue.number} ${issue.title}`,
    content,
    nav: repositoryNav(context, target, visit.caller),
  };
}

async function servePullDiff(context: ForgeContext, visit: PageVisit): Promise<FileAnswer> {
  const target = enterUnit(context, visit, 'pulls');
  const kind = visit.names.kind === 'patch' ? 'patch' : 'diff';
  const text = await readPullDiff(context, { target, number: Number(visit.names.id), kind, binary: false });
  return { status: 200, headers: contentHeaders('text/plain; charset=utf-8'), body: Buffer.from(text) };
}
