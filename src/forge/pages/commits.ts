import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { escapePath } from '../code/commits-rows.ts';
import { findAddress } from '../code/files-service.ts';
import { contentHeaders } from '../code/serve-file.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { listChanges, readDiff, readDiffStart } from '../platform/git/changes.ts';
import { type CommitData, instantOf } from '../platform/git/commit.ts';
import { listCommits } from '../platform/git/history.ts';
import { listBranchNames, listRefs, readBranch, readCommit, readTag } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import {
  type CodeVisit,
  enterCode,
  pageNumberOf,
  pagingLinks,
  repositoryNav,
  shownLines,
} from './navigation.ts';
import type { PageContent } from './page.ts';
import type { SendFile, Show } from './page-handler.ts';

/** Maximum files of a change in the list; the diff has all files. */
const shownFiles = 1_000;

/** Registers the pages of commits, branches and tags. */
export function registerCommitPages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, sendFile }: { readonly show: Show; readonly sendFile: SendFile },
): void {
  const pages = [
    ['commits/:kind(branch|tag|commit)/*', viewHistory],
    ['commit/:sha', viewCommit],
    ['branches', viewBranches],
    ['tags', viewTags],
  ] as const;
  for (const [path, view] of pages) {
    app.get(`/:owner/:repo/${path}`, (request, reply) =>
      show(request, reply, async (visit) => {
        const entered = enterCode(context, visit);
        return { ...(await view(entered)), nav: repositoryNav(context, entered, visit.caller) };
      }),
    );
  }
  app.get('/:owner/:repo/commit/:sha([0-9a-f]+).:kind(diff|patch)', (request, reply) =>
    sendFile(request, reply, async (visit) => {
      const { git } = enterCode(context, visit);
      const { id, parents } = await commitOf(git, visit.names.sha);
      const kind = visit.names.kind === 'patch' ? 'patch' : 'diff';
      const text = await readDiff(git, parents[0], id, { kind, binary: false });
      const headers = contentHeaders('text/plain; charset=utf-8');
      return { status: 200, headers, body: Buffer.from(text) };
    }),
  );
}

async function commitOf(git: GitRepository, sha: string): Promise<CommitData> {
  const isId = /^[0-9a-f]{4,64}$/i.test(sha);
  return found(isId ? await readCommit(git, `${sha}^{commit}`) : undefined);
}

function nameOf({ repository, owner }: CodeVisit): string {
  return `${owner.name}/${repository.name}`;
}

/** Shows commits in a table, each linked to its page. */
export function viewCommits(home: string, commits: readonly CommitData[]): Html {
  const lines = commits.map(
    ({
      id,
      author,
      message,
    }) => html`<tr><td class="short"><a href="${home}/commit/${id}"><code>${id.slice(0, 10)}</code></a></td>
<td>${firstLineOf(message)}</td><td>${author.name}, ${instantOf(author)}</td></tr>`,
  );
  return html`<table><tr><th>Commit</th><th>Message</th><th>Author</th></tr>${lines}</table>`;
}

function firstLineOf(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)} …` : line;
}

async function viewHistory(entered: CodeVisit): Promise<PageContent> {
  const { git, visit, home } = entered;
  const { commit, ref, path } = await findAddress(git, visit.names.kind, visit.names['*']);
  if (path !== '') throw new ForgeProblem(404, 'not found');
  const number = pageNumberOf(visit);
  const skip = (number - 1) * shownLines;
  const commits = await listCommits(git, { to: commit.id }, { skip, limit: shownLines + 1 });
  const here = `${visit.names.kind}/${escapePath(ref)}`;
  const hasNext = commits.length > shownLines;
  const content = html`<p><a href="${home}/src/${here}">Files</a></p>${viewCommits(home, commits.slice(0, shownLines))}
${pagingLinks(`${home}/commits/${here}`, { number, hasNext })}`;
  return { title: `Commits of ${nameOf(entered)} at ${ref}`, content };
}

async function viewCommit({ git, visit, home }: CodeVisit): Promise<PageContent> {
  const commit = await commitOf(git, visit.names.sha);
  const [parent] = commit.parents;
  const { author } = commit;
  const parents = commit.parents.map(
    (id) => html`<a href="${home}/commit/${id}">parent <code>${id.slice(0, 10)}</code></a> `,
  );
  const content = html`<p>${author.name}, ${instantOf(author)}</p><pre>${commit.message}</pre>
