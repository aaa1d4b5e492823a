import type { ForgeState } from '../work/deliveries/forge-watch.ts';

/** Follows whether the forge accepts the credential, from the answers to all requests. */
export interface ForgeStateReader {
  /** Notes the status of an answer. */
  note(status: number | undefined): void;
  /** Returns the state of the forge: what the worker knows of it, or else what the answers show. */
  state(worker: ForgeState): ForgeState;
}

/** Creates it: nothing is wrong yet. */
export function createForgeStateReader(now: () => Date): ForgeStateReader {
  let refusedSince: Date | undefined;
  return {
    note(status) {
      if (status === 401) refusedSince ??= now();
      else if (status !== undefined && status < 500) refusedSince = undefined;
    },
    state(worker) {
      if (worker.state !== 'ok' || refusedSince === undefined) return worker;
      const reason = 'the forge answers 401: the credential is revoked, expired or wrong';
      return { state: 'refused', since: refusedSince, reason };
    },
  };
}
