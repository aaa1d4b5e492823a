import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { count } from '../../../platform/count.ts';
import { isDenied, messageOf, ReeveError } from '../../../platform/errors.ts';
import { pollingGap } from '../../../rules/verdict.ts';
import type { Reeve } from '../../reeve.ts';
import { createWaitingClient, mapConcurrently } from '../walk.ts';
import { actDifferences, advanceActs, readActs } from './acts.ts';
import {
  advance,
  type Candidate,
  differencesOf,
  enqueueMissed,
  listCandidates,
  readCurrent,
} from './catch-up.ts';
import type { OwnNotes } from './own-notes.ts';
import {
  type CurrentRepository,
  type ItemSnapshot,
  overlapMs,
  type RepositorySnapshot,
  type Snapshots,
  toItemSnapshot,
} from './snapshots.ts';

/** Interval at which the time is checked, and at which notifications are looked at. */
const lookMs = 1_000;
const notificationMs = 30_000;
/** Number of repositories that are read concurrently. */
const atOnce = 4;
/** Number of consecutive repositories with a forge failure after which a poll ends. */
const maxFailedInARow = 3;

/** Key of the result of the last poll. */
const pollKey = 'poll';

/** Result of a poll. */
export type PollResult = {
  /** Start of the poll, as RFC 3339. */
  readonly at: string;
  readonly repositories: number;
  /** Number of events found. */
  readonly found: number;
  /** Number of repositories that could not be read. */
  readonly failed: number;
  readonly requests: number;
  /** Requests that a poll without changes needs, as measured in this poll. */
  readonly usualRequests: number;
  /** Why the poll could not be completed; absent if it was. */
  readonly error?: string;
};

/** Returns the result of the last poll of any process; undefined before the first one. */
export async function readLastPoll(store: Pick<Reeve['store'], 'recall'>): Promise<PollResult | undefined> {
  // Store boundary: only the poller writes the value under this key.
  return (await store.recall(pollKey)) as PollResult | undefined;
}

/** Returns the number of requests in an hour. */
export function requestsPerHour({ usualRequests }: PollResult, everySeconds: number): number {
  return Math.ceil((usualRequests * 3_600) / everySeconds);
}

/**
 * Reads the served repositories again and again, for forges that cannot reach this machine, and stores each difference
 * as the event of a webhook. Only the leader polls. The position is in the snapshots, so that a restart loses nothing.
 */
export class Poller {
  readonly #reeve: Reeve;
  readonly #snapshots: Snapshots;
  readonly #ownNotes: OwnNotes;
  readonly #everyMs: number;
  readonly #cursors = new Map<number, number>();
  /** Start of the last poll of this process by repository. A poll that finds nothing is not stored. */
  readonly #readAt = new Map<number, string>();
  /** Listed repositories and failures that were logged, so that each is logged once. */
  readonly #logged = new Set<string>();
  #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<PollResult> | undefined;
  #nextMs = 0;
  #nextLookMs = 0;
  /** Time of the newest notification; null if the account may not read notifications. */
  #notifiedAt: string | null | undefined;
  #isLooking = false;
  #isAnnounced = false;
  #isSlow = false;
  #isFailing = false;

  constructor(
    reeve: Reeve,
    {
      snapshots,
      ownNotes,
      everySeconds,
    }: { readonly snapshots: Snapshots; readonly ownNotes: OwnNotes; readonly everySeconds: number },
  ) {
    this.#reeve = reeve;
    this.#snapshots = snapshots;
    this.#ownNotes = ownNotes;
    this.#everyMs = everySeconds * 1_000;
  }

  /** Polls now, and then in the interval, until stopped. */
  start(): void {
    if (this.#timer) return;
    this.#stopping = new AbortController();
    this.#timer = setInterval(() => this.#look(), Math.min(lookMs, this.#everyMs)).unref();
    this.#look();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopping.abort(new ReeveError('stopped', 'the process is stopping'));
    await this.#polling?.catch(() => {});
  }

  /** Polls all served repositories once. Polls run one at a time. */
  async poll(): Promise<PollResult> {
    while (this.#polling) await this.#polling.catch(() => {});
    this.#polling = this.#pollAll().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  #look(): void {
    const { store, clock, log } = this.#reeve;
    if (this.#polling || !store.isLeader()) return;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#nextMs) {
      this.#lookAtNotifications(nowMs);
      return;
    }
    this.#nextMs = nowMs + this.#everyMs;
    this.poll().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        log.error({ error: messageOf(error) }, 'polling cannot use its store');
    });
  }

