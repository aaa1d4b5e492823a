import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Client } from '../../../client/client.ts';
import { namesToSend, shownEvents } from '../../../contract/events/hook-events.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import { isDenied, messageOf, ReeveError } from '../../../platform/errors.ts';
import {
  entryFor,
  fingerprintHook,
  hookSecretsOf,
  type Match,
  matchHooks,
  recallSetupHook,
  rememberSetupHook,
  type SetupHook,
} from '../../../server/hooks/match.ts';
import {
  type CoveredLocation,
  createHookAt,
  deleteHookAt,
  editHookAt,
  type HookBody,
  type HookLocation,
  locationName,
  readHooks,
  type Signed,
} from '../../../server/hooks/places.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';
import type { Settings } from '../../../server/settings/config.ts';
import {
  loadFingerprintKey,
  readFingerprintKey,
  type SecretStore,
} from '../../../server/settings/secrets/installation-secret.ts';
import { changedSettings } from '../../../server/settings/settings-in-force.ts';
import { openStoreAt, storeFileOf } from '../../../store/open-store.ts';
import type { MemoryRows } from '../../../store/store.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import { type DeliveryListener, openListener } from '../hooks/listener.ts';
import { isRefusedHere } from '../hooks/probe-receiver.ts';
import { findingOfLeft, findingOfTest, testHook } from '../hooks/test-hook.ts';
import type { Steps } from './steps.ts';

type Hooks = {
  /** Accounts that may create hooks, preferred ones first. */
  readonly makers: readonly Signed[];
  readonly settings: Settings;
  readonly steps: Steps;
  readonly places: readonly HookLocation[];
  /** Repositories that need no hook of their own. */
  readonly covered: readonly CoveredLocation[];
  readonly url: string;
  readonly kinds: readonly string[];
  readonly plan: boolean;
  /** Whether each hook is tested. */
  readonly test: boolean;
};

/** Result of the setup of hooks. */
export type SettledHooks = {
  /** Whether every hook is as required. */
  readonly isWhole: boolean;
  /** Locations without a hook, or with unreadable hooks. */
  readonly absent: readonly HookLocation[];
  /** Whether the deliveries were observed at a running Reeve. */
  readonly isRunning: boolean;
};

/**
 * Creates or updates the hook of each location, tests it, and removes the hooks that it replaces. Changes nothing if a
 * running Reeve would refuse the deliveries.
 */
export async function settleHooks(hooks: Hooks): Promise<SettledHooks> {
  const { settings, steps, places: locations } = hooks;
  const [first] = settings.secrets;
  if (hooks.plan || !hooks.test || first === undefined) return withStore(hooks, undefined);
  const entry = locations.map((location) => entryFor(location, settings.secrets)).find(Boolean) ?? first;
  const listener = await steps.attempt('receiver', () => openListener(settings, entry));
  if ('advice' in listener) {
    steps.tell('receiver', wrong(listener.text, listener.advice), { mustBeRight: true });
    return { isWhole: false, absent: [], isRunning: false };
  }
  const where = `${settings.host}:${settings.port}`;
  steps.tell(
    'receiver',
    ok(
      listener.by === 'own' ? `listens on ${where} temporarily` : `Reeve runs on ${where} with these secrets`,
    ),
  );
  try {
    if (await isRefusedHere(hooks.url, entry)) {
      const advice = `Reeve listens on ${where}: name that port with --webhook, or let the proxy at that address pass ${new URL(hooks.url).pathname} to it`;
      steps.tell('receiver', wrong(`${hooks.url} refuses connections`, advice), { mustBeRight: true });
      return { isWhole: false, absent: [], isRunning: false };
    }
    return await withStore(hooks, listener);
  } finally {
    await listener.close();
  }
}

async function withStore(hooks: Hooks, listener: DeliveryListener | undefined): Promise<SettledHooks> {
  const { settings, plan, steps } = hooks;
  if (listener) return settleAll(hooks, listener.store, listener);
  // A plan creates no store, so if there is none, nothing is stored.
  if (plan && settings.databaseUrl === undefined && !existsSync(storeFileOf(settings)))
    return settleAll(hooks, noStore, undefined);
  const store = await steps.attempt('store', () => openStoreAt(settings, { role: 'reader' }));
  try {
    return await settleAll(hooks, store, undefined);
  } finally {
    await store.close();
  }
}

type Memory = MemoryRows & SecretStore;

