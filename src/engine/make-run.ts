import { randomUUID } from 'node:crypto';
import type { ActionMemory } from '../actions/memory.ts';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import { isRecord, readMember } from '../contract/events/payload-members.ts';
import type { Subject } from '../contract/events/subject.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { createFacts } from '../facts/ask.ts';
import type { Facts } from '../facts/fact.ts';
import { createGivenFacts, type Gap } from '../facts/given-facts.ts';
import type { Clock } from '../platform/clock.ts';
import { unitsPerRun } from '../rules/expressions/budget.ts';
import type { RuleSet } from '../rules/rule.ts';
import type { EventCause } from './bounds/consequences.ts';
import type { Run, RunMode, Trigger } from './record.ts';
import { revertRun } from './revert.ts';
import { type Ran, runRules } from './run.ts';
import type { RunContext } from './run-context.ts';
import { LiveOpenPulls, type OpenPulls } from './same-commit.ts';

/**
 * Every run of rules is assembled here: for a webhook, a sweep, the command line, a replay, a revert, a preview and a
 * CI job. An entry point adds only the parts that differ; identity, instant, trigger, facts and the count of requests
 * are handled in the same way for all. The merge queue records its own requests as runs (`work/merge-queue/send.ts`).
 */

/** Options of one run. */
export type RunRequest = {
  /** Id of the run; a new UUID by default. */
  readonly id?: string | undefined;
  readonly mode: RunMode;
  readonly door: Trigger['door'];
  /** Reeve's id of the delivery or job. */
  readonly delivery?: string | undefined;
  readonly rules: RuleSet;
  /** See `RunInput`. */
  readonly announcedBy?: string | undefined;
  readonly maxAnnouncedAgeMs?: number | undefined;
  readonly explainAll?: boolean | undefined;
  /** Aborts the calls of the run. */
  readonly signal?: AbortSignal | undefined;
};

/** A what-if: facts by name, without a forge. The run ends once the plan is made. */
export type GivenContext = {
  readonly given: Readonly<Record<string, unknown>>;
  /** Facts of the other open pull requests of the repository; if absent, there are none. */
  readonly others?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** See `createGivenFacts`. */
  readonly placeOf?: ((name: string, isStandIn: boolean) => string) | undefined;
  readonly onGap?: ((gap: Gap) => void) | undefined;
  readonly account?: (() => Promise<{ readonly id: number }>) | undefined;
  readonly clock: Clock;
};

/** Options of an event run. */
type EventRequest = RunRequest & {
  readonly cause?: EventCause | undefined;
  /** See `RunInput`. */
  readonly isOwn?: boolean | undefined;
  /** Whether the delivery has the same body as an earlier delivery. */
  readonly isRepeated?: boolean | undefined;
  /** A pull request that the event affects, if the event is about something else: `acme/demo#5`. */
  readonly item?: string | undefined;
};

/** Runs the rules on an event. */
export async function makeEventRun(
  event: Event,
  request: EventRequest,
  context: RunContext | GivenContext,
): Promise<Ran> {
  const { door, delivery, isRepeated = false, item, cause, isOwn } = request;
  const now = context.clock.now();
  const trigger: Trigger = {
    door,
    kind: event.family ?? event.eventType,
    activity: event.activity,
    ...(delivery === undefined ? {} : { delivery }),
    ...(isRepeated ? { repeated: true } : {}),
    ...(item === undefined ? {} : { item }),
    ...(cause === undefined ? {} : { because: cause.because }),
    ...(isOwn === false ? { isByPerson: true as const } : {}),
    ...(event.sender === undefined ? {} : { sender: event.sender.id }),
    at: now.toISOString(),
  };
  const subject = event.subject ?? { kind: 'repository' };
  return make({ now, trigger, subject, event, cause, isOwn }, request, context);
}

/** One item of a sweep. */
export type RunItem = {
  readonly subject: Subject;
  /** The item, under the name that conditions use. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Identity of the item, and the slot of its sweep; absent in rule tests. */
  readonly key?: string | undefined;
  readonly slot?: string | undefined;
  /** Kind of the trigger; `schedule` by default. */
  readonly kind?: string | undefined;
  /** The instant of the run; the current time by default. */
  readonly at?: Date | undefined;
  /** True if the run does not wait: the first response counts, even if the forge is still computing the result. */
  readonly isHasty?: boolean | undefined;
};

/** Runs rules on one item of a sweep. All rules must have an `each` of the item's kind. */
export async function makeItemRun(
  item: RunItem,
  request: RunRequest,
  context: RunContext | GivenContext,
): Promise<Ran> {
  const { door, delivery } = request;
  const { subject, value, key, slot, kind = 'schedule', at: now = context.clock.now(), isHasty } = item;
  const trigger: Trigger = {
    door,
    kind,
    activity: '',
    ...(delivery === undefined ? {} : { delivery }),
    ...(slot === undefined ? {} : { slot }),
    ...(key === undefined ? {} : { item: key }),
    at: now.toISOString(),
  };
  return make({ now, trigger, subject, item: value, isHasty }, request, context);
}

