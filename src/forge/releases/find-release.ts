import { type Actor, hasScopes } from '../access/actor.ts';
import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import type { ReleaseRow } from '../core/rows.ts';

type ReleaseRequest = RepositoryTarget & { readonly context: ForgeContext; readonly actor: Actor };

/** Returns whether a caller sees drafts: writers do, whose token may write. */
export function maySeeDrafts({ permission, actor }: Pick<ReleaseRequest, 'permission' | 'actor'>): boolean {
  return actor.user !== undefined && reaches(permission, 'write') && hasScopes(actor, ['write:repository']);
}

/** Returns a release by its id, or ends the request with 404; a draft that the caller may not see is not there. */
export function findRelease(call: ReleaseRequest, id: number): ReleaseRow {
  const sql = 'SELECT * FROM releases WHERE repo_id = ? AND id = ?';
  return visibleOf(call, call.context.db.get<ReleaseRow>(sql, call.repository.id, id));
}

/** Returns the release of a tag as `findRelease`; the case of the name does not count. */
export function findReleaseOfTag(call: ReleaseRequest, tag: string): ReleaseRow {
  const sql = 'SELECT * FROM releases WHERE repo_id = ? AND lower_tag = ?';
  return visibleOf(call, call.context.db.get<ReleaseRow>(sql, call.repository.id, tag.toLowerCase()));
}

function visibleOf(call: ReleaseRequest, row: ReleaseRow | undefined): ReleaseRow {
  return found(row?.is_draft && !maySeeDrafts(call) ? undefined : row);
}
