import { createHash } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { laneOf, parseEvent } from '../../../contract/events/events.ts';
import { readMember } from '../../../contract/events/payload-members.ts';
import { operations } from '../../../contract/operations.ts';
import type { Clock } from '../../../platform/clock.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import type { HandleJob } from '../../../store/leases.ts';
import { type Delivery, foundEventKind, type Store } from '../../../store/store.ts';
import type { Reeve } from '../../reeve.ts';
import { createLeash } from '../leash.ts';
import { freshPages, type ServedBy, servedRepositories } from '../targets/repositories.ts';
import { createWaitingClient } from '../walk.ts';
import { actDifferences, advanceActs, type FoundAct, readActs } from './acts.ts';
import type { OwnNotes } from './own-notes.ts';
import {
  type CurrentItem,
  type CurrentRepository,
  type CurrentTag,
  type ItemSnapshot,
  type KnownActs,
  type MissedEvent,
  overlapMs,
  type RepositorySnapshot,
  Snapshots,
  toItemSnapshot,
} from './snapshots.ts';

/** Payload of a job for an event that was found by reading. */
type CaughtUpPayload = {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
};

const restKey = 'catch-up rest';
/** Key of the start time of the latest pass. */
const passKey = 'catch-up at';
/** Key of the end time of the latest complete pass. */
const endKey = 'catch-up ended';
/** Maximum number of requests in one pass. Repositories beyond it come first in the next pass. */
const budget = 20_000;
/** Number of consecutive repositories with a forge failure after which the pass waits for the forge to recover. */
const maxFailedInARow = 3;
/** Age of a comment or review from which its delivery would have arrived. */
const youngMs = 60_000;
/** Wait until these are read again. The clocks of different machines differ a little. */
const againMs = youngMs + 5_000;
/** Maximum difference between the clocks of this machine and of the forge, beyond which a stored delivery is missed. */
const clocksMs = 5 * 60_000;
/** Maximum number of pages of 500 stored deliveries that are searched for the delivery of a comment or review. */
const maxStoredPages = 10;

/** Fields of a served repository that catch-up needs, kept small because there may be many repositories. */
export type Candidate = {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly owner: { readonly id: number; readonly login: string };
  /** Undefined if the repository has no commits. */
  readonly defaultBranch: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedMs: number;
};

/**
 * Creates the handler that finds missed changes. Each served repository is queried for changes since it was last seen,
 * most recently updated first, and each difference becomes a job like the delivery that never arrived. A repository
 * that is seen for the first time becomes a baseline without events, unless it was created after the latest pass and
 * before a process listened. A repository that fails is left to the next pass. Comments and reviews whose deliveries may
 * still arrive are read again after a minute.
 */
export function createCatchUp(reeve: Reeve, snapshots: Snapshots, know: OwnNotes['know']): HandleJob {
  const { store, log, clock } = reeve;
  const listeningFrom = clock.now();
  return async (_job, _payload, lease) => {
    const { check, pause } = createLeash(lease, clock, 'the process is stopping');
    const client = createWaitingClient(reeve.client.counted({ signal: lease.signal }), pause);
    const startedAt = clock.now();
    await snapshots.save();
    const candidates = await listCandidates(client, reeve.served);
    for (const { id, owner, name } of candidates) know({ id, owner: owner.login, name });
    await createEmptyBaselines(candidates, snapshots, store, await earliest(listeningFrom, store));
    await store.remember(passKey, startedAt.toISOString());
    const waiting = await sortByPriority(candidates, store);
    const deferred: number[] = [];
    const unsettled: Candidate[] = [];
    let [missed, failed, failedInARow] = [0, 0, 0];
    for (const candidate of waiting) {
      check();
      if (client.requests >= budget) {
        deferred.push(candidate.id);
        continue;
      }
      try {
        const { found, isLeft } = await catchUpWith(candidate, client, snapshots, reeve);
        missed += found;
        if (isLeft) unsettled.push(candidate);
        failedInARow = 0;
      } catch (error) {
        check();
        failed += 1;
        failedInARow += 1;
        if (error instanceof ReeveError && error.isHostFailure && failedInARow >= maxFailedInARow)
          throw error;
        log.warn(
          { repository: candidate.full_name, error: messageOf(error) },
          'could not catch up with a repository',
        );
      }
      await lease.advance({ runs: [], checkpoint: null });
    }
    await store.remember(restKey, deferred.length === 0 ? undefined : deferred);
    await store.remember(endKey, clock.now().toISOString());
    const repositories = waiting.length - deferred.length;
    const again = `; comments and reviews of the last minute are read again in ${againMs / 1_000} s`;
    log.info(
      { repositories, missed, failed, left: deferred.length, requests: client.requests },
      `caught up${unsettled.length === 0 ? '' : again}`,
    );
    if (unsettled.length === 0) return { runs: [] };
    await pause(againMs);
    for (const candidate of unsettled) {
      // What is left even now is found by the next pass.
      await catchUpWith(candidate, client, snapshots, reeve);
      check();
    }
    return { runs: [] };
  };
}

