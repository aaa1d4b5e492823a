import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ReeveError } from '../../errors.ts';
import { count } from '../../output/terminal.ts';
import type { Settings } from '../../settings/config.ts';
import { loadFingerprintKey } from '../../settings/secrets/named-secrets.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import { ok, skipped, wrong } from '../finding.ts';
import { type DeliveryListener, openListener } from '../hooks/listener.ts';
import { type HookLocation, locationName } from '../hooks/places.ts';
import { readHooks, type Signed } from '../hooks/read-hooks.ts';
import { entryFor } from '../hooks/secret-entry.ts';
import { findingOfTest } from '../hooks/test-finding.ts';
import { testHook } from '../hooks/test-hook.ts';
import {
  applyHookPlan,
  findingOfPlan,
  isRemembered,
  planHookAt,
  removeHooks,
  type WantedHook,
} from './plan-hook.ts';
import type { Steps } from './steps.ts';

type Hooks = {
  /** Who may make hooks, those who are to make them first. */
  readonly makers: readonly Signed[];
  readonly settings: Settings;
  readonly steps: Steps;
  readonly places: readonly HookLocation[];
  readonly url: string;
  readonly kinds: readonly string[];
  readonly plan: boolean;
  /** Whether each hook shall deliver once. */
  readonly test: boolean;
};

/**
 * Brings about the hook of each place, has it deliver, and removes what it takes the place of. Returns whether every one
 * is as it must be. Where a Reeve runs that would refuse the deliveries, nothing is touched.
 */
export async function settleHooks(hooks: Hooks): Promise<boolean> {
  const { settings, steps, places } = hooks;
  const [first] = settings.secrets;
  if (hooks.plan || !hooks.test || first === undefined) return withStore(hooks, undefined);
  const entry = places.map((place) => entryFor(place, settings.secrets)).find(Boolean) ?? first;
  const heard = await steps.attempt('receiver', () => openListener(settings, entry));
  if ('advice' in heard) {
    steps.tell('receiver', wrong(heard.text, heard.advice), { mustBeRight: true });
    return false;
  }
  const where = `${settings.host}:${settings.port}`;
  steps.tell(
    'receiver',
    ok(heard.by === 'own' ? `listens on ${where} for a moment` : `Reeve runs on ${where} with these secrets`),
  );
  try {
    return await withStore(hooks, heard);
  } finally {
    await heard.close();
  }
}

async function withStore(hooks: Hooks, heard: DeliveryListener | undefined): Promise<boolean> {
  const { settings, plan, steps } = hooks;
  if (heard) return settleAll(hooks, heard.store, heard);
  const path = join(settings.data, 'reeve.db');
  // A plan leaves nothing behind: without a store, nothing is remembered.
  if (plan && !existsSync(path))
    return settleAll(hooks, { recall: async () => undefined, remember: async () => {} }, undefined);
  const store = await steps.attempt('store', () => openSqliteStore({ path, role: 'reader' }));
  try {
    return await settleAll(hooks, store, undefined);
  } finally {
    await store.close();
  }
}

type Memory = Pick<Store, 'recall' | 'remember'>;

async function settleAll(hooks: Hooks, store: Memory, heard: DeliveryListener | undefined): Promise<boolean> {
  const { settings, plan, steps } = hooks;
  const isNew = plan && !existsSync(join(settings.data, 'fingerprint.key'));
  const key = isNew ? randomBytes(32) : await steps.attempt('store', () => loadFingerprintKey(settings.data));
  let isWhole = true;
  for (const place of hooks.places) {
    const entry = entryFor(place, settings.secrets);
    if (entry === undefined) {
      const text = `no entry of secrets may speak for all of ${locationName(place)}`;
      steps.tell(
        'hook',
        wrong(
          text,
          'add one to secrets in the operator file, or set WEBHOOK_SECRET and WEBHOOK_AUTHORIZATION',
        ),
      );
      isWhole = false;
      continue;
    }
    const wish = { url: hooks.url, kinds: hooks.kinds, entry, key };
    const isRight = await steps.attemptAlone('hook', () => settle(hooks, place, wish, store, heard));
    isWhole &&= isRight ?? false;
  }
  return isWhole;
}

async function settle(
  { makers, plan: isPlan, steps, url }: Hooks,
  place: HookLocation,
  wish: WantedHook,
  store: Memory,
  heard: DeliveryListener | undefined,
): Promise<boolean> {
  const seen = await readHooks(makers, place).catch(async (error: unknown) => {
    // Made by an earlier run, with a token that is not kept: nothing says that it is not so any more.
    const isMade = error instanceof ReeveError && (await isRemembered(store, place, wish));
    if (!isMade) throw error;
    return messageOf(error);
  });
  if (typeof seen === 'string') {
    steps.tell(
      'hook',
      skipped(`hook of ${locationName(place)}: made by an earlier run, and cannot be seen now: ${seen}`),
    );
    return true;
  }
  const { client, live } = seen;
  const plan = await planHookAt(live, { place, store }, wish);
  if (isPlan) {
    steps.tell('hook', findingOfPlan(plan, place, true));
    return true;
  }
  const { id, others } = await applyHookPlan({ client, place, store }, plan, wish);
  steps.tell('hook', findingOfPlan(plan, place, false));
  if (heard) {
    const finding = await findingOfTest(
      await testHook({ client, place, hookId: id, listening: heard }),
      place,
      url,
    );
    steps.tell('delivery', finding);
    // The old ones stay while the new one is not known to work: one of them may.
    if (finding.state === 'wrong') return false;
  }
  const gone = await removeHooks(client, place, others);
  if (gone > 0)
    steps.tell('hook', {
      state: 'changed',
      text: `hook of ${locationName(place)}: ${count(gone, 'old one')} removed`,
    });
  return true;
}