  /**
   * Polls early if there is a new notification. Notifications are never marked as read, and are no source of events:
   * forges send none about one's own acts.
   */
  #lookAtNotifications(nowMs: number): void {
    const isSoon = this.#nextMs - nowMs < notificationMs / 2;
    if (this.#notifiedAt === null || this.#isLooking || isSoon || nowMs < this.#nextLookMs) return;
    this.#isLooking = true;
    this.#nextLookMs = nowMs + notificationMs;
    const client = this.#reeve.client.counted({ signal: this.#stopping.signal, tries: 1 });
    client
      .call(operations.listNotifications, { query: { limit: 1 } })
      .then(([newest]) => {
        const at = newest?.updated_at ?? '';
        const before = this.#notifiedAt;
        this.#notifiedAt = at;
        if (typeof before === 'string' && at > before) this.#nextMs = 0;
      })
      .catch((error: unknown) => {
        // Without the scope, the interval alone counts.
        if (isDenied(error)) this.#notifiedAt = null;
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #pollAll(): Promise<PollResult> {
    const { store, clock } = this.#reeve;
    const { signal } = this.#stopping;
    const at = clock.now().toISOString();
    const startMs = clock.monotonicMs();
    const counts = { repositories: 0, found: 0, failed: 0, requests: 0, usualRequests: 0 };
    let error: string | undefined;
    try {
      const lister = this.#client();
      const candidates = await listCandidates(lister, this.#reeve.served, (name) => this.#warnMissing(name));
      counts.requests += lister.requests;
      counts.usualRequests += lister.requests;
      let failedInARow = 0;
      await mapConcurrently(candidates, atOnce, async (candidate) => {
        const client = this.#client();
        try {
          const { found, onlyFirst } = await this.#pollOne(candidate, client);
          counts.repositories += 1;
          counts.found += found;
          counts.usualRequests += client.requests - onlyFirst;
          failedInARow = 0;
          this.#logged.delete(candidate.full_name);
        } catch (failure) {
          signal.throwIfAborted();
          counts.failed += 1;
          failedInARow += 1;
          if (failure instanceof ReeveError && failure.isHostFailure && failedInARow >= maxFailedInARow)
            throw failure;
          this.#warnOnce(candidate.full_name, messageOf(failure));
          // Otherwise, a forge that fails completely would only be seen with more repositories.
          if (candidates.length < maxFailedInARow) error ??= messageOf(failure);
        } finally {
          counts.requests += client.requests;
        }
      });
    } catch (failure) {
      signal.throwIfAborted();
      error = messageOf(failure);
    }
    const result: PollResult = { at, ...counts, ...(error === undefined ? {} : { error }) };
    await store.remember(pollKey, result);
    this.#report(result, clock.monotonicMs() - startMs);
    return result;
  }

  #client(): Client {
    const { client, clock } = this.#reeve;
    const { signal } = this.#stopping;
    return createWaitingClient(client.counted({ signal }), (ms) => clock.sleep(ms, signal));
  }

  /** Reads one repository and stores a job for each event. `onlyFirst`: requests that later polls do not need. */
  async #pollOne(candidate: Candidate, client: Client): Promise<{ found: number; onlyFirst: number }> {
    const { store, clock, wake, rules } = this.#reeve;
    const { id, name, owner } = candidate;
    const startedAt = clock.now();
    const before = await this.#snapshots.read(id);
    const at = { owner: owner.login, repo: name };
    const live = await readCurrent({ login: owner.login, name }, client, before, { isPolled: true });
    // If no item has an instant yet, the repository's time from the forge is used.
    const from = candidate.updatedMs > 0 ? new Date(candidate.updatedMs) : clock.now();
    const after = advance(before, live, from);
    const isSettling =
      startedAt.getTime() - Date.parse(before?.polled?.readAt ?? '') <= overlapMs + 2 * this.#everyMs;
    const acts = await readActs(at, client, {
      before,
      known: before?.polled,
      live,
      at: after.at,
      cursor: this.#cursors.get(id) ?? 0,
      unsettledSince: isSettling ? before?.at : undefined,
    });
    this.#cursors.set(id, acts.cursor);
    // A write that is being sent may be part of what was read, and is noted only afterwards.
    await this.#ownNotes.settled();
    const known = (await this.#snapshots.read(id)) ?? before;
    const settled = settle(before, known, live);
    const events =
      before === undefined || known === undefined
        ? []
        : [...differencesOf(known, settled), ...actDifferences(known.polled, acts, settled)];
    const polledSince = this.#readAt.get(id) ?? before?.polled?.readAt ?? new Date(0).toISOString();
    for (const event of events)
      await enqueueMissed(event, candidate, { store, now: clock.now(), polledSince });
    if (events.length > 0) wake();
    await this.#snapshots.edit(id, (latest) => {
      const polled = advanceActs(latest?.polled, acts, settled, { startedAt });
      return advance(latest ?? known, settle(known, latest, settled), from, polled);
    });
    // Rules that were read before the first poll may be older than the commit with which it begins.
    if (before === undefined) rules.forget(id);
    this.#readAt.set(id, startedAt.toISOString());
    const onlyFirst = before === undefined ? Math.max((live.pages ?? 1) - 1, 0) : 0;
    return { found: events.length, onlyFirst };
  }

