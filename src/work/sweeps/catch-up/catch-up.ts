import { createHash } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { laneOf, parseEvent } from '../../../contract/events/events.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import type { Clock } from '../../../platform/clock.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { HandleJob } from '../../../store/leases.ts';
import type { Store } from '../../../store/store.ts';
import { type ServedBy, servedRepositories } from '../targets/repositories.ts';
import { createWaitingClient } from '../wait-on-429.ts';
import {
  type CurrentItem,
  type CurrentRepository,
  type CurrentTag,
  differencesOf,
  type MissedEvent,
} from './difference.ts';
import { type ItemSnapshot, type RepositorySnapshot, toItemSnapshot } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';

/** What an event that was found by reading is stored as. */
type CaughtUpPayload = {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
};

type CatchUpOptions = {
  readonly client: Client;
  readonly served: ServedBy;
  readonly snapshots: Snapshots;
  readonly store: Pick<Store, 'enqueue' | 'remember' | 'recall' | 'listProcesses'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Log;
  /** Told that a job was stored. */
  readonly onEnqueued: () => void;
};

const restKey = 'catch-up rest';
/** When the latest pass began. */
const passKey = 'catch-up at';
/** Requests of one pass; repositories beyond it come first in the next. */
const budget = 20_000;
/** Repositories in a row that the forge fails before the pass waits for it to recover. */
const maxFailedInARow = 3;

/** A served repository as catching up needs it: few words of each, for there may be many. */
type Candidate = Pick<Repository, 'id' | 'name' | 'full_name'> & {
  readonly owner: { readonly id: number; readonly login: string };
  readonly createdAt: string | undefined;
  readonly updatedMs: number;
};

/**
 * Creates the handler that finds what was missed: each served repository is asked for what changed since it was last
 * seen, most recently updated first, and each difference becomes a job like the delivery that never came. What is seen
 * for the first time is a baseline and makes no events, but for a repository that was made after the latest pass and
 * before a process listened. One repository that fails is left for the next pass.
 */
export function createCatchUp(options: CatchUpOptions): HandleJob {
  const { store, snapshots, log, clock } = options;
  const listeningFrom = clock.now();
  return async (_job, _payload, lease) => {
    const throwIfStopped = (): void => {
      if (lease.signal.aborted) throw lease.signal.reason;
      if (lease.stopping.aborted) throw lease.giveBack('the process is stopping');
    };
    const stop = AbortSignal.any([lease.signal, lease.stopping]);
    const client = createWaitingClient(options.client.counted({ signal: lease.signal }), async (ms) => {
      await clock.sleep(ms, stop).catch(() => {}); // Aborted: said below.
      throwIfStopped();
    });
    const startedAt = clock.now();
    await snapshots.save();
    const candidates = await listCandidates(client, options.served);
    await createEmptyBaselines(candidates, options, await earliest(listeningFrom, store));
    await store.remember(passKey, startedAt.toISOString());
    const waiting = await sortByPriority(candidates, store);
    const deferred: number[] = [];
    let [missed, failed, failedInARow] = [0, 0, 0];
    for (const candidate of waiting) {
      throwIfStopped();
      if (client.requests >= budget) {
        deferred.push(candidate.id);
        continue;
      }
      try {
        missed += await catchUpWith(candidate, client, options);
        failedInARow = 0;
      } catch (error) {
        throwIfStopped();
        failed += 1;
        failedInARow += 1;
        if (error instanceof ReeveError && error.isHostFailure && failedInARow >= maxFailedInARow)
          throw error;
        log.warn(
          { repository: candidate.full_name, error: messageOf(error) },
          'could not catch up with a repository',
        );
      }
      await lease.advance({ runs: [], checkpoint: null });
    }
    await store.remember(restKey, deferred.length === 0 ? undefined : deferred);
    const repositories = waiting.length - deferred.length;
    log.info({ repositories, missed, failed, left: deferred.length, requests: client.requests }, 'caught up');
    return { runs: [] };
  };
}

