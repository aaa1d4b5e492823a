import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { serveArchive } from '../code/archives.ts';
import { escapePath } from '../code/commits-rows.ts';
import { findAddress, findServedFile, findTreePlace } from '../code/files-service.ts';
import { serveFile } from '../code/serve-file.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { cleanTreePath, isObjectId } from '../platform/git/names.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readBlob, readTree, type TreeEntry } from '../platform/git/tree.ts';
import { type CodeVisit, enterCode, repositoryNav } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit, SendFile, Show } from './page-handler.ts';

/** Maximum size of a file shown on a page; larger files are only available raw. */
const shownBytes = 512 * 1024;
/** Maximum entries of a folder on a page. */
const shownEntries = 2_000;

/** Registers pages at the web URLs of files, folders and archives that API responses contain. */
export function registerFilePages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, sendFile }: { readonly show: Show; readonly sendFile: SendFile },
): void {
  const enter = (visit: PageVisit): CodeVisit => enterCode(context, visit);
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
    // The URL format of earlier releases, without the ref type.
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
    show(request, reply, async (visit) => {
      const entered = enter(visit);
      return { ...(await viewTree(entered)), nav: repositoryNav(context, entered, visit.caller) };
    }),
  );
}

function isPublic({ repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>): boolean {
  return repository.is_private === 0 && owner.visibility === 'public';
}

async function fileAt(entered: CodeVisit, place: Parameters<typeof findServedFile>[1]) {
  return { ...(await findServedFile(entered.git, place)), isPublic: isPublic(entered) };
}

async function viewTree(entered: CodeVisit): Promise<PageContent> {
  const { git, repository, owner, visit, home } = entered;
  const { kind } = visit.names;
  const { commit, ref, path } = await findAddress(git, kind, visit.names['*']);
  const clean = found(cleanTreePath(path));
  const entry = clean === '' ? undefined : found(await findEntry(git, commit.id, clean));
  const here = `${kind}/${escapePath(ref)}`;
  const title = `${owner.name}/${repository.name}: ${clean || '/'} at ${ref}`;
  const isFolder = entry === undefined || entry.kind === 'dir';
  const content = isFolder
    ? viewFolder(`${home}/src/${here}`, clean, (await readTree(git, entry?.id ?? commit.tree)) ?? [])
    : await viewFile(git, entry, `${home}/raw/${here}/${escapePath(clean)}`);
  const about = html`<p><a href="${home}/commit/${commit.id}"><code>${commit.id.slice(0, 10)}</code></a>
<a href="${home}/commits/${here}">Commits</a></p>`;
  return {
    title,
    content: html`${viewPath(`${home}/src/${here}`, repository.name, clean)}${about}${content}`,
  };
}

/** Shows the parent folders of a path, each as a link. */
function viewPath(base: string, root: string, path: string): Html {
  const segments = path === '' ? [] : path.split('/');
  const links = segments.map((name, at) => {
    const address = `${base}/${escapePath(segments.slice(0, at + 1).join('/'))}`;
    return html` / ${at === segments.length - 1 ? html`${name}` : html`<a href="${address}">${name}</a>`}`;
  });
  return html`<p>${path === '' ? html`${root}` : html`<a href="${base}">${root}</a>`}${links}</p>`;
}

function viewFolder(base: string, path: string, entries: readonly TreeEntry[]): Html {
  const folders = entries.filter(({ kind }) => kind === 'dir');
  const sorted = [...folders, ...entries.filter(({ kind }) => kind !== 'dir')];
  const lines = sorted.slice(0, shownEntries).map((entry) => {
    const address = `${base}/${escapePath(path === '' ? entry.name : `${path}/${entry.name}`)}`;
    const name = `${entry.name}${entry.kind === 'dir' ? '/' : ''}`;
    const shown = entry.kind === 'submodule' ? html`${name}` : html`<a href="${address}">${name}</a>`;
    return html`<tr><td>${shown}</td><td class="short">${entry.kind}</td></tr>`;
  });
  const rest = entries.length - lines.length;
  return html`<table>${lines}</table>${rest > 0 ? html`<p>${rest} more entries are not shown.</p>` : undefined}`;
}

async function viewFile(git: GitRepository, entry: TreeEntry, raw: string): Promise<Html> {
  if (entry.kind === 'submodule') return html`<p>A submodule, at commit <code>${entry.id}</code>.</p>`;
  const blob = await readBlob(git, entry.id, shownBytes);
  const link = html`<p>${blob?.size ?? 0} bytes, <a href="${raw}">raw</a></p>`;
  if (blob?.content === undefined) return html`${link}<p>The file is too large to display.</p>`;
  if (blob.content.includes(0)) return html`${link}<p>The file is binary.</p>`;
  const target = entry.kind === 'symlink' ? html`<p>A symbolic link to:</p>` : undefined;
  return html`${link}${target}<pre>${blob.content.toString('utf8')}</pre>`;
}
