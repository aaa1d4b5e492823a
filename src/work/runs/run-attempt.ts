import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import type { EventCause } from '../../engine/bounds/consequences.ts';
import { makeEventRun } from '../../engine/make-run.ts';
import { hasFailed, type Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import { ReeveError } from '../../platform/errors.ts';
import { skipRule } from '../../rules/evaluate.ts';
import { createRuleSet, type LoadedRule, type RuleSet } from '../../rules/rule.ts';
import { type AdmittedEvent, findDenial, type Origin, retryDenial } from '../../rules/sources/admission.ts';
import type { RepositoryRules } from '../../rules/sources/repository-file.ts';
import { type InForce, isUnusable } from '../../rules/sources/rule-source.ts';
import { isPollable, isRecoverable, type Verdict } from '../../rules/verdict.ts';
import type { Delivery } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';

/**
 * Input of an attempt in addition to the event: the rules and, if the event only concerns a pull request, that pull
 * request.
 */
type AttemptParts = InForce & {
  readonly signal: AbortSignal | undefined;
  /** Name for display: `acme/demo#5`. */
  readonly item?: string | undefined;
  /** Id of the stored delivery that announced the event, if a job runs this event again. */
  readonly announcedBy?: string | undefined;
};

/** Runs rules for an admitted event once. */
export type RunAttempt = (delivery: Delivery, event: AdmittedEvent, parts: AttemptParts) => Promise<Ran>;

/**
 * Returns a function that runs rules for an admitted event once. It adds verdicts for rule files of which no version is
 * in force, and for rules that need lost data.
 */
export function createRunAttempt(reeve: Reeve): RunAttempt {
  const { clock, client, lifetimeMs } = reeve;
  return async (delivery, event, { rules: all, broken, signal, item, announcedBy }) => {
    const { rules, left } =
      event.payload.caught_up === true ? withoutLost(all, event) : { rules: all, left: [] };
    const ran = await makeEventRun(
      event,
      {
        ...(await findOrigin(event, delivery, reeve, signal)),
        mode: 'enforce',
        door: delivery.door,
        delivery: delivery.id,
        item,
        announcedBy,
        isRepeated: delivery.repeatOf !== undefined,
        rules,
        maxAnnouncedAgeMs: lifetimeMs,
        signal,
      },
      reeve,
    );
    const run: Run = {
      ...ran.run,
      rules: [...broken.filter(isUnusable).map(refusedFile), ...left, ...ran.run.rules],
    };
    reeve.metrics.countRun(run, event);
    // A 403 or 404 may mean that the whole repository is currently unavailable.
    const isDenied = ran.retry === undefined && ran.denials > 0 && hasFailed(run);
    const asking = { delivery, now: () => clock.now() };
    const doubt = isDenied ? await findDoubt(client.counted({ signal }), event, asking) : undefined;
    return { ...ran, run, ...(doubt?.keepsWork ? { retry: doubt } : {}) };
  };
}

/** How an event of Reeve's account came about; for events of other accounts, nothing is set. */
type EventOrigin = {
  /** Whether Reeve caused the event, or cannot rule it out. `false`: a person with this account acted. */
  readonly isOwn?: boolean;
  /** Set if rules that did not cause the event run for it. */
  readonly cause?: EventCause;
};

/** Determines how an event came about, if Reeve's account is its sender, or if its sender is not known. */
export async function findOrigin(
  event: Event,
  delivery: Delivery,
  reeve: Reeve,
  signal: AbortSignal | undefined,
): Promise<EventOrigin> {
  const { account, consequences, ownWrites, client, store } = reeve;
  if (typeof event.payload.polled_since === 'string')
    return findPolledOrigin(event, event.payload.polled_since, { delivery, reeve, signal });
  if (event.payload.caught_up === true) return findCaughtUpOrigin(event, delivery, reeve, signal);
  if (event.sender?.id !== (await account()).id) return {};
  const cause = await consequences?.find(event, client.counted({ signal }), signal);
  if (cause !== undefined) return cause === 'deep' ? { isOwn: true } : { isOwn: true, cause };
  if (ownWrites === undefined) return { isOwn: true };
  const { id, receivedAt, repeatOf } = delivery;
  // The record may no longer cover the time of a repeated delivery.
  const first = repeatOf === undefined ? delivery : await store.describeDelivery(repeatOf);
  const firstAt = first?.receivedAt ?? new Date(0);
  const found = { id, receivedAt, firstId: first?.id ?? id, firstAt };
  const causer = await ownWrites.find(event, found, signal);
  if (causer !== 'unknown') return { isOwn: causer === 'reeve' };
  // A deferred run may be repeated when the record no longer covers the time of its event.
  const before = (await store.readLatestRuns([id])).get(id);
  return { isOwn: before?.trigger.isByPerson !== true };
}

/** How long before catching up found an event a write of Reeve may have caused it, because its delivery is on its way. */
const inFlightMs = 60_000;

/**
 * Determines how an event came about that catching up found. Changes of Reeve are noted when they are made, so this is
 * about those of this moment, and about texts with a marker.
 */
async function findCaughtUpOrigin(
  event: Event,
  { id, receivedAt }: Delivery,
  { account, polledWrites }: Reeve,
  signal: AbortSignal | undefined,
): Promise<EventOrigin> {
  const self = (await account()).id;
  const author = authorOf(event);
  if (author !== undefined && author !== self) return {};
  const since = new Date(receivedAt.getTime() - inFlightMs);
  const found = { id, since, until: receivedAt, isByAccount: author === self };
  return (await polledWrites?.explainsPolled(event, found, signal)) ? { isOwn: true } : {};
}

/**
 * Determines how an event came about that polling found after an instant. Values that Reeve wrote are no events there;
 * this is about commits, branches, pull requests, comments and what is new.
 */
async function findPolledOrigin(
  event: Event,
  since: string,
  {
    delivery: { id, receivedAt },
    reeve: { account, consequences, ownWrites, polledWrites, client },
    signal,
  }: { readonly delivery: Delivery; readonly reeve: Reeve; readonly signal: AbortSignal | undefined },
): Promise<EventOrigin> {
  if (isOfNotedValue(event)) return {};
  const self = (await account()).id;
  const author = authorOf(event);
  if (author !== undefined && author !== self) return {};
  const cause = await consequences?.find(event, client.counted({ signal }), signal);
  if (cause !== undefined) return cause === 'deep' ? { isOwn: true } : { isOwn: true, cause };
  const isByAccount = author === self;
  // With `own: account`, everything that is known to come from the account is Reeve's own.
  if (isByAccount && ownWrites === undefined) return { isOwn: true };
  const found = { id, since: new Date(since), until: receivedAt, isByAccount };
  if (await polledWrites?.explainsPolled(event, found, signal)) return { isOwn: true };
  return isByAccount ? { isOwn: false } : {};
}

/**
 * Returns whether a polled event is about values of which Reeve's own changes are noted (`OwnNotes`): the change is
 * another's, even if Reeve has written the same value since.
 */
function isOfNotedValue({ family, activity }: Event): boolean {
  const isItem = family === 'issues' || family === 'pull_request';
  return isItem && (activity === 'label_updated' || activity === 'edited');
}

/** Returns the id of the account that caused a polled event, as far as the live state shows it. */
function authorOf({ activity, sender, payload }: Event): number | undefined {
  const item = activity === 'opened' ? (payload.pull_request ?? payload.issue) : undefined;
  const author =
    sender?.id ?? readMember(readMember(item, 'user'), 'id') ?? readMember(payload.creator, 'id');
  return typeof author === 'number' ? author : undefined;
}

/** Returns the error with which the forge denies the whole repository, or the error that prevents this check. */
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
    // The run is complete and is recorded regardless of the forge's response.
    if (error instanceof ReeveError) return error;
    throw error;
  }
}

