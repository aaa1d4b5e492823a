import type { Client } from '../../client/client.ts';
import type { Subject } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { messageOf, ReeveError } from '../../errors.ts';
import {
  failuresIn,
  type ListFailure,
  type ListPosition,
  servedRepositories,
  toRepositoryRef,
} from './repositories.ts';
import { flapsWithinMs, type RunnerRecord, type SeenRunner } from './runner-memory.ts';
import type { Target, TargetPage, Walk } from './target.ts';

/** Whose runners these are. `owner` is an organization, a repository's full name, an account, or empty. */
type RunnersOwner = { readonly level: string; readonly owner: string };

/** The list of runners of one level. */
type RunnerList =
  | typeof operations.listOrganizationRunners
  | typeof operations.listOwnRunners
  | typeof operations.listRepositoryRunners
  | typeof operations.listSiteRunners;

type RunnersPosition = ListPosition | { readonly stage: 'repositories' };

/**
 * Yields the runners of the account's organizations, of the account, of served repositories that the account administers,
 * and of the instance where the account is its administrator. A list that the forge refuses is a failure; one that it
 * does not have (404) is a failure where it has none of them. A runner that has gone from a complete listing is yielded
 * once more to each rule, as `gone`.
 */
export async function* targetsInRunners(walk: Walk): AsyncGenerator<TargetPage> {
  const { client } = walk;
  const known = new Set<number>();
  const lists: RunnerLists = { answered: 0, missing: [] };
  if (walk.from === undefined) {
    for await (const { name } of client.items(operations.listOwnOrganizations, {})) {
      const subject: Subject = { kind: 'runner', organization: name };
      if (!walk.isInScope(subject)) continue;
      yield* ofLevel({ level: 'organization', owner: name }, operations.listOrganizationRunners, {
        walk,
        subject,
        known,
        lists,
        params: { org: name },
      });
    }
    const owner = await walk.served.login();
    const subject: Subject = { kind: 'runner' };
    if (walk.isInScope(subject)) {
      yield* ofLevel({ level: 'user', owner }, operations.listOwnRunners, {
        walk,
        subject,
        known,
        lists,
        params: {},
      });
    }
  }
  yield* ofRepositories(walk, known, lists);
  const subject: Subject = { kind: 'runner' };
  // Others may not ask for them: that is no refusal.
  if (walk.isInScope(subject) && (await client.call(operations.getSelf, {})).is_admin) {
    for (const id of await knownElsewhere(walk)) known.add(id);
    const options = { walk, subject, known, lists, params: {} };
    yield* ofLevel({ level: 'instance', owner: '' }, operations.listSiteRunners, options);
  }
  if (lists.answered === 0 && lists.missing.length > 0) {
    yield { targets: [], next: { stage: 'repositories' }, failures: lists.missing };
  }
}

/** How many lists the forge has answered, and those that it does not have: actions are off, or it is too old. */
type RunnerLists = { answered: number; readonly missing: ListFailure[] };

/** Runners of other levels, also of those that this attempt did not ask: the instance lists them all. */
async function knownElsewhere(walk: Walk): Promise<readonly number[]> {
  const levels = Object.entries(await walk.runners.levels()).filter(([name]) => name !== 'instance');
  return levels.flatMap(([, records]) =>
    Object.entries(records).flatMap(([id, { status }]) => (status === 'gone' ? [] : [Number(id)])),
  );
}

async function* ofRepositories(
  walk: Walk,
  known: Set<number>,
  lists: RunnerLists,
): AsyncGenerator<TargetPage> {
  const from = walk.from as RunnersPosition | undefined;
  const start = from && 'page' in from ? from : undefined;
  for await (const page of servedRepositories(walk.client, walk.served, start)) {
    for (const one of page.repositories) {
      const repository = toRepositoryRef(one);
      const subject: Subject = { kind: 'runner', repository };
      if (!one.permissions?.admin || !walk.isInScope(subject)) continue;
      const owner = `${repository.owner}/${repository.name}`;
      const params = { owner: repository.owner, repo: repository.name };
      const level = { level: 'repository', owner };
      yield* ofLevel(level, operations.listRepositoryRunners, {
        walk,
        subject,
        known,
        lists,
        params,
        next: page.place,
      });
    }
    yield { targets: [], next: page.following, failures: failuresIn(page, walk.isInScope) };
  }
}

type RunnerListing = {
  readonly walk: Walk;
  readonly subject: Subject;
  /** Ids of runners that another level has shown already: the instance lists all of them. */
  readonly known: Set<number>;
  readonly lists: RunnerLists;
  readonly params: Readonly<Record<string, string>>;
  readonly next?: RunnersPosition;
};

async function* ofLevel(
  level: RunnersOwner,
  operation: RunnerList,
  asked: RunnerListing,
): AsyncGenerator<TargetPage> {
  const { walk, subject, known, lists, params } = asked;
  const name = [level.level, level.owner].filter(Boolean).join(' ');
  const next = asked.next ?? { stage: 'repositories' };
  let seen: readonly SeenRunner[];
  try {
    seen = (await readRunners(walk.client, operation, params)).filter(({ id }) => !known.has(id));
  } catch (error) {
    // What is known of the level stays: only a complete listing says that a runner is gone.
    if (error instanceof ReeveError && error.code === 'forge-unreachable') throw error;
    const failure = { item: level.owner || 'the instance', error: asError(error) };
    if (error instanceof ReeveError && error.code === 'forge-not-found') lists.missing.push(failure);
    else yield { targets: [], next, failures: [failure] };
    return;
  }
  lists.answered += 1;
  for (const { id } of seen) known.add(id);
  const records = await walk.runners.observe(name, seen, walk.now);
  const present = Object.entries(records).filter(([, { status }]) => status !== 'gone');
  const gone = Object.entries(records).filter(
    ([, { status, told }]) => status === 'gone' && !told?.includes(walk.rule.id),
  );
  const targets = [...present, ...gone].map(([id, record]) =>
    targetOf(id, record, { ...level, subject, walk }),
  );
  yield { targets, next };
  if (gone.length > 0) {
    const ids = gone.map(([id]) => id);
    await walk.runners.told(name, ids, walk.rule.id);
  }
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

/** Returns the complete list of runners; the client has put Forgejo's words into the baseline's. */
async function readRunners(
  client: Client,
  operation: RunnerList,
  params: Readonly<Record<string, string>>,
): Promise<readonly SeenRunner[]> {
  const found = new Map<number, SeenRunner>();
  // The rows differ in their path alone, and `params` were made for this one.
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
