import type { Capability } from '../../client/capabilities.ts';

type ProtectionTerms = Readonly<Record<string, unknown>>;

/**
 * Members that depend on another one being true. A forge reads them only in one request with that one.
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

/** Returns why members can never take effect: they depend on another one that is off. */
export function contradictionsIn(
  wanted: ProtectionTerms,
  live: ProtectionTerms | undefined,
): readonly { readonly member: string; readonly message: string }[] {
  return Object.entries({ ...dependsOn, ...listsOf }).flatMap(([member, parent]) => {
    const value = wanted[member];
    const isWanted = value === true || (Array.isArray(value) && value.length > 0);
    if (!isWanted || (wanted[parent] ?? live?.[parent] ?? false) === true) return [];
    return [{ member, message: `${member} takes effect only with ${parent}: true` }];
  });
}

/** Returns a body in which every member is read: a chain of switches is sent completely, from its first. */
export function withSwitches(
  body: ProtectionTerms,
  live: ProtectionTerms | undefined,
): Record<string, unknown> {
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

/** Returns the capability required for a member; undefined: every forge supports it. */
export function capabilityFor(member: string): Capability | undefined {
  if (member === 'priority') return 'branch_protection_priority';
  if (member === 'block_admin_merge_override') return 'block_admin_merge_override';
  if (member.includes('bypass_allowlist')) return 'bypass_allowlist';
  return member.includes('force_push') ? 'force_push_protection' : undefined;
}