/** Reverts the changes of a run and returns the revert as a run. */
export async function makeRevertRun(
  done: Run,
  {
    signal,
    ...options
  }: {
    readonly mode: 'enforce' | 'plan';
    readonly client: Client;
    readonly clock: Clock;
    readonly memory?: ActionMemory | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Run> {
  const at = options.clock.now().toISOString();
  const trigger: Trigger = { door: 'cli', kind: 'revert', activity: '', item: done.id, at };
  const client = options.client.counted({ signal });
  return revertRun(done, { ...options, id: randomUUID(), trigger, client });
}

/** What a run is about: its subject, event and item. */
type About = {
  readonly now: Date;
  readonly trigger: Trigger;
  readonly subject: Subject;
  readonly event?: Event;
  readonly cause?: EventCause | undefined;
  readonly isOwn?: boolean | undefined;
  readonly item?: Readonly<Record<string, unknown>>;
  readonly isHasty?: boolean | undefined;
};

async function make(about: About, request: RunRequest, context: RunContext | GivenContext): Promise<Ran> {
  const { now, trigger, event, cause, isOwn, item } = about;
  const { id = randomUUID(), mode, rules, announcedBy, maxAnnouncedAgeMs, explainAll, signal } = request;
  const { clock } = context;
  const account = await context.account?.();
  const asked = { id, mode, rules, announcedBy, maxAnnouncedAgeMs, explainAll, account };
  const run = { ...asked, now, trigger, event, cause, isOwn, item, clock };
  if ('given' in context) return runRules({ ...run, ...sourceOfGiven(about, context) });
  const { actionMemory: memory, messages, secrets, queue, capabilities, budgets, pauses } = context;
  const { ledger, consequences, isStatusOfOperator, barToRename, oneTime } = context;
  return runRules({
    ...run,
    ...liveSource(about, request, context),
    memory,
    secrets,
    queue,
    capabilities,
    budgets,
    pauses,
    ledger,
    consequences,
    isStatusOfOperator,
    barToRename,
    oneTime,
    // When the calls of a run are aborted, its messages are aborted as well.
    messages: typeof messages === 'function' ? (message) => messages(message, signal) : messages,
  });
}

/** Facts and client of a run; the client counts only the requests of this run. */
type RunSource = {
  readonly facts: Facts;
  readonly pulls?: OpenPulls | undefined;
  readonly client?: Client | undefined;
};

/** Returns facts read from the forge. */
function liveSource(
  { now, subject, event, isHasty = false }: About,
  { mode, maxAnnouncedAgeMs, signal }: RunRequest,
  context: RunContext,
): RunSource {
  const { memory, actionMemory: lasting } = context;
  const client = context.client.counted({ signal });
  const clock = isHasty ? { monotonicMs: () => context.clock.monotonicMs() } : context.clock;
  const records = lasting && {
    get: lasting.get,
    set: async (key: string, value: object): Promise<void> => {
      if (mode === 'enforce') await lasting.set(key, { ...value, at: now.toISOString() });
    },
  };
  const shared = { client, memory, clock, records, units: unitsPerRun };
  const factsOf = (index: number): Facts => createFacts({ ...shared, subject: { ...subject, index } });
  const hasOthers = subject.kind === 'pull_request' && subject.repository !== undefined;
  const occasion = event && { event, now, maxAnnouncedAgeMs };
  return {
    client,
    facts: createFacts({ ...shared, subject, occasion }),
    pulls: hasOthers ? new LiveOpenPulls(subject, client, factsOf) : undefined,
  };
}

/** Returns the facts of a what-if. The payload of the event takes the place of the live subject. */
function sourceOfGiven({ subject, event }: About, { given, others = [], ...asked }: GivenContext): RunSource {
  const { placeOf, onGap } = asked;
  const payload = event?.payload;
  const own = readMember(readMember(payload, 'pull_request'), 'head');
  const pulls = others.map((facts, place) => {
    const pull = isRecord(facts.pull_request) ? facts.pull_request : {};
    const index = typeof pull.number === 'number' ? pull.number : (subject.index ?? 0) + place + 1;
    // Defaults for fields that a test case omits: the pull request is open and has the head of the case.
    return {
      number: index,
      facts: { ...facts, pull_request: { number: index, state: 'open', head: own, ...pull } },
    };
  });
  return {
    facts: createGivenFacts({ given, placeOf, onGap, subject, payload }),
    pulls: {
      async list() {
        // The cast is safe: a what-if reads only the fields `number`, `head` and `html_url`.
        return pulls.map(({ facts }) => facts.pull_request as unknown as PullRequest);
      },
      factsOf(number) {
        const facts = pulls.find((one) => one.number === number)?.facts ?? {};
        return createGivenFacts({
          given: { head: own, ...facts },
          placeOf,
          onGap,
          subject: { ...subject, index: number },
          payload: facts,
        });
      },
      pushesSince: async () => '',
    },
  };
}
