import type { Fault, FaultProxy } from '../../../test/support/fault-proxy.ts';
import { nowMs } from '../../harness/progress.ts';
import type { Bots } from './bots.ts';

/** Request to merge a pull request that reached the forge, with its response. */
export type MergeRequest = {
  readonly number: number;
  readonly bot: number;
  /** Time at which the request was passed on to the forge. */
  readonly atMs: number;
  readonly status: number;
};

/** Target of a disturbance: the next request of this kind. `before`: the forge has not received it yet. */
export type Aim = { readonly at: (typeof aims)[number]; readonly when: 'before' | 'after' };

/** `write`: any request that changes something. */
export const aims = ['write', 'update', 'status', 'merge'] as const;

/** Requests of the processes on their way to the forge. */
export interface Requests {
  readonly merges: readonly MergeRequest[];
  /**
   * Waits for a targeted request for a limited time. Returns its sender, and holds the request or its response until
   * `release`; with `drop`, a request that the forge has not received never gets there.
   */
  catchOne(aim: Aim, maxMs: number): Promise<Caught | undefined>;
}

export type Caught = { readonly bot: number; release(): void; drop(): void };

/** Watches the requests that pass through a proxy. */
export function watchRequests(proxy: FaultProxy, bots: () => Pick<Bots, 'byCredential'>): Requests {
  const merges: MergeRequest[] = [];
  const waiting = new Set<{ readonly aim: Aim; readonly onCaught: (caught: Caught) => void }>();

  proxy.decide = ({ method, path }, authorization): Fault => {
    const bot = bots().byCredential(authorization);
    if (method === 'GET' || bot === undefined) return { kind: 'pass' };
    const merged = Number(/\/pulls\/(\d+)\/merge$/.exec(path)?.[1] ?? 0);
    let atMs = nowMs();
    const held = take(path, bot);
    return {
      kind: 'pass',
      async before() {
        if (held?.when === 'before') await held.released;
        atMs = nowMs();
      },
      async after(status) {
        if (merged > 0) merges.push({ number: merged, bot, atMs, status });
        if (held?.when === 'after') await held.released;
      },
    };
  };

  /** Returns the function that holds this request, if a disturbance was waiting for it. */
  const take = (path: string, bot: number) => {
    const found = [...waiting].find(({ aim }) => isAimedAt(path, aim.at));
    if (found === undefined) return undefined;
    waiting.delete(found);
    const { aim, onCaught } = found;
    const { promise: released, resolve } = Promise.withResolvers<void>();
    // A dropped request is held forever.
    onCaught({ bot, release: resolve, drop: aim.when === 'before' ? () => {} : resolve });
    return { when: aim.when, released };
  };

  return {
    merges,
    async catchOne(aim, maxMs) {
      const { promise, resolve } = Promise.withResolvers<Caught | undefined>();
      const one = { aim, onCaught: resolve };
      waiting.add(one);
      const giveUp = (): void => {
        waiting.delete(one);
        resolve(undefined);
      };
      const timer = setTimeout(giveUp, maxMs);
      const caught = await promise;
      clearTimeout(timer);
      return caught;
    },
  };
}

function isAimedAt(path: string, at: Aim['at']): boolean {
  if (at === 'write') return true;
  if (at === 'status') return path.includes('/statuses/');
  return new RegExp(`/pulls/\\d+/${at}\\b`).test(path);
}
