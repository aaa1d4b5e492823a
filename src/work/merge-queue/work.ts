import type { QueueEvent, QueueKey, QueueLease, QueueRows } from '../../store/queue-rows.ts';
import { findMisplaced, findUnanswered, withRun } from './send.ts';
import {
  type HeldRule,
  type QueueAction,
  type QueueAttemptAction,
  type QueueLook,
  type QueueObservation,
  type QueueState,
  type QueueStep,
  type QueueWrite,
  queueStateOf,
} from './state.ts';
import { rulesOfQueue, stepQueue } from './step.ts';

/** A queue, with the name of its repository for display. */
export type QueuePlace = QueueKey & { readonly repository: string };

/** Dependencies for the work on a queue. */
export type QueuePorts = {
  readonly rows: QueueRows;
  readonly now: () => Date;
  /** Reads the state of a pull request. If none is given, reads the first in the queue, together with its base. */
  look(
    state: QueueState,
    about: { readonly number?: number | undefined; readonly pushed?: boolean | undefined },
  ): Promise<QueueLook>;
  /** Sends a status or a comment. Also resolves if the forge permanently refuses it. */
  write(write: QueueWrite): Promise<void>;
  /** Sends an update or a merge. Rejects, or returns undefined, if the response was lost. */
  attempt(action: QueueAttemptAction): Promise<QueueObservation['answer']>;
  /** Returns the time until the next write is allowed; 0 if it is allowed now. */
  waitMs(): Promise<number>;
  /** Returns which of these rules are currently paused; absent: there are no pauses. */
  readonly held?: ((rules: readonly string[]) => Promise<readonly HeldRule[]>) | undefined;
  /** Called with an unanswered update or merge that turned out to be applied. */
  readonly onFound?: ((action: QueueAttemptAction) => Promise<void>) | undefined;
  /** Called with a merge of ours that was applied to another branch, and with a description. */
  readonly onMisplaced?: ((action: QueueAttemptAction, why: string) => Promise<void>) | undefined;
  /** Called with every event, once it is stored. */
  readonly onEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
};

/**
 * Why a queue rests. Without `afterMs`, only an event causes another look. With `isPaused`, so does the end of a pause.
 */
export type QueueRest = {
  readonly afterMs?: number | undefined;
  readonly why: string;
  readonly isPaused?: true | undefined;
};

/** Duration of the lease. A process that does not extend its lease in this time has ended. */
const leaseMs = 60_000;
/** Number of rounds after which the worker is released for other jobs. */
const maxRounds = 200;
const busyMs = 5_000;
/** Interval of looks during a pause. The end of a pause wakes the queue, and this interval covers a lost wake-up. */
const heldMs = 3_600_000;

/** Works on a queue until it has to wait. Only one process at a time does so, because every save checks the lease. */
export async function workOnQueue(
  place: QueuePlace,
  ports: QueuePorts,
  about: { readonly number?: number | undefined; readonly pushed?: boolean | undefined } = {},
): Promise<QueueRest> {
  const { repositoryId, base } = place;
  const lease = await ports.rows.claimQueue({ repositoryId, base }, leaseMs);
  if (lease === undefined) return { afterMs: busyMs, why: 'another process works on it' };
  try {
    return await workInRounds(place, { ...ports, lease }, about);
  } finally {
    await ports.rows.releaseQueue(lease);
  }
}

type LeasedPorts = QueuePorts & { readonly lease: QueueLease };

async function workInRounds(
  place: QueuePlace,
  ports: LeasedPorts,
  about: { readonly number?: number | undefined; readonly pushed?: boolean | undefined },
): Promise<QueueRest> {
  const { rows, now } = ports;
  let asked = about;
  let answer: QueueObservation['answer'];
  for (let round = 0; round < maxRounds; round += 1) {
    if (!(await rows.extendQueue(ports.lease, leaseMs)))
      return { afterMs: busyMs, why: 'another process works on it' };
    const state = queueStateOf(await rows.readQueue(place));
    if (state.entries.length === 0 && state.outbox.length === 0) return { why: 'it is empty' };
    const held = (await ports.held?.(rulesOfQueue(state))) ?? [];
    const [first] = state.entries;
    const isStill = asked.number === undefined && first?.held && held.some(({ rule }) => rule === first.rule);
    const seen =
      answer !== undefined || state.paused || first === undefined || isStill
        ? { at: now(), answer }
        : await ports.look(state, asked.number === undefined ? { number: state.attempt?.number } : asked);
    asked = {};
    const { actions } = await storeStep(place, { ...seen, held, branch: place.base }, state, ports);
    const done = await takeActions(place, actions, ports);
    if ('why' in done) return held.length === 0 ? done : untilResumed(done);
    answer = done.answer;
  }
  return { afterMs: 1, why: 'it has more to do' };
}

