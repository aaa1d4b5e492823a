import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../http/html.ts';
import { findRepository } from '../access/guards.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { serveArchive } from '../code/archives.ts';
import { findAddress, findServedFile, findTreePlace } from '../code/find-file.ts';
import { contentHeaders, serveFile } from '../code/serve-file.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { listChanges } from '../git/changes.ts';
import { instantOf } from '../git/commit.ts';
import { readDiff } from '../git/diff.ts';
import { cleanTreePath, isObjectId } from '../git/names.ts';
import { readCommit } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, readBlob, readTree, type TreeEntry } from '../git/tree.ts';
import { escapePath } from '../views/commit.ts';
import type { PageContent, PageVisit, SendFile, Show } from './page-handler.ts';

/** Text that a page shows at most, of a file or of a change; the rest is in the raw file. */
const shownBytes = 512 * 1024;
/** Entries of a folder that a page shows. */
const shownEntries = 2_000;

type CodeVisit = RepositoryTarget & { readonly git: GitRepository; readonly visit: PageVisit };

/** Registers the web addresses of files, folders, commits and archives that answers of the API name. */
export function registerFilePages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, sendFile }: { readonly show: Show; readonly sendFile: SendFile },
): void {
  const enter = (visit: PageVisit): CodeVisit => {
    const target = findRepository(context.db, visit.names.owner, visit.names.repo, visit.caller, 'code');
    if (target.permission === 'none') throw new ForgeProblem(404, 'not found');
    return { ...target, git: context.git.open(target.repository.id), visit };
  };
  for (const folder of ['raw', 'media']) {
    app.get(`/:owner/:repo/${folder}/:kind(branch|tag|commit)/*`, (request, reply) =>
      sendFile(request, reply, async (visit) => {
        const entered = enter(visit);
        const place = await findAddress(entered.git, visit.names.kind, visit.names['*']);
        return serveFile(entered.git, await fileAt(entered, place), request.headers);
      }),
    );
    app.get(`/:owner/:repo/${folder}/blob/:sha`, (request, reply) =>
      sendFile(request, reply, async (visit) => {
        const { git, repository, owner } = enter(visit);
        const { sha } = visit.names;
        const info = isObjectId(sha) ? await git.objects.info(sha) : undefined;
        if (info?.type !== 'blob') throw new ForgeProblem(404, 'not found');
        const file = { id: sha, size: info.size, name: sha, modifiedAt: repository.created_at };
        return serveFile(git, { ...file, isPublic: isPublic({ repository, owner }) }, request.headers);
      }),
    );
    // The address of earlier releases, without saying what the ref is.
    app.get(`/:owner/:repo/${folder}/*`, (request, reply) =>
      sendFile(request, reply, async (visit) => {
        const entered = enter(visit);
        const place = await findTreePlace(entered.git, entered.repository, { path: visit.names['*'] });
        return serveFile(entered.git, await fileAt(entered, place), request.headers);
      }),
    );
  }
  app.get('/:owner/:repo/archive/*', (request, reply) =>
    sendFile(request, reply, async (visit) =>
      serveArchive(context, enter(visit), { name: visit.names['*'], paths: [] }),
    ),
  );
  app.get('/:owner/:repo/src/:kind(branch|tag|commit)/*', (request, reply) =>
    show(request, reply, async (visit) => viewTree(enter(visit))),
  );
  app.get('/:owner/:repo/commit/:sha([0-9a-f]+).:kind(diff|patch)', (request, reply) =>
    sendFile(request, reply, async (visit) => {
      const { git } = enter(visit);
      const { id, parents } = await commitOf(git, visit.names.sha);
      const kind = visit.names.kind === 'patch' ? 'patch' : 'diff';
      const text = await readDiff(git, parents[0], id, { kind, binary: false });
      const headers = contentHeaders('text/plain; charset=utf-8');
      return { status: 200, headers, body: Buffer.from(text) };
    }),
  );
  app.get('/:owner/:repo/commit/:sha', (request, reply) =>
    show(request, reply, async (visit) => viewCommit(enter(visit))),
  );
}

