import { z } from 'zod';
import { type Capability, capabilityOfEvent } from '../client/capabilities.ts';
import { hookEventNames, namesToSend, shownEvents, wantedEvents } from '../contract/events/hook-events.ts';
import { operations } from '../contract/operations.ts';
import type { Hook } from '../contract/resources/hooks.ts';
import { asWritten } from '../contract/written-texts.ts';
import { type FactRequest, type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { FactNotGiven } from '../facts/given-facts.ts';
import { accountHooks, hooks, type SeenHook } from '../facts/hooks.ts';
import { repository } from '../facts/repository.ts';
import { organizationParams, repositoryParams } from '../facts/where.ts';
import { forgeGlobProblem } from '../patterns/glob.ts';
import type { Change } from './change.ts';
import type { ActionMemory } from './memory.ts';
import type { PlanContext } from './plan-context.ts';
import { fingerprintSecret, SecretForm } from './secret-form.ts';

/** Declaration of a hook in a rule. */
const HookForm = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .meta({ description: 'Target URL, which identifies the hook.' }),
  events: z
    .array(z.enum(hookEventNames as [string, ...string[]]))
    .min(1)
    .meta({ description: 'Families (`pull_request`) or single kinds (`pull_request_only`).' }),
  branch_filter: z
    .string()
    .max(255)
    .check((context) => {
      const message = context.value === '' ? undefined : forgeGlobProblem(context.value, '');
      if (message !== undefined) context.issues.push({ code: 'custom', input: context.value, message });
    })
    .optional()
    .meta({ description: 'Glob of branches; unchanged if omitted.' }),
  active: z.boolean().default(true),
  content_type: z.enum(['json', 'form']).optional().meta({ description: 'Default for a new hook: json.' }),
  name: z.string().min(1).max(255).optional(),
  authorization: z
    .union([SecretForm, z.literal('none')])
    .optional()
    .meta({
      description: 'The secret with the value of the Authorization header: `{ secret: NAME }`; or none.',
    }),
  hmac: SecretForm.optional().meta({
    description: 'The secret for delivery signatures, by name. A new value replaces the hook.',
  }),
});
type HookForm = z.output<typeof HookForm>;

/** Arguments of `sync-hooks`. */
export const SyncHooks = z.strictObject({
  hooks: z.array(HookForm).min(1).max(20),
  'of-account': z
    .boolean()
    .default(false)
    .meta({ description: 'Manages the hooks of the bot’s account instead of those of the subject.' }),
});
export type SyncHooks = z.output<typeof SyncHooks>;

/** State of a hook in plans: secrets by name, and `events` as kinds. */
export type Declared = Omit<HookForm, 'url'>;
/** A live hook, with the fingerprints that Reeve stored for it. */
export type Held = { readonly hook: SeenHook; readonly known: KnownHook | undefined };
/** The hook that a step declares, with the fingerprints of its secrets and the location of the hooks. */
export type Situation = {
  readonly wanted: HookForm;
  readonly prints: SecretFingerprints;
  readonly place: HookPlace;
  /** Whether the values of secrets are unknown: declared secrets then count as unchanged. */
  readonly isBlind: boolean;
};

/** Returns the names of the fields in which a live hook differs from its declaration. */
export function differing(
  declared: Declared,
  hook: Pick<Hook, 'events' | 'branch_filter' | 'active' | 'config' | 'name'>,
) {
  const { branch_filter, content_type } = declared;
  const name = declared.name && asWritten(operations.createHook, 'name', declared.name);
  const eventsDiffer = shownEvents(hook.events).join() !== [...declared.events].sort().join();
  return [
    ...(eventsDiffer ? ['events'] : []),
    ...(branch_filter !== undefined && branch_filter !== (hook.branch_filter ?? '') ? ['branch_filter'] : []),
    ...(declared.active === (hook.active ?? false) ? [] : ['active']),
    ...(content_type !== undefined && content_type !== hook.config?.content_type ? ['content_type'] : []),
    ...(name !== undefined && name !== hook.name ? ['name'] : []),
  ];
}

