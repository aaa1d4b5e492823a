import type { Fault, FaultProxy } from '../../../test/support/fault-proxy.ts';
import { nowMs } from '../../harness/progress.ts';
import type { Bots } from './bots.ts';

/** A request to merge that reached the forge, and its answer. */
export type MergeRequest = {
  readonly number: number;
  readonly bot: number;
  /** When it was passed on to the forge. */
  readonly atMs: number;
  readonly status: number;
};

/** What a disturbance waits for: the next request of this kind. `before`: the forge does not have it yet. */
export type Aim = { readonly at: (typeof aims)[number]; readonly when: 'before' | 'after' };

/** `write`: any request that changes something. */
export const aims = ['write', 'update', 'status', 'merge'] as const;

/** What the processes send to the forge, between them and it. */
export interface Requests {
  readonly merges: readonly MergeRequest[];
  /**
   * Waits for a request that is aimed at, at most so long. Returns who sends it, and holds it or its answer until `release`; with
   * `drop`, a request that the forge does not have yet never gets there.
   */
  catchOne(aim: Aim, maxMs: number): Promise<Caught | undefined>;
}

export type Caught = { readonly bot: number; release(): void; drop(): void };

/** Watches the requests that go through a proxy. */
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

  /** Returns what holds this request, where one was waited for. */
  const take = (path: string, bot: number) => {
    const found = [...waiting].find(({ aim }) => isAimedAt(path, aim.at));
    if (found === undefined) return undefined;
    waiting.delete(found);
    const { aim, onCaught } = found;
    const { promise: released, resolve } = Promise.withResolvers<void>();
    // One that is dropped is held for ever.
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
