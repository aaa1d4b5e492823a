import { z } from 'zod';
import type { Access, OperationTarget, ScopeCategory } from './operation.ts';
import { inRepository, int, text } from './shape.ts';

/**
 * Returns a function that creates the fields shared by the operations of one target. An operation adds its access
 * level, and may override any field.
 */
function fieldsOf<
  const Target extends OperationTarget,
  Params extends z.core.$ZodLooseShape,
  const Scope extends ScopeCategory,
>(target: Target, shape: Params, scope: Scope) {
  const params = z.object(shape);
  return <const Level extends Access>(access: Level) =>
    ({ params, target, access, scopes: [scope] }) as const;
}

/** Operations on a repository as a whole. */
export const repositoryAs = fieldsOf('repository', inRepository, 'repository');
export const codeAs = fieldsOf('code', inRepository, 'repository');
export const pullsAs = fieldsOf('pulls', inRepository, 'repository');
export const releasesAs = fieldsOf('releases', inRepository, 'repository');
export const wikiAs = fieldsOf('wiki', inRepository, 'repository');
/** Operations on issues, and on the issue side of pull requests. */
export const issuesAs = fieldsOf('issues-or-pulls', inRepository, 'issue');
export const organizationAs = fieldsOf('organization', { org: text }, 'organization');
export const teamAs = fieldsOf('team', { id: int }, 'organization');
export const accountAs = fieldsOf('account', { username: text }, 'user');
/** Operations on the caller's own objects. */
export const callerAs = fieldsOf('instance', {}, 'user');
/** Operations for site administrators. */
export const siteAs = fieldsOf('instance', {}, 'admin');
