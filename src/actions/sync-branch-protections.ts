import { z } from 'zod';
import type { Capability } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { type BranchProtection, EditBranchProtection } from '../contract/resources/protections.ts';
import { branchProtections } from '../facts/branches.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { ways } from '../facts/ways.ts';
import { repositoryParams } from '../facts/where.ts';
import { forgeGlobProblem } from '../patterns/glob.ts';
import { type Adopted, type AdoptedPlace, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { undoCreate, undoDelete, undoMember } from './inverses.ts';
import { learnDropped, mergeBodies, planProtection, pruneProtection, unshown } from './protection-fields.ts';

const Protection = EditBranchProtection.extend({
  rule_name: z
    .string()
    .min(1)
    .max(255)
    .meta({ description: 'A branch, or a glob in which `*` stops at `/` and `**` crosses it.' }),
  // 0 is not a valid priority: a forge converts it to the lowest priority.
  priority: z.number().int().min(1).optional().meta({ description: '1 wins over 2.' }),
  required_approvals: z.number().int().min(0).max(1_000).optional(),
});
const SyncBranchProtections = z.strictObject({
  protections: z.array(Protection).max(100),
  prune: z.boolean().default(false).meta({ description: 'Deletes branch protections that are not listed.' }),
});
type SyncBranchProtections = z.output<typeof SyncBranchProtections>;

const protectionsFact = requestOf(branchProtections);

/** Keeps the listed branch protections with the given fields; omitted fields are left unchanged. */
export const syncBranchProtections = defineAction<SyncBranchProtections>({
  name: 'sync-branch-protections',
  meaning:
    'Keeps the listed branch protections with the given members; omitted members are left unchanged. Other protections are deleted only with `prune: true`. Names that the forge drops because they lack access are reported once and retried after a week.',
  example: `uses: sync-branch-protections
with:
  protections:
    - rule_name: main
      enable_push: false
      required_approvals: 1
      dismiss_stale_approvals: true
      block_on_rejected_reviews: true
    - rule_name: release/*
      enable_push: true
      enable_push_whitelist: true
      push_whitelist_teams: [release]
`,
  arguments: SyncBranchProtections,
  of: ['repository', 'branch', 'pull_request', 'issue'],
  ways: { writes: [ways.protected] },
  needs: { access: 'admin', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: {
    [operations.createBranchProtection.id]: undoCreate(
      operations.listBranchProtections,
      operations.deleteBranchProtection,
      'rule_name',
      'name',
    ),
    [operations.editBranchProtection.id]: undoMember(
      operations.getBranchProtection,
      operations.editBranchProtection,
      '.',
      // The forge reads these push fields only together with enable_push.
      (name) =>
        name.includes('force_push') ? ['enable_force_push'] : name.includes('push') ? ['enable_push'] : [],
    ),
    [operations.deleteBranchProtection.id]: undoDelete(
      operations.listBranchProtections,
      operations.createBranchProtection,
      ['rule_name'],
    ),
  },
  createsWhole: operations.createBranchProtection.id,
  adoption: { what: 'branch protections', read: adoptProtections },
  requires: Object.fromEntries(
    Object.keys(Protection.shape).flatMap((member) => {
      const capability = capabilityFor(member);
      return capability ? [[`protections.${member}`, capability satisfies Capability]] : [];
    }),
  ),
  examine: (written) =>
    written.protections.flatMap((protection, place) => [
      ...twice(written, place),
      ...globProblems(protection, place),
      // Switches that the step omits are assumed to be on, because they may be on in the live protection; a switch that
      // is off makes its dependent fields ineffective.
      ...contradictionsIn(protection, allOn).map(({ member, message }) => ({
        path: ['protections', place, member],
        message,
      })),
    ]),
  facts: () => [protectionsFact],
  async plan(given, facts, context) {
    const all = await facts.ask(protectionsFact);
    const at = repositoryParams(facts.subject);
    const changes: Change[] = [];
    for (const { rule_name, ...wanted } of given.protections) {
      const live = all.find((one) => one.rule_name === rule_name);
      const [wrong] = contradictionsIn(wanted, live);
      if (wrong) throw new Error(`${rule_name}: ${wrong.message}, which is off`);
      changes.push(
        ...(await planProtection(
          {
            action: 'sync-branch-protections',
            target: `protection:${rule_name}`,
            naming: { rule_name },
            wanted,
            live,
            create: { operation: operations.createBranchProtection.id, params: at },
            edit: { operation: operations.editBranchProtection.id, params: { ...at, name: rule_name } },
            reads: [protectionsFact],
            requires: capabilityFor,
          },
          context,
        )),
      );
    }
    return given.prune ? [...changes, ...pruning(given, all, facts)] : changes;
  },
  async join(changes, facts) {
    const params = changes[0]?.input.params ?? {};
    const all = await facts.ask(protectionsFact);
    const live = all.find((one) => one.rule_name === params.name);
    return { params, body: withSwitches(mergeBodies(changes), live) };
  },
  confirm: unshown,
  learn: learnDropped,
});

const allOn = Object.fromEntries(Object.keys(Protection.shape).map((member) => [member, true]));

function twice({ protections }: SyncBranchProtections, place: number) {
  const name = protections[place]?.rule_name;
  const first = protections.findIndex((one) => one.rule_name === name);
  return first === place
    ? []
    : [{ path: ['protections', place, 'rule_name'], message: `"${name}" is listed twice in this step` }];
}

function globProblems(protection: SyncBranchProtections['protections'][number], place: number) {
  const files = (['protected_file_patterns', 'unprotected_file_patterns'] as const).flatMap((member) =>
    (protection[member] ?? '')
      .split(';')
      .map((pattern) => pattern.trim())
      .flatMap((pattern) => (pattern === '' ? [] : [{ member, message: forgeGlobProblem(pattern, '/.') }])),
  );
  const name = { member: 'rule_name', message: forgeGlobProblem(protection.rule_name, '/') };
  return [name, ...files].flatMap(({ member, message }) =>
    message === undefined ? [] : [{ path: ['protections', place, member], message }],
  );
}

function pruning(
  given: SyncBranchProtections,
  all: readonly BranchProtection[],
  facts: Facts,
): readonly Change[] {
  const named = new Set(given.protections.map((one) => one.rule_name));
  return all
    .filter((live) => !named.has(live.rule_name))
    .map((live) =>
      pruneProtection({
        action: 'sync-branch-protections',
        target: `protection:${live.rule_name}`,
        call: {
          operation: operations.deleteBranchProtection.id,
          params: { ...repositoryParams(facts.subject), name: live.rule_name },
        },
        live,
        reads: [protectionsFact],
        from: 'branch protections',
        there: all.length,
      }),
    );
}

async function adoptProtections(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo === undefined) return {};
  const live = await client.call(operations.listBranchProtections, { params: { owner, repo } });
  const protections = live.map((one) => ({ rule_name: one.rule_name, ...termsOf(one) }));
  return protections.length === 0 ? {} : { arguments: { protections } };
}

/** Returns the fields that differ from the defaults of a new protection: those that are not off, empty or zero. */
function termsOf(protection: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const terms = Object.keys(EditBranchProtection.shape).map((name) => [name, protection[name]] as const);
  return Object.fromEntries(terms.filter(([, value]) => !isInitial(value)));
}

function isInitial(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === false || value === '' || value === 0;
}

type ProtectionTerms = Readonly<Record<string, unknown>>;

/**
 * Fields that require another field to be true. A forge reads them only in a request that includes the other field.
 * Source: forge `routers/api/v1/repo/branch.go EditBranchProtection`.
 */
const dependsOn: Readonly<Record<string, string>> = {
  enable_push_whitelist: 'enable_push',
  push_whitelist_deploy_keys: 'enable_push_whitelist',
  enable_force_push_allowlist: 'enable_force_push',
  force_push_allowlist_deploy_keys: 'enable_force_push_allowlist',
};

/** Lists that the forge empties while the given switch is false. */
const listsOf: Readonly<Record<string, string>> = {
  bypass_allowlist_usernames: 'enable_bypass_allowlist',
  bypass_allowlist_teams: 'enable_bypass_allowlist',
};

const chains = [
  ['enable_push', 'enable_push_whitelist', 'push_whitelist_deploy_keys'],
  ['enable_force_push', 'enable_force_push_allowlist', 'force_push_allowlist_deploy_keys'],
] as const;

/**
 * Returns the fields that can never take effect because they depend on another field that is off, with the reason for
 * each.
 */
function contradictionsIn(
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

/**
 * Returns a body from which the forge reads every field: a chain of dependent switches is sent from its first switch
 * on.
 */
function withSwitches(body: ProtectionTerms, live: ProtectionTerms | undefined): Record<string, unknown> {
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

/** Returns the capability required for a field; undefined if every forge supports it. */
function capabilityFor(member: string): Capability | undefined {
  if (member === 'priority') return 'branch_protection_priority';
  if (member === 'block_admin_merge_override') return 'block_admin_merge_override';
  if (member.includes('bypass_allowlist')) return 'bypass_allowlist';
  return member.includes('force_push') ? 'force_push_protection' : undefined;
}
