import type { Clock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Breaker } from './breaker.ts';

/** State of the whole forge. `refused`: it does not accept our credential. */
export type ForgeState =
  | { readonly state: 'ok' }
  | { readonly state: 'failing' | 'refused'; readonly since: Date; readonly reason: string };

/** Follows the breaker: probes the forge while it is open, and logs the state. */
interface ForgeWatch {
  /** Records a host failure. */
  failed(error: ReeveError): void;
  /** Probes the forge if a probe is due. */
  look(): void;
  state(): ForgeState;
}

/** Creates the watch. `onAnswer` is called when the forge has answered a probe. */
export function createForgeWatch(options: {
  readonly breaker: Breaker;
  readonly probe: (() => Promise<unknown>) | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly onAnswer: () => void;
}): ForgeWatch {
  const { breaker, probe, clock, log, onAnswer } = options;
  let trouble: Exclude<ForgeState, { state: 'ok' }> | undefined;
  let isProbing = false;

  const note = (error: ReeveError): void => {
    const state = error.code === 'forge-unauthorized' ? 'refused' : 'failing';
    // Only a change of the kind of failure is logged.
    if (trouble?.state !== state) {
      log.warn({ error: error.message }, `${headlines[state]}; work waits until it answers again`);
    }
    trouble = { state, since: trouble?.since ?? clock.now(), reason: error.message };
  };

  const runProbe = async (ask: () => Promise<unknown>): Promise<void> => {
    try {
      await ask();
      breaker.probed(true);
    } catch (error) {
      const isHosts = error instanceof ReeveError && error.isHostFailure;
      if (isHosts) note(error);
      else if (!isStopped(error)) log.debug({ error: messageOf(error) }, 'the forge answers a probe');
      breaker.probed(!isHosts && !isStopped(error));
    }
    isProbing = false;
    if (breaker.state() !== 'open') onAnswer();
  };

  return {
    failed: note,
    look() {
      if (trouble !== undefined && breaker.state() === 'closed') {
        log.info({ since: trouble.since.toISOString() }, 'the forge answers again; work continues');
        trouble = undefined;
      }
      if (!breaker.isDue() || isProbing) return;
      if (probe === undefined) return breaker.probed(true);
      isProbing = true;
      void runProbe(probe);
    },
    state: () => (trouble === undefined || breaker.state() === 'closed' ? { state: 'ok' } : trouble),
  };
}

const headlines = {
  failing: 'the forge fails',
  refused: 'the forge refuses our credential',
} as const;

function isStopped(error: unknown): boolean {
  return error instanceof ReeveError && error.code === 'stopped';
}
