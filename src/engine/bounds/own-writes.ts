import type { Family } from '../../contract/events/event-families.ts';
import type { Event } from '../../contract/events/events.ts';
import { isRecord, readMember } from '../../contract/events/payload-members.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { digestOfText } from '../budget/write-history.ts';

/**
 * Which events of Reeve's own account are results of Reeve's own writes. The account may belong to a person who also
 * works with it. Therefore each write is recorded before it is sent, and an event is Reeve's own only if a recorded
 * write explains it: both lead to the same key, such as `labels 5 bug,ready`. All other events of the account count as
 * acts of a person.
 */

/**
 * Which events of Reeve's account trigger nothing: those that its own changes cause, or all of them. Source: `own` of
 * the operator file.
 */
export const ownEvents = ['changes', 'account'] as const;
export type OwnEvents = (typeof ownEvents)[number];

/** Returns what `own` means, as part of a sentence. */
export function ownEventsText(own: OwnEvents, login: string): string {
  return own === 'account'
    ? `events by @${login} trigger nothing (own: account)`
    : `events that its own changes cause trigger nothing, other events by @${login} count as those of a person`;
}

/** Keys of the events that a write causes. */
type WrittenKeys = {
  /** Keys that contain the written value. Each one explains one event. */
  readonly exact?: readonly string[];
  /**
   * Keys of what the forge does because of the write, such as closing issues after a merge. Each one explains all
   * events until shortly after the response.
   */
  readonly soon?: readonly string[];
};

type Written = {
  /** Path parameters and body of the request. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Response of the forge; undefined before the response arrives, and if there is none. */
  readonly answer: unknown;
  readonly isEnded: boolean;
};

