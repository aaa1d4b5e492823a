import type { Capability } from '../../client/capabilities.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Members that count only while another one is true. A forge reads them in one request with that one, or not at all.
 * Source: forge `routers/api/v1/repo/branch.go EditBranchProtection`.
 */
const dependsOn: Readonly<Record<string, string>> = {
  enable_push_whitelist: 'enable_push',
  push_whitelist_deploy_keys: 'enable_push_whitelist',
  enable_force_push_allowlist: 'enable_force_push',
  force_push_allowlist_deploy_keys: 'enable_force_push_allowlist',
};

/** Lists that the forge empties while this one is false. */
const listsOf: Readonly<Record<string, string>> = {
  bypass_allowlist_usernames: 'enable_bypass_allowlist',
  bypass_allowlist_teams: 'enable_bypass_allowlist',
};

const chains = [
  ['enable_push', 'enable_push_whitelist', 'push_whitelist_deploy_keys'],
  ['enable_force_push', 'enable_force_push_allowlist', 'force_push_allowlist_deploy_keys'],
] as const;

/** Returns why what is wanted can never be, member by member: it rests on another one that is off. */
export function contradictionsIn(
  wanted: Members,
  live: Members | undefined,
): readonly { readonly member: string; readonly message: string }[] {
  return Object.entries({ ...dependsOn, ...listsOf }).flatMap(([member, parent]) => {
    const value = wanted[member];
    const isWanted = value === true || (Array.isArray(value) && value.length > 0);
    if (!isWanted || (wanted[parent] ?? live?.[parent] ?? false) === true) return [];
    return [{ member, message: `${member} counts only with ${parent}: true` }];
  });
}

/** Returns the body of a request in which everything is read: a chain of switches goes whole, from its first on. */
export function withSwitches(body: Members, live: Members | undefined): Record<string, unknown> {
  const sent: Record<string, unknown> = { ...body };
  for (const chain of chains) {
    if (!chain.some((member) => member in body)) continue;
    for (const member of chain) {
      const value = body[member] ?? live?.[member] ?? false;
      sent[member] = value;
      if (value !== true) break;
    }
  }
  return sent;
}

/** Returns what a forge must be able to do for a member; undefined: every forge knows it. */
export function capabilityFor(member: string): Capability | undefined {
  if (member === 'priority') return 'branch_protection_priority';
  if (member === 'block_admin_merge_override') return 'block_admin_merge_override';
  if (member.includes('bypass_allowlist')) return 'bypass_allowlist';
  return member.includes('force_push') ? 'force_push_protection' : undefined;
}
