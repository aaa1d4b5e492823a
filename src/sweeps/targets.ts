import { operations } from '../contract/operations.ts';
import type { Subject } from '../contract/subject.ts';
import type { Each } from '../rules/rule.ts';
import { targetsInRepositories } from './in-repositories.ts';
import { targetsInNotifications } from './notifications.ts';
import { type RepositoryPlace, refOf, servedRepositories } from './repositories.ts';
import { targetsInRunners } from './runners.ts';
import type { Target, TargetPage, Walk } from './target.ts';

/** Yields the items of `each`, page by page, from where an earlier attempt stopped; no more than a page is kept. */
export function eachTarget(each: Each, walk: Walk): AsyncGenerator<TargetPage> {
  switch (each.kind) {
    case 'repository':
      return ofRepositories(walk);
    case 'organization':
      return ofOrganizations(walk);
    case 'notification':
      return targetsInNotifications(walk);
    case 'runner':
      return targetsInRunners(walk);
    default:
      return targetsInRepositories(each, walk);
  }
}

async function* ofRepositories(walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as RepositoryPlace | undefined;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const targets = page.repositories
      .map((repository): Target => {
        const ref = refOf(repository);
        const subject: Subject = { kind: 'repository', repository: ref };
        return { key: `${ref.owner}/${ref.name}`, subject, item: { repository } };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    // Where some are left out, how many there are is not known before the end.
    const isWhole = targets.length === page.repositories.length;
    yield { targets, next: page.following, total: isWhole ? page.total : undefined };
  }
}

/** The organizations that the account is a member of. */
async function* ofOrganizations(walk: Walk): AsyncGenerator<TargetPage> {
  const from = (walk.from as { page: number } | undefined)?.page;
  for await (const { items, page, total } of walk.client.pages(operations.listOwnOrganizations, {}, from)) {
    const targets = items
      .map((organization): Target => {
        const { name } = organization;
        return {
          key: name,
          subject: { kind: 'organization', organization: name },
          item: { organization },
        };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    yield { targets, next: { page: page + 1 }, total };
  }
}