/** Returns when a look for missed events last ended; undefined if none has. */
export async function readCatchUpEnd(store: Pick<Store, 'recall'>): Promise<Date | undefined> {
  const at = await store.recall(endKey);
  return typeof at === 'string' ? new Date(at) : undefined;
}

/** Returns the served repositories. `onMissing` is called with each listed one that the forge does not show. */
export async function listCandidates(
  client: Client,
  served: ServedBy,
  onMissing: (name: string) => void = () => {},
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for await (const { repositories, failures } of servedRepositories(client, served)) {
    for (const { item } of failures) onMissing(item);
    for (const { id, name, full_name, owner, default_branch, created_at, updated_at } of repositories) {
      const updatedMs = Date.parse(updated_at ?? '') || 0;
      const account = { id: owner.id, login: owner.login };
      const names = { id, name, full_name, owner: account, defaultBranch: default_branch || undefined };
      candidates.push({ ...names, createdAt: created_at ?? undefined, updatedMs });
    }
  }
  return candidates;
}

/** Maximum number of repositories whose present setup notes. */
const maxBegun = 100;

/**
 * Notes the present of served repositories that have no snapshot yet, so that catch-up finds what happens between setup
 * and the first start.
 */
export async function beginSnapshots(
  client: Client,
  served: ServedBy,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  const snapshots = new Snapshots(store, clock);
  for (const { id, name, owner, updatedMs } of (await listCandidates(client, served)).slice(0, maxBegun)) {
    if ((await snapshots.read(id)) !== undefined) continue;
    const startedAt = clock.now();
    const live = await readCurrent({ login: owner.login, name }, client, undefined);
    const from = updatedMs > 0 ? new Date(updatedMs) : startedAt;
    const first = advance(undefined, live, from);
    const place = { owner: owner.login, repo: name };
    const acts = await readActs(place, client, { before: undefined, known: undefined, live, at: first.at });
    const heard = advanceActs(undefined, acts, live, { startedAt });
    await snapshots.edit(id, (known) => known ?? { ...first, heard });
  }
}

/**
 * Gives repositories that were created while Reeve was stopped an empty baseline, so that all of their content is new.
 */
async function createEmptyBaselines(
  candidates: readonly Candidate[],
  snapshots: Snapshots,
  store: Store,
  listeningFromMs: number,
): Promise<void> {
  // Forges return whole seconds.
  const before = Math.floor(Date.parse(String(await store.recall(passKey))) / 1_000) * 1_000;
  for (const { id, createdAt } of candidates) {
    const createdMs = Date.parse(createdAt ?? '');
    // Without an earlier pass, nothing is new, because comparisons with NaN are false.
    if (createdAt === undefined || !(createdMs >= before && createdMs < listeningFromMs)) continue;
    const heard = { readAt: createdAt, comments: { at: createdAt, seen: {} }, statuses: {} };
    const empty = { at: createdAt, items: {}, refs: {}, tags: {}, heard, isNew: true } as const;
    await snapshots.edit(id, (seen) => seen ?? empty);
  }
}

/** Returns the instant since which at least one live process has listened. */
async function earliest(own: Date, store: Store): Promise<number> {
  const others = (await store.listProcesses()).filter(({ role, isSelf }) => role !== 'worker' && !isSelf);
  return Math.min(own.getTime(), ...others.map(({ startedAt }) => startedAt.getTime()));
}

