import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Event } from '../contract/events/events.ts';
import { standardDeliveryLifetimeMs } from '../engine/delivery-lifetime.ts';
import { makeEventRun, type RunSettings } from '../engine/make-run.ts';
import type { Run } from '../engine/record.ts';
import type { RepeatedChoice } from '../engine/repeated.ts';
import { ReeveError } from '../errors.ts';
import type { FactMemory } from '../facts/fact.ts';
import { skipRule } from '../rules/evaluate.ts';
import { isRecoverable } from '../rules/recoverable.ts';
import { createRuleSet, type RuleSet } from '../rules/rule-set.ts';
import type { Verdict } from '../rules/verdict.ts';
import type { Admissions, AdmittedEvent, Origin } from '../sources/admission.ts';
import { findDenial, retryDenial } from '../sources/doubt.ts';
import type { RepositoryRules } from '../sources/repository-file.ts';
import type { InForce, RuleSource } from '../sources/rule-source.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import type { Handled, Lease } from '../store/lease.ts';
import type { Delivery, Store } from '../store/store.ts';
import type { Preview } from './preview.ts';

/** Turns a delivery into runs. Once `signal` is aborted, calls under way end and no further change is sent. */
type DeliveryHandler = (delivery: Delivery, event: Event, lease?: Pick<Lease, 'signal'>) => Promise<Handled>;

type DeliveryHandlerOptions = {
  client: Client;
  /** The account Reeve acts as; asked once. */
  account: () => Promise<{ id: number }>;
  admissions: Admissions;
  rules: Pick<RuleSource, 'rulesFor' | 'forget' | 'noteUnserved'>;
  memory: FactMemory;
  store: Pick<Store, 'appendRuns' | 'remember' | 'recall'>;
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  settings?: RunSettings;
  /** Age of a delivery, and of what it announces as new; default: seven days. */
  lifetimeMs?: number | undefined;
  /** What becomes of a repeated delivery; default: `run`. */
  repeated?: RepeatedChoice | undefined;
  /** Checks pull requests that touch a rule file; absent: none is checked. */
  preview?: Preview | undefined;
  /** Called with each event of a delivery that was handled, for the snapshots of catching up. */
  onHandled?: (event: AdmittedEvent) => Promise<void>;
  /** Told of every run once it is known what became of it. */
  onRun?: (run: Run, event: Event) => void;
};

/**
 * Creates the handler that turns a stored delivery into a run: the identity of its repository, the rules in force there, the
 * live facts, the engine. Nothing else sees the event before its identity is established. Rejects where a later attempt may
 * do better; what this attempt did is then in the store already.
 */
