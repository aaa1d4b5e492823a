import type { Client } from '../../../client/client.ts';
import { namesToSend, shownEvents } from '../../../contract/events/hook-events.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';
import type { Store } from '../../../store/store.ts';
import type { Finding } from '../finding.ts';
import {
  fingerprintHook,
  hookSecretsOf,
  type Match,
  matchHooks,
  recallSetupHook,
  rememberSetupHook,
  type SetupHook,
} from '../hooks/match.ts';
import {
  createHookAt,
  deleteHookAt,
  editHookAt,
  type HookBody,
  type HookLocation,
  locationName,
} from '../hooks/places.ts';

export type WantedHook = {
  readonly url: string;
  /** The kinds it shall hear, in order. */
  readonly kinds: readonly string[];
  readonly entry: SecretEntry;
  /** Of the fingerprints. */
  readonly key: Uint8Array;
};

/** What becomes of the hook of a place. `others` deliver here too, and go once this one works. */
type HookPlan = {
  readonly do: 'nothing' | 'create' | 'edit' | 'replace';
  readonly hook?: Hook;
  readonly others: readonly Hook[];
  readonly why: readonly string[];
};

/** Decides what becomes of the hook of a place; `prints` are the fingerprints it shall have. */
function planHook(match: Match, known: SetupHook | undefined, wish: WantedHook): HookPlan {
  const prints = fingerprintHook(hookSecretsOf(wish.entry), wish.key);
  const hook = match.found ?? match.elsewhere;
  const others = match.duplicates;
  if (hook === undefined) return { do: 'create', others, why: ['there is none'] };
  // What no forge shows is as it must be only where it is remembered so.
  const isOurs = known?.id === hook.id && known.hmac === prints.hmac;
  if (!isOurs) {
    const why = known?.id === hook.id ? 'it signs with another secret' : 'it is unknown what it signs with';
    return { do: 'replace', hook, others: [hook, ...others], why: [why] };
  }
  const why = [
    ...(match.found === undefined ? [`it pointed to ${hook.config?.url}`] : []),
    ...(shownEvents(hook.events).join() === wish.kinds.join() ? [] : ['events']),
    ...(hook.active ? [] : ['it was inactive']),
    ...(hook.config?.content_type === 'json' ? [] : ['content type']),
    ...(known.authorization === prints.authorization ? [] : ['header']),
  ];
  return { do: why.length === 0 ? 'nothing' : 'edit', hook, others, why };
}

/** Says whether an earlier run made the hook of a place with these very values. */
export async function isRemembered(
  store: Pick<Store, 'recall'>,
  location: HookLocation,
  { entry, key }: WantedHook,
): Promise<boolean> {
  const known = await recallSetupHook(store, location);
  const prints = fingerprintHook(hookSecretsOf(entry), key);
  return known !== undefined && known.hmac === prints.hmac && known.authorization === prints.authorization;
}

type Bringing = {
  readonly client: Client;
  readonly place: HookLocation;
  readonly store: Pick<Store, 'recall' | 'remember'>;
};

/** Looks at the hooks of a place and decides. */
export async function planHookAt(
  live: readonly Hook[],
  { place: location, store }: Omit<Bringing, 'client'>,
  wish: WantedHook,
): Promise<HookPlan> {
  const known = await recallSetupHook(store, location);
  return planHook(matchHooks(live, wish.url, known), known, wish);
}

/**
 * Brings about what was decided and returns the id of the hook, with the hooks that can go. What is made is remembered at
 * once: a run that ends here is taken up by the next.
 */
export async function applyHookPlan(
  bringing: Bringing,
  plan: HookPlan,
  wish: WantedHook,
): Promise<{ readonly id: number; readonly others: readonly Hook[] }> {
  const { client, place: location, store } = bringing;
  const secrets = hookSecretsOf(wish.entry);
  const body: HookBody = {
    url: wish.url,
    events: namesToSend(wish.kinds),
    branch_filter: plan.hook?.branch_filter ?? '',
    authorization_header: secrets.authorization,
  };
  const keep = (id: number): Promise<void> =>
    rememberSetupHook(store, location, { id, ...fingerprintHook(secrets, wish.key) });
  if (plan.do === 'nothing' && plan.hook) return { id: plan.hook.id, others: plan.others };
  if (plan.do === 'edit' && plan.hook) {
    const { id } = plan.hook;
    const edited = await editHookAt(client, location, { ...body, id });
    await keep(id);
    // Some kinds cannot be edited on Forgejo: then it is made anew.
    if (shownEvents(edited.events).join() === wish.kinds.join()) return { id, others: plan.others };
  }
  const made = await createHookAt(client, location, { ...body, secret: secrets.hmac });
  await keep(made.id);
  const old = plan.hook === undefined || plan.others.includes(plan.hook) ? [] : [plan.hook];
  return { id: made.id, others: [...old, ...plan.others] };
}

/** Removes the hooks whose place another one has taken. Returns how many went. */
export async function removeHooks(
  client: Client,
  location: HookLocation,
  hooks: readonly Hook[],
): Promise<number> {
  for (const { id } of hooks) await deleteHookAt(client, location, id);
  return hooks.length;
}

const said = {
  nothing: 'is as it must be',
  create: 'made',
  edit: 'edited',
  replace: 'made anew',
} as const;

/** Returns what was, or with `isPlan` what would be, done with the hook of a place. */
export function findingOfPlan(plan: HookPlan, location: HookLocation, isPlan: boolean): Finding {
  const title = `hook of ${locationName(location)}`;
  const gone = plan.do === 'replace' ? plan.others.length - 1 : plan.others.length;
  const rest = gone === 0 ? '' : `; ${gone} more deliver here and ${isPlan ? 'would go' : 'go'}`;
  if (plan.do === 'nothing') {
    const state = gone === 0 ? 'ok' : isPlan ? 'planned' : 'changed';
    return { state, text: `${title}: ${said.nothing}${rest}` };
  }
  const text = `${title}: ${isPlan ? 'would be ' : ''}${said[plan.do]} (${plan.why.join(', ')})${rest}`;
  return { state: isPlan ? 'planned' : 'changed', text };
}
