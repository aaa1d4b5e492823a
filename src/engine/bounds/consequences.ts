import type { Cause as DeclaredCause } from '../../actions/change.ts';
import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import { operations } from '../../contract/operations.ts';
import { Slots } from '../../platform/cache/slots.ts';
import type { Clock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';

/**
 * Events of Reeve's own account trigger nothing, with one exception: events that result from changes such as a merge
 * run the rules that did not cause them. The events expected from such a change are stored before the change is sent,
 * so that an event is recognised even while the response is pending, and after a crash.
 */

/**
 * Maximum depth of a chain: an event caused by a user has depth 0; an event caused by a merge that a rule made in
 * response has depth 1.
 */
const maxDepth = 3;
/** Maximum number of changes kept for a repository. Below: how long they are kept. */
const maxChanges = 100;
const keptMs = 86_400_000;

/** Cause of an event: the change, the rules that led to it, and the depth of the event in its chain. */
export type EventCause = {
  readonly because: { readonly run: string; readonly change: string };
  readonly rules: readonly string[];
  readonly depth: number;
};

/** One of Reeve's own changes, as stored. */
type OwnChange = EventCause & {
  readonly at: string;
  readonly causes: DeclaredCause;
  /**
   * Commits of the recognised events, by kind of event. An event of the same kind with a different commit does not
   * belong to this change.
   */
  readonly bound: Readonly<Record<string, string>>;
  /**
   * Set while the request is pending, if another process may receive the event; that process then waits for the
   * response.
   */
  readonly isUnanswered?: true;
};

/** A change that Reeve is about to send, and the events that it will cause. */
type NewCause = EventCause & { readonly causes: DeclaredCause };

/**
 * The part of the key-value store that is used here. `isShared`: other processes also send changes and look them up.
 */
type ConsequenceStore = {
  readonly isShared: boolean;
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

type OwnChanges = readonly OwnChange[];

/**
 * Maximum duration of a request, including retries. A change without a response for longer than this was sent by a
 * process that has died.
 */
const maxUnansweredMs = 60_000;
/** Polling interval for changes that other processes send. */
const lookMs = 100;

/** Reeve's own changes that cause events, kept in a key-value store. */
export class Consequences {
  readonly #store: ConsequenceStore;
  readonly #clock: Clock;
  readonly #inFlight = new Slots<{ readonly repositoryId: number; readonly answered: Promise<void> }>();

  constructor(store: ConsequenceStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Stores a change that is about to be sent. The returned function is called with the response, or without an argument
   * if there is no response.
   */
  async begin(repositoryId: number, change: NewCause): Promise<(answer?: unknown) => Promise<void>> {
    const { isShared } = this.#store;
    const at = this.#clock.now();
    const noted = { ...change, at: at.toISOString(), bound: {} };
    await this.#update(repositoryId, (list) => [
      isShared ? { ...noted, isUnanswered: true } : noted,
      ...list.filter((one) => at.getTime() - Date.parse(one.at) < keptMs).slice(0, maxChanges - 1),
    ]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const slot = this.#inFlight.add({ repositoryId, answered: promise });
    return async (answer) => {
      const commit = change.causes.event === 'committed' ? commitIn(answer) : undefined;
      const match = commit === undefined ? undefined : { kind: 'push ', commit };
      if (isShared || match !== undefined) {
        // If this cannot be stored, the commit is later recognised in the same way as after a lost response.
        await this.#update(repositoryId, (list) => markAnswered(list, noted, match)).catch(() => {});
      }
      this.#inFlight.take(slot);
      resolve();
    };
  }

  /**
   * Returns the cause of an event of Reeve's own account; `deep` if its chain is too long to continue; undefined if no
   * change recorded here caused the event.
   */
  async find(event: Event, client: Client, signal?: AbortSignal): Promise<EventCause | 'deep' | undefined> {
    const { repository } = event;
    if (repository === undefined) return undefined;
    const read = async (): Promise<OwnChanges> => listIn(await this.#store.recall(keyOf(repository.id)));
    if ((await read()).length === 0) return undefined;
    // The forge may not show the result before the response arrives.
    const own = [...this.#inFlight].filter(({ repositoryId }) => repositoryId === repository.id);
    await Promise.all(own.map(({ answered }) => answered));
    for (const change of await readAnswered(read, this.#clock, signal)) {
      const match = await matchOf(change, event, client);
      if (match === undefined) continue;
      if (change.bound[match.kind] === undefined) {
        await this.#update(repository.id, (list) => withCommit(list, change, match));
      }
      const { because, rules, depth } = change;
      return depth <= maxDepth ? { because, rules, depth } : 'deep';
    }
    return undefined;
  }

  #update(repositoryId: number, edit: (list: OwnChanges) => OwnChanges): Promise<unknown> {
    return this.#store.revise(keyOf(repositoryId), (value) => {
      const list = listIn(value);
      const edited = edit(list);
      return edited === list ? value : edited;
    });
  }
}

function keyOf(repositoryId: number): string {
  return `own changes ${repositoryId}`;
}

/** Store boundary: only the code above writes values under these keys. */
function listIn(value: unknown): OwnChanges {
  return (value ?? []) as OwnChanges;
}

/**
 * Returns the changes of a repository once the pending requests of all processes have received a response. Does not
 * wait for requests of a process that has died.
 */
async function readAnswered(
  read: () => Promise<OwnChanges>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<OwnChanges> {
  const isUnderWay = ({ isUnanswered, at }: OwnChange): boolean =>
    isUnanswered === true && clock.now().getTime() - Date.parse(at) < maxUnansweredMs;
  let list = await read();
  // Changes stored later cannot have caused an event that already exists.
  const awaited = list.filter(isUnderWay);
  const isAwaited = (one: OwnChange): boolean =>
    isUnderWay(one) && awaited.some((other) => isSameNoted(one, other));
  // The clocks of processes may differ, so the number of polls is limited as well.
  for (let looks = maxUnansweredMs / lookMs; looks > 0 && list.some(isAwaited); looks -= 1) {
    await clock.sleep(lookMs, signal);
    list = await read();
  }
  return list;
}

type EventMatch = { readonly kind: string; readonly commit: string };
type NotedChange = { readonly at: string; readonly because: EventCause['because'] };

/**
 * Returns the list with the commit of one kind of events recorded for a change. From then on, an event of this kind
 * with a different commit does not belong to the change.
 */
function withCommit(list: OwnChanges, change: NotedChange, { kind, commit }: EventMatch): OwnChanges {
  return list.map((one) =>
    isSameNoted(one, change) ? { ...one, bound: { ...one.bound, [kind]: commit } } : one,
  );
}

/** Returns the list with a change marked as having received its response. */
function markAnswered(list: OwnChanges, change: NotedChange, match: EventMatch | undefined): OwnChanges {
  const answered = list.map((one) => {
    if (!isSameNoted(one, change)) return one;
    const { isUnanswered: _, ...rest } = one;
    return rest;
  });
  return match ? withCommit(answered, change, match) : answered;
}

function isSameNoted({ at, because }: NotedChange, other: NotedChange): boolean {
  return at === other.at && because.run === other.because.run && because.change === other.because.change;
}

/** Returns how an event matches a change of the same repository; undefined if it does not match. */
async function matchOf(
  { causes, bound }: OwnChange,
  event: Event,
  client: Client,
): Promise<EventMatch | undefined> {
  // The subject may be a pull request that the event only affects. The payload contains the event's own subject.
  const { family, activity, payload, repository } = event;
  if (repository === undefined) return undefined;
  const branchName = branchIn(payload);
  const kind = `${family} ${activity}`;
  const isBound = (commit: string): boolean => bound[kind] === undefined || bound[kind] === commit;
  const pull = payload.pull_request;
  const headSha = String(readMember(readMember(pull, 'head'), 'sha') ?? '');
  const headRef = readMember(readMember(pull, 'head'), 'ref');
  const baseRef = readMember(readMember(pull, 'base'), 'ref');
  if (family === 'pull_request') {
    const isOf = 'number' in causes && causes.number === payload.number;
    const fits =
      (activity === 'closed' && causes.event === 'merged' && isOf && headSha === causes.head) ||
      (activity === 'synchronized' && causes.event === 'updated' && isOf && headSha !== causes.head) ||
      (activity === 'opened' &&
        causes.event === 'opened' &&
        headRef === causes.head &&
        baseRef === causes.base);
    return fits && isBound(headSha) ? { kind, commit: headSha } : undefined;
  }
  if (family === 'delete') {
    const isIt = causes.event === 'deleted' && branchName === causes.branch;
    return isIt && isBound('') ? { kind, commit: '' } : undefined;
  }
  if (family === 'create') {
    const sha = String(payload.sha ?? '');
    const isIt = causes.event === 'created' && branchName === causes.branch;
    return isIt && isBound(sha) ? { kind, commit: sha } : undefined;
  }
  if (family !== 'push' || branchName === undefined || branchName !== pushedBranchOf(causes))
    return undefined;
  const after = String(payload.after ?? '');
  if (!isBound(after)) return undefined;
  if (causes.event === 'committed') {
    const isIt = bound[kind] === after || (await isOwnCommit(causes, { repository, payload, after }, client));
    return isIt ? { kind, commit: after } : undefined;
  }
  const params = { owner: repository.owner, repo: repository.name };
  const made =
    causes.event === 'created'
      ? await tipOf(causes.branch, params, client)
      : 'number' in causes && (await readCommitOf(causes, params, client));
  return made === after ? { kind, commit: after } : undefined;
}

type CommitCause = Extract<DeclaredCause, { event: 'committed' }>;
type OwnPush = {
  readonly payload: Event['payload'];
  readonly repository: NonNullable<Event['repository']>;
  readonly after: string;
};

/**
 * Returns whether a push is a single commit directly on top of the previous head, with the message of a change whose
 * response was lost.
 */
async function isOwnCommit(
  { head, message }: CommitCause,
  { repository, payload, after }: OwnPush,
  client: Client,
): Promise<boolean> {
  if (payload.before !== head || after === '') return false;
  const params = { owner: repository.owner, repo: repository.name, sha: after };
  const { commit, parents } = await client.call(operations.getCommit, { params });
  const [parent, ...others] = parents ?? [];
  return others.length === 0 && parent?.sha === head && commit?.message?.trim() === message.trim();
}

/** Returns the commit in the response to a request that changes files. */
function commitIn(answer: unknown): string | undefined {
  const sha = readMember(readMember(answer, 'commit'), 'sha');
  return typeof sha === 'string' && sha !== '' ? sha : undefined;
}

/** Returns the branch that a change pushes to. */
function pushedBranchOf(causes: DeclaredCause): string | undefined {
  if (causes.event === 'merged') return causes.base;
  return causes.event === 'opened' || causes.event === 'deleted' ? undefined : causes.branch;
}

type BookedRepository = { readonly owner: string; readonly repo: string };

/** Returns the commit that a merge or a branch update created. */
async function readCommitOf(
  { event, number }: DeclaredCause & { readonly number: number },
  params: BookedRepository,
  client: Client,
): Promise<string | null | undefined> {
  const live = await client.call(operations.getPull, { params: { ...params, index: number } });
  return event === 'merged' ? live.merge_commit_sha : live.head?.sha;
}

/** Returns the newest commit of a branch; undefined if the branch was deleted. */
async function tipOf(branch: string, params: BookedRepository, client: Client): Promise<string | undefined> {
  try {
    return (await client.call(operations.getBranch, { params: { ...params, branch } })).commit?.id;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

/** Returns the name of the branch that was pushed, created or deleted; undefined for a tag. */
function branchIn({ ref, ref_type: type }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof ref !== 'string' || type === 'tag' || ref.startsWith('refs/tags/')) return undefined;
  return ref.replace(/^refs\/heads\//, '');
}