<p>${parents}<a href="${home}/src/commit/${commit.id}">files</a> <a href="${home}/commit/${commit.id}.diff">diff</a>
<a href="${home}/commit/${commit.id}.patch">patch</a></p>
${await viewChange(git, { from: parent, to: commit.id }, `${home}/commit/${commit.id}.diff`)}`;
  return { title: `Commit ${commit.id.slice(0, 10)}`, content };
}

/**
 * Shows the changes between two commits: first the list of files, then the changed lines. `whole` is the URL of the
 * full diff.
 */
export async function viewChange(
  git: GitRepository,
  range: { readonly from: string | undefined; readonly to: string },
  whole: string | undefined,
): Promise<Html> {
  const files = range.from === undefined ? [] : await listChanges(git, range.from, range.to);
  const lines = files
    .slice(0, shownFiles)
    .map(
      ({ path, status, additions, deletions }) =>
        html`<tr><td>${path}</td><td class="short">${status}</td><td class="short">+${additions} −${deletions}</td></tr>`,
    );
  const table = lines.length > 0 ? html`<table>${lines}</table>` : undefined;
  const more = files.length > shownFiles ? html`<p>${files.length} files in all</p>` : undefined;
  const { text, isCut } = await readDiffStart(git, range, shownDiffBytes);
  return html`${table}${more}${viewDiff(text, { whole, isCut })}`;
}

async function viewBranches(entered: CodeVisit): Promise<PageContent> {
  const names = await listBranchNames(entered.git);
  return viewRefs(entered, { kind: 'branch', path: 'branches', title: 'Branches', names });
}

async function viewTags(entered: CodeVisit): Promise<PageContent> {
  const refs = await listRefs(entered.git, ['refs/tags']);
  const names = refs.map(({ name }) => name.slice('refs/tags/'.length)).reverse();
  return viewRefs(entered, { kind: 'tag', path: 'tags', title: 'Tags', names });
}

type RefList = {
  readonly kind: 'branch' | 'tag';
  readonly path: string;
  readonly title: string;
  readonly names: readonly string[];
};

async function viewRefs(
  { git, visit, home, owner, repository }: CodeVisit,
  { kind, path, title, names }: RefList,
): Promise<PageContent> {
  const wanted = visit.query.get('q');
  const matching = names.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  const number = pageNumberOf(visit);
  const from = (number - 1) * shownLines;
  const shown = matching.slice(from, from + shownLines);
  const read = kind === 'branch' ? readBranch : readTag;
  const commits = await Promise.all(shown.map((name) => read(git, name)));
  const lines = shown.map((name, at) => {
    const commit = commits[at];
    const here = `${kind}/${escapePath(name)}`;
    const about =
      commit &&
      html`<a href="${home}/commit/${commit.id}"><code>${commit.id.slice(0, 10)}</code></a> ${firstLineOf(commit.message)}
<span class="muted">${instantOf(commit.committer)}</span>`;
    return html`<tr><td><a href="${home}/src/${here}">${name}</a></td><td>${about}</td>
<td class="short"><a href="${home}/commits/${here}" aria-label="Commits of ${name}">Commits</a></td></tr>`;
  });
  const hasNext = matching.length > from + shownLines;
  const content = html`<form method="get"><p><label>Name contains <input name="q" value="${wanted}"></label> <button>Search</button></p></form>
<p>${matching.length} of ${names.length}</p><table>${lines}</table>
${pagingLinks(`${home}/${path}`, { number, hasNext, more: wanted === '' ? {} : { q: wanted } })}`;
  return { title: `${title} of ${owner.name}/${repository.name}`, content };
}

/** Maximum bytes of a change that a page reads. The number of lines is limited as well; the full diff has the rest. */
const shownDiffBytes = 512 * 1024;
const shownDiffLines = 4_000;
/** Maximum columns of a line; longer lines are truncated, because a minified file is one line. */
const shownColumns = 1_000;

/**
 * Shows a change as git prints it, file by file. `whole` is the URL of the full diff, if there is one; `isCut`: the
 * text is truncated.
 */
function viewDiff(text: string, { whole, isCut }: { whole: string | undefined; isCut: boolean }): Html {
  const files = text.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '));
  let left = shownDiffLines;
  const shown: Html[] = [];
  for (const file of files) {
    if (left <= 0) break;
    const lines = file.replace(/\n$/, '').split('\n');
    shown.push(viewFileDiff(lines, left));
    left -= lines.length;
  }
  const rest = isCut || left < 0 || shown.length < files.length;
  const link = whole === undefined ? undefined : html` <a href="${whole}">The whole diff</a>`;
  return html`${shown}${rest ? html`<p>More lines are not shown.${link}</p>` : undefined}`;
}

function viewFileDiff(lines: readonly string[], most: number): Html {
  const start = lines.findIndex((line) => line.startsWith('@@'));
  const body = start < 0 ? [] : lines.slice(start);
  const head = start < 0 ? lines : lines.slice(0, start);
  // The lines before the first hunk: modes, similarity, "Binary files … differ".
  const said = head.slice(1).filter((line) => !/^(index|---|\+\+\+) /.test(line));
  const notes = said.length > 0 ? html`<p class="muted">${said.join(', ')}</p>` : undefined;
  const shown = body.slice(0, Math.max(0, most)).map(viewLine);
  const code = shown.length > 0 ? html`<pre>${shown}</pre>` : undefined;
  return html`<details open><summary>${pathOf(head)}</summary>${notes}${code}</details>`;
}

/** Returns the path of a file after the change or, for a deleted file, before it. */
function pathOf(head: readonly string[]): string {
  const read = (sign: string): string | undefined => {
    const line = head.find((one) => one.startsWith(sign));
    return line === undefined || line.endsWith('/dev/null') ? undefined : line.slice(sign.length);
  };
  // Git appends a tab to a path that contains spaces.
  const path = read('+++ b/') ?? read('rename to ') ?? read('--- a/') ?? read('+++ ') ?? read('--- ');
  return path?.replace(/\t$/, '') ?? (head[0] ?? '').slice('diff --git '.length);
}

const classes: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'hunk' };

function viewLine(line: string): Html {
  const text = line.length > shownColumns ? `${line.slice(0, shownColumns)} …` : line;
  const name = classes[line[0] ?? ''];
  // Colored elements are blocks, so their lines need no newline.
  return name === undefined ? html`${text}\n` : html`<span class="${name}">${text}</span>`;
}
