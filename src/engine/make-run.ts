import { randomUUID } from 'node:crypto';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import { isRecord, readMember } from '../contract/events/payload-members.ts';
import type { Subject } from '../contract/events/subject.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { createFacts } from '../facts/ask.ts';
import type { FactMemory, Facts } from '../facts/fact.ts';
import { createGivenFacts } from '../facts/given-facts.ts';
import type { Clock } from '../platform/clock.ts';
import { unitsPerRun } from '../rules/expressions/budget.ts';
import type { Run, Trigger } from './record.ts';
import { revertRun } from './revert.ts';
import { type Ran, runRules } from './run.ts';
import type { RunInput } from './run-input.ts';
import { createOpenPulls, type OpenPulls } from './same-commit.ts';

/**
 * Every run is assembled here: for a webhook, a sweep, the command line, a replay, a revert, a preview and a CI job. A door
 * says what is its own; identity, instant, trigger, facts and the count of requests are the same for all of them.
 */

/** Facts that are read from the forge. The calls of a run are counted, and end when `signal` is aborted. */
type LiveFacts = {
  readonly client: Client;
  readonly memory: FactMemory;
  readonly signal?: AbortSignal | undefined;
};

/** Facts by name, without a forge: the run ends with its plan. */
type GivenFacts = Pick<Parameters<typeof createGivenFacts>[0], 'given' | 'placeOf' | 'onMissing'> & {
  /** Facts of other open pull requests of the repository; absent: there are none. */
  readonly others?: readonly Readonly<Record<string, unknown>>[] | undefined;
};

/** What a door says about a run, whatever the run is about. */
type RunParts = Pick<
  RunInput,
  | 'mode'
  | 'rules'
  | 'account'
  | 'memory'
  | 'secrets'
  | 'messages'
  | 'queue'
  | 'capabilities'
  | 'budgets'
  | 'ledger'
  | 'pauses'
  | 'maxAnnouncedAgeMs'
  | 'announcedBy'
  | 'explainAll'
  | 'consequences'
  | 'isStatusOfOperator'
> & {
  /** Default: a new UUID. */
  readonly id?: string | undefined;
  readonly door: Trigger['door'];
  /** Our id of the delivery or job. */
  readonly delivery?: string | undefined;
  readonly facts: LiveFacts | GivenFacts;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'> & Partial<Pick<Clock, 'sleep'>>;
};

/** A run, and how many of its requests the forge answered with 403 or 404. */
export type MadeRun = Ran & { readonly denials: number };
/** A run, with the facts that it was made from. */
export type MadeWithFacts = MadeRun & { readonly facts: Facts };

/** What every run of a process is given, whatever it is about. */
export type RunSettings = Pick<
  RunInput,
  | 'secrets'
  | 'messages'
  | 'queue'
  | 'capabilities'
  | 'budgets'
  | 'ledger'
  | 'pauses'
  | 'consequences'
  | 'isStatusOfOperator'
>;

/** Runs the rules over an event. `isRepeated`: the delivery has the body of an earlier one. */
export async function makeEventRun(
  event: Event,
  {
    isRepeated = false,
    item,
    cause,
    ...parts
  }: RunParts & {
    readonly cause?: RunInput['cause'];
    readonly isRepeated?: boolean | undefined;
    /** The pull request that the event concerns, where it is about something else: `acme/demo#5`. */
    readonly item?: string | undefined;
  },
): Promise<MadeWithFacts> {
  const { door, delivery, clock } = parts;
  const now = clock.now();
  const trigger: Trigger = {
    door,
    kind: event.family ?? event.eventType,
    activity: event.activity,
    ...(delivery === undefined ? {} : { delivery }),
    ...(isRepeated ? { repeated: true } : {}),
    ...(item === undefined ? {} : { item }),
    ...(cause === undefined ? {} : { because: cause.because }),
    ...(event.sender === undefined ? {} : { sender: event.sender.id }),
    at: now.toISOString(),
  };
  const subject = event.subject ?? { kind: 'repository' };
  return make(parts, { now, trigger, subject, payload: event.payload, about: { event, cause } });
}

/** One item of a sweep. */
export type RunItem = {
  readonly subject: Subject;
  /** The item, by the name that conditions know it by. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Identity of the item and the slot of its sweep; absent in rule tests. */
  readonly key?: string | undefined;
  readonly slot?: string | undefined;
  /** Kind of the trigger; default: `schedule`. */
  readonly kind?: string | undefined;
};