/** Stands in for the store of a plan that has none; it stores nothing. */
const noStore: Memory = {
  isShared: false,
  recall: async () => undefined,
  remember: async () => {},
  revise: async () => undefined,
};

async function settleAll(
  hooks: Hooks,
  store: Memory,
  listener: DeliveryListener | undefined,
): Promise<SettledHooks> {
  const { settings, plan, steps } = hooks;
  const key = await steps.attempt('store', async () =>
    plan
      ? ((await readFingerprintKey(settings.data, store)) ?? randomBytes(32))
      : loadFingerprintKey(settings.data, { store }),
  );
  const restart = listener?.by === 'running' ? await findingOfRestart(settings, store, key) : undefined;
  if (restart) steps.tell('restart', restart);
  let isWhole = true;
  const absent: HookLocation[] = [];
  const right: HookLocation[] = [];
  for (const location of hooks.places) {
    const entry = entryFor(location, settings.secrets);
    if (entry === undefined) {
      const text = `no entry of secrets covers all of ${locationName(location)}`;
      steps.tell(
        'hook',
        wrong(
          text,
          'add one to secrets in the operator file, or set WEBHOOK_SECRET and WEBHOOK_AUTHORIZATION',
        ),
      );
      isWhole = false;
      absent.push(location);
      continue;
    }
    const wish = { url: hooks.url, kinds: hooks.kinds, entry, key };
    const isRight = await steps.attemptAlone('hook', () => settle(hooks, location, wish, store, listener));
    isWhole &&= isRight ?? false;
    if (isRight === undefined) absent.push(location);
    if (isRight) right.push(location);
  }
  for (const one of hooks.covered) {
    if (right.some(({ level, name }) => level === one.by.level && name === one.by.name))
      await steps.attemptAlone('hook', () => removeCovered(hooks, one, store));
  }
  return { isWhole, absent, isRunning: listener?.by === 'running' };
}

/** Returns the finding if the running Reeve started with other settings than these; undefined if with the same. */
export async function findingOfRestart(
  settings: Settings,
  store: MemoryRows,
  key: Uint8Array,
): Promise<Finding | undefined> {
  const { forge } = settings;
  if (forge === undefined) return undefined;
  const changed = await changedSettings(store, { ...settings, forge }, key);
  if (changed.length === 0) return undefined;
  const text = `the running Reeve started with other settings: ${changed.join(', ')}`;
  const advice = 'restart it (reeve serve --settings FILE): it reads its settings only at its start';
  // With another forge or account, it could do nothing with the deliveries that it accepts.
  const isBlind = changed.some((name) => name === 'FORGE_URL' || name === 'the token');
  return isBlind ? wrong(text, advice) : warning(text, advice);
}

/** Removes the hook of a repository that a wider hook covers, because both would deliver every event. */
async function removeCovered(
  { makers, plan, steps, url }: Hooks,
  { location, by }: CoveredLocation,
  store: Memory,
): Promise<void> {
  const title = `hook of ${locationName(location)}`;
  const known = await recallSetupHook(store, location);
  const seen = await readHooks(makers, location).catch((error: unknown) => {
    if (isDenied(error)) return undefined;
    throw error;
  });
  const here = seen?.live.filter(({ id, config }) => config?.url === url || id === known?.id) ?? [];
  if (seen === undefined || here.length === 0)
    return steps.tell('hook', ok(`${title}: not needed, ${locationName(by)} has one`));
  if (!plan) await removeHooks(seen.client, location, here);
  steps.tell('hook', {
    state: plan ? 'planned' : 'changed',
    text: `${title}: ${plan ? 'would be removed' : 'removed'}, ${locationName(by)} has one`,
  });
}

