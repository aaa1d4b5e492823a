import type { Client } from '../../../client/client.ts';
import type { Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import {
  failuresIn,
  type ListFailure,
  type ListPosition,
  servedRepositories,
  type Target,
  type TargetPage,
  toRepositoryRef,
  type Walk,
} from './repositories.ts';
import { flapsWithinMs, type RunnerRecord, type SeenRunner } from './runner-memory.ts';

/** Owner of runners. `owner` is an organization, the full name of a repository, an account, or empty. */
type RunnersOwner = { readonly level: string; readonly owner: string };

/** The list of runners of one level. */
type RunnerList =
  | typeof operations.listOrganizationRunners
  | typeof operations.listOwnRunners
  | typeof operations.listRepositoryRunners
  | typeof operations.listSiteRunners;

type RunnersPosition = ListPosition | { readonly stage: 'repositories' };

/** Number of levels whose runners are listed concurrently. */
const atOnce = 8;

/** A level, the subject of its runners, and how to list them. */
type WalkedLevel = RunnersOwner & {
  readonly subject: Subject;
  readonly operation: RunnerList;
  readonly params: Readonly<Record<string, string>>;
};

/**
 * Yields the runners of the account's organizations, of the account itself, of the served repositories that the account
 * administers, and of the instance if the account is its administrator. A list that the forge refuses is a failure. A
 * nonexistent list (404) is a failure only if no list exists. A runner that is missing from a complete listing is
 * yielded once more to each rule, as `gone`.
 */
export async function* targetsInRunners(walk: Walk): AsyncGenerator<TargetPage> {
  const listing: RunnerListing = { walk, known: new Set<number>(), answered: 0, missing: [] };
  if (walk.from === undefined) {
    yield* ofLevels(await ownLevels(walk), listing, { stage: 'repositories' });
  }
  yield* ofRepositories(listing);
  const subject: Subject = { kind: 'runner' };
  // Other accounts have no access to this list, so it is not requested for them and not reported as refused.
  if (walk.isInScope(subject) && (await walk.client.call(operations.getSelf, {})).is_admin) {
    for (const id of await knownElsewhere(walk)) listing.known.add(id);
    const site = { level: 'instance', owner: '', subject, operation: operations.listSiteRunners, params: {} };
    yield* ofLevels([site], listing, { stage: 'repositories' });
  }
  if (listing.answered === 0 && listing.missing.length > 0) {
    yield { targets: [], next: { stage: 'repositories' }, failures: listing.missing };
  }
}

/** Results of one iteration so far. */
type RunnerListing = {
  readonly walk: Walk;
  /** Ids of runners that another level has already listed, because the instance lists all runners. */
  readonly known: Set<number>;
  /** Number of lists that the forge has returned. */
  answered: number;
  /** Lists that do not exist, because actions are disabled or the forge is too old. */
  readonly missing: ListFailure[];
};

/** Returns the organizations of the account, and the account itself. */
async function ownLevels(walk: Walk): Promise<readonly WalkedLevel[]> {
  const levels: WalkedLevel[] = [];
  for await (const { name } of walk.client.items(operations.listOwnOrganizations, {})) {
    levels.push({
      level: 'organization',
      owner: name,
      subject: { kind: 'runner', organization: name },
      operation: operations.listOrganizationRunners,
      params: { org: name },
    });
  }
  levels.push({
    level: 'user',
    owner: await walk.served.login(),
    subject: { kind: 'runner' },
    operation: operations.listOwnRunners,
    params: {},
  });
  return levels.filter(({ subject }) => walk.isInScope(subject));
}

/**
 * Returns the ids of runners of other levels, including those that were not listed in this attempt, because the
 * instance lists all runners.
 */
async function knownElsewhere(walk: Walk): Promise<readonly number[]> {
  const levels = Object.entries(await walk.runners.levels()).filter(([name]) => name !== 'instance');
  return levels.flatMap(([, records]) =>
    Object.entries(records).flatMap(([id, { status }]) => (status === 'gone' ? [] : [Number(id)])),
  );
}

async function* ofRepositories(listing: RunnerListing): AsyncGenerator<TargetPage> {
  const { walk } = listing;
  const from = walk.from as RunnersPosition | undefined;
  const start = from && 'page' in from ? from : undefined;
  for await (const page of servedRepositories(walk.client, walk.served, start)) {
    const levels = page.repositories
      .filter(({ permissions }) => permissions?.admin)
      .map(toRepositoryRef)
      .map((repository): WalkedLevel => {
        const { owner, name } = repository;
        return {
          level: 'repository',
          owner: `${owner}/${name}`,
          subject: { kind: 'runner', repository },
          operation: operations.listRepositoryRunners,
          params: { owner, repo: name },
        };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    yield* ofLevels(levels, listing, page.place);
    yield { targets: [], next: page.following, failures: failuresIn(page, walk.isInScope) };
  }
}

/** Yields the runners of levels, several levels at a time. An interrupted iteration continues at `next`. */
async function* ofLevels(
  levels: readonly WalkedLevel[],
  listing: RunnerListing,
  next: RunnersPosition,
): AsyncGenerator<TargetPage> {
  const { walk } = listing;
  for (let done = 0; done < levels.length; done += atOnce) {
    const some = levels.slice(done, done + atOnce);
    const answers = await Promise.all(some.map((level) => readLevel(level, walk.client)));
    const read = await Promise.all(
      some.map((level, at) => observeLevel(level, answers[at] as LevelAnswer, listing)),
    );
    yield {
      targets: read.flatMap(({ targets }) => targets),
      next,
      failures: read.flatMap(({ failures }) => failures),
    };
    for (const { name, gone } of read) {
      if (gone.length > 0) await walk.runners.told(name, gone, walk.rule.id);
    }
  }
}

type LevelAnswer = { readonly runners: readonly SeenRunner[] } | { readonly error: Error };

async function readLevel({ operation, params }: WalkedLevel, client: Client): Promise<LevelAnswer> {
  try {
    return { runners: await readRunners(client, operation, params) };
  } catch (error) {
    // The stored state of the level is kept, because only a complete listing shows that a runner was removed.
    if (error instanceof ReeveError && error.code === 'forge-unreachable') throw error;
    return { error: asError(error) };
  }
}

type LevelResult = {
  /** Name of the level in the memory of runners. */
  readonly name: string;
  readonly targets: readonly Target[];
  readonly failures: readonly ListFailure[];
  /** Ids of the removed runners among the targets. */
  readonly gone: readonly string[];
};

async function observeLevel(
  level: WalkedLevel,
  answer: LevelAnswer,
  listing: RunnerListing,
): Promise<LevelResult> {
  const { walk, known } = listing;
  const name = [level.level, level.owner].filter(Boolean).join(' ');
  if ('error' in answer) {
    const failure = { item: level.owner || 'the instance', error: answer.error };
    const isMissing = answer.error instanceof ReeveError && answer.error.code === 'forge-not-found';
    if (isMissing) listing.missing.push(failure);
    return { name, targets: [], failures: isMissing ? [] : [failure], gone: [] };
  }
  listing.answered += 1;
  const seen = answer.runners.filter(({ id }) => !known.has(id));
  for (const { id } of seen) known.add(id);
  const records = Object.entries(await walk.runners.observe(name, seen, walk.now));
  const isGone = ({ status }: RunnerRecord): boolean => status === 'gone';
  const present = records.filter(([, record]) => !isGone(record));
  const gone = records.filter(([, record]) => isGone(record) && !record.told?.includes(walk.rule.id));
  const targets = [...present, ...gone].map(([id, record]) => targetOf(id, record, { ...level, walk }));
  return { name, targets, failures: [], gone: gone.map(([id]) => id) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}

function targetOf(
  id: string,
  record: RunnerRecord,
  { level, owner, subject, walk }: RunnersOwner & { subject: Subject; walk: Walk },
): Target {
  const sinceMs = (instant: string): number => Math.max(walk.now.getTime() - Date.parse(instant), 0);
  const isIdle = record.status === 'online' && !record.busy;
  const runner = {
    id: Number(id),
    name: record.name,
    status: record.status,
    busy: record.busy,
    disabled: record.disabled,
    labels: record.labels.map((name) => ({ name })),
    level,
    owner,
    offline_for: record.status === 'offline' ? sinceMs(record.since) : 0,
    idle_for: isIdle ? Math.min(sinceMs(record.activeAt), sinceMs(record.since)) : 0,
    flaps: record.changes.filter((change) => sinceMs(change) < flapsWithinMs).length,
  };
  return { key: `runner ${id} (${record.name})`, subject, item: { runner } };
}

/** Returns the complete list of runners. The client has already converted Forgejo's terms to Gitea's. */
async function readRunners(
  client: Client,
  operation: RunnerList,
  params: Readonly<Record<string, string>>,
): Promise<readonly SeenRunner[]> {
  const found = new Map<number, SeenRunner>();
  // The rows differ only in their path, and `params` were made for this row.
  const items = client.items(operation as typeof operations.listOrganizationRunners, {
    params: params as { org: string },
  });
  for await (const { id, name, status, busy, disabled, labels } of items) {
    found.set(id, {
      id,
      name,
      status: status === 'offline' ? 'offline' : 'online',
      busy: busy ?? false,
      disabled: disabled ?? false,
      labels: labels.map((label) => label.name),
    });
  }
  return [...found.values()];
}