  #warnMissing(name: string): void {
    this.#warnOnce(name, 'the forge does not show it');
  }

  #warnOnce(repository: string, error: string): void {
    if (this.#logged.has(repository)) return;
    this.#logged.add(repository);
    this.#reeve.log.warn({ repository, error }, 'could not poll a repository');
  }

  /** Logs the cost of polling once, and the begin and the end of an outage. */
  #report(result: PollResult, tookMs: number): void {
    const { log } = this.#reeve;
    const { error, repositories, found, requests } = result;
    const everySeconds = this.#everyMs / 1_000;
    if (error !== undefined) {
      if (!this.#isFailing) log.warn({ error }, 'polling failed; nothing is lost, the next poll continues');
      this.#isFailing = true;
      return;
    }
    if (this.#isFailing) log.info({ repositories, found }, 'polling continues');
    this.#isFailing = false;
    if (tookMs > this.#everyMs && this.#isAnnounced && !this.#isSlow) {
      this.#isSlow = true;
      log.warn(
        { seconds: Math.round(tookMs / 1_000), everySeconds },
        'a poll takes longer than its interval',
      );
    }
    if (!this.#isAnnounced) {
      const perHour = requestsPerHour(result, everySeconds);
      log.info(
        { everySeconds, repositories, requestsPerHour: perHour },
        `polling every ${everySeconds} s: ${count(repositories, 'repository')}, about ${perHour} requests an hour`,
      );
      for (const rule of this.#reeve.rules.operator()) {
        const why = pollingGap(rule);
        if (why !== undefined)
          log.warn({ rule: rule.id, why }, 'polling does not start a rule for all of its events');
      }
      this.#isAnnounced = true;
    }
    log[found > 0 ? 'info' : 'debug']({ repositories, found, requests }, 'polled');
  }
}

const noted = ['state', 'labels', 'text'] as const;

/**
 * Returns what was read, without what is older than a note that came in the meantime: `before` was known when reading
 * began, `known` is known now.
 */
function settle(
  before: RepositorySnapshot | undefined,
  known: RepositorySnapshot | undefined,
  live: CurrentRepository,
): CurrentRepository {
  const items = live.items.map((item) => {
    const [past, now] = [before?.items[item.number], known?.items[item.number]];
    const read = item.settled ?? toItemSnapshot(item.value, item.kind);
    if (past === undefined || now === undefined || read === undefined || past === now) return item;
    const settled: { -readonly [Name in keyof ItemSnapshot]: ItemSnapshot[Name] } = { ...read };
    for (const field of noted)
      if (now[field] !== past[field] && read[field] === past[field]) settled[field] = now[field];
    return { ...item, settled };
  });
  return { ...live, items };
}
