import { type ActionMemory, createReadOnlyMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import { activitiesOf, eventFamilies, type Family } from '../../contract/events/event-families.ts';
import { type Event, parseEvent } from '../../contract/events/events.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { Issue } from '../../contract/resources/issues.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { Repository } from '../../contract/resources/repositories.ts';
import type { OwnEvents } from '../../engine/bounds/own-writes.ts';
import { makeEventRun, makeItemRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { RunContext } from '../../engine/run-context.ts';
import { itemOf } from '../../facts/item.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import { createRuleSet, visits } from '../../rules/rule.ts';
import { type AdmittedEvent, eventAbout } from '../../rules/sources/admission.ts';
import type { RepositoryRules } from '../../rules/sources/repository-file.ts';
import type { InForce } from '../../rules/sources/rule-source.ts';

/** Kinds of subjects that can be simulated, with their notation. */
export const simulatedKinds = {
  pull_request: 'OWNER/REPO#NUMBER',
  issue: 'OWNER/REPO#NUMBER',
  branch: 'OWNER/REPO@BRANCH',
  repository: 'OWNER/REPO',
} as const;
export type SimulatedKind = keyof typeof simulatedKinds;

/** The live subject of a simulation. */
export type SimulatedSubject = {
  readonly kind: SimulatedKind;
  readonly owner: string;
  readonly repo: string;
  /** Number of the issue or pull request. */
  readonly index?: number;
  readonly branch?: string;
};

const place = '([^/\\s#@]+)/([^/\\s#@]+)';
const forms: Readonly<Record<SimulatedKind, RegExp>> = {
  pull_request: new RegExp(`^${place}#([1-9]\\d{0,9})$`),
  issue: new RegExp(`^${place}#([1-9]\\d{0,9})$`),
  branch: new RegExp(`^${place}@(\\S{1,255})$`),
  repository: new RegExp(`^${place}$`),
};

/** Parses the subject of a simulation. Throws `usage` with the notation of the kind. */
export function parseSimulatedSubject(kind: SimulatedKind, text: string): SimulatedSubject {
  const found = text.length > 1_000 ? null : forms[kind].exec(text.trim());
  const [, owner, repo, rest] = found ?? [];
  if (owner === undefined || repo === undefined) {
    throw new ReeveError(
      'usage',
      `"${text.slice(0, 200)}" is not a valid ${kind}: write ${simulatedKinds[kind]}`,
    );
  }
  if (rest === undefined) return { kind, owner, repo };
  return kind === 'branch' ? { kind, owner, repo, branch: rest } : { kind, owner, repo, index: Number(rest) };
}

/** Context of a simulation, which is that of a delivery. The memory of actions is read but never changed. */
export type SimulationContext = RunContext & {
  readonly actionMemory: ActionMemory;
  /** Which events of Reeve's account are its own. */
  readonly own: OwnEvents;
  readonly isServed: (repository: RepositoryRef) => Promise<boolean>;
  readonly rulesFor: (event: AdmittedEvent) => Promise<InForce>;
};

/** Plans of the rules in force for the current state of a subject. */
export type Simulation = {
  /**
   * One run for each event that is needed to plan every rule about the subject, followed by one run for each scheduled
   * rule.
   */
  readonly runs: readonly Run[];
  /** Rules in force that are not part of any run, and the reason. */
  readonly left: readonly { readonly rule: string; readonly why: string }[];
  /** Why a delivery about this subject would be ignored; undefined if it would be handled. */
  readonly ignored: string | undefined;
  /** Rule files that cannot be used. */
  readonly broken: readonly RepositoryRules[];
};

type SimulationOptions = {
  readonly subject: SimulatedSubject;
  /** Plans only this activity. Default: the activity that fits the state, and others that rules need. */
  readonly activity?: string | undefined;
};

/**
 * Builds events from the live state of a subject, and plans the rules in force for these events, as if they had been
 * delivered. Writes nothing.
 */
export async function simulate(
  { subject: wanted, activity }: SimulationOptions,
  context: SimulationContext,
): Promise<Simulation> {
  const live = await readLiveSubject(wanted, context.client);
  const { repository, main } = live;
  const first = await eventFor(live, activity ?? main.activity);
  const { rules, broken } = await context.rulesFor(first);
  const { events, left } = await findEvents(live, {
    first,
    rules: rules.rules,
    isAlone: activity !== undefined,
  });
  const planning = { ...context, actionMemory: createReadOnlyMemory(context.actionMemory) };
  const request = { mode: 'plan', door: 'cli' } as const;
  const runs: Run[] = [];
  const self = (await context.account?.())?.id;
  for (const event of events) {
    // The event is imagined: no change of Reeve caused it, so with one account for both, a person did.
    const isOwn = context.own === 'changes' && event.sender?.id === self ? false : undefined;
    runs.push((await makeEventRun(event, { ...request, rules, isOwn }, planning)).run);
  }
  const others: { readonly rule: string; readonly why: string }[] = [];
  for (const one of left) {
    if (activity === undefined && visits(one.rule, live.item.subject.kind)) {
      const only = createRuleSet([one.rule]);
      runs.push((await makeItemRun(live.item, { ...request, rules: only }, planning)).run);
    } else others.push({ rule: one.rule.id, why: one.why });
  }
  return { runs, left: others, broken, ignored: await whyIgnored(repository, context) };
}

/**
 * Builds the event of an activity. It belongs to the family about the subject itself, otherwise to the first family
 * that has the activity.
 */
async function eventFor(live: LiveSubject, activity: string): Promise<AdmittedEvent> {
  const { main, item, repository, families } = live;
  const others = families.filter((family) => activitiesOf(family).includes(activity));
  const family = others.includes(main.family) ? main.family : (others[0] ?? main.family);
  const found = await live.eventOf(family, activity === '' ? undefined : [activity]);
  if ('none' in found) throw new ReeveError('usage', `${item.key}: ${found.none}`);
  return eventAbout(found.event, found.event.subject ?? item.subject, repository);
}

type LeftRule = { readonly rule: LoadedRule; readonly why: string };

/**
 * Returns a minimal set of events such that each rule about the subject is planned, and the rules that none of these
 * events reaches.
 */
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
  { isServed }: SimulationContext,
): Promise<string | undefined> {
  const name = `${repository.owner}/${repository.name}`;
  if (repository.archived) return `${name} is archived`;
  return (await isServed(repository)) ? undefined : `${name} is not served`;
}

/** An event as a webhook would deliver it, or why there is none. */
type LiveEvent = { readonly event: Event } | { readonly none: string };

/** The current state of a subject on the forge, and its possible events. */
interface LiveSubject {
  readonly repository: RepositoryRef & { readonly archived: boolean };
  /** The subject as an item of a sweep. */
  readonly item: {
    readonly key: string;
    readonly subject: Subject;
    readonly value: Readonly<Record<string, unknown>>;
  };
  /**
   * The family of events about the subject itself, and the activity that fits the subject's state; empty if there is
   * none.
   */
  readonly main: { readonly family: Family; readonly activity: string };
  /** All families to which the subject's possible events belong. */
  readonly families: readonly Family[];
  /** Returns an event of a family with one of these activities, or with any activity if none is given. */
  eventOf(family: Family, activities: readonly string[] | undefined): Promise<LiveEvent>;
}

type Params = { readonly owner: string; readonly repo: string };
type Payload = Readonly<Record<string, unknown>>;
/**
 * Builds the parts of a payload that depend on the family and its activities, or returns why there is no such event.
 */
type Build = (activities: readonly string[] | undefined) => Promise<LiveParts | { readonly none: string }>;
type LiveParts = { readonly eventType: string; readonly payload: Payload };

/** Differences between the kinds of subjects. */
type LiveKind = {
  readonly main: LiveSubject['main'];
  readonly key: string;
  readonly subject: Subject;
  readonly value: Payload;
  readonly builds: Readonly<Partial<Record<Family, Build>>>;
};

/**
 * Reads a subject, and builds events about it from its live state. Rejects with `forge-not-found` if the subject does
 * not exist.
 */
async function readLiveSubject(wanted: SimulatedSubject, client: Client): Promise<LiveSubject> {
  const repository = await client.call(operations.getRepository, {
    params: { owner: wanted.owner, repo: wanted.repo },
  });
  const at: RepositoryRef = { id: repository.id, owner: repository.owner.login, name: repository.name };
  const params = { owner: at.owner, repo: at.name };
  const kind = await readKind(wanted, { client, repository, at, params });
  const { key, subject, value, main, builds } = kind;
  return {
    repository: { ...at, archived: repository.archived === true },
    item: {
      key: `${at.owner}/${at.name}${key}`,
      subject: { ...subject, ...(repository.archived ? { isArchived: true as const } : {}) },
      value,
    },
    main,
    // Boundary to the table, whose keys are families.
    families: Object.keys(builds) as Family[],
    async eventOf(family, activities) {
      const parts = await builds[family]?.(activities);
      if (parts === undefined) return { none: `${subject.kind} has no events of ${family}` };
      if ('none' in parts) return parts;
      return { event: parseEvent(parts.eventType, { ...parts.payload, repository }) };
    },
  };
}

type SubjectReading = {
  readonly client: Client;
  readonly repository: Repository;
  readonly at: RepositoryRef;
  readonly params: Params;
};

function readKind(wanted: SimulatedSubject, reading: SubjectReading): Promise<LiveKind> {
  if (wanted.kind === 'pull_request') return readPullSubject(wanted.index ?? 0, reading);
  if (wanted.kind === 'issue') return readIssueSubject(wanted.index ?? 0, reading);
  if (wanted.kind === 'branch') return readBranchSubject(wanted.branch ?? '', reading);
  return readRepositorySubject(reading);
}

async function readPullSubject(index: number, { client, at, params }: SubjectReading): Promise<LiveKind> {
  const where = { params: { ...params, index } };
  const pull = await client.call(operations.getPull, where);
  const state = pull.state === 'closed' ? 'closed' : 'opened';
  return {
    key: `#${index}`,
    subject: { kind: 'pull_request', repository: at, index },
    value: {},
    main: { family: 'pull_request', activity: state },
    builds: {
      async pull_request(activities) {
        const activity = pickActivity(activities, state);
        return {
          eventType: typeOfActivity('pull_request', activity),
          payload: {
            action: activity,
            number: index,
            pull_request: pull,
            ...senderOf(pull),
            ...movedOf(pull, activity),
          },
        };
      },
      pull_request_review: (activities) => latestReview(activities, { client, where, pull }),
      async pull_request_comment(activities) {
        const issue = await client.call(operations.getIssue, where);
        const parts = await latestComment(activities, { client, where, issue });
        if ('none' in parts) return parts;
        const payload = { ...parts.payload, pull_request: pull, is_pull: true };
        return { eventType: 'pull_request_comment', payload };
      },
    },
  };
}

async function readIssueSubject(index: number, { client, at, params }: SubjectReading): Promise<LiveKind> {
  const where = { params: { ...params, index } };
  const issue = await client.call(operations.getIssue, where);
  if (issue.pull_request) throw new ReeveError('usage', `#${index} is a pull request: use --pull`);
  const state = issue.state === 'closed' ? 'closed' : 'opened';
  return {
    key: `#${index}`,
    subject: { kind: 'issue', repository: at, index },
    value: { issue, item: itemOf(issue) },
    main: { family: 'issues', activity: state },
    builds: {
      async issues(activities) {
        const activity = pickActivity(activities, state);
        const payload = { action: activity, number: index, issue, ...senderOf(issue) };
        return { eventType: typeOfActivity('issues', activity), payload };
      },
      issue_comment: (activities) => latestComment(activities, { client, where, issue }),
    },
  };
}

async function readBranchSubject(
  name: string,
  { client, repository, at, params }: SubjectReading,
): Promise<LiveKind> {
  const branch = await client.call(operations.getBranch, { params: { ...params, branch: name } });
  const after = branch.commit?.id ?? '';
  const entry = await client.call(operations.getCommit, { params: { ...params, sha: after } });
  // The pusher is not recorded, so the author of the tip is used if the author has an account.
  const sender = entry.author ?? repository.owner;
  return {
    key: `@${name}`,
    subject: { kind: 'branch', repository: at, ref: name },
    value: { branch },
    main: { family: 'push', activity: '' },
    builds: {
      async push() {
        const before = entry.parents?.[0]?.sha ?? '0'.repeat(40);
        const commit = branch.commit;
        const payload = {
          ref: `refs/heads/${name}`,
          before,
          after,
          commits: [commit],
          head_commit: commit,
          sender,
        };
        return { eventType: 'push', payload: { ...payload, pusher: sender } };
      },
      async create() {
        return { eventType: 'create', payload: { ref: name, ref_type: 'branch', sha: after, sender } };
      },
    },
  };
}

async function readRepositorySubject({ repository, at }: SubjectReading): Promise<LiveKind> {
  return {
    key: '',
    subject: { kind: 'repository', repository: at },
    value: { repository },
    main: { family: 'repository', activity: 'created' },
    builds: {
      async repository() {
        return { eventType: 'repository', payload: { action: 'created', sender: repository.owner } };
      },
    },
  };
}

/** Returns the author of an issue or pull request as the sender of an event that is built from its state. */
function senderOf({ user }: PullRequest | Issue): Payload {
  return { sender: user ?? null };
}

/**
 * Returns the earlier and the current commit of a push. The earlier one is not recorded, so it is the merge base, and
 * the event covers the whole pull request, like an event found by catch-up.
 */
function movedOf({ head, merge_base: base }: PullRequest, activity: string): Payload {
  return activity === 'synchronized' ? { before: base ?? head?.sha, after: head?.sha } : {};
}

function pickActivity(activities: readonly string[] | undefined, fitting: string): string {
  return activities === undefined || activities.includes(fitting) ? fitting : (activities[0] ?? fitting);
}

/** Returns the event type of an activity in a family. Throws `usage` for an unknown activity. */
function typeOfActivity(family: Family, activity: string): string {
  const found = Object.entries(eventFamilies[family].types).find(([, known]) => known.includes(activity));
  if (found) return found[0];
  throw new ReeveError(
    'usage',
    `${family} has no activity "${activity}"; known are ${activitiesOf(family).join(', ')}`,
  );
}

type InPull = {
  readonly client: Client;
  readonly where: { readonly params: Params & { readonly index: number } };
};

const reviewStates: Readonly<Record<string, string>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'rejected',
  COMMENT: 'commented',
};