/**
 * Sorts the repositories. Those for which the previous pass had no requests left come first, then the most recently
 * updated ones.
 */
async function sortByPriority(candidates: readonly Candidate[], store: Store): Promise<readonly Candidate[]> {
  const deferred = new Set(((await store.recall(restKey)) ?? []) as readonly number[]);
  return candidates.toSorted(
    (a, b) => Number(deferred.has(b.id)) - Number(deferred.has(a.id)) || b.updatedMs - a.updatedMs,
  );
}

/**
 * Finds the missed events of one repository and stores jobs for them. Returns their number, and whether comments or
 * reviews are left whose deliveries may still arrive.
 */
async function catchUpWith(
  candidate: Candidate,
  client: Client,
  snapshots: Snapshots,
  { store, clock, wake }: Reeve,
): Promise<{ readonly found: number; readonly isLeft: boolean }> {
  const startedAt = clock.now();
  const before = await snapshots.read(candidate.id);
  const { id, name, owner } = candidate;
  const live = await readCurrent({ login: owner.login, name }, client, before);
  const missed: (MissedEvent & { readonly polledSince?: string | undefined })[] =
    before === undefined ? [] : [...differencesOf(before, live)];
  // If no item has an instant yet, the repository's time from the forge is used, because our clock may be ahead of the
  // forge's.
  const { updatedMs } = candidate;
  const from = updatedMs > 0 ? new Date(updatedMs) : clock.now();
  const newest = newestOf(live) ?? from.toISOString();

  const place = { owner: owner.login, repo: name };
  const known = before?.heard;
  const unsettledSince = known?.isQuiet === true ? undefined : known?.comments.at;
  const given = { before, known, live, at: newest, unsettledSince };
  const acts = hasNewActs(before?.heard, newest) ? await readActs(place, client, given) : undefined;
  const heard = acts && ((await snapshots.read(id))?.heard ?? before?.heard);
  const found = acts ? [...actDifferences(heard, acts, live)] : [];
  const isStored = await createStoredActs(id, found, store);
  const left = new Set<string>();
  for (const one of found) {
    const { act = { key: '', at: '' } } = one;
    if (await isStored(one, laneOf(parseEvent(one.eventType, payloadOf(one, candidate))))) continue;
    const isYoung = !(Date.parse(act.at) <= startedAt.getTime() - youngMs);
    if (isYoung) left.add(act.key);
    else missed.push({ ...one, polledSince: heard?.readAt });
  }

  for (const one of missed)
    await enqueueMissed(one, candidate, { store, now: clock.now(), polledSince: one.polledSince });
  if (missed.length > 0) wake();
  // Starts from the current snapshot, so that items noted by deliveries in the meantime stay.
  await snapshots.edit(id, (known) => {
    const after = advance(known ?? before, live, from);
    const next = acts && advanceActs(known?.heard ?? heard, acts, live, { startedAt, left });
    if (next === undefined) return after;
    const at = left.size > 0 ? next.comments.at : laterOf(next.comments.at, newest);
    const isQuiet = left.size === 0 && before?.heard?.comments.at === at;
    return { ...after, heard: { ...next, comments: { ...next.comments, at }, isQuiet } };
  });
  return { found: missed.length, isLeft: left.size > 0 };
}

/**
 * Returns whether there may be comments or reviews that are not known: each one renews the time of its issue. Forges
 * return whole seconds, so that one reading without a newer time is needed.
 */
function hasNewActs(heard: KnownActs | undefined, newest: string): boolean {
  return heard?.isQuiet !== true || Date.parse(newest) > Date.parse(heard.comments.at);
}

/** Returns the time of the latest update of an issue or pull request; undefined if there is none. */
function newestOf({ items, issues = new Map() }: CurrentRepository): string | undefined {
  const times = [...items.map(({ value }) => value), ...issues.values()].map(({ updated_at }) =>
    String(updated_at),
  );
  return times
    .filter((at) => !Number.isNaN(Date.parse(at)))
    .reduce<string | undefined>((a, b) => laterOf(a ?? b, b), undefined);
}

const laterOf = (a: string, b: string): string => (Date.parse(a) >= Date.parse(b) ? a : b);

