import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { type HookLocation, locationName, repositoryAt } from '../../../server/hooks/places.ts';
import {
  recallTestRepositories,
  rememberTestRepository,
  testRepositoryPrefix,
} from '../../../server/test-repositories.ts';
import type { MemoryRows } from '../../../store/store.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import type { DeliveryListener } from './listener.ts';
import { allowAdvice, reachOf } from './probe-receiver.ts';

/**
 * Result of a test. `arrived`: verified and stored · `refused`: received with other secrets · `untried`: not tested,
 * with the reason.
 */
export type HookTestResult = (
  | { readonly came: 'arrived'; readonly ms: number }
  | { readonly came: 'refused' | 'nothing'; readonly seconds: number }
  | { readonly came: 'untried'; readonly why: string }
) & {
  /** Test repositories, of this or an earlier test, that could not be deleted, each with the reason. */
  readonly left?: readonly string[];
};

const Body = z.looseObject({ repository: z.looseObject({ full_name: z.string() }) });

/**
 * Triggers a delivery of the hook of a location, and waits until it is verified and stored. The hook of a repository is
 * tested with the forge's own test. Hooks of wider locations have no such test, so a temporary private repository is
 * created and deleted, and they deliver its events, which start no rules. `timeoutMs` defaults to 12 s; a forge gives up on a delivery after
 * 5 s.
 */
export async function testHook(
  options: { client: Client; place: HookLocation; hookId: number; listening: DeliveryListener },
  timeoutMs = 12_000,
): Promise<HookTestResult> {
  const { listening } = options;
  const last = (await listening.store.listDeliveries({ limit: 1 })).items[0]?.id ?? '0';
  const refusedBefore = await listening.refused();
  const provoked = await provoke(options);
  if ('why' in provoked) return { came: 'untried', why: provoked.why };
  const started = performance.now();
  const observe = async (): Promise<HookTestResult> => {
    while (performance.now() - started < timeoutMs) {
      if (await hasArrived(listening, last, provoked)) {
        return { came: 'arrived', ms: Math.round(performance.now() - started) };
      }
      if ((await listening.refused()) > refusedBefore) break;
      await wait(100);
    }
    const came = (await listening.refused()) > refusedBefore ? 'refused' : 'nothing';
    return { came, seconds: Math.round((performance.now() - started) / 1_000) };
  };
  let left: readonly string[] = [];
  const result = await observe().finally(async () => {
    left = await provoked.tidy();
  });
  return { ...result, left };
}

type Provoked = {
  readonly type: string;
  readonly repository: string;
  /** Deletes test repositories. Returns those that could not be deleted, with the reason. Never rejects. */
  readonly tidy: () => Promise<readonly string[]>;
};

async function provoke(options: {
  client: Client;
  place: HookLocation;
  hookId: number;
  listening: DeliveryListener;
}): Promise<Provoked | { readonly why: string }> {
  const { client, place: location, hookId, listening } = options;
  try {
    if (location.level !== 'repository') return await makeRepository(client, location, listening.store);
    const params = repositoryAt(location);
    const { full_name, empty } = await client.call(operations.getRepository, { params });
    if (empty) return { why: `${full_name} is empty: its hook can be tested once something is pushed` };
    await client.call(operations.testHook, { params: { ...params, id: hookId } });
    return { type: 'push', repository: full_name, tidy: async () => [] };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.retryable) throw error;
    return { why: `the hook of ${locationName(location)} cannot be tested: ${messageOf(error)}` };
  }
}

async function makeRepository(client: Client, location: HookLocation, store: MemoryRows): Promise<Provoked> {
  const body = { name: `${testRepositoryPrefix}${randomBytes(8).toString('hex')}`, private: true };
  const isOrganizations = location.level === 'organization';
  const owner = isOrganizations ? location.name : (await client.call(operations.getSelf, {})).login;
  // Its first event may arrive before the response.
  await rememberTestRepository(store, { name: `${owner}/${body.name}` });
  const made = isOrganizations
    ? await client.call(operations.createOrganizationRepository, { params: { org: owner }, body })
    : await client.call(operations.createRepository, { body });
  await rememberTestRepository(store, { name: made.full_name, id: made.id });
  return {
    type: 'repository',
    repository: made.full_name,
    tidy: () => deleteTestRepositories(client, store),
  };
}

/**
 * Deletes the test repositories that still exist, also those of earlier runs that were interrupted. Returns those that
 * could not be deleted, each with the reason.
 */
async function deleteTestRepositories(client: Client, store: MemoryRows): Promise<readonly string[]> {
  const left: string[] = [];
  for (const one of await recallTestRepositories(store)) {
    if (one.isGone) continue;
    const [owner = '', repo = ''] = one.name.split('/');
    const params = { owner, repo };
    try {
      // A repository that has the name now may be another one. Without an id the request that creates it was not answered,
      // and its random name was stored before.
      const { id } = await client.call(operations.getRepository, { params });
      if (one.id === undefined || id === one.id) await client.call(operations.deleteRepository, { params });
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') {
        left.push(`${one.name} (${messageOf(error)})`);
        continue;
      }
    }
    await rememberTestRepository(store, { ...one, isGone: true });
  }
  return left;
}

async function hasArrived(
  listening: DeliveryListener,
  after: string,
  { type, repository }: Provoked,
): Promise<boolean> {
  const { items } = await listening.store.listDeliveries({ limit: 100 });
  for (const { id, eventType } of items) {
    if (BigInt(id) <= BigInt(after)) return false;
    if (eventType !== type) continue;
    const stored = await listening.store.readDelivery(id);
    if (stored && repositoryInBody(stored.body) === repository) return true;
  }
  return false;
}

function repositoryInBody(body: Uint8Array): string | undefined {
  try {
    return Body.parse(JSON.parse(Buffer.from(body).toString('utf8'))).repository.full_name;
  } catch {
    // This is not the test delivery.
    return undefined;
  }
}

/** Returns a warning if test repositories could not be deleted. */
export function findingOfLeft(tried: readonly HookTestResult[]): Finding | undefined {
  const left = [...new Set(tried.flatMap((one) => one.left ?? []))];
  if (left.length === 0) return undefined;
  return warning(
    `a test repository could not be deleted: ${left.join(', ')}`,
    'delete it on the forge, with an account that may; its events start no rules',
  );
}

/** Returns the finding about a hook's test, with the remedy if nothing arrived. */
export async function findingOfTest(
  tried: HookTestResult,
  location: HookLocation,
  url: string,
): Promise<Finding> {
  const title = locationName(location);
  if (tried.came === 'untried') return skipped(tried.why);
  if (tried.came === 'arrived')
    return ok(`a delivery by the hook of ${title} arrived and was verified after ${tried.ms} ms`);
  if (tried.came === 'refused') {
    return wrong(
      `a delivery by the hook of ${title} arrived, but its header or signature does not match the settings`,
      'run reeve setup again, which replaces the hook; or set the secrets it was created with',
    );
  }
  const reach = await reachOf(url);
  const advice =
    reach === 'loopback' || reach === 'private'
      ? allowAdvice(reach)
      : `check whether the forge’s machine reaches ${url}: name, proxy, firewall, certificate; the page of the hook on the forge shows the response`;
  return wrong(`no delivery by the hook of ${title} arrived within ${tried.seconds} s`, advice);
}
