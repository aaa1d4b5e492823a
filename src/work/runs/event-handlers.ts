import { ReeveError } from '../../platform/errors.ts';
import type { HandleJob } from '../../store/leases.ts';
import { concernedKind, createConcernedPulls } from './concerned-pulls.ts';
import { createDeliveryHandler } from './delivery.ts';
import { createJudgePeers } from './peers.ts';
import { createRunAttempt } from './run-attempt.ts';
import { createLeaveWaiting, createWaitingHandler, type LeaveWaiting, waitingKind } from './waiting.ts';

type EventHandlerOptions = Omit<
  Parameters<typeof createDeliveryHandler>[0],
  'attempt' | 'concerned' | 'leaveWaiting' | 'judgePeers'
> &
  Parameters<typeof createRunAttempt>[0] &
  Omit<Parameters<typeof createConcernedPulls>[0], 'attempt' | 'leaveWaiting'> &
  Omit<Parameters<typeof createWaitingHandler>[0], 'attempt'> &
  Parameters<typeof createLeaveWaiting>[0];

/** The handler of deliveries, and what goes on with what deliveries began. */
type EventHandlers = {
  readonly handle: ReturnType<typeof createDeliveryHandler>;
  /** Handlers of jobs, by kind. */
  readonly jobs: Readonly<Record<string, HandleJob>>;
  readonly leaveWaiting: LeaveWaiting;
};

/** Creates the handlers of everything that begins with an event. */
export function createEventHandlers(options: EventHandlerOptions): EventHandlers {
  const leaveWaiting = createLeaveWaiting(options);
  const attempt = createRunAttempt(options);
  const concerned = createConcernedPulls({ ...options, attempt, leaveWaiting });
  return {
    handle: createDeliveryHandler({
      ...options,
      attempt,
      concerned,
      leaveWaiting,
      judgePeers: createJudgePeers({ ...options, leaveWaiting }),
    }),
    jobs: {
      [concernedKind]: concerned.handleJob,
      [waitingKind]: createWaitingHandler({ ...options, attempt }),
    },
    leaveWaiting,
  };
}

/** Creates the handler of all jobs from a table of kind to handler. A job of another kind ends with `internal`. */
export function createJobHandler(handlers: Readonly<Record<string, HandleJob>>): HandleJob {
  const table = new Map(Object.entries(handlers));
  return async (job, payload, lease) => {
    const handle = table.get(job.eventType);
    if (handle === undefined)
      throw new ReeveError('internal', `there is no handler for jobs of kind ${job.eventType}`);
    return handle(job, payload, lease);
  };
}