/** Returns the change that edits a hook, marked `already` if nothing differs. */
export function hookEdit(situation: Situation, { hook, known }: Held): Change {
  const { wanted, prints, place, isBlind } = situation;
  const lost: string[] = differing(declaredOf(wanted), hook);
  const isOther =
    !isBlind && prints.authorization !== undefined && prints.authorization !== known?.authorization;
  if (isOther || givesUpHeader(wanted, hook)) lost.push('authorization');
  const isUpToDate = lost.length === 0;
  const body = {
    events: namesToSend(wantedEvents(wanted.events)),
    branch_filter: wanted.branch_filter ?? hook.branch_filter ?? '',
    authorization_header: isUpToDate ? '' : headerOf(wanted, known),
    active: wanted.active,
    ...(wanted.content_type && { config: { content_type: wanted.content_type } }),
    ...(wanted.name && { name: wanted.name }),
  };
  return {
    ...commonOf(situation),
    operation: place.edit,
    input: { params: { ...place.params, id: hook.id }, body },
    before: stateOf(hook),
    reason: isUpToDate ? 'already in the desired state' : `different: ${lost.join(', ')}`,
    ...requiresOf(wanted, hook),
    ...(isUpToDate && { already: true }),
  };
}

/**
 * Returns the change that creates the hook. If the new hook replaces others, `before` is the state of the first one
 * replaced.
 */
export function hookCreation(situation: Situation, replaced: readonly Held[]): Change {
  const { wanted, place } = situation;
  const [old] = replaced;
  const name = wanted.name ?? old?.hook.name;
  const config = {
    url: wanted.url,
    content_type: wanted.content_type ?? old?.hook.config?.content_type ?? 'json',
    ...(wanted.hmac && { secret: wanted.hmac }),
  };
  const body = {
    type: old?.hook.type ?? 'gitea',
    config,
    events: namesToSend(wantedEvents(wanted.events)),
    branch_filter: wanted.branch_filter ?? old?.hook.branch_filter ?? '',
    authorization_header: old ? headerOf(wanted, old.known) : headerOf(wanted, { authorization: 'none' }),
    active: wanted.active,
    ...(name && { name }),
  };
  return {
    ...commonOf(situation),
    operation: place.create,
    input: { params: place.params, body },
    before: old ? { replaces: replaced.map(({ hook }) => hook.id), ...stateOf(old.hook) } : null,
    reason: old
      ? 'the hook is not known to sign with this secret, and a secret cannot be edited: a new hook is created'
      : 'there is no hook to this url',
    stage: 0,
  };
}

/** Returns the Authorization header to send with an edit, because an edit without it would clear the header. */
function headerOf({ url, authorization }: HookForm, known: KnownHook | undefined): unknown {
  if (authorization === 'none') return '';
  if (authorization !== undefined) return authorization;
  if (known?.authorization === 'none') return '';
  throw new Error(
    `the forge does not show whether the hook to ${url} sends an Authorization header, and this edit would clear the header: declare authorization: none, or the secret`,
  );
}

/** Returns the change that tests the hook with this id, if hooks of this location can be tested. */
export async function testChange(situation: Situation, id: number, facts: Facts): Promise<readonly Change[]> {
  const { wanted, place } = situation;
  if (place.test === undefined || !wanted.active || (await hasNoCommits(facts))) return [];
  return [
    {
      action: 'sync-hooks',
      operation: place.test,
      input: { params: { ...place.params, id } },
      target: `hook-test:${wanted.url}`,
      value: true,
      before: null,
      after: true,
      reason: 'the new hook is tested before the old one is deleted',
      reads: [place.fact],
    },
  ];
}

/** Returns whether the repository has no commits: a hook test then has nothing to deliver. */
async function hasNoCommits(facts: Facts): Promise<boolean> {
  try {
    const { empty } = await facts.ask(optionalRequestOf(repository));
    return empty === true;
  } catch (error) {
    if (error instanceof FactNotGiven) return false;
    throw error;
  }
}

/** Returns the change that deletes a replaced hook. */
export function hookRemoval({ wanted, place }: Situation, { hook }: Held): Change {
  return {
    action: 'sync-hooks',
    operation: place.delete,
    input: { params: { ...place.params, id: hook.id } },
    target: `hook:${wanted.url}#${hook.id}`,
    value: null,
    before: stateOf(hook),
    after: null,
    reason: 'another hook has replaced it',
    reads: [place.fact],
    stage: 2,
  };
}

function declaredOf({ url: _, ...rest }: HookForm): Declared {
  return { ...rest, events: [...wantedEvents(rest.events)] };
}

function commonOf({ wanted, place }: Situation) {
  const declared = declaredOf(wanted);
  return {
    action: 'sync-hooks',
    target: `hook:${wanted.url}`,
    value: declared,
    after: declared,
    reads: [place.fact],
    ...requiresOf(wanted),
  } as const;
}

/**
 * Returns the capabilities that a declaration requires, because forges silently ignore unknown events and fields that
 * they cannot edit.
 */