async function latestReview(
  activities: readonly string[] | undefined,
  { client, where, pull }: InPull & { readonly pull: PullRequest },
): Promise<LiveParts | { readonly none: string }> {
  let found: { readonly activity: string; readonly body: string; readonly user: unknown } | undefined;
  for await (const { state, body, user } of client.items(operations.listReviews, where)) {
    const activity = reviewStates[state ?? ''];
    if (activity === undefined || !(activities?.includes(activity) ?? true)) continue;
    found = { activity, body: body ?? '', user };
  }
  if (found === undefined)
    return { none: `it has no review that is ${activities?.join(' or ') ?? 'submitted'}` };
  const eventType = typeOfActivity('pull_request_review', found.activity);
  const review = { type: eventType, content: found.body };
  const { index: number } = where.params;
  const payload = { action: 'reviewed', number, pull_request: pull, review, sender: found.user ?? null };
  return { eventType, payload };
}

async function latestComment(
  activities: readonly string[] | undefined,
  { client, where, issue }: InPull & { readonly issue: Issue },
): Promise<LiveParts | { readonly none: string }> {
  const comment = (await client.call(operations.listComments, where)).at(-1);
  if (comment === undefined) return { none: 'it has no comment' };
  const action = pickActivity(activities, 'created');
  return { eventType: 'issue_comment', payload: { action, issue, comment, sender: comment.user ?? null } };
}