/** Runs rules over one item of a sweep; all of them walk over items of its kind. */
export async function makeItemRun(item: RunItem, parts: RunParts): Promise<MadeWithFacts> {
  const { door, delivery, clock } = parts;
  const { subject, value, key, slot, kind = 'schedule' } = item;
  const now = clock.now();
  const trigger: Trigger = {
    door,
    kind,
    activity: '',
    ...(delivery === undefined ? {} : { delivery }),
    ...(slot === undefined ? {} : { slot }),
    ...(key === undefined ? {} : { item: key }),
    at: now.toISOString(),
  };
  return make(parts, { now, trigger, subject, about: { item: value } });
}

/** Reverts the changes of a run, and returns that as a run of its own. */
export async function makeRevertRun(
  done: Run,
  {
    facts,
    mode,
    clock,
    memory,
  }: Pick<RunParts, 'clock' | 'memory'> & { mode: 'enforce' | 'plan'; facts: Omit<LiveFacts, 'memory'> },
): Promise<Run> {
  const client = facts.client.counted({ signal: facts.signal });
  const at = clock.now().toISOString();
  const trigger: Trigger = { door: 'cli', kind: 'revert', activity: '', item: done.id, at };
  return revertRun(done, { id: randomUUID(), trigger, client, mode, clock, memory });
}

type Start = {
  readonly now: Date;
  readonly trigger: Trigger;
  readonly subject: Subject;
  /** Stands in for the live subject where facts are given. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  readonly about: Pick<RunInput, 'event' | 'item' | 'cause'>;
};

async function make(
  parts: RunParts,
  { now, trigger, subject, payload, about }: Start,
): Promise<MadeWithFacts> {
  const { id = randomUUID(), clock } = parts;
  const { client, facts, pulls } = sourceOf(parts, { now, subject, payload, about });
  const messages = messagesOf(parts);
  const ran = await runRules({ ...parts, ...about, id, trigger, facts, pulls, client, messages, now, clock });
  return { ...ran, facts, denials: client?.denials ?? 0 };
}

/** Messages end with the calls of a run. */
function messagesOf({ messages, facts }: RunParts): RunInput['messages'] {
  const signal = 'given' in facts ? undefined : facts.signal;
  return typeof messages === 'function' ? (message) => messages(message, signal) : messages;
}

/** Returns the facts of a run and the client that it writes with, which counts the requests of this run alone. */
function sourceOf(
  { facts, clock, maxAnnouncedAgeMs, memory: lasting, mode }: RunParts,
  { now, subject, payload, about }: Omit<Start, 'trigger'>,
): { readonly facts: Facts; readonly pulls?: OpenPulls; readonly client?: Client } {
  if ('given' in facts) {
    const own = createGivenFacts({ ...facts, subject, payload });
    return { facts: own, pulls: givenPulls(facts, subject, payload) };
  }
  const { memory, signal } = facts;
  const client = facts.client.counted({ signal });
  const occasion = about.event && { event: about.event, now, maxAnnouncedAgeMs };
  const records = lasting && {
    get: lasting.get,
    set: async (key: string, value: object): Promise<void> => {
      if (mode === 'enforce') await lasting.set(key, { ...value, at: now.toISOString() });
    },
  };
  const shared = { client, memory, clock, records, units: unitsPerRun };
  const pulls =
    subject.kind === 'pull_request' && subject.repository
      ? createOpenPulls(subject, {
          client,
          createFactsOf: (index) => createFacts({ ...shared, subject: { ...subject, index } }),
        })
      : undefined;
  return {
    client,
    facts: createFacts({ ...shared, subject, occasion }),
    ...(pulls && { pulls }),
  };
}

/** Returns the open pull requests of a what-if: those that were given. */
function givenPulls(
  { others = [], placeOf, onMissing }: GivenFacts,
  subject: Subject,
  payload: Start['payload'],
): OpenPulls {
  const own = readMember(readMember(payload, 'pull_request'), 'head');
  const given = others.map((facts, place) => {
    const pull = isRecord(facts.pull_request) ? facts.pull_request : {};
    const index = typeof pull.number === 'number' ? pull.number : (subject.index ?? 0) + place + 1;
    // What a case leaves out is as usual: it is open, and has the head that the case is about.
    return {
      number: index,
      facts: { ...facts, pull_request: { number: index, state: 'open', head: own, ...pull } },
    };
  });
  return {
    async list() {
      // The boundary to a what-if: of these members, `number`, `head` and `html_url` are read.
      return given.map(({ facts }) => facts.pull_request as unknown as PullRequest);
    },
    factsOf(number) {
      const facts = given.find((one) => one.number === number)?.facts ?? {};
      return createGivenFacts({
        given: { head: own, ...facts },
        placeOf,
        onMissing,
        subject: { ...subject, index: number },
        payload: facts,
      });
    },
    pushesSince: async () => '',
  };
}