async function settle(
  { makers, plan: isPlan, steps, url }: Hooks,
  location: HookLocation,
  wish: WantedHook,
  store: Memory,
  listener: DeliveryListener | undefined,
): Promise<boolean> {
  const seen = await readHooks(makers, location).catch(async (error: unknown) => {
    // The hook was created by an earlier run, with a token that is not stored. It is assumed to be unchanged.
    const isMade = error instanceof ReeveError && (await isRemembered(store, location, wish));
    if (!isMade) throw error;
    return messageOf(error);
  });
  if (typeof seen === 'string') {
    steps.tell(
      'hook',
      skipped(`hook of ${locationName(location)}: created by an earlier run, and not readable now: ${seen}`),
    );
    return true;
  }
  const { client, live } = seen;
  const plan = await planHookAt(live, { place: location, store }, wish);
  if (isPlan) {
    steps.tell('hook', findingOfPlan(plan, location, true));
    return true;
  }
  const { id, others } = await applyHookPlan({ client, place: location, store }, plan, wish);
  steps.tell('hook', findingOfPlan(plan, location, false));
  if (listener) {
    const tried = await testHook({ client, place: location, hookId: id, listening: listener });
    const finding = await findingOfTest(tried, location, url);
    steps.tell('delivery', finding);
    const left = findingOfLeft([tried]);
    if (left) steps.tell('test-repository', left);
    // The old hooks stay until the new one is known to work, because one of them may be working.
    if (finding.state === 'wrong') return false;
  }
  const gone = await removeHooks(client, location, others);
  if (gone > 0)
    steps.tell('hook', {
      state: 'changed',
      text: `hook of ${locationName(location)}: ${count(gone, 'old one')} removed`,
    });
  return true;
}

type WantedHook = {
  readonly url: string;
  /** The event types of the hook, in order. */
  readonly kinds: readonly string[];
  readonly entry: SecretEntry;
  /** Key of the fingerprints. */
  readonly key: Uint8Array;
};

/** Plan for the hook of a location. `others` also deliver to the URL, and are removed once the hook works. */
type HookPlan = {
  readonly do: 'nothing' | 'create' | 'edit' | 'replace';
  readonly hook?: Hook;
  readonly others: readonly Hook[];
  readonly why: readonly string[];
};

/** Plans the hook of a location. */
function planHook(match: Match, known: SetupHook | undefined, wish: WantedHook): HookPlan {
  const prints = fingerprintHook(hookSecretsOf(wish.entry), wish.key);
  const hook = match.found ?? match.elsewhere;
  const others = match.duplicates;
  if (hook === undefined) return { do: 'create', others, why: ['there is none'] };
  // Values that no forge shows can be verified only by their stored fingerprints.
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

/** Returns whether an earlier run created the hook of a location with the same secrets. */
async function isRemembered(
  store: MemoryRows,
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
  readonly store: MemoryRows;
};

/** Plans the hook of a location, given its current hooks. */
async function planHookAt(
  live: readonly Hook[],
  { place: location, store }: Omit<Bringing, 'client'>,
  wish: WantedHook,
): Promise<HookPlan> {
  const known = await recallSetupHook(store, location);
  return planHook(matchHooks(live, wish.url, known), known, wish);
}

/**
 * Applies a plan. Returns the id of the hook, and the hooks that can be removed. The id of a created hook is stored
 * immediately, so that the next run continues after an interruption.
 */
async function applyHookPlan(
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
    // Forgejo cannot edit some event types; in this case, the hook is recreated.
    if (shownEvents(edited.events).join() === wish.kinds.join()) return { id, others: plan.others };
  }
  const made = await createHookAt(client, location, { ...body, secret: secrets.hmac });
  await keep(made.id);
  const old = plan.hook === undefined || plan.others.includes(plan.hook) ? [] : [plan.hook];
  return { id: made.id, others: [...old, ...plan.others] };
}

/** Removes replaced hooks. Returns how many were removed. */
async function removeHooks(client: Client, location: HookLocation, hooks: readonly Hook[]): Promise<number> {
  for (const { id } of hooks) await deleteHookAt(client, location, id);
  return hooks.length;
}

const said = {
  nothing: 'is as required',
  create: 'created',
  edit: 'edited',
  replace: 'recreated',
} as const;

/** Returns the finding about the changes to the hook of a location; with `isPlan`, about the planned changes. */
function findingOfPlan(plan: HookPlan, location: HookLocation, isPlan: boolean): Finding {
  const title = `hook of ${locationName(location)}`;
  const gone = plan.do === 'replace' ? plan.others.length - 1 : plan.others.length;
  const rest =
    gone === 0 ? '' : `; ${gone} more deliver here and ${isPlan ? 'would be removed' : 'are removed'}`;
  if (plan.do === 'nothing') {
    const state = gone === 0 ? 'ok' : isPlan ? 'planned' : 'changed';
    return { state, text: `${title}: ${said.nothing}${rest}` };
  }
  const text = `${title}: ${isPlan ? 'would be ' : ''}${said[plan.do]} (${plan.why.join(', ')})${rest}`;
  return { state: isPlan ? 'planned' : 'changed', text };
}