export function createDeliveryHandler(options: DeliveryHandlerOptions): DeliveryHandler {
  const { admissions, clock, memory } = options;
  const attempt = createRunAttempt(options);

  /** Drops everything that was cached under a name that no longer leads to the repository. */
  const forget = (repositoryId: number): void => {
    admissions.forget(repositoryId);
    options.rules.forget(repositoryId);
    memory.drop(`${repositoryId}/`);
  };

  const rulesFor = async (event: AdmittedEvent): Promise<InForce> => {
    try {
      return await options.rules.rulesFor(event);
    } catch (error) {
      // The name may have changed hands since the identity was cached: the next attempt establishes it anew.
      if (error instanceof ReeveError && error.code === 'forge-not-found') forget(event.repository.id);
      throw error;
    }
  };

  /** Runs the rules over an event, a second time where its repository turns out to have moved meanwhile. */
  const runOver = async (
    delivery: Delivery,
    claimed: Event,
    { first, signal }: { first: AdmittedEvent; signal: AbortSignal | undefined },
  ): Promise<Handled> => {
    const runs: Run[] = [];
    let event = first;
    try {
      for (let attempts = 0; ; attempts += 1) {
        const force = await rulesFor(event);
        if (!isHeard(event, force)) {
          return { runs, reason: runs.length === 0 ? 'no rule listens to this event' : undefined };
        }
        const { run, retry, moved, deferral } = await attempt(delivery, event, { ...force, signal });
        runs.push(run);
        if (moved && attempts === 0) {
          forget(event.repository.id);
          const again = await admissions.admit(originOf(delivery), claimed);
          if (again.state === 'ignored') return { runs, reason: again.reason };
          event = again.event;
          continue;
        }
        if (retry !== undefined) throw retry;
        return { runs, deferral };
      }
    } catch (error) {
      if (isWorthRecording(runs, error))
        await options.store.appendRuns(runs, { repositoryId: event.repository.id });
      throw error;
    }
  };

  const handle: DeliveryHandler = async (delivery, event, lease) => {
    // An operator who redrives it wants it to run, whatever the setting says.
    if (options.repeated === 'refuse' && delivery.repeatOf !== undefined && !delivery.redrivenAt) {
      return { runs: [], reason: `repeats delivery ${delivery.repeatOf}, and the operator refuses repeats` };
    }
    const admission = await admissions.admit(originOf(delivery), event);
    if (admission.state === 'ignored') {
      options.rules.noteUnserved(event);
      return { runs: [], reason: admission.reason };
    }
    await options.preview?.(admission.event);
    const handled = await runOver(delivery, event, { first: admission.event, signal: lease?.signal });
    if (delivery.door === 'webhook') await options.onHandled?.(admission.event);
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

/** Returns a function that runs rules over an admitted event, once, and adds what keeps the rules from being trusted. */
function createRunAttempt(options: DeliveryHandlerOptions) {
  const { clock, client, memory, lifetimeMs = standardDeliveryLifetimeMs } = options;
  const actionMemory = createStoredMemory(options.store);
  return async (
    delivery: Delivery,
    event: AdmittedEvent,
    { rules: all, broken, signal }: InForce & { readonly signal: AbortSignal | undefined },
  ) => {
    const { rules, left } =
      event.payload.caught_up === true ? withoutLost(all, event) : { rules: all, left: [] };
    const ran = await makeEventRun(event, {
      ...options.settings,
      mode: 'enforce',
      door: delivery.door,
      delivery: delivery.id,
      isRepeated: delivery.repeatOf !== undefined,
      rules,
      facts: { client, memory, signal },
      account: await options.account(),
      memory: actionMemory,
      maxAnnouncedAgeMs: lifetimeMs,
      clock,
    });
    const run: Run = { ...ran.run, rules: [...broken.map(refusedFile), ...left, ...ran.run.rules] };
    options.onRun?.(run, event);
    // What failed for a 403 or 404 may have failed because the repository as a whole is not there just now.
    const isDenied = ran.retry === undefined && ran.denials > 0 && hasFailed(run);
    const asking = { delivery, now: () => clock.now() };
    const doubt = isDenied ? await findDoubt(client.counted({ signal }), event, asking) : undefined;
    return { ...ran, run, ...(doubt?.keepsWork ? { retry: doubt } : {}) };
  };
}

/** Returns the error with which the forge denies the whole repository, or for which it cannot be asked whether it does. */
async function findDoubt(
  client: Client,
  { repository }: AdmittedEvent,
  { delivery, now }: { readonly delivery: Delivery; readonly now: () => Date },
): Promise<ReeveError | undefined> {
  try {
    const denial = await findDenial(client, repository);
    const doubt = denial && retryDenial(denial, delivery, now());
    return doubt instanceof ReeveError ? doubt : undefined;
  } catch (error) {
    // The run is made, and is recorded whatever the forge answers now.
    if (error instanceof ReeveError) return error;
    throw error;
  }
}

function hasFailed({ rules, outcomes }: Run): boolean {
  return (
    rules.some(({ verdict }) => verdict === 'failed') || outcomes.some(({ status }) => status === 'failed')
  );
}

/** An attempt that was ended before it wrote anything leaves nothing to tell. */
function isWorthRecording(runs: readonly Run[], error: unknown): boolean {
  const isStopped = error instanceof ReeveError && error.code === 'stopped';
  return runs.length > 0 && (!isStopped || runs.some(hasWritten));
}

function hasWritten({ outcomes }: Run): boolean {
  return outcomes.some(({ status }) => status === 'applied');
}

/** Only the delivery of a webhook has a sender; other events were found by Reeve itself. */
function originOf({ door, entry }: Delivery): Origin {
  return door === 'webhook' ? { entry } : {};
}

function isHeard({ family }: Event, { rules, broken }: InForce): boolean {
  return broken.length > 0 || (family !== undefined && rules.listeningTo(family).length > 0);
}

/** An event that was found by reading lacks what only its delivery told: rules that name it are left out, and told so. */
function withoutLost(all: RuleSet, { family }: Event): { rules: RuleSet; left: readonly Verdict[] } {
  const lost = family === undefined ? [] : all.listeningTo(family).filter((rule) => !isRecoverable(rule));
  if (lost.length === 0) return { rules: all, left: [] };
  return {
    rules: createRuleSet(all.rules.filter((rule) => !lost.includes(rule))),
    left: lost.map((rule) => skipRule(rule, 'not recoverable')),
  };
}

/** A rule file that cannot be used is shown in the run like a rule that failed: silence would look like "no rule matched". */
function refusedFile(file: RepositoryRules): Verdict {
  return {
    rule: file.source,
    source: file.source,
    commit: file.commit,
    line: 1,
    verdict: 'failed',
    reason: `the rule file cannot be used:\n${file.problems.join('\n')}`,
    findings: [],
  };
}
