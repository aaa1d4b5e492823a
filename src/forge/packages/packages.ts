import type { Actor } from '../platform/access/actor.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import {
  findVersion,
  mayUsePackages,
  type PackageName,
  type PackageVersionRow,
  packageFilesOf,
  removeVersion,
  toPackages,
  versionColumns,
  versionTables,
} from './packages-rows.ts';

type PackageCall = {
  readonly context: ForgeContext;
  readonly actor: Actor;
  readonly params: { readonly owner: string };
};

/** Returns the account in the path that owns the packages. Ends the request if the caller lacks access. */
function findOwner({ context, actor, params }: PackageCall, level: 'read' | 'write'): UserRow {
  const owner = accountNamed(context.db, params.owner, actor.user);
  if (mayUsePackages(context.db, owner, actor, level)) return owner;
  throw new ForgeProblem(403, 'user should have specific permission or be a site admin');
}

function findPackage(
  call: PackageCall & { readonly params: PackageName },
  level: 'read' | 'write',
): { readonly owner: UserRow; readonly version: PackageVersionRow } {
  const owner = findOwner(call, level);
  return {
    owner,
    version: found(findVersion(call.context.db, owner, call.params), 'package does not exist'),
  };
}

/** Handlers for packages of every type. */
export const packageHandlers = defineHandlers({
  listPackages(call) {
    const { context, query, page, reply, caller } = call;
    const owner = findOwner(call, 'read');
    const from = `FROM ${versionTables} WHERE v.owner_id = ?1 AND (?2 = '' OR p.type = ?2)
      AND (?3 = '' OR instr(p.lower_name, ?3) > 0)`;
    const values = [owner.id, (query.type ?? '').trim(), (query.q ?? '').trim().toLowerCase()] as const;
    reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
    const rows = context.db.all<PackageVersionRow>(
      `SELECT ${versionColumns} ${from} ORDER BY v.created_at DESC, v.id DESC LIMIT ?4 OFFSET ?5`,
      ...values,
      page.limit,
      page.offset,
    );
    return toPackages(context, owner, rows, caller);
  },

  getPackage(call) {
    const { owner, version } = findPackage(call, 'read');
    return found(toPackages(call.context, owner, [version], call.caller)[0]);
  },

  deletePackage(call) {
    const { owner, version } = findPackage(call, 'write');
    removeVersion(call.context, { owner, actor: call.caller }, version);
    return undefined;
  },

  listPackageFiles(call) {
    const { version } = findPackage(call, 'read');
    return packageFilesOf(call.context.db, version).map(({ id, size, name, md5, sha1, sha256, sha512 }) => ({
      id,
      size,
      name,
      md5,
      sha1,
      sha256,
      sha512,
    }));
  },
});
