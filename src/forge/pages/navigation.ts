import { type Html, html } from '../../platform/http/html.ts';
import { escapePath } from '../code/commits-rows.ts';
import { mayReadCode } from '../platform/access/code.ts';
import { findRepository } from '../platform/access/guards.ts';
import { permissionOf, reaches, type Unit } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import type { PageVisit } from './page-handler.ts';

/** Maximum lines of a list on a page; the next page has more. */
export const shownLines = 50;

/** The code of a repository, as a visitor may see it. */
export type CodeVisit = RepositoryTarget & {
  readonly git: GitRepository;
  readonly visit: PageVisit;
  /** Path of the repository page. */
  readonly home: string;
};

/** Returns the repository in a URL if the visitor may read this unit of it. Otherwise ends the request with 404. */
export function enterUnit(context: ForgeContext, visit: PageVisit, unit: Unit): RepositoryTarget {
  const target = enterRepository(context, visit, unit);
  const hidesCode = unit === 'pulls' && !mayReadCode(context.db, visit.caller, target.repository.id);
  if (target.permission === 'none' || hidesCode || isSwitchedOff(target.repository, unit))
    throw new ForgeProblem(404, 'not found');
  return target;
}

/** Returns the repository in a URL, with the visitor's permission for the whole repository or for one unit. */
export function enterRepository(
  context: ForgeContext,
  { names, caller }: PageVisit,
  unit?: Unit,
): RepositoryTarget {
  // `clone_url` is also the URL of a page, as in Gitea.
  return findRepository(context.db, names.owner, names.repo.replace(/\.git$/, ''), caller, unit);
}

export function enterCode(context: ForgeContext, visit: PageVisit): CodeVisit {
  const target = enterUnit(context, visit, 'code');
  return { ...target, git: context.git.open(target.repository.id), visit, home: homeOf(target) };
}

/** Returns the path of the repository page. */
export function homeOf({ repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>): string {
  return `/${owner.name}/${repository.name}`;
}

function isSwitchedOff(repository: RepositoryRow, unit: Unit): boolean {
  const { has_issues, has_pull_requests } = settingsOf(repository);
  return (unit === 'issues' && !has_issues) || (unit === 'pulls' && !has_pull_requests);
}

/** Returns whether a visitor may read an enabled unit of a repository. */
export function showsUnit(
  context: ForgeContext,
  { repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>,
  caller: UserRow | undefined,
  unit: Unit,
): boolean {
  return (
    !isSwitchedOff(repository, unit) &&
    reaches(permissionOf(context.db, caller, repository, owner, unit), 'read')
  );
}

/** Returns links to the owner and to the pages of a repository. Units that the visitor may not read are omitted. */
export function repositoryNav(
  context: ForgeContext,
  target: Pick<RepositoryTarget, 'repository' | 'owner'>,
  caller: UserRow | undefined,
): Html {
  const { repository, owner } = target;
  const branch = `branch/${escapePath(repository.default_branch)}`;
  const code: readonly (readonly [string, string])[] = repository.is_empty
    ? []
    : [
        [`src/${branch}`, 'Files'],
        [`commits/${branch}`, 'Commits'],
        ['branches', 'Branches'],
        ['tags', 'Tags'],
      ];
  const shows = (unit: Unit): boolean => showsUnit(context, target, caller, unit);
  const links = [
    ...(shows('code') ? code : []),
    ...(shows('issues') ? [['issues', 'Issues'] as const] : []),
    ...(shows('pulls') ? [['pulls', 'Pull requests'] as const] : []),
    ...(shows('releases') ? [['releases', 'Releases'] as const] : []),
    // Always included: a browser sends credentials only after a challenge, which a public page does not send.
    ['settings/hooks', 'Hooks'] as const,
    ['settings/branches', 'Protections'] as const,
    ['settings/actions/runners', 'Runners'] as const,
  ];
  const home = homeOf(target);
  const items = links.map(([path, text]) => html`<li><a href="${home}/${path}">${text}</a></li>`);
  return html`<nav aria-label="Repository"><p><a href="/${owner.name}">${owner.name}</a> /
<a href="${home}">${repository.name}</a></p><ul>${items}</ul></nav>`;
}

/** Returns the requested page number of a list, starting at 1. */
export function pageNumberOf({ query }: PageVisit): number {
  const text = query.get('page');
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}

/** Returns links to the previous and next page. `more` contains the other query parameters of the list. */
export function pagingLinks(
  path: string,
  { number, hasNext, more = {} }: { number: number; hasNext: boolean; more?: Record<string, string> },
): Html | undefined {
  const link = (page: number, text: string): Html => {
    const query = new URLSearchParams({ ...more, page: String(page) });
    return html`<a href="${path}?${query.toString()}">${text}</a> `;
  };
  if (number === 1 && !hasNext) return undefined;
  return html`<p>${number > 1 ? link(number - 1, 'Previous page') : undefined}${hasNext ? link(number + 1, 'Next page') : undefined}</p>`;
}
