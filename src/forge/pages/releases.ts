import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { findRepository } from '../platform/access/guards.ts';
import { reaches } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { type ReleaseRow, toReleases } from '../releases/releases-rows.ts';
import { repositoryNav } from './navigation.ts';
import type { PageVisit, Show } from './page-handler.ts';

/** Maximum releases on the page; the API has the rest. */
const shown = 50;

/** Registers the pages of releases. Only the API shows drafts. */
export function registerReleasePages(app: FastifyInstance, context: ForgeContext, show: Show): void {
  const select = (visit: PageVisit, condition: string, ...values: (string | number)[]) => {
    const { owner, repo } = visit.names;
    const target = findRepository(context.db, owner, repo, visit.caller, 'releases');
    if (!reaches(target.permission, 'read')) throw new ForgeProblem(404, 'not found');
    const rows = context.db.all<ReleaseRow>(
      `SELECT * FROM releases WHERE repo_id = ? AND is_draft = 0 AND ${condition} ORDER BY created_at DESC, id DESC LIMIT ?`,
      target.repository.id,
      ...values,
      shown,
    );
    const name = `${target.owner.name}/${target.repository.name}`;
    return {
      name,
      releases: toReleases(context, rows, target),
      nav: repositoryNav(context, target, visit.caller),
    };
  };
  app.get('/:owner/:repo/releases', (request, reply) =>
    show(request, reply, (visit) => {
      const { name, releases, nav } = select(visit, '1');
      const none = html`<p>There are no releases.</p>`;
      return {
        title: `Releases of ${name}`,
        content: releases.length > 0 ? html`${releases.map(viewRelease)}` : none,
        nav,
      };
    }),
  );
  app.get('/:owner/:repo/releases/tag/*', (request, reply) =>
    show(request, reply, (visit) => {
      const { name, releases, nav } = select(visit, 'lower_tag = ?', visit.names['*'].toLowerCase());
      const release = found(releases[0]);
      return { title: `${name}: ${release.tag_name}`, content: viewRelease(release), nav };
    }),
  );
}

function viewRelease(release: ReturnType<typeof toReleases>[number]): Html {
  const files = release.assets.map(
    ({ name, size, browser_download_url }) =>
      html`<tr><td><a href="${browser_download_url}">${name}</a></td><td>${size} bytes</td></tr>`,
  );
  return html`<article><h2><a href="${release.html_url}">${release.name || release.tag_name}</a></h2>
<p>${release.tag_name}, ${release.published_at}${release.prerelease ? ', prerelease' : ''}</p><pre>${release.body}</pre>
<table>${files}</table>
<p><a href="${release.zipball_url}">zip</a> <a href="${release.tarball_url}">tar.gz</a></p></article>`;
}
