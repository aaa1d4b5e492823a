import { operations } from '../../contract/operations.ts';
import { type Incident, isSevere, kindRow } from '../../engine/incidents/incident.ts';
import { messageOf } from '../../platform/errors.ts';
import type { SendMessage } from '../../platform/http/message-sender.ts';
import type { MemoryRows, StoreQueries } from '../../store/store.ts';
import type { ForgeState } from '../deliveries/breaker.ts';
import type { Reeve } from '../reeve.ts';
import { readCatchUpEnd } from '../sweeps/catch-up/catch-up.ts';
import { readLastPoll } from '../sweeps/catch-up/poll.ts';

/** Settings of the heartbeat. */
export type HeartbeatSettings = {
  /** Name of the secret with the address. */
  readonly to: string;
  readonly everyMs: number;
};

/** The latest result, as stored. Instants are RFC 3339. */
export type HeartbeatState = {
  /** `sent` · `held`: something is not well, so that nothing was sent · `failed`: the receiver did not take it. */
  readonly state: 'sent' | 'held' | 'failed';
  readonly at: string;
  /** Time since which the state is the same. */
  readonly since: string;
  /** Why it was held or failed. Contains no part of the address. */
  readonly why?: string;
};

/** Interval at which the heart is looked at: a heartbeat that was held is sent soon after all is well again. */
const lookMs = 30_000;
/** Maximum age of the latest delivery, or of the latest look for missed events, which happens every half hour. */
const heardWithinMs = 90 * 60_000;
/** Maximum difference between the clocks of processes that share a store. */
const clockMs = 10_000;
/** Maximum duration of the request to the forge. */
const forgeTimeoutMs = 10_000;
const stateKey = 'heartbeat';

/** Reads the latest result; undefined if there is none. */
export async function readHeartbeat(store: Pick<MemoryRows, 'recall'>): Promise<HeartbeatState | undefined> {
  // Store boundary: only `Heartbeat` writes the value under this key.
  return (await store.recall(stateKey)) as HeartbeatState | undefined;
}

/** Returns when the receiver last verified a delivery, and when the last search for events ended: a poll, or one for missed events. */
export async function readHeard(
  store: Pick<MemoryRows, 'recall'> & Pick<StoreQueries, 'listDeliveries'>,
): Promise<{ readonly delivery: Date | undefined; readonly poll: Date | undefined }> {
  const { items } = await store.listDeliveries({ door: 'webhook', limit: 1 });
  const polled = await readLastPoll(store);
  const ends = [await readCatchUpEnd(store), polled?.error === undefined ? polled?.at : undefined];
  const times = ends.flatMap((at) => (at === undefined ? [] : [new Date(at).getTime()]));
  return {
    delivery: items[0]?.receivedAt,
    poll: times.length === 0 ? undefined : new Date(Math.max(...times)),
  };
}

/** The latest look for what rules cannot see: its time (RFC 3339), and the number of repositories. */
type BlindLook = { readonly at: string; readonly repositories: number };
const lookKey = 'blind spots looked';

/** Returns the latest look for what rules cannot see; undefined if there was none. */
export async function readLook(store: Pick<MemoryRows, 'recall'>): Promise<BlindLook | undefined> {
  // Store boundary: only `noteLook` writes this key.
  return (await store.recall(lookKey)) as BlindLook | undefined;
}

/** Stores the end of a look for what rules cannot see. */
export async function noteLook(store: Pick<MemoryRows, 'remember'>, look: BlindLook): Promise<void> {
  await store.remember(lookKey, look);
}

/**
 * Requests an address at an interval while all is well, and not otherwise. If processes share a store, only the leader
 * does so.
 */
export class Heartbeat {
  readonly #reeve: Reeve;
  readonly #settings: HeartbeatSettings;
  readonly #parts: HeartbeatParts;
  readonly #stopped = new AbortController();
  readonly #startedAt: Date;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #sentAtMs: number | undefined;
  #told: string | undefined;

