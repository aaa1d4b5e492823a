import { permissionOf, reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Bit, UserRow } from '../core/rows.ts';
import { isSwitchedOn } from '../pulls/agit.ts';
import type { PushRequest } from '../push-protocol/push-request.ts';

type OptionPush = Omit<RepositoryTarget, 'permission'> & {
  readonly caller: UserRow;
  readonly push: PushRequest;
};

/**
 * Does what `repo.private` and `repo.template` ask for, which count for the first push to an empty repository alone. Returns the
 * message for a pusher who may not ask for it.
 */
export function applyPushOptions(
  { db }: ForgeContext,
  { repository, owner, caller, push }: OptionPush,
  wasEmpty: boolean,
): string | undefined {
  const isPrivate = readFlag(push.options, 'repo.private');
  const isTemplate = readFlag(push.options, 'repo.template');
  if (isPrivate === undefined && isTemplate === undefined) return undefined;
  if (!reaches(permissionOf(db, caller, repository, owner), 'admin')) return 'permission denied';
  if (!wasEmpty) return undefined;
  db.run(
    'UPDATE repositories SET is_private = coalesce(?, is_private), is_template = coalesce(?, is_template) WHERE id = ?',
    isPrivate,
    isTemplate,
    repository.id,
  );
  return undefined;
}

/** Unlike those of a pull request, these options need a value: `repo.private` alone says nothing, as on the baseline. */
function readFlag(options: readonly string[], key: string): Bit | undefined {
  const values = options.filter((option) => option.startsWith(`${key}=`));
  const value = values.at(-1)?.slice(key.length + 1);
  if (value === undefined) return undefined;
  if (isSwitchedOn(value)) return 1;
  return /^(0|f|F|FALSE|false|False)$/.test(value) ? 0 : undefined;
}
