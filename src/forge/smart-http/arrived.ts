import type { RepositoryTarget } from '../access/targets.ts';
import type { UserRow } from '../core/rows.ts';
import type { Ref, RefChange } from '../git/refs.ts';
import type { Aside } from '../push-protocol/aside.ts';
import type { PushRequest } from '../push-protocol/push-request.ts';

/** Where a push goes: the repository's own git repository, or its wiki's. */
export type PushTarget = RepositoryTarget & {
  readonly caller: UserRow | undefined;
  readonly gitId: number;
  readonly isWiki: boolean;
  /** Returns the rest as it is now, or ends the request where the push may not be made any more. */
  readonly comeIn: () => Promise<Pick<PushTarget, 'repository' | 'owner' | 'permission' | 'caller'>>;
};

/** A push that is complete on disk, by an account. */
export type ArrivedPush = Omit<PushTarget, 'caller' | 'comeIn'> & {
  readonly caller: UserRow;
  readonly push: PushRequest;
  readonly aside: Aside;
  /** What git's own program is given besides the bounds of `aside`. */
  readonly protocol: Readonly<Record<string, string>>;
};

/** Returns what moved between two readings of the refs, by name. */
export function compareRefs(before: readonly Ref[], after: readonly Ref[]): RefChange[] {
  const old = new Map(before.map(({ name, id }) => [name, id]));
  const now = new Map(after.map(({ name, id }) => [name, id]));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: old.get(ref), after: now.get(ref) }))
    .filter((change) => change.before !== change.after);
}