/** Returns the texts as one text that does not depend on their order or case. */
function listed(values: readonly unknown[]): string {
  return values
    .map((value) => String(value).toLowerCase())
    .toSorted()
    .join(',');
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function labelKeys(index: unknown, labels: readonly unknown[]): readonly string[] {
  if (labels.every(isRecord)) {
    // The labels in a response or a payload, which a request may name in two ways.
    return [
      `labels ${index} ids ${listed(labels.map((label) => label.id))}`,
      `labels ${index} names ${listed(labels.map((label) => label.name))}`,
    ];
  }
  const areIds = labels.every((label) => typeof label === 'number');
  return [`labels ${index} ${areIds && labels.length > 0 ? 'ids' : 'names'} ${listed(labels)}`];
}

function keysOfLabels({ params, body, answer }: Written): WrittenKeys {
  if (answer === undefined) return { exact: labelKeys(params.index, listIn(body.labels)) };
  return { exact: labelKeys(params.index, listIn(answer)) };
}

/** Keys of an edit of an issue or a pull request. */
function keysOfEdit({ params: { index }, body }: Written): WrittenKeys {
  const keys: string[] = [];
  if (body.title !== undefined) keys.push(`title ${index} ${body.title}`);
  if (body.body !== undefined) keys.push(`body ${index} ${body.body}`);
  if (body.state !== undefined) keys.push(`state ${index} ${body.state}`);
  if (body.base !== undefined) keys.push(`base ${index} ${body.base}`);
  if (body.milestone !== undefined) keys.push(`milestone ${index} ${body.milestone ?? 0}`);
  if (body.labels !== undefined) keys.push(...labelKeys(index, listIn(body.labels)));
  const soon: string[] = [];
  // The forge sends one event for each account, with the assignees of that moment.
  if (body.assignees !== undefined || body.assignee !== undefined) soon.push(`assignees ${index}`);
  // A pull request that is no longer a draft requests reviews of the code owners.
  if (body.title !== undefined) soon.push(`reviewers ${index}`);
  return { exact: keys, soon };
}

/** Keys of a new issue or pull request. Its number is known only after the response. */
function keysOfNew({ body, answer }: Written): WrittenKeys {
  const opened = `opened ${body.title}`;
  const index = readMember(answer, 'number');
  if (index === undefined) return { exact: [opened] };
  const soon = ['labels', 'assignees', 'milestone', 'reviewers'].map((name) => `${name} ${index}`);
  return { exact: [opened], soon };
}

/** Keys of a new commit on a branch. It may close issues, and is the new head of pull requests. */
function keysOfCommit({ body, answer }: Written): WrittenKeys {
  const sha = readMember(readMember(answer, 'commit'), 'sha');
  return {
    exact: [
      ...(sha === undefined ? [] : [`commit ${sha}`]),
      ...(body.new_branch === undefined ? [] : [`create ${body.new_branch}`]),
    ],
    soon: ['heads', 'reviewers', 'closes', `push ${body.new_branch ?? body.branch ?? ''}`],
  };
}

function reviewerKeys(sign: string, { params, body }: Written): WrittenKeys {
  const names = [...listIn(body.reviewers), ...listIn(body.team_reviewers)];
  return {
    exact: names.map((name) => `reviewer ${params.index} ${sign}${String(name).toLowerCase()}`),
    // The request of a team leads to an event for each of its members.
    soon: listIn(body.team_reviewers).length > 0 ? [`reviewers ${params.index}`] : [],
  };
}

/** Writes that cause events, by operation id. Other writes, such as those of protections, cause none. */
const writes: Readonly<Record<string, (written: Written) => WrittenKeys>> = {
  // The event of a replacement shows no labels on Gitea.
  [operations.replaceIssueLabels.id]: (written) => ({
    exact: [...(keysOfLabels(written).exact ?? []), ...labelKeys(written.params.index, [])],
  }),
  [operations.addIssueLabels.id]: (written) => ({
    ...(written.answer === undefined ? {} : keysOfLabels(written)),
    soon: [`labels ${written.params.index}`],
  }),
  [operations.removeIssueLabel.id]: ({ params }) => ({ soon: [`labels ${params.index}`] }),
  [operations.editIssue.id]: keysOfEdit,
  [operations.editPull.id]: keysOfEdit,
  [operations.createIssue.id]: keysOfNew,
  [operations.createPull.id]: keysOfNew,
  [operations.createComment.id]: ({ body }) => ({ exact: [`comment ${body.body}`] }),
  [operations.editComment.id]: ({ body }) => ({ exact: [`comment ${body.body}`] }),
  [operations.deleteComment.id]: ({ params }) => ({ exact: [`deleted comment ${params.id}`] }),
  [operations.createStatus.id]: ({ params, body }) => ({
    exact: [`status ${params.sha} ${body.context} ${body.state}`],
  }),
  [operations.requestReviews.id]: (written) => reviewerKeys('+', written),
  [operations.cancelReviewRequests.id]: (written) => reviewerKeys('-', written),
  [operations.mergePull.id]: ({ params }) => ({
    exact: [`state ${params.index} closed`],
    soon: ['heads', 'closes', 'deletes', 'bases', 'merge commits'],
  }),
  [operations.updatePull.id]: () => ({ soon: ['heads', 'reviewers', 'merge commits'] }),
  [operations.createBranch.id]: ({ body }) => ({
    exact: [`create ${body.new_branch_name}`],
    soon: [`push ${body.new_branch_name}`],
  }),
  [operations.deleteBranch.id]: ({ params }) => ({
    exact: [`delete ${params.branch}`],
    // Pull requests from the branch are closed, those into it get another base.
    soon: [`push ${params.branch}`, 'closes', 'bases'],
  }),
  [operations.changeFiles.id]: keysOfCommit,
  [operations.applyDiffPatch.id]: keysOfCommit,
  [operations.dispatchWorkflow.id]: ({ params, answer, isEnded }) => {
    const run = readMember(answer, 'workflow_run_id') ?? readMember(answer, 'id');
    const workflow = `workflow ${params.workflow_id}`;
    if (run !== undefined) return { exact: [`workflow run ${run}`] };
    // Without the id of the run, all runs of this workflow that were started by hand count as ours, so that a rule about
    // the end of a run cannot start the next one.
    return isEnded ? { exact: [workflow, 'some workflow'] } : { soon: [workflow] };
  },
};

/**
 * Keys of an event: any of them explains it. They are compared with the keys of the same name in `WrittenKeys`. A key in
 * `lasting` is compared with those in `exact`, of which it then explains any number of events.
 */
type EventKeys = WrittenKeys & {
  readonly lasting?: readonly string[];
  /** Set if the exact keys are different texts for one event: the write then explains no second event of this name. */
  readonly once?: string;
};

/** An event, with access to its payload. */
type SeenEvent = {
  readonly activity: string;
  /** Number of the issue or pull request. */
  readonly index: unknown;
  /** Returns the text at a path of member names; empty if there is none. */
  readonly text: (...path: readonly string[]) => string;
  readonly value: (...path: readonly string[]) => unknown;
};

/** Keys of an event about an issue or a pull request, which the payload contains in the member `item`. */
function keysOfItem(item: 'issue' | 'pull_request', { activity, index, text, value }: SeenEvent): EventKeys {
  switch (activity) {
    case 'opened':
      return { exact: [`opened ${text(item, 'title')}`] };
    case 'closed':
    case 'reopened':
      return { exact: [`state ${index} ${text(item, 'state')}`], soon: ['closes'] };
    case 'label_updated':
    case 'label_cleared':
      return {
        exact: labelKeys(index, listIn(value(item, 'labels'))),
        soon: [`labels ${index}`],
        once: 'labels',
      };
    case 'assigned':
    case 'unassigned':
      return { soon: [`assignees ${index}`] };
    case 'milestoned':
    case 'demilestoned':
      return {
        exact: [`milestone ${index} ${text(item, 'milestone', 'id') || 0}`],
        soon: [`milestone ${index}`],
      };
    case 'review_requested':
    case 'review_request_removed': {
      const sign = activity === 'review_requested' ? '+' : '-';
      const name = text('requested_reviewer', 'login') || text('requested_team', 'name');
      return {
        exact: [`reviewer ${index} ${sign}${name.toLowerCase()}`],
        soon: [`reviewers ${index}`, 'reviewers'],
      };
    }
    case 'synchronized':
      return { exact: [`commit ${text(item, 'head', 'sha')}`], soon: ['heads'] };
    case 'edited': {
      const isChanged = (name: string): boolean => value('changes', name) !== undefined;
      const exact = [
        ...(isChanged('title') ? [`title ${index} ${text(item, 'title')}`] : []),
        ...(isChanged('body') ? [`body ${index} ${text(item, 'body')}`] : []),
        ...(isChanged('ref') ? [`base ${index} ${text(item, 'base', 'ref')}`] : []),
      ];
      return { exact, soon: isChanged('ref') ? ['bases'] : [] };
    }
    default:
      return {};
  }
}

function keysOfComment({ activity, text }: SeenEvent): EventKeys {
  if (activity === 'deleted') return { exact: [`deleted comment ${text('comment', 'id')}`] };
  return { exact: [`comment ${text('comment', 'body')}`] };
}

/** Keys of an event about a run of a workflow, or about one of its jobs. */
function keysOfRun(member: 'workflow_run' | 'workflow_job' | 'run', { text, value }: SeenEvent): EventKeys {
  const id = text(member, member === 'workflow_job' ? 'run_id' : 'id');
  const isByHand = [value(member, 'event'), value(member, 'trigger_event')].includes('workflow_dispatch');
  // `ci.yml@refs/heads/main` on Gitea
  const [file = ''] = (text(member, 'path') || text(member, 'workflow_id')).split('@');
  // The event of a job names no workflow.
  const workflow = isByHand ? [`workflow ${file}`] : member === 'workflow_job' ? ['some workflow'] : [];
  return {
    soon: workflow,
    // A run on a commit of ours is a result of ours, or a rule about its end could commit again and again.
    lasting: [
      `workflow run ${id}`,
      `commit ${text(member, 'head_sha') || text(member, 'commit_sha')}`,
      ...workflow,
    ],
  };
}

const branchOf = (ref: string): string => ref.replace(/^refs\/heads\//, '');

/** Keys of events by family. Events of other families have none. */
const events: Partial<Readonly<Record<Family, (event: SeenEvent) => EventKeys>>> = {
  issues: (event) => keysOfItem('issue', event),
  pull_request: (event) => keysOfItem('pull_request', event),
  issue_comment: keysOfComment,
  pull_request_comment: keysOfComment,
  push({ text }) {
    const branch = branchOf(text('ref'));
    // A request without a branch writes to the default branch.
    const isDefault = branch === text('repository', 'default_branch');
    const isMerge = /^Merge (?:branch|pull request) /.test(text('head_commit', 'message'));
    return {
      exact: [`commit ${text('after')}`],
      soon: [`push ${branch}`, ...(isDefault ? ['push '] : []), ...(isMerge ? ['merge commits'] : [])],
    };
  },
  create: ({ text }) => ({ exact: [`create ${branchOf(text('ref'))}`] }),
  delete: ({ text }) => ({ exact: [`delete ${branchOf(text('ref'))}`], soon: ['deletes'] }),
  status: ({ text }) => ({ exact: [`status ${text('sha')} ${text('context')} ${text('state')}`] }),
  workflow_run: (event) => keysOfRun('workflow_run', event),
  workflow_job: (event) => keysOfRun('workflow_job', event),
  action_run_failure: (event) => keysOfRun('run', event),
  action_run_recover: (event) => keysOfRun('run', event),
  action_run_success: (event) => keysOfRun('run', event),
};

function keysOfEvent({ family, activity, payload, subject }: Event): EventKeys {
  const value = (...path: readonly string[]): unknown =>
    path.reduce<unknown>((holder, name) => readMember(holder, name), payload);
  const text = (...path: readonly string[]): string => String(value(...path) ?? '');
  const read = family === undefined ? undefined : events[family];
  return read?.({ activity, index: subject?.index, text, value }) ?? {};
}

/** Start of every marker in a text that Reeve writes. */
const marker = /<!-- reeve:/;

/**
 * Returns whether an event announces a text with a marker of Reeve. An event of Reeve's account about such a text is
 * never an act of a person, whatever is recorded: the text may contain a stranger's words, such as a command.
 */
function announcesMarkedText({ family, activity, payload }: Event): boolean {
  const isMarked = (holder: unknown): boolean => {
    const body = readMember(holder, 'body') ?? readMember(holder, 'content');
    return typeof body === 'string' && marker.test(body);
  };
  if (family === 'issue_comment' || family === 'pull_request_comment') return isMarked(payload.comment);
  if (family === 'pull_request_review') return isMarked(payload.review);
  if (activity !== 'opened' && activity !== 'edited') return false;
  return isMarked(family === 'issues' ? payload.issue : payload.pull_request);
}

/** Returns whether a push moves nothing, as in the test delivery of a hook. */
function isTestPush({ family, payload }: Event): boolean {
  return family === 'push' && payload.before !== undefined && payload.before === payload.after;
}

/** A recorded write, with digests of its keys: time in ms, end of `soon` in ms (assumed while pending), keys. */
type RecordedWrite = readonly [
  atMs: number,
  endMs: number,
  exact: readonly string[],
  soon: readonly string[],
  /** Whether the response is pending, if another process may receive the event. */
  isOpen: boolean,
];

/** Record of the writes in one repository, as stored. */
type WriteRecord = {
  /** RFC 3339 time of the last write. */
  readonly at: string;
  /** The record is complete from this time on; writes before it may have been dropped. */
  readonly fromMs: number;
  readonly writes: readonly RecordedWrite[];
};

/** Times for which the records of a store are complete, as stored. */
type RecordedTime = {
  readonly fromMs: number;
  /** The last time in which no process ran: another one, with another store, may have written. */
  readonly gap?: readonly [fromMs: number, untilMs: number];
  /** Set while no process runs, if the last one ended properly. */
  readonly stoppedMs?: number;
  /** The records of that process by place, unless processes share the store. */
  readonly records?: Readonly<Record<string, WriteRecord>> | undefined;
};

/** Maximum number of writes kept for a repository, and for how long. */
const maxWrites = 128;
const keptMs = 86_400_000;
/** Maximum number of repositories whose records a process holds in memory. */
const maxPlaces = 2_000;
/** Time after the response in which events are explained by `soon`. */
const soonMs = 10_000;
/** Maximum difference between the clocks of two processes. */
const clockMs = 2_000;
/** Maximum duration of a request: later, the process that sent it counts as dead. */
const pendingMs = 60_000;
/** Time in which the event of a write arrives, unless a delivery is late. */
const usualMs = 3_600_000;
const lookMs = 100;
/** Place of writes whose consequences may be in any repository. */
const everyPlace = '*';

/** Precision of times in payloads, which are rounded down. */
const precisionMs = 1_000;

/** Prefix of the keys of records, and how long they are kept. */
export const ownWritesPrefix = 'own writes ';
export const ownWritesKeptMs = keptMs;
const timeKey = 'own writes: time';

/** The part of the store that is used here. */
type OwnWritesStore = {
  readonly isShared: boolean;
  /** The processes that use the store, including this one. */
  listProcesses(): Promise<readonly unknown[]>;
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

/** Who caused an event of Reeve's account. `unknown`: the record does not cover the time of the event. */
export type Causer = 'reeve' | 'person' | 'unknown';

/** The delivery of an event, and the first delivery with the same body, which may be the same one. */
export type EventDelivery = {
  readonly id: string;
  readonly receivedAt: Date;
  readonly firstId: string;
  readonly firstAt: Date;
};

/**
 * The record of Reeve's own writes. If processes share the store, it is in the store; otherwise it is in memory, and in
 * the store from a stop to the next start. After a crash there is none of earlier writes.
 */
export class OwnWrites {
  readonly #store: OwnWritesStore;
  readonly #clock: Clock;
  readonly #time: RecordedTime;
  /** Records by place; undefined if they are in the store. */
  readonly #records: BoundedMap<string, WriteRecord> | undefined;
  /** Writes of this process that have no response yet, by place. */
  readonly #pending = new Map<string, Set<Promise<void>>>();
  /** Times of writes that are not in the record, by place. */
  readonly #lostMs = new BoundedMap<string, number>(10_000);
  /** The event that each exact key of a write explains. */
  readonly #explained = new BoundedMap<string, string>(10_000);

  private constructor(store: OwnWritesStore, clock: Clock, time: RecordedTime) {
    this.#store = store;
    this.#clock = clock;
    this.#time = time;
    if (store.isShared) return;
    this.#records = new BoundedMap(maxPlaces);
    for (const [place, record] of Object.entries(time.records ?? {})) this.#records.set(place, record);
  }

  /**
   * Opens the record when a process starts. After a crash, or with a restored or new store, the record begins now,
   * unless another process uses the store.
   */
  static async open(store: OwnWritesStore, clock: Clock): Promise<OwnWrites> {
    const isAlone = (await store.listProcesses()).length <= 1;
    let before: RecordedTime | undefined;
    const time = (await store.revise(timeKey, (value): RecordedTime => {
      const nowMs = clock.now().getTime();
      before = value as RecordedTime | undefined;
      if (before !== undefined && !isAlone) return before;
      // A store that was copied to the other kind has no records that fit.
      const fits = store.isShared === (before?.records === undefined);
      if (before?.stoppedMs === undefined || before.stoppedMs > nowMs || !fits) return { fromMs: nowMs };
      return { fromMs: before.fromMs, gap: [before.stoppedMs, nowMs] };
    })) as RecordedTime;
    const records = time.gap === undefined ? undefined : before?.records;
    return new OwnWrites(store, clock, { ...time, records });
  }

  /** Closes the record if this is the last process. Call it when nothing is written any more. */
  async close(): Promise<void> {
    try {
      if ((await this.#store.listProcesses()).length > 1) return;
      const stoppedMs = this.#clock.now().getTime();
      const recent = [...(this.#records ?? [])].filter(([, { at }]) => stoppedMs - Date.parse(at) < keptMs);
      const records = this.#records && Object.fromEntries(recent);
      await this.#store.revise(timeKey, (value) => ({ ...(value as RecordedTime), stoppedMs, records }));
    } catch {
      // The store is lost or closed. The next start finds no stop, and begins a new record.
    }
  }

  /**
   * Records a write that is about to be sent; undefined if it causes no event. The returned function is called with the
   * response, or without an argument if there is no response. A refused write is taken out again.
   */
  async begin(
    { id }: Operation,
    { params = {}, body }: AnyInput,
  ): Promise<((answer?: unknown, isRefused?: boolean) => Promise<void>) | undefined> {
    const keysOf = writes[id];
    const place = placeOf(params.owner, params.repo);
    if (keysOf === undefined || place === undefined) return undefined;
    const given = isRecord(body) ? body : {};
    const first = keysOf({ params, body: given, answer: undefined, isEnded: false });
    const atMs = this.#clock.now().getTime();
    const { isShared } = this.#store;
    // A commit also closes issues of other repositories.
    const places = first.soon?.includes('closes') ? [place, everyPlace] : [place];
    // No event has this key: numbers and branches of other repositories are others. It tells writes of one time apart.
    const elsewhere = { exact: [`${place} ${first.exact?.join(' ')}`], soon: ['closes'] };
    const put = async (keys: WrittenKeys, endMs: number, isOpen: boolean): Promise<void> => {
      for (const one of places) {
        const { exact, soon } = one === everyPlace ? elsewhere : keys;
        const write = [atMs, endMs, digestsOf(exact), digestsOf(soon), isOpen] as const;
        await this.#put(one, write, !isOpen && endMs === 0);
      }
    };
    await put(first, atMs + pendingMs, isShared);
    const responded = Promise.withResolvers<void>();
    for (const one of places) this.#hold(one, responded.promise);
    return async (answer, isRefused = false) => {
      const late = keysOf({ params, body: given, answer, isEnded: true });
      const exact = [...(first.exact ?? []), ...(isRefused ? [] : (late.exact ?? []))];
      const soon = [...(first.soon ?? []), ...(isRefused ? [] : (late.soon ?? []))];
      const isMore = new Set(exact).size > (first.exact ?? []).length || soon.length > 0;
      const endMs = isRefused ? 0 : this.#clock.now().getTime() + soonMs;
      // If this cannot be stored, events that only the response explains count as unknown.
      if (isShared || isMore || isRefused) await put({ exact, soon }, endMs, false).catch(() => {});
      responded.resolve();
    };
  }

  /** Returns who caused an event of Reeve's account. */
  async find(event: Event, delivery: EventDelivery, signal?: AbortSignal): Promise<Causer> {
    if (announcesMarkedText(event) || isTestPush(event)) return 'reeve';
    return this.#find(event, delivery, signal);
  }

  /**
   * Returns whether Reeve caused an event that polling found between two instants. It names no account, so only a write
   * of this time explains it. `isByAccount`: Reeve's account is known to be its author.
   */
  async explainsPolled(
    event: Event,
    {
      id,
      since,
      until,
      isByAccount,
    }: { readonly id: string; readonly since: Date; readonly until: Date; readonly isByAccount: boolean },
    signal?: AbortSignal,
  ): Promise<boolean> {
    if (isByAccount && announcesMarkedText(event)) return true;
    const delivery = { id, receivedAt: until, firstId: id, firstAt: since, since };
    return (await this.#find(event, delivery, signal)) === 'reeve';
  }

  async #find(
    event: Event,
    delivery: EventDelivery & { readonly since?: Date },
    signal: AbortSignal | undefined,
  ): Promise<Causer> {
    const places = placesOf(event);
    // Only events about a repository are caused by the writes above.
    if (places.length === 0) return 'unknown';
    const keys = keysOfEvent(event);
    const { isShared } = this.#store;
    const skewMs = isShared ? clockMs : 0;
    const latestMs = delivery.receivedAt.getTime() + skewMs;
    const earliestMs = (delivery.since?.getTime() ?? Number.NEGATIVE_INFINITY) - skewMs;
    const looked = keys.soon?.includes('closes') ? [...places, everyPlace] : places;
    const waiting = looked.flatMap((place) => [...(this.#pending.get(place) ?? [])]);
    for (let looks = 0; ; looks += 1) {
      let isPending = false;
      for (const place of looked) {
        const writes = ((await this.#read(place))?.writes ?? []).filter(
          ([atMs, endMs]) => atMs <= latestMs && endMs >= earliestMs,
        );
        if (writes.some((write) => this.#explains(write, { place, keys, event, delivery }))) return 'reeve';
        isPending ||= isShared && writes.some(([atMs, , , , isOpen]) => isOpen && this.#isRecent(atMs));
      }
      // The response may add keys.
      if (looks === 0 && waiting.length > 0) await Promise.all(waiting);
      else if (isPending && looks < pendingMs / lookMs) await this.#clock.sleep(lookMs, signal);
      else if (places.length > 1) return 'unknown';
      else {
        const [place = ''] = places;
        const isCovered = this.#covers(place, await this.#read(place), event, delivery.firstAt.getTime());
        return isCovered ? 'person' : 'unknown';
      }
    }
  }

  #isRecent(atMs: number): boolean {
    return atMs > this.#clock.now().getTime() - pendingMs;
  }

  /**
   * Returns whether the write explains the event. Reserves an exact key for the event. A repeated delivery is explained
   * like the first one.
   */
  #explains(
    [atMs, endMs, exact, soon]: RecordedWrite,
    {
      place,
      keys,
      event,
      delivery: { id, firstId, receivedAt, firstAt },
    }: {
      readonly place: string;
      readonly keys: EventKeys;
      readonly event: Event;
      readonly delivery: EventDelivery;
    },
  ): boolean {
    // A busy forge sends the event long after the act.
    const actedMs = Math.min(
      firstAt.getTime(),
      receivedAt.getTime(),
      timeOf(event) ?? Number.POSITIVE_INFINITY,
    );
    const isSoon = actedMs <= endMs && receivedAt.getTime() >= atMs;
    if (isSoon && digestsOf(keys.soon).some((key) => soon.includes(key))) return true;
    if (digestsOf(keys.lasting).some((key) => exact.includes(key))) return true;
    for (const key of digestsOf(keys.exact)) {
      if (!exact.includes(key)) continue;
      const name = `${place} ${atMs} ${keys.once ?? key}`;
      const before = this.#explained.get(name);
      if (before !== undefined && before !== id && before !== firstId) continue;
      this.#explained.set(name, before ?? firstId);
      return true;
    }
    return false;
  }

  /** Returns whether the record contains every write that can have caused an event of this time. */
  #covers(place: string, record: WriteRecord | undefined, event: Event, receivedMs: number): boolean {
    const { fromMs, gap } = this.#time;
    const firstMs = Math.max(fromMs, this.#clock.now().getTime() - keptMs, record?.fromMs ?? 0);
    const actedMs = timeOf(event) ?? receivedMs;
    // An act of the second in which a process starts is not older than the process.
    if (receivedMs < firstMs || actedMs + precisionMs <= firstMs) return false;
    if (gap !== undefined && actedMs + precisionMs > gap[0] && actedMs < gap[1]) return false;
    const lostMs = this.#lostMs.get(place);
    return lostMs === undefined || receivedMs < lostMs || receivedMs > lostMs + usualMs;
  }

  /** Waits, in `find`, for a promise about this place, which must not reject. */
  #hold(place: string, promise: Promise<void>): void {
    const held = this.#pending.get(place) ?? new Set();
    this.#pending.set(place, held);
    held.add(promise);
    promise.then(() => {
      held.delete(promise);
      if (held.size === 0) this.#pending.delete(place);
    });
  }

  async #read(place: string): Promise<WriteRecord | undefined> {
    if (this.#records !== undefined) return this.#records.get(place);
    return (await this.#store.recall(`${ownWritesPrefix}${place}`)) as WriteRecord | undefined;
  }

  /** Stores a write, in place of the one of the same time with a part of its keys; a refused one is only removed. */
  async #put(place: string, write: RecordedWrite, isRefused: boolean): Promise<void> {
    const at = this.#clock.now();
    const isPart = ([atMs, , exact, soon]: RecordedWrite): boolean =>
      atMs === write[0] &&
      exact.every((key) => write[2].includes(key)) &&
      soon.every((key) => write[3].includes(key));
    const edit = (record: WriteRecord | undefined): WriteRecord => {
      const kept = (record?.writes ?? []).filter((one) => one[0] > at.getTime() - keptMs && !isPart(one));
      const all = isRefused ? kept : [...kept, write];
      const dropped = all.slice(0, Math.max(all.length - maxWrites, 0));
      const fromMs = Math.max(record?.fromMs ?? 0, ...dropped.map(([atMs]) => atMs + 1));
      return { at: at.toISOString(), fromMs, writes: all.slice(dropped.length) };
    };
    if (this.#records !== undefined) {
      const evicted = this.#records.put(place, edit(this.#records.get(place)));
      if (evicted !== undefined) this.#lostMs.set(evicted[0], Date.parse(evicted[1].at));
      return;
    }
    try {
      await this.#store.revise(`${ownWritesPrefix}${place}`, (value) =>
        edit(value as WriteRecord | undefined),
      );
    } catch (error) {
      this.#lostMs.set(place, write[0]);
      throw error;
    }
  }
}

function placeOf(owner: unknown, name: unknown): string | undefined {
  return typeof owner === 'string' && typeof name === 'string' ? `${owner}/${name}`.toLowerCase() : undefined;
}

/**
 * Returns the places of an event: its repository, and, if the repository was renamed since, its name at the time of the
 * event.
 */
function placesOf({ repository, payload }: Event): readonly string[] {
  const [owner, name] = String(readMember(payload.repository, 'full_name') ?? '').split('/');
  const all = [placeOf(repository?.owner, repository?.name), placeOf(owner, name)];
  return [...new Set(all.filter((place) => place !== undefined))];
}

function digestsOf(keys: readonly string[] = []): readonly string[] {
  return [...new Set(keys.map(digestOfText))];
}

/** Returns the time of the act, as far as the payload contains it. */
function timeOf({ payload }: Event): number | undefined {
  const item = [payload.comment, payload.issue, payload.pull_request].find(isRecord);
  const run = [payload.workflow_run, payload.workflow_job, payload.run].find(isRecord);
  // What caused a run is older than its end.
  const began = run?.created_at ?? run?.run_started_at ?? run?.started_at ?? run?.started;
  const time = Date.parse(String(item?.updated_at ?? began ?? ''));
  return Number.isNaN(time) ? undefined : time;
}