/**
 * Returns a function that returns whether the delivery of a comment or review is stored: it may still wait, and the note
 * of it is lost in a crash.
 */
async function createStoredActs(
  repositoryId: number,
  acts: readonly FoundAct[],
  store: Store,
): Promise<(act: FoundAct, lane: string) => Promise<boolean>> {
  const times = acts.map(({ act }) => Date.parse(act?.at ?? ''));
  const sinceMs = Math.min(...times) - clocksMs;
  const stored: Delivery[] = [];
  let before: string | undefined;
  for (let page = 0; acts.length > 0 && page < maxStoredPages; page += 1) {
    const query = { door: 'webhook', repositoryId, limit: 500, ...(before ? { before } : {}) } as const;
    const { items, next } = await store.listDeliveries(query);
    stored.push(...items.filter(({ receivedAt }) => receivedAt.getTime() >= sinceMs));
    if (next === undefined || stored.length < (page + 1) * 500) break;
    before = next;
  }
  return async ({ eventType, payload }, lane) => {
    for (const delivery of stored.filter((one) => one.lane === lane && one.eventType === eventType)) {
      const body = (await store.readDelivery(delivery.id))?.body;
      if (body === undefined || isSameAct(payload, body)) return true;
    }
    return false;
  };
}

/** Returns whether the body of a delivery is about the comment of a payload, or about a review by the same account. */
function isSameAct(payload: MissedEvent['payload'], body: Uint8Array): boolean {
  const delivered: unknown = JSON.parse(Buffer.from(body).toString());
  const [one, other] = [payload, delivered].map((whole) =>
    payload.comment === undefined
      ? readMember(readMember(whole, 'sender'), 'id')
      : `${readMember(readMember(whole, 'comment'), 'id')} ${readMember(readMember(whole, 'comment'), 'updated_at')}`,
  );
  return one === other;
}

/**
 * Stores a job for an event that was found by reading. `polledSince`: polling found it, and it happened after this
 * instant of this machine's clock.
 */
export async function enqueueMissed(
  { eventType, payload, key }: MissedEvent,
  candidate: Candidate,
  { store, now, polledSince }: { store: Store; now: Date; polledSince?: string | undefined },
): Promise<void> {
  const { id } = candidate;
  const polled = polledSince === undefined ? {} : { polled_since: polledSince };
  const whole = { ...payloadOf({ payload }, candidate), caught_up: true, ...polled };
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  await store.enqueue({
    door: 'cron',
    uuid: `caught-up#${id}#${digest}`,
    kind: foundEventKind,
    lane: laneOf(parseEvent(eventType, whole)),
    receivedAt: now,
    payload: { eventType, payload: whole } satisfies CaughtUpPayload,
  });
}

/** Returns the payload of a found event with its repository. */
function payloadOf(
  { payload }: Pick<MissedEvent, 'payload'>,
  { id, name, full_name, owner, defaultBranch }: Candidate,
): Readonly<Record<string, unknown>> {
  // A push to the default branch may change rules.
  const branch = defaultBranch === undefined ? {} : { default_branch: defaultBranch };
  return { sender: null, ...payload, repository: { id, name, full_name, owner, ...branch } };
}

export function advance(
  known: RepositorySnapshot | undefined,
  live: CurrentRepository,
  from: Date,
  polled?: KnownActs,
): RepositorySnapshot {
  const { refs, items } = live;
  const tags = Object.fromEntries(Object.entries(live.tags).map(([name, { commit }]) => [name, commit]));
  const after: Record<string, ItemSnapshot> = { ...known?.items };
  let at = known?.at;
  for (const { kind, number, value, settled } of items) {
    const item = settled ?? toItemSnapshot(value, kind);
    if (item === undefined) continue;
    const head = item.head ?? after[number]?.head;
    after[number] = head === undefined ? item : { ...item, head };
    if (at === undefined || Date.parse(item.updated) > Date.parse(at)) at = item.updated;
  }
  const heard = known?.heard;
  return {
    ...{ at: at ?? from.toISOString(), items: after, refs, tags },
    ...(heard ? { heard } : {}),
    ...(polled ? { polled } : {}),
  };
}