async function listCandidates(client: Client, served: ServedBy): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for await (const { repositories } of servedRepositories(client, served)) {
    for (const { id, name, full_name, owner, created_at, updated_at } of repositories) {
      const updatedMs = Date.parse(updated_at ?? '') || 0;
      const account = { id: owner.id, login: owner.login };
      candidates.push({ id, name, full_name, owner: account, createdAt: created_at ?? undefined, updatedMs });
    }
  }
  return candidates;
}

/** Gives repositories that were created while Reeve was stopped an empty baseline, so that all of their content is new. */
async function createEmptyBaselines(
  candidates: readonly Candidate[],
  { snapshots, store }: Pick<CatchUpOptions, 'snapshots' | 'store'>,
  listeningFromMs: number,
): Promise<void> {
  // Forges tell whole seconds.
  const before = Math.floor(Date.parse(String(await store.recall(passKey))) / 1_000) * 1_000;
  for (const { id, createdAt } of candidates) {
    const createdMs = Date.parse(createdAt ?? '');
    // Without a pass before this one nothing is new: NaN is neither before nor after.
    if (createdAt === undefined || !(createdMs >= before && createdMs < listeningFromMs)) continue;
    const empty = { at: createdAt, items: {}, refs: {}, tags: {}, isNew: true } as const;
    await snapshots.edit(id, (seen) => seen ?? empty);
  }
}

/** Returns the instant from which some process has listened that is alive. */
async function earliest(own: Date, store: Pick<Store, 'listProcesses'>): Promise<number> {
  const others = (await store.listProcesses()).filter(({ role, isSelf }) => role !== 'worker' && !isSelf);
  return Math.min(own.getTime(), ...others.map(({ startedAt }) => startedAt.getTime()));
}

/** What the pass before had no requests left for comes first, then the most recently updated. */
async function sortByPriority(
  candidates: readonly Candidate[],
  store: Pick<Store, 'recall'>,
): Promise<readonly Candidate[]> {
  const deferred = new Set(((await store.recall(restKey)) ?? []) as readonly number[]);
  return candidates.toSorted(
    (a, b) => Number(deferred.has(b.id)) - Number(deferred.has(a.id)) || b.updatedMs - a.updatedMs,
  );
}

/** Returns how many events were found. */
async function catchUpWith(candidate: Candidate, client: Client, options: CatchUpOptions): Promise<number> {
  const { snapshots, store, clock } = options;
  const before = await snapshots.read(candidate.id);
  const { name, owner } = candidate;
  const live = await readCurrent({ login: owner.login, name }, client, before);
  const missed = before === undefined ? [] : differencesOf(before, live);
  for (const one of missed) await enqueue(one, candidate, { store, now: clock.now() });
  if (missed.length > 0) options.onEnqueued();
  // Where nothing has an instant yet, the forge's word on the repository counts: our clock may be ahead of the forge's.
  const { updatedMs } = candidate;
  const from = updatedMs > 0 ? new Date(updatedMs) : clock.now();
  // Deliveries that were settled meanwhile have been noted: what they say stays.
  await snapshots.edit(candidate.id, (known) => advance(known ?? before, live, from));
  return missed.length;
}

async function enqueue(
  { eventType, payload, key }: MissedEvent,
  { id, name, full_name, owner }: Candidate,
  { store, now }: { store: Pick<Store, 'enqueue'>; now: Date },
): Promise<void> {
  const repository = { id, name, full_name, owner };
  const whole = { ...payload, repository, sender: null, caught_up: true };
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  await store.enqueue({
    door: 'cron',
    uuid: `caught-up#${id}#${digest}`,
    kind: 'caught-up',
    lane: laneOf(parseEvent(eventType, whole)),
    receivedAt: now,
    payload: { eventType, payload: whole } satisfies CaughtUpPayload,
  });
}

