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

/** A queue, with the name of its repository for people. */
export type QueuePlace = QueueKey & { readonly repository: string };

/** What working on a queue needs. */
export type QueuePorts = {
  readonly rows: QueueRows;
  readonly now: () => Date;
  /** Looks at a pull request; at the first in the queue and its base, if none is named. */
  look(
    state: QueueState,
    about: { readonly number?: number | undefined; readonly pushed?: boolean | undefined },
  ): Promise<QueueLook>;
  /** Sends a status or a comment; resolves also if the forge refuses it for good. */
  write(write: QueueWrite): Promise<void>;
  /** Sends an update or a merge. Returns undefined if the answer was lost. */
  attempt(action: QueueAttemptAction): Promise<QueueObservation['answer']>;
  /** Returns the time until something may be written; 0: now. */
  waitMs(): Promise<number>;
  /** Returns those of these rules that are paused now; absent: none ever is. */
  readonly held?: ((rules: readonly string[]) => Promise<readonly HeldRule[]>) | undefined;
  /** Told of an update or merge without an answer that was then seen to be done. */
  readonly onFound?: ((action: QueueAttemptAction) => Promise<void>) | undefined;
  /** Called with a merge of ours that went into another branch, and what happened. */
  readonly onMisplaced?: ((action: QueueAttemptAction, why: string) => Promise<void>) | undefined;
  /** Told of everything that happened, once it is stored. */
  readonly onEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
};

/** Why a queue rests. Without `afterMs`, only an event calls for another look. `isPaused`: so does the end of a pause. */
export type QueueRest = {
  readonly afterMs?: number | undefined;
  readonly why: string;
  readonly isPaused?: true | undefined;
};

/** A process that does not extend its lease for this long has ended. */
const leaseMs = 60_000;
/** Rounds after which a worker is given to others. */
const maxRounds = 200;
const busyMs = 5_000;
/** The end of a pause wakes the queue; this is for one that is lost. */
const heldMs = 3_600_000;

/** Works on a queue until it has to wait. One process at a time does so: the lease is in every save. */
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

/** The rest of a queue in which something is paused. */
function untilResumed(rest: QueueRest): QueueRest {
  return { ...rest, afterMs: Math.min(rest.afterMs ?? heldMs, heldMs), isPaused: true };
}

/** Takes a step from the state in the store and stores it; again, if another save came first. */
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

/** Leaves out what was seen of a pull request that has entered anew since the look began: it says nothing of the new entry. */
function withoutStale(seen: QueueObservation, looked: QueueState, now: QueueState): QueueObservation {
  const number = seen.pull?.number ?? seen.gone;
  const find = ({ entries }: QueueState) => entries.find((entry) => entry.number === number);
  const [before, after] = [find(looked), find(now)];
  if (before?.head === after?.head && before?.enteredAt === after?.enteredAt) return seen;
  const { at, branch, held, answer } = seen;
  return { at, branch, held, answer };
}

/** Takes the actions of a step. Returns why it rests now, or the answer of the forge to an attempt. */
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

/** Notes that a write was sent. */
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
