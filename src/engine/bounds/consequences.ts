import type { Cause as DeclaredCause } from '../../actions/change.ts';
import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import { operations } from '../../contract/operations.ts';
import { Slots } from '../../platform/cache/slots.ts';
import type { Clock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';

/**
 * Events by our own account trigger nothing, with one exception: those that result from changes such as a merge run the rules
 * that did not cause them. What such a change will cause is stored before it is sent, so that an event is recognised while
 * the answer is still under way, and after a crash.
 */

/** Chains end here: a person's event has depth 0, what a rule merges for it has depth 1. */
const maxDepth = 3;
/** Changes kept for a repository, and for how long. */
const maxChanges = 100;
const keptMs = 86_400_000;

/** What caused an event: the change, the rules of its chain, and the depth of the event. */
export type EventCause = {
  readonly because: { readonly run: string; readonly change: string };
  readonly rules: readonly string[];
  readonly depth: number;
};

/** A change of ours, as stored. */
type OwnChange = EventCause & {
  readonly at: string;
  readonly causes: DeclaredCause;
  /** Commits of the events that were recognised, by kind of event: another commit is not of this change. */
  readonly bound: Readonly<Record<string, string>>;
  /** The request is under way. Noted where another process may get the event, which waits for its end. */
  readonly isUnanswered?: true;
};

/** A change of ours that is about to be sent, and what it will cause. */
type NewCause = EventCause & { readonly causes: DeclaredCause };

/** The part of a store of plain data that the book needs; `isShared`: other processes send and find changes, too. */
type ConsequenceStore = {
  readonly isShared: boolean;
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

type OwnChanges = readonly OwnChange[];

/** Time that a request and its repetitions take at most. What is unanswered for longer was sent by a process that died. */
const maxUnansweredMs = 60_000;
/** Interval of the looks at changes that other processes send. */
const lookMs = 100;

/** The changes of ours that cause events, in a store of plain data. */
export class Consequences {
  readonly #store: ConsequenceStore;
  readonly #clock: Clock;
  readonly #inFlight = new Slots<{ readonly repositoryId: number; readonly answered: Promise<void> }>();

  constructor(store: ConsequenceStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Notes a change that is about to be sent; the returned function is called with its answer, or without one. */
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
        // Where it cannot be stored, the commit is recognised as if the answer had been lost.
        await this.#update(repositoryId, (list) => markAnswered(list, noted, match)).catch(() => {});
      }
      this.#inFlight.take(slot);
      resolve();
    };
  }

  /** Returns what caused an event of our own account; undefined if no change of ours is known to. */
  async find(event: Event, client: Client, signal?: AbortSignal): Promise<EventCause | undefined> {
    const { repository } = event;
    if (repository === undefined) return undefined;
    const read = async (): Promise<OwnChanges> => listIn(await this.#store.recall(keyOf(repository.id)));
    if ((await read()).length === 0) return undefined;
    // Until the answer is there, the forge may not yet show what it has done.
    const own = [...this.#inFlight].filter(({ repositoryId }) => repositoryId === repository.id);
    await Promise.all(own.map(({ answered }) => answered));
    for (const change of await readAnswered(read, this.#clock, signal)) {
      const match = await matchOf(change, event, client);
      if (match === undefined) continue;
      if (change.bound[match.kind] === undefined) {
        await this.#update(repository.id, (list) => withCommit(list, change, match));
      }
      const { because, rules, depth } = change;
      return depth <= maxDepth ? { because, rules, depth } : undefined;
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

/** The border to the store: what is under these keys was written above alone. */
function listIn(value: unknown): OwnChanges {
  return (value ?? []) as OwnChanges;
}

/** Returns the changes of a repository once those are answered that any process has under way; what died with its process is not awaited. */
async function readAnswered(
  read: () => Promise<OwnChanges>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<OwnChanges> {
  const isUnderWay = ({ isUnanswered, at }: OwnChange): boolean =>
    isUnanswered === true && clock.now().getTime() - Date.parse(at) < maxUnansweredMs;
  let list = await read();
  // What begins meanwhile has caused none of the events that are there.
  const awaited = list.filter(isUnderWay);
  const isAwaited = (one: OwnChange): boolean =>
    isUnderWay(one) && awaited.some((other) => isSameNoted(one, other));
  // Clocks of processes differ: the number of looks has a limit, too.
  for (let looks = maxUnansweredMs / lookMs; looks > 0 && list.some(isAwaited); looks -= 1) {
    await clock.sleep(lookMs, signal);
    list = await read();
  }
  return list;
}

type EventMatch = { readonly kind: string; readonly commit: string };
type NotedChange = { readonly at: string; readonly because: EventCause['because'] };

/** Returns the list with the commit of a change's events of a kind: another commit is not of this change. */
function withCommit(list: OwnChanges, change: NotedChange, { kind, commit }: EventMatch): OwnChanges {
  return list.map((one) =>
    isSameNoted(one, change) ? { ...one, bound: { ...one.bound, [kind]: commit } } : one,
  );
}

/** Returns the list with a change that is answered. */
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

/** Returns how an event matches a change: the repository is the same. */
async function matchOf(
  { causes, bound }: OwnChange,
  event: Event,
  client: Client,
): Promise<EventMatch | undefined> {
  // The subject may be a pull request that the event only concerns: what it is about stands in its payload.
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

/** Returns whether a push is one commit with the message of a change whose answer was lost, right after the commit before it. */
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

/** Returns the commit that an answer to changed files shows. */
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

/** Returns the commit that a merge or an update made. */
async function readCommitOf(
  { event, number }: DeclaredCause & { readonly number: number },
  params: BookedRepository,
  client: Client,
): Promise<string | null | undefined> {
  const live = await client.call(operations.getPull, { params: { ...params, index: number } });
  return event === 'merged' ? live.merge_commit_sha : live.head?.sha;
}

/** Returns the newest commit of a branch; undefined if the branch is gone again. */
async function tipOf(branch: string, params: BookedRepository, client: Client): Promise<string | undefined> {
  try {
    return (await client.call(operations.getBranch, { params: { ...params, branch } })).commit?.id;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

/** Returns the branch of a push, a creation or a deletion; undefined for a tag. */
function branchIn({ ref, ref_type: type }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof ref !== 'string' || type === 'tag' || ref.startsWith('refs/tags/')) return undefined;
  return ref.replace(/^refs\/heads\//, '');
}