/**
 * Reads the state of a repository: its branches, its tags, its open pull requests, and the items changed since it was
 * last seen; if it was never seen, its open issues instead. This costs four lists, one request for each pull request
 * closed since then, and one for each pull request that was opened since then and changed afterwards.
 */
export async function readCurrent(
  { login, name }: { readonly login: string; readonly name: string },
  client: Client,
  before: RepositorySnapshot | undefined,
  { isPolled = false }: { readonly isPolled?: boolean } = {},
): Promise<CurrentRepository> {
  const params = { owner: login, repo: name };
  const sinceMs = before === undefined ? 0 : Date.parse(before.at) - (isPolled ? overlapMs : 0);
  const refs: Record<string, string> = {};
  for await (const branch of client.items(operations.listBranches, { params })) {
    if (branch.commit?.id) refs[branch.name] = branch.commit.id;
  }
  const tags: Record<string, CurrentTag> = {};
  for await (const tag of client.items(operations.listTags, { params })) {
    const commit = tag.commit?.sha ?? tag.id;
    if (commit) tags[tag.name] = { id: tag.id ?? commit, commit };
  }
  const items = new Map<number, CurrentItem>();
  const issues = new Map<number, Readonly<Record<string, unknown>>>();
  const add = (kind: ItemSnapshot['kind'], number: number, whole: object): void => {
    const value = whole as Readonly<Record<string, unknown>>;
    const settled = before === undefined ? toItemSnapshot(value, kind) : undefined;
    if (settled === undefined) {
      items.set(number, { kind, number, value });
      return;
    }
    // The first time, nothing is an event, and there may be many texts.
    const { state, updated_at, head } = value;
    items.set(number, { kind, number, value: { state, updated_at, head }, settled });
  };
  // Lists get shorter while they are read, when items are closed or deleted.
  const pulls = freshPages(
    (from) => client.pages(operations.listPulls, { params, query: { state: 'open' } }, from),
    { idOf: ({ number }) => number },
  );
  for await (const { items: page } of pulls) {
    for (const pull of page) add('pull_request', pull.number, pull);
  }
  // The first time, only open issues are read. Later, everything that has changed is read, including the pull requests
  // that are no longer open.
  const query =
    before === undefined
      ? { state: 'open', type: 'issues' }
      : { state: 'all', since: new Date(sinceMs).toISOString() };
  let pages = 0;
  const changed = freshPages((from) => client.pages(operations.listIssues, { params, query }, from), {
    idOf: ({ number }) => number,
  });
  for await (const { items: page } of changed) {
    pages += 1;
    for (const issue of page) {
      if (before !== undefined) issues.set(issue.number, issue);
      if (!issue.pull_request) add('issue', issue.number, issue);
      else if (!items.has(issue.number) && isNews(issue, before)) {
        const index = issue.number;
        add('pull_request', index, await client.call(operations.getPull, { params: { ...params, index } }));
      }
    }
  }
  if (before === undefined) return { refs, tags, items: [...items.values()], issues, pages };
  for (const [number, item] of items) {
    if (isPolled && before.items[number] === undefined && toMs(item.value.created_at) < sinceMs) {
      // The item is not among those kept, so the value before the change is not known.
      const isOld = toMs(item.value.updated_at) < sinceMs;
      const found = isOld ? [] : await readActivities(number, { client, params, sinceMs });
      items.set(number, { ...item, found });
    } else if (await hasMoved(item, { client, params, before })) {
      items.set(number, { ...item, hasMoved: true });
    }
  }
  return { refs, tags, items: [...items.values()], issues, pages, ...(isPolled ? { sinceMs } : {}) };
}

/** Activities by type of an entry in the timeline of an item. Comments and reviews are found in other ways. */
const activityOfEntry: Readonly<Record<string, string>> = {
  close: 'closed',
  merge_pull: 'closed',
  reopen: 'reopened',
  label: 'label_updated',
  change_title: 'edited',
  change_target_branch: 'edited',
  pull_push: 'synchronized',
};