/** Returns whether an attempt is recorded. An attempt that ended before its first write has no content. */
export function isWorthRecording(runs: readonly Run[], error: unknown): boolean {
  const isStopped = error instanceof ReeveError && error.code === 'stopped';
  return runs.length > 0 && (!isStopped || runs.some(hasWritten));
}

function hasWritten({ outcomes }: Run): boolean {
  return outcomes.some(({ status }) => status === 'applied');
}

/** Returns the origin of a delivery. Only a webhook delivery has a sender; other events were found by Reeve itself. */
export function deliveryOrigin({ door, entry }: Delivery): Origin {
  return door === 'webhook' ? { entry } : {};
}

/**
 * Returns the rules without those that need data that only the delivery contained. An event found by reading lacks this
 * data, and the run reports these rules.
 */
function withoutLost(all: RuleSet, event: Event): { rules: RuleSet; left: readonly Verdict[] } {
  const { family } = event;
  const isPolled = event.payload.polled_since !== undefined;
  const isLost = (rule: LoadedRule): boolean => (isPolled ? !isPollable(rule, event) : !isRecoverable(rule));
  const lost = family === undefined ? [] : all.listeningTo(family).filter(isLost);
  if (lost.length === 0) return { rules: all, left: [] };
  return {
    rules: createRuleSet(all.rules.filter((rule) => !lost.includes(rule))),
    left: lost.map((rule) => skipRule(rule, isPolled ? 'polled' : 'not recoverable')),
  };
}

/**
 * Returns the verdict for a rule file of which no version is in force. The run shows it like a failed rule, because otherwise it would look
 * as if no rule had matched.
 */
function refusedFile(file: RepositoryRules): Verdict {
  return {
    rule: file.source,
    source: file.source,
    level: file.level,
    commit: file.commit,
    line: 1,
    verdict: 'failed',
    reason: `the rule file cannot be used:\n${file.problems.join('\n')}`,
    findings: [],
  };
}