/** Returns the rest of a queue, adjusted for a pause. */
function untilResumed(rest: QueueRest): QueueRest {
  return { ...rest, afterMs: Math.min(rest.afterMs ?? heldMs, heldMs), isPaused: true };
}

/** Computes a step from the stored state and stores it. Retries if another save came first. */
async function storeStep(
  place: QueuePlace,
  seen: QueueObservation,
  looked: QueueState,
  { rows, lease, onEvent, onFound, onMisplaced }: LeasedPorts,
): Promise<QueueStep> {
  for (;;) {
    const row = await rows.readQueue(place);
    const before = queueStateOf(row);
    const made = stepQueue(before, withoutStale(seen, looked, before));
    const { state } = made;
    const events = made.events.map((event) => withRun(event, before, place));
    if (events.length === 0 && JSON.stringify(state) === JSON.stringify(before)) return made;
    if (await rows.saveQueue({ ...place, state, events, revision: row?.revision ?? 0, lease })) {
      const found = findUnanswered(events, before);
      if (found) await onFound?.(found);
      const misplaced = findMisplaced(events, before);
      if (misplaced) await onMisplaced?.(misplaced.action, misplaced.why);
      for (const event of events) onEvent?.({ ...event, ...place });
      return made;
    }
  }
}

/**
 * Removes observations of a pull request that has re-entered since the look began, because they do not apply to the new
 * entry.
 */
function withoutStale(seen: QueueObservation, looked: QueueState, now: QueueState): QueueObservation {
  const number = seen.pull?.number ?? seen.gone;
  const find = ({ entries }: QueueState) => entries.find((entry) => entry.number === number);
  const [before, after] = [find(looked), find(now)];
  if (before?.head === after?.head && before?.enteredAt === after?.enteredAt) return seen;
  const { at, branch, held, answer } = seen;
  return { at, branch, held, answer };
}

/** Takes the actions of a step. Returns why the queue rests, or the response of the forge to an attempt. */
async function takeActions(
  place: QueuePlace,
  actions: readonly QueueAction[],
  ports: LeasedPorts,
): Promise<QueueRest | { readonly answer: QueueObservation['answer'] }> {
  for (const action of actions) {
    if (action.kind === 'wait') return { afterMs: action.afterMs, why: action.why };
    if (action.kind === 'look') return { answer: undefined };
    const waitMs = await ports.waitMs();
    if (waitMs > 0) return { afterMs: waitMs, why: 'nothing may be written now' };
    // A pause may have begun in another process since the step.
    const { rule = '' } = action.kind === 'write' ? action.write : action.attempt;
    const [held] = (await ports.held?.([rule])) ?? [];
    if (held) return { answer: action.kind === 'write' ? undefined : { kind: 'unsent' } };
    if (action.kind !== 'write') return { answer: await ports.attempt(action) };
    await ports.write(action.write);
    await dropWrite(place, action.write, ports);
  }
  return { answer: undefined };
}

/** Removes a write that has been sent. */
async function dropWrite(place: QueuePlace, { id }: QueueWrite, { rows, lease }: LeasedPorts): Promise<void> {
  for (;;) {
    const row = await rows.readQueue(place);
    const state = queueStateOf(row);
    const outbox = state.outbox.filter((write) => write.id !== id);
    if (outbox.length === state.outbox.length) return;
    const revision = row?.revision ?? 0;
    if (await rows.saveQueue({ ...place, state: { ...state, outbox }, revision, lease })) return;
  }
}