function advance(
  known: RepositorySnapshot | undefined,
  live: CurrentRepository,
  from: Date,
): RepositorySnapshot {
  const { refs, items } = live;
  const tags = Object.fromEntries(Object.entries(live.tags).map(([name, { commit }]) => [name, commit]));
  const after: Record<string, ItemSnapshot> = { ...known?.items };
  let at = known?.at;
  for (const { kind, number, value } of items) {
    const item = toItemSnapshot(value, kind);
    if (item === undefined) continue;
    after[number] = item;
    if (at === undefined || Date.parse(item.updated) > Date.parse(at)) at = item.updated;
  }
  return { at: at ?? from.toISOString(), items: after, refs, tags };
}

/**
 * Reads what a repository is like: its branches, its tags, its open pull requests, and what changed since it was last
 * seen, or its open issues where it never was. Four lists, one request for each pull request that was closed since, and one for
 * each that was opened since and is not as it was opened.
 */
async function readCurrent(
  { login, name }: { readonly login: string; readonly name: string },
  client: Client,
  before: RepositorySnapshot | undefined,
): Promise<CurrentRepository> {
  const params = { owner: login, repo: name };
  const refs: Record<string, string> = {};
  for await (const branch of client.items(operations.listBranches, { params })) {
    if (branch.commit?.id) refs[branch.name] = branch.commit.id;
  }
  const tags: Record<string, CurrentTag> = {};
  for await (const tag of client.items(operations.listTags, { params })) {
    const commit = tag.commit?.sha ?? tag.id;
    if (commit) tags[tag.name] = { id: tag.id ?? commit, commit };
  }
  const items = new Map<number, CurrentItem>();
  const add = (kind: ItemSnapshot['kind'], number: number, value: object): void => {
    items.set(number, { kind, number, value: value as Readonly<Record<string, unknown>> });
  };
  for await (const pull of client.items(operations.listPulls, { params, query: { state: 'open' } })) {
    add('pull_request', pull.number, pull);
  }
  // Issues of the first sight are the open ones; later, whatever changed, and the pull requests that are open no more.
  const query = before === undefined ? { state: 'open', type: 'issues' } : { state: 'all', since: before.at };
  for await (const issue of client.items(operations.listIssues, { params, query })) {
    if (!issue.pull_request) add('issue', issue.number, issue);
    else if (!items.has(issue.number) && isNews(issue, before)) {
      const index = issue.number;
      add('pull_request', index, await client.call(operations.getPull, { params: { ...params, index } }));
    }
  }
  for (const [number, item] of items) {
    if (before === undefined || !(await hasMoved(item, { client, params, before }))) continue;
    items.set(number, { ...item, hasMoved: true });
  }
  return { refs, tags, items: [...items.values()] };
}

/** Returns whether a pull request that was not known before was pushed to since: its newest commit is younger than it. */
async function hasMoved(
  { kind, number, value }: CurrentItem,
  {
    client,
    params,
    before,
  }: { client: Client; params: { owner: string; repo: string }; before: RepositorySnapshot },
): Promise<boolean> {
  const [createdMs, updatedMs] = [value.created_at, value.updated_at].map((at) => Date.parse(String(at)));
  const sha = toItemSnapshot(value, kind)?.head;
  if (sha === undefined || before.items[number] !== undefined || createdMs === updatedMs) return false;
  try {
    const query = { stat: false, verification: false, files: false };
    const { created } = await client.call(operations.getCommit, { params: { ...params, sha }, query });
    return Date.parse(created ?? '') > Math.max(createdMs ?? 0, Date.parse(before.at));
  } catch (error) {
    // A head that is gone has nothing to tell.
    if (error instanceof ReeveError && error.code === 'forge-not-found') return false;
    throw error;
  }
}

/** The bound of a listing includes its instant, so that what is known comes again. */
function isNews(
  { number, updated_at }: { number: number; updated_at?: string | null | undefined },
  before: RepositorySnapshot | undefined,
): boolean {
  const known = before?.items[number];
  return known === undefined || Date.parse(known.updated) !== Date.parse(updated_at ?? '');
}