/** Returns the activities of an item since an instant, from its timeline. */
async function readActivities(
  index: number,
  {
    client,
    params,
    sinceMs,
  }: {
    readonly client: Client;
    readonly params: { readonly owner: string; readonly repo: string };
    readonly sinceMs: number;
  },
): Promise<readonly string[]> {
  const query = { since: new Date(sinceMs).toISOString() };
  const found = new Set<string>();
  let isExplained = false;
  for await (const { type } of client.items(operations.listTimeline, {
    params: { ...params, index },
    query,
  })) {
    isExplained = true;
    const activity = activityOfEntry[type];
    if (activity !== undefined) found.add(activity);
  }
  // Only an edit of the text leaves no entry.
  return isExplained ? [...found] : ['edited'];
}

/**
 * Returns whether a previously unknown pull request was pushed to, which is the case if its newest commit is younger
 * than the pull request.
 */
async function hasMoved(
  { kind, number, value }: CurrentItem,
  {
    client,
    params,
    before,
  }: { client: Client; params: { owner: string; repo: string }; before: RepositorySnapshot },
): Promise<boolean> {
  const [createdMs, updatedMs] = [value.created_at, value.updated_at].map((at) => Date.parse(String(at)));
  const sha = toItemSnapshot(value, kind)?.head;
  if (sha === undefined || before.items[number] !== undefined || createdMs === updatedMs) return false;
  try {
    const query = { stat: false, verification: false, files: false };
    const { created } = await client.call(operations.getCommit, { params: { ...params, sha }, query });
    return Date.parse(created ?? '') > Math.max(createdMs ?? 0, Date.parse(before.at));
  } catch (error) {
    // A deleted head has no commits to compare.
    if (error instanceof ReeveError && error.code === 'forge-not-found') return false;
    throw error;
  }
}

/**
 * Returns whether a listed pull request has changed. The bound of a listing includes its instant, so known ones are
 * listed again. Forges return whole seconds, so state and labels may change without a later instant.
 */
function isNews(issue: { readonly number: number }, before: RepositorySnapshot | undefined): boolean {
  const known = before?.items[issue.number];
  const now = toItemSnapshot(issue, 'pull_request');
  if (known === undefined || now === undefined) return true;
  return (
    Date.parse(known.updated) !== Date.parse(now.updated) ||
    known.state !== now.state ||
    known.labels !== now.labels
  );
}

const nothing = '0'.repeat(40);

/**
 * Returns the differences between the snapshot and the live state, in this order: the creation of the repository,
 * branches, tags, and items by number.
 */
export function differencesOf(snapshot: RepositorySnapshot, live: CurrentRepository): readonly MissedEvent[] {
  const items = live.items.toSorted((a, b) => a.number - b.number);
  const found = [
    ...(snapshot.isNew ? [repositoryCreated] : []),
    ...refDifferences(snapshot.refs, live.refs),
    ...(snapshot.tags ? tagDifferences(snapshot.tags, live.tags) : []),
    ...items.flatMap((item) => itemDifferences(snapshot, item, live.sinceMs)),
  ];
  // The same difference may occur again later, as when a branch returns to an earlier commit. Each poll with a difference
  // renews this instant; a poll that is repeated after a crash finds the same one.
  const readAt = snapshot.polled?.readAt;
  return readAt === undefined ? found : found.map((one) => ({ ...one, key: `${one.key} ${readAt}` }));
}

const repositoryCreated: MissedEvent = {
  eventType: 'repository',
  payload: { action: 'created' },
  key: 'created',
};

function* refDifferences(
  before: RepositorySnapshot['refs'],
  after: RepositorySnapshot['refs'],
): Generator<MissedEvent> {
  for (const [name, commit] of Object.entries(after)) {
    const known = before[name];
    if (known === commit) continue;
    if (known === undefined) {
      const payload = { ref: name, ref_type: 'branch', sha: commit };
      yield { eventType: 'create', payload, key: `create ${name} ${commit}` };
    }
    const payload = { ref: `refs/heads/${name}`, before: known ?? nothing, after: commit };
    yield { eventType: 'push', payload, key: `push ${name} ${known ?? nothing} ${commit}` };
  }
  for (const [name, commit] of Object.entries(before)) {
    if (after[name] !== undefined) continue;
    const payload = { ref: name, ref_type: 'branch' };
    yield { eventType: 'delete', payload, key: `delete ${name} ${commit}` };
  }
}