  constructor(reeve: Reeve, settings: HeartbeatSettings, parts: HeartbeatParts) {
    this.#reeve = reeve;
    this.#settings = settings;
    this.#parts = parts;
    this.#startedAt = reeve.clock.now();
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), lookMs).unref();
    void this.look();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#looking;
  }

  /** Sends the heartbeat if it is due and all is well. Never rejects. Concurrent calls share one look. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .catch((error: unknown) => {
        this.#reeve.log.error({ error: messageOf(error) }, 'the heartbeat failed');
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { store, clock } = this.#reeve;
    const { to: secret, everyMs } = this.#settings;
    if (!store.isLeader()) {
      this.#sentAtMs = undefined;
      return;
    }
    const nowMs = clock.monotonicMs();
    // Half a look early rather than late, because a service expects the heartbeat within its interval.
    if (this.#sentAtMs !== undefined && nowMs - this.#sentAtMs < everyMs - lookMs / 2) return;
    const why = await this.#whyNot();
    if (why !== undefined) return this.#record('held', why);
    const { url, send } = this.#parts;
    const about = { contentType: '', content: '', id: `heartbeat.${clock.now().toISOString()}` };
    try {
      await send({ url, secret, method: 'GET', ...about }, this.#stopped.signal);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      return this.#record('failed', messageOf(error));
    }
    this.#sentAtMs = nowMs;
    return this.#record('sent');
  }

  /** Returns why the heartbeat is not sent; undefined if all is well. */
  async #whyNot(): Promise<string | undefined> {
    const { store, clock, client } = this.#reeve;
    try {
      const health = await store.healthy();
      if (!health.ok) return `the store is not writable: ${health.reason ?? 'see the log'}`;
      const forge = this.#parts.forge();
      if (forge.state !== 'ok') return `the forge fails: ${forge.reason}`;
      const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(forgeTimeoutMs)]);
      await client.counted({ tries: 1, signal }).call(operations.getSelf, {});
      const { delivery, poll } = await readHeard(store);
      const heardMs = Math.max(delivery?.getTime() ?? 0, poll?.getTime() ?? 0);
      if (clock.now().getTime() - heardMs > heardWithinMs)
        return 'for 90 minutes, no delivery was verified and no look for missed events ended';
      // A process that ends again and again must not look well before it has examined what it can see.
      const looked = await readLook(store);
      if (looked === undefined || Date.parse(looked.at) < this.#startedAt.getTime() - clockMs)
        return 'what the rules can see was not examined since the start';
      return reasonOf((await store.listIncidents()).find((one) => this.#isSevere(one)));
    } catch (error) {
      return messageOf(error);
    }
  }

  /** The own address is left out: an incident about it would end only after the next test of all secrets. */
  #isSevere(incident: Incident): boolean {
    return isSevere(incident) && !(incident.kind === 'secret-unusable' && incident.key === this.#settings.to);
  }

  async #record(state: HeartbeatState['state'], why?: string): Promise<void> {
    const { store, clock, log } = this.#reeve;
    const told = `${state} ${why ?? ''}`;
    if (told !== this.#told) {
      if (state === 'sent') log.info({}, 'the heartbeat is sent: all is well');
      else log.warn({ reason: why }, state === 'held' ? 'the heartbeat is held' : 'the heartbeat failed');
    }
    this.#told = told;
    const at = clock.now().toISOString();
    const write = store.revise(stateKey, (value) => {
      const before = value as HeartbeatState | undefined;
      const since = before?.state === state ? before.since : at;
      return { state, at, since, ...(why === undefined ? {} : { why }) } satisfies HeartbeatState;
    });
    await write.catch((error: unknown) => {
      // A store that cannot be written is itself a reason to hold the heartbeat, and logged as such.
      log.debug({ error: messageOf(error) }, 'the state of the heartbeat could not be stored');
    });
  }
}

/** Parts of the heartbeat that are not part of the bot. */
type HeartbeatParts = {
  /** The address: the value of the secret. */
  readonly url: string;
  readonly send: SendMessage;
  readonly forge: () => ForgeState;
};

function reasonOf(incident: Incident | undefined): string | undefined {
  if (incident === undefined) return undefined;
  const [line = ''] = incident.reason.split('\n');
  return `${kindRow(incident.kind).title}: ${incident.key}: ${line}`;
}
