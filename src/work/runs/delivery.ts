import type { Event } from '../../contract/events/events.ts';
import type { RepeatedChoice } from '../../engine/bounds/refusals.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import { ReeveError } from '../../platform/errors.ts';
import { runsForConcerned } from '../../rules/rule.ts';
import { type AdmittedEvent, retryDenial } from '../../rules/sources/admission.ts';
import { type InForce, isUnusable, type RuleSource } from '../../rules/sources/rule-source.ts';
import { ownReason, type SkipReason } from '../../rules/verdict.ts';
import type { Handled, Lease } from '../../store/leases.ts';
import type { Delivery } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { type ConcernedPulls, hasConcernedRules } from './concerned-pulls.ts';
import type { JudgePeers } from './peers.ts';
import type { Preview } from './preview.ts';
import { deliveryOrigin, findOrigin, isWorthRecording, type RunAttempt } from './run-attempt.ts';
import type { LeaveWaiting } from './waiting.ts';

/**
 * Turns a delivery into runs. Once the lease's `signal` is aborted, pending calls end and no further change is sent.
 */
type DeliveryHandler = (delivery: Delivery, event: Event, lease?: Lease) => Promise<Handled>;

/** Dependencies of the delivery handler. */
type DeliveryParts = {
  readonly attempt: RunAttempt;
  readonly concerned: ConcernedPulls;
  readonly leaveWaiting: LeaveWaiting;
  readonly judgePeers: JudgePeers;
  /** Checks pull requests that touch a rule file; absent: such pull requests are not checked. */
  readonly preview?: Preview | undefined;
  /** Called with the event of each handled delivery. */
  readonly onHandled: (event: AdmittedEvent, origin: { readonly isOwn: boolean }) => Promise<void>;
  /** Called with the event of each handled job that polling stored. */
  readonly onPolled: (event: AdmittedEvent) => Promise<void>;
};

/**
 * Creates the handler that turns a stored delivery into a run. It determines the identity of the repository, the rules
 * in force there and the live facts, and calls the engine. No other code sees the event before its identity is
 * established. Rejects if a later attempt may succeed; the results of this attempt have then already been stored.
 */