function requiresOf(wanted: HookForm, hook?: SeenHook): { readonly requires?: readonly Capability[] } {
  const needed = new Set(wanted.events.flatMap((event) => capabilityOfEvent[event] ?? []));
  if (wanted.name !== undefined) needed.add('hook_names');
  if (hook && movesFixed(wanted, hook)) needed.add('hook_package_edit');
  if (hook && givesUpHeader(wanted, hook)) needed.add('hook_header_removal');
  return needed.size === 0 ? {} : { requires: [...needed] };
}

/** Returns whether a header must be removed. Only some forges show that a hook has a header. */
function givesUpHeader({ authorization }: HookForm, { has_authorization }: SeenHook): boolean {
  return authorization === 'none' && has_authorization === true;
}

/** Kinds of events that some forges read only when a hook is created, not when it is edited. */
const fixedKinds = ['package', 'action_run_failure', 'action_run_recover', 'action_run_success'];

function movesFixed({ events }: HookForm, { events: shown }: SeenHook): boolean {
  const wanted = wantedEvents(events);
  return fixedKinds.some((kind) => wanted.includes(kind) !== shown.includes(kind));
}

function stateOf({ events, branch_filter, active, config, name }: SeenHook) {
  return {
    events: shownEvents(events),
    branch_filter: branch_filter ?? '',
    active: active ?? false,
    content_type: config?.content_type ?? null,
    ...(name && { name }),
  };
}

/** Returns the ids of the hooks that the hook created by this change replaces. */
export function replacedBy({ before }: Change): number[] {
  const replaces =
    typeof before === 'object' && before !== null && 'replaces' in before ? before.replaces : [];
  return Array.isArray(replaces) ? replaces.filter((id) => typeof id === 'number') : [];
}

/** Location of hooks: a repository, an organization or the account, each with its own operations. */
type HookPlace = {
  readonly fact: FactRequest<readonly SeenHook[]>;
  readonly params: Readonly<Record<string, unknown>>;
  readonly create: string;
  readonly edit: string;
  readonly delete: string;
  /** Only a repository's hooks can be tested. */
  readonly test?: string;
};

/** Returns the location of a step's hooks. */
export function hookPlace(ofAccount: boolean, { subject }: Facts): HookPlace {
  if (ofAccount) {
    return {
      fact: requestOf(accountHooks),
      params: {},
      create: operations.createUserHook.id,
      edit: operations.editUserHook.id,
      delete: operations.deleteUserHook.id,
    };
  }
  const fact = requestOf(hooks);
  if (subject.kind === 'organization') {
    return {
      fact,
      params: organizationParams(subject),
      create: operations.createOrganizationHook.id,
      edit: operations.editOrganizationHook.id,
      delete: operations.deleteOrganizationHook.id,
    };
  }
  return {
    fact,
    params: repositoryParams(subject),
    create: operations.createHook.id,
    edit: operations.editHook.id,
    delete: operations.deleteHook.id,
    test: operations.testHook.id,
  };
}

/** Fingerprints of a hook's secrets, stored by Reeve because a forge never shows the secrets. */
const KnownHook = z.object({
  /** `none`: the hook sends no header. */
  authorization: z.string().optional(),
  hmac: z.string().optional(),
  /** Ids of the hooks that this hook replaces; they are deleted once this hook works. */
  replaces: z.array(z.number()).optional(),
});
type KnownHook = z.output<typeof KnownHook>;

const hookKey = (id: number): string => `sync-hooks/${id}`;

/** Returns the stored fingerprints of a hook; undefined if Reeve did not write the hook. */
export async function recallHook(memory: ActionMemory, id: number): Promise<KnownHook | undefined> {
  const found = KnownHook.safeParse(await memory.get(hookKey(id)));
  return found.success ? found.data : undefined;
}

/** Stores the fingerprints of a hook; undefined deletes them. */
export async function rememberHook(
  memory: ActionMemory,
  id: number,
  known: KnownHook | undefined,
): Promise<void> {
  await memory.set(hookKey(id), known);
}

/**
 * Fingerprints of the secrets that a rule refers to. A fingerprint is absent if the rule does not refer to a secret, or
 * the value is unknown.
 */
type SecretFingerprints = { readonly authorization?: string; readonly hmac?: string };

/** Returns the fingerprints of the secrets in a hook's declaration; in a what-if, there are none. */
export function fingerprintSecrets(
  { authorization, hmac }: Declared,
  context: PlanContext,
): SecretFingerprints {
  const header =
    authorization === 'none' ? 'none' : authorization && fingerprintSecret(authorization, context);
  const signature = hmac && fingerprintSecret(hmac, context);
  return { ...(header && { authorization: header }), ...(signature && { hmac: signature }) };
}