/** Returns events for tags, in the form that the forge uses: a new or moved tag has no earlier commit. */
function* tagDifferences(
  before: Readonly<Record<string, string>>,
  after: CurrentRepository['tags'],
): Generator<MissedEvent> {
  for (const [name, { id, commit }] of Object.entries(after)) {
    const known = before[name];
    if (known === id || known === commit) continue;
    const push = { ref: `refs/tags/${name}`, before: nothing, after: id };
    yield { eventType: 'push', payload: push, key: `push tag ${name} ${id}` };
    const payload = { ref: name, ref_type: 'tag', sha: id };
    yield { eventType: 'create', payload, key: `create tag ${name} ${id}` };
  }
  for (const [name, known] of Object.entries(before)) {
    if (after[name] !== undefined) continue;
    const push = { ref: `refs/tags/${name}`, before: known, after: nothing };
    yield { eventType: 'push', payload: push, key: `push tag ${name} ${known} gone` };
    const payload = { ref: name, ref_type: 'tag' };
    yield { eventType: 'delete', payload, key: `delete tag ${name} ${known}` };
  }
}

function itemDifferences(
  snapshot: RepositorySnapshot,
  item: CurrentItem,
  sinceMs: number | undefined,
): readonly MissedEvent[] {
  const now = item.settled ?? toItemSnapshot(item.value, item.kind);
  if (now === undefined) return [];
  const before = snapshot.items[item.number];
  return activitiesOfItem(before, now, { item, snapshot, sinceMs }).map((activity) =>
    missedOf(item, now, { activity, before }),
  );
}

/** Returns the activities of an item, under the names that deliveries use. */
function activitiesOfItem(
  before: ItemSnapshot | undefined,
  now: ItemSnapshot,
  {
    item,
    snapshot,
    sinceMs,
  }: { item: CurrentItem; snapshot: RepositorySnapshot; sinceMs: number | undefined },
): readonly string[] {
  const since = sinceMs ?? Date.parse(snapshot.at);
  const isOpen = now.state === 'open';
  if (before === undefined) {
    if (item.found !== undefined) return item.found;
    const moved = item.hasMoved ? ['synchronized'] : [];
    if (toMs(item.value.created_at) >= since) return ['opened', ...moved, ...(isOpen ? [] : ['closed'])];
    // Items that are older than their repository were migrated with it.
    if (snapshot.isNew) return [];
    // All open items are known, so this one was closed. If it is open now, it was reopened.
    if (isOpen) return ['reopened', ...moved];
    return toMs(item.value.closed_at) >= since ? ['closed'] : [];
  }
  const found: string[] = [];
  const wasOpen = before.state === 'open';
  if (isOpen && !wasOpen) found.push('reopened');
  const isMoved = before.head !== undefined && now.head !== undefined && before.head !== now.head;
  // Forges send no event for commits to a pull request that stays closed.
  if (isMoved && (isOpen || wasOpen)) found.push('synchronized');
  if (wasOpen && !isOpen) found.push('closed');
  if (before.text !== now.text) found.push('edited');
  if (before.labels !== now.labels) found.push('label_updated');
  return found;
}

function toMs(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

const typesOf: Readonly<Record<ItemSnapshot['kind'], Readonly<Record<string, string>>>> = {
  pull_request: { synchronized: 'pull_request_sync', label_updated: 'pull_request_label' },
  issue: { label_updated: 'issue_label' },
};

function missedOf(
  { kind, number, value }: CurrentItem,
  now: ItemSnapshot,
  { activity, before }: { activity: string; before: ItemSnapshot | undefined },
): MissedEvent {
  const plain = kind === 'issue' ? 'issues' : 'pull_request';
  const isMoved = activity === 'synchronized';
  return {
    eventType: typesOf[kind][activity] ?? plain,
    payload: {
      action: activity,
      number,
      [kind]: value,
      // If the earlier commit is unknown, the event covers the whole pull request.
      ...(isMoved ? { before: before?.head ?? value.merge_base ?? now.head, after: now.head } : {}),
    },
    key: `${number} ${activity} ${now.updated} ${now.head ?? ''}`,
  };
}