export function createDeliveryHandler(reeve: Reeve, parts: DeliveryParts): DeliveryHandler {
  const { admissions, rules, clock, memory, store } = reeve;

  /** Runs the rules that match the event itself; returns undefined if there are none. */
  const runDirectly = async (
    delivery: Delivery,
    event: AdmittedEvent,
    force: InForce & { readonly signal: AbortSignal | undefined },
  ): Promise<Ran | undefined> => {
    if (!isHeardDirectly(event, force)) return undefined;
    const ran = await parts.attempt(delivery, event, force);
    await parts.leaveWaiting(ran, { subject: event.subject, job: delivery, delivery: delivery.id });
    return ran;
  };

  /** Drops everything cached for a repository whose name no longer refers to it. */
  const forget = (repositoryId: number): void => {
    admissions.forget(repositoryId);
    rules.forget(repositoryId);
    memory.drop(`${repositoryId}/`);
  };

  /** Runs the rules for an event, and once more if the repository was renamed in the meantime. */
  const runOver = async (
    delivery: Delivery,
    claimed: Event,
    { first, signal }: { first: AdmittedEvent; signal: AbortSignal | undefined },
  ): Promise<Handled> => {
    const runs: Run[] = [];
    let event = first;
    try {
      for (let attempts = 0; ; attempts += 1) {
        const force = await readForce(event, rules, forget);
        const ran = await runDirectly(delivery, event, { ...force, signal });
        if (ran) runs.push(ran.run);
        if (ran?.moved && attempts === 0) {
          forget(event.repository.id);
          const again = await admissions.admit(deliveryOrigin(delivery), claimed);
          if (again.state === 'ignored') return { runs, reason: again.reason };
          event = again.event;
          continue;
        }
        if (ran?.retry !== undefined) throw ran.retry;
        const peers = await parts.judgePeers(delivery, event, { rules: force.rules, signal });
        runs.push(...peers.runs);
        if (peers.retry !== undefined) throw peers.retry;
        const nothing = isHeard(event, force) ? undefined : 'no rule listens to this event';
        if (nothing !== undefined || !hasConcernedRules(force.rules, event)) {
          if (runs.length > 0 || nothing === undefined)
            return { runs, deferral: ran?.deferral ?? peers.deferral, reason: reasonOf(runs) };
          return { runs, reason: (await isKnownOwn(event, delivery, signal)) ? ownReason : nothing };
        }
        const others = await parts.concerned.run(delivery, event, { ...force, signal });
        runs.push(...others.runs);
        if (others.retry !== undefined) throw others.retry;
        const { reason = 'no open pull request is concerned', deferral = ran?.deferral ?? peers.deferral } =
          others;
        return { runs, deferral, reason: runs.length === 0 ? reason : reasonOf(runs) };
      }
    } catch (error) {
      if (isWorthRecording(runs, error)) await store.appendRuns(runs, { repositoryId: event.repository.id });
      throw error;
    }
  };

  /** Returns whether Reeve caused an event for which no rule runs. If this cannot be found out now, it did not. */
  const isKnownOwn = async (
    event: AdmittedEvent,
    delivery: Delivery,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    try {
      return (await findOrigin(event, delivery, reeve, signal)).isOwn === true;
    } catch {
      return false;
    }
  };

  const handle: DeliveryHandler = async (delivery, event, lease) => {
    if (isRefusedRepeat(delivery, reeve.repeated)) {
      return { runs: [], reason: `repeats delivery ${delivery.repeatOf}, and the operator refuses repeats` };
    }
    const admission = await admissions.admit(deliveryOrigin(delivery), event);
    if (admission.state === 'ignored') {
      rules.noteUnserved(event);
      return { runs: [], reason: admission.reason };
    }
    parts.concerned.note(admission.event);
    await parts.preview?.(admission.event);
    const handled = await runOver(delivery, event, { first: admission.event, signal: lease?.signal });
    const isOwn = handled.reason === ownReason;
    if (delivery.door === 'webhook') await parts.onHandled(admission.event, { isOwn });
    else if (admission.event.payload.polled_since !== undefined) await parts.onPolled(admission.event);
    return handled;
  };

  return async (delivery, event, lease) => {
    try {
      return await handle(delivery, event, lease);
    } catch (error) {
      throw retryDenial(error, delivery, clock.now());
    }
  };
}

/**
 * Returns the rules in force. If the repository's name no longer refers to a repository, the cached name is dropped,
 * and the next attempt resolves it again.
 */
async function readForce(
  event: AdmittedEvent,
  rules: RuleSource,
  forget: (repositoryId: number) => void,
): Promise<InForce> {
  try {
    return await rules.rulesFor(event);
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') forget(event.repository.id);
    throw error;
  }
}

/** Returns whether a repeat is refused. A delivery that an operator redrives runs regardless of the setting. */
function isRefusedRepeat({ repeatOf, redrivenAt }: Delivery, repeated: RepeatedChoice | undefined): boolean {
  return repeated === 'refuse' && repeatOf !== undefined && !redrivenAt;
}

/** Returns why no rule ran, if Reeve itself caused the event. */
function reasonOf(runs: readonly Run[]): string | undefined {
  const verdicts = runs.flatMap(({ rules }) => rules);
  const isOwn =
    verdicts.length > 0 && verdicts.every(({ reason }) => reason === ('own' satisfies SkipReason));
  return isOwn ? ownReason : undefined;
}

/** Returns whether a rule matches the event itself, not only the pull requests that it concerns. */
function isHeardDirectly({ family }: Event, { rules, broken }: InForce): boolean {
  if (broken.some(isUnusable)) return true;
  return family !== undefined && rules.listeningTo(family).some((rule) => !runsForConcerned(rule, family));
}

function isHeard({ family }: Event, { rules, broken }: InForce): boolean {
  return broken.some(isUnusable) || (family !== undefined && rules.listeningTo(family).length > 0);
}