function isPublic({ repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>): boolean {
  return repository.is_private === 0 && owner.visibility === 'public';
}

async function fileAt(entered: CodeVisit, place: Parameters<typeof findServedFile>[1]) {
  return { ...(await findServedFile(entered.git, place)), isPublic: isPublic(entered) };
}

async function commitOf(git: GitRepository, sha: string) {
  const isId = /^[0-9a-f]{4,64}$/i.test(sha);
  return found(isId ? await readCommit(git, `${sha}^{commit}`) : undefined);
}

async function viewTree(entered: CodeVisit): Promise<PageContent> {
  const { git, repository, owner, visit } = entered;
  const { kind } = visit.names;
  const { commit, ref, path } = await findAddress(git, kind, visit.names['*']);
  const clean = found(cleanTreePath(path));
  const entry = clean === '' ? undefined : found(await findEntry(git, commit.id, clean));
  const home = `/${owner.name}/${repository.name}`;
  const here = `${kind}/${escapePath(ref)}`;
  const title = `${owner.name}/${repository.name}: ${clean || '/'} at ${ref}`;
  const isFolder = entry === undefined || entry.kind === 'dir';
  const content = isFolder
    ? viewFolder(`${home}/src/${here}`, clean, (await readTree(git, entry?.id ?? commit.tree)) ?? [])
    : await viewFile(git, entry, `${home}/raw/${here}/${escapePath(clean)}`);
  return { title, content: html`<p><a href="${home}">${owner.name}/${repository.name}</a></p>${content}` };
}

function viewFolder(base: string, path: string, entries: readonly TreeEntry[]): Html {
  const lines = entries.slice(0, shownEntries).map((entry) => {
    const address = `${base}/${escapePath(path === '' ? entry.name : `${path}/${entry.name}`)}`;
    const name = `${entry.name}${entry.kind === 'dir' ? '/' : ''}`;
    const shown = entry.kind === 'submodule' ? html`${name}` : html`<a href="${address}">${name}</a>`;
    return html`<tr><td>${shown}</td><td>${entry.kind}</td></tr>`;
  });
  return html`<table>${lines}</table>`;
}

async function viewFile(git: GitRepository, entry: TreeEntry, raw: string): Promise<Html> {
  const blob = entry.kind === 'submodule' ? undefined : await readBlob(git, entry.id, shownBytes);
  const text = blob?.content?.includes(0) ? undefined : blob?.content?.toString('utf8');
  const size = blob === undefined ? 0 : blob.size;
  return html`<p>${size} bytes, <a href="${raw}">raw</a></p>${text === undefined ? undefined : html`<pre>${text}</pre>`}`;
}

async function viewCommit({ git, repository, owner, visit }: CodeVisit): Promise<PageContent> {
  const commit = await commitOf(git, visit.names.sha);
  const home = `/${owner.name}/${repository.name}`;
  const [parent] = commit.parents;
  const files = parent === undefined ? [] : await listChanges(git, parent, commit.id);
  const diff = await readDiff(git, parent, commit.id, { kind: 'diff', binary: false });
  const lines = files
    .slice(0, shownEntries)
    .map(
      ({ path, status, additions, deletions }) =>
        html`<tr><td>${path}</td><td>${status}</td><td>+${additions} −${deletions}</td></tr>`,
    );
  const { author } = commit;
  const content = html`<p><a href="${home}">${owner.name}/${repository.name}</a></p>
<p>${author.name}, ${instantOf(author)}</p><pre>${commit.message}</pre>
<p>${commit.parents.map((id) => html`<a href="${home}/commit/${id}">parent ${id.slice(0, 10)}</a> `)}
<a href="${home}/src/commit/${commit.id}/">files</a> <a href="${home}/commit/${commit.id}.diff">diff</a></p>
<table>${lines}</table><pre>${diff.slice(0, shownBytes)}</pre>`;
  return { title: `Commit ${commit.id.slice(0, 10)}`, content };
}
