import type { Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { Each } from '../../../rules/rule.ts';
import { targetsInRepositories } from './in-repositories.ts';
import { targetsInNotifications } from './notifications.ts';
import { failuresIn, type ListPosition, servedRepositories, toRepositoryRef } from './repositories.ts';
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
      return targetsInNotifications(each, walk);
    case 'runner':
      return targetsInRunners(walk);
    default:
      return targetsInRepositories(each, walk);
  }
}

async function* ofRepositories(walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as ListPosition | undefined;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const targets = page.repositories
      .map((repository): Target => {
        const ref = toRepositoryRef(repository);
        const subject: Subject = { kind: 'repository', repository: ref };
        return { key: `${ref.owner}/${ref.name}`, subject, item: { repository } };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    // Where some are left out, how many there are is not known before the end.
    const isWhole = targets.length === page.repositories.length;
    const failures = failuresIn(page, walk.isInScope);
    yield { targets, next: page.following, total: isWhole ? page.total : undefined, failures };
  }
}

/** The organizations that the account is a member of. One that the rule names, and that is not among them, is a failure. */
async function* ofOrganizations(walk: Walk): AsyncGenerator<TargetPage> {
  const from = (walk.from as { page: number } | undefined)?.page;
  let next = from ?? 1;
  const named = from === undefined ? organizationsNamedBy(walk) : new Set<string>();
  for await (const { items, page, total } of walk.client.pages(operations.listOwnOrganizations, {}, from)) {
    for (const { name } of items) named.delete(name.toLowerCase());
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
    next = page + 1;
    yield { targets, next: { page: next }, total };
  }
  const failures = [...named].map((item) => ({ item, error: new Error('the account is no member of it') }));
  if (failures.length > 0) yield { targets: [], next: { page: next }, failures };
}

/** Returns the names, in lower case, of organizations that patterns of the rule name in full (`acme/*`) and do not take out. */
function organizationsNamedBy({ rule, isInScope }: Walk): Set<string> {
  const written = rule.scopes.flatMap((scope) => scope.written);
  const names = written.flatMap((pattern) => /^([^!*?[\]{}/]+)\/\*{1,2}$/.exec(pattern)?.[1] ?? []);
  return new Set(
    names
      .filter((organization) => isInScope({ kind: 'organization', organization }))
      .map((name) => name.toLowerCase()),
  );
}
