import type { ActionMemory } from '../../../actions/memory.ts';
import { createReadOnlyMemory } from '../../../actions/memory.ts';
import type { Client } from '../../../client/client.ts';
import { activitiesOf } from '../../../contract/events/event-families.ts';
import type { Event } from '../../../contract/events/events.ts';
import { makeEventRun, makeItemRun, type RunSettings } from '../../../engine/make-run.ts';
import type { Run } from '../../../engine/record.ts';
import type { FactMemory } from '../../../facts/fact.ts';
import type { Clock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { createRuleSet } from '../../../rules/rule-set.ts';
import { type AdmittedEvent, eventAbout } from '../../../rules/sources/admission.ts';
import type { Enrolment } from '../../../rules/sources/enrolment.ts';
import type { RepositoryRules } from '../../../rules/sources/repository-file.ts';
import type { InForce } from '../../../rules/sources/rule-source.ts';
import { type LiveSubject, readLiveSubject } from './live-events.ts';
import type { SimulatedSubject } from './simulated-subject.ts';

/** What a simulation works with: the same parts as a delivery. */
export type SimulationParts = {
  readonly client: Client;
  readonly account: () => Promise<{ readonly id: number }>;
  readonly served: Pick<Enrolment, 'has'>;
  readonly rulesFor: (event: AdmittedEvent) => Promise<InForce>;
  readonly memory: FactMemory;
  /** Is read, and never changed. */
  readonly actionMemory: ActionMemory;
  readonly settings?: RunSettings | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
};

/** What the rules in force would do with a subject as it is now. */
export type Simulation = {
  /** One for each event that is needed so that every rule about the subject is planned, then one for each rule with a schedule. */
  readonly runs: readonly Run[];
  /** Rules in force that are in none of the runs, and why. */
  readonly left: readonly { readonly rule: string; readonly why: string }[];
  /** Why a delivery about this subject would be ignored; undefined if it would not. */
  readonly ignored: string | undefined;
  /** Rule files that cannot be used. */
  readonly broken: readonly RepositoryRules[];
};

type SimulationOptions = {
  readonly subject: SimulatedSubject;
  /** Plans this activity alone; default: the one that fits the state, and others as far as rules need them. */
  readonly activity?: string | undefined;
};

/**
 * Builds events from the live state of a subject, and plans what the rules in force do with them, as the delivery of such
 * an event would. Writes nothing.
 */
export async function simulate(
  { subject: wanted, activity }: SimulationOptions,
  parts: SimulationParts,
): Promise<Simulation> {
  const live = await readLiveSubject(wanted, parts.client);
  const { repository, main } = live;
  const first = await eventFor(live, activity ?? main.activity);
  const { rules, broken } = await parts.rulesFor(first);
  const { events, left } = await findEvents(live, {
    first,
    rules: rules.rules,
    isAlone: activity !== undefined,
  });
  const common = {
    ...parts.settings,
    mode: 'plan',
    door: 'cli',
    facts: { client: parts.client, memory: parts.memory },
    account: await parts.account(),
    memory: createReadOnlyMemory(parts.actionMemory),
    clock: parts.clock,
  } as const;
  const runs: Run[] = [];
  for (const event of events) runs.push((await makeEventRun(event, { ...common, rules })).run);
  const others: Simulation['left'][number][] = [];
  for (const one of left) {
    if (activity === undefined && one.rule.each?.kind === live.item.subject.kind) {
      runs.push((await makeItemRun(live.item, { ...common, rules: createRuleSet([one.rule]) })).run);
    } else others.push({ rule: one.rule.id, why: one.why });
  }
  return { runs, left: others, broken, ignored: await whyIgnored(repository, parts.served) };
}

/** Builds the event of an activity: of the family about the subject itself, else of the first family that has it. */
async function eventFor(live: LiveSubject, activity: string): Promise<AdmittedEvent> {
  const { main, item, repository, families } = live;
  const others = families.filter((family) => activitiesOf(family).includes(activity));
  const family = others.includes(main.family) ? main.family : (others[0] ?? main.family);
  const found = await live.eventOf(family, activity === '' ? undefined : [activity]);
  if ('none' in found) throw new ReeveError('usage', `${item.key}: ${found.none}`);
  return eventAbout(found.event, found.event.subject ?? item.subject, repository);
}

type LeftRule = { readonly rule: LoadedRule; readonly why: string };

/** Returns the fewest events with which each rule about the subject is planned, and the rules that none of them reaches. */
async function findEvents(
  live: LiveSubject,
  { first, rules, isAlone }: { first: AdmittedEvent; rules: readonly LoadedRule[]; isAlone: boolean },
): Promise<{ readonly events: readonly AdmittedEvent[]; readonly left: readonly LeftRule[] }> {
  const events = isAlone || rules.some((rule) => listens(rule, first)) ? [first] : [];
  const left: LeftRule[] = [];
  for (const rule of rules) {
    if (events.some((event) => listens(rule, event))) continue;
    const reachable = isAlone ? [] : rule.on.filter(({ family }) => live.families.includes(family));
    let why = 'it listens to other events';
    let event: Event | undefined;
    for (const { family, activities } of reachable) {
      const found = await live.eventOf(family, activities);
      if ('event' in found) {
        event = found.event;
        break;
      }
      why = found.none;
    }
    if (event === undefined) left.push({ rule, why });
    else events.push(eventAbout(event, event.subject ?? live.item.subject, live.repository));
  }
  return { events: events.length === 0 && left.length === 0 ? [first] : events, left };
}

function listens({ on }: LoadedRule, { family, activity }: Event): boolean {
  return on.some(
    (listening) =>
      listening.family === family &&
      (listening.activities === undefined || listening.activities.includes(activity)),
  );
}

async function whyIgnored(
  repository: LiveSubject['repository'],
  served: Pick<Enrolment, 'has'>,
): Promise<string | undefined> {
  const name = `${repository.owner}/${repository.name}`;
  if (repository.archived) return `${name} is archived`;
  return (await served.has(repository)) ? undefined : `${name} is not served`;
}
