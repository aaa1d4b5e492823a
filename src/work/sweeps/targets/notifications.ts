import { type ASTNode, parse } from '@marcbachmann/cel-js';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { NotificationThread } from '../../../contract/resources/notifications.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Each } from '../../../rules/rule.ts';
import {
  failuresIn,
  type ListPosition,
  servedRepositories,
  type Target,
  type TargetPage,
  toRepositoryRef,
  type Walk,
} from './repositories.ts';

/** Position in a list of threads: only threads changed at or before this instant remain. */
type NotificationsPosition = { readonly before?: string };

const itemsPerPage = 50;
const maxStalePages = 20;
/** Maximum number of identities to remember, far more than can share one instant. */
const maxSeen = 5_000;

/**
 * Position among repositories: their page, the number of repositories already processed on it, and the position inside
 * the next one.
 */
type InRepositoriesPosition = ListPosition & {
  readonly done: number;
  readonly inside?: NotificationsPosition;
};

/** Requests one page of threads. */
type ThreadLister = (query: Readonly<Record<string, unknown>>) => Promise<readonly NotificationThread[]>;

/** Yields the notifications of the account: all of them, or repository by repository if `each` names repositories. */
export function targetsInNotifications(each: Each, walk: Walk): AsyncGenerator<TargetPage> {
  if (each.in !== undefined) return inNamedRepositories(each.in, walk);
  const list: ThreadLister = (query) => walk.client.call(operations.listNotifications, { query });
  return threadsIn(list, walk, walk.from as NotificationsPosition | undefined);
}

async function* inNamedRepositories(scope: NonNullable<Each['in']>, walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as InRepositoriesPosition | undefined;
  const served = {
    ...walk.served,
    listed: [...walk.served.listed, ...scope.written.filter((one) => !one.startsWith('!'))],
  };
  const meter = createUnlimitedMeter();
  const isNamed = ({ owner, name }: RepositoryRef): boolean => scope.matches(`${owner}/${name}`, meter);
  for await (const page of servedRepositories(walk.client, served, from)) {
    const isFirst = from?.source === page.place.source && from.page === page.place.page;
    const refs = page.repositories.map(toRepositoryRef).filter(isNamed);
    for (let done = isFirst ? from.done : 0; done < refs.length; done += 1) {
      const { owner, name: repo } = refs[done] ?? { owner: '', name: '' };
      const list: ThreadLister = (query) =>
        walk.client.call(operations.listRepositoryNotifications, { params: { owner, repo }, query });
      const inside = isFirst && done === from.done ? from.inside : undefined;
      try {
        for await (const { targets, next } of threadsIn(list, walk, inside)) {
          yield { targets, next: { ...page.place, done, inside: next } };
        }
      } catch (error) {
        // A lost connection ends the sweep, which later continues from here. A refusal of one repository does not.
        if (!(error instanceof ReeveError) || error.retryable) throw error;
        const next = { ...page.place, done: done + 1 } satisfies InRepositoriesPosition;
        yield { targets: [], next, failures: [{ item: `${owner}/${repo}`, error }] };
      }
    }
    const isAbout = (subject: Subject): boolean =>
      subject.repository === undefined || isNamed(subject.repository);
    yield { targets: [], next: { ...page.following, done: 0 }, failures: failuresIn(page, isAbout) };
  }
}

/**
 * Yields the threads of a list, last changed first. Marking a thread removes it from the list and shifts the others, so
 * the next request is never for "page 2" but for threads changed before the last one seen. Within one instant, pages
 * are counted, and read again until they contain nothing new.
 */
async function* threadsIn(
  list: ThreadLister,
  walk: Walk,
  from: NotificationsPosition | undefined,
): AsyncGenerator<TargetPage> {
  const narrowed = narrowNotifications(walk.rule.condition?.source, walk.now);
  let before = from?.before ?? narrowed.before;
  const seen = new BoundedMap<number, true>(maxSeen);
  let page = 1;
  let isNews = false;
  let stale = 0;
  for (;;) {
    const query = {
      ...listQuery(narrowed),
      ...(before === undefined ? {} : { before }),
      limit: itemsPerPage,
      page,
    };
    const threads = await list(query);
    const fresh = threads.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.set(id, true);
    const end = threads.at(-1);
    if (end === undefined) {
      if (page === 1 || !isNews) return;
      page = 1;
      isNews = false;
      continue;
    }
    isNews ||= fresh.length > 0;
    stale = fresh.length === 0 ? stale + 1 : 0;
    if (stale > maxStalePages) {
      throw new ReeveError(
        'forge-paging',
        `the notifications do not end: ${stale} pages brought nothing new`,
      );
    }
    const until = end.updated_at ?? before;
    const targets = fresh.map(targetOf).filter(({ subject }) => walk.isInScope(subject));
    yield {
      targets,
      next: { ...(until === undefined ? {} : { before: until }) } satisfies NotificationsPosition,
    };
    const isSameInstant =
      until === undefined || (before !== undefined && Date.parse(until) >= Date.parse(before));
    page = isSameInstant ? page + 1 : 1;
    if (!isSameInstant) isNews = false;
    before = isSameInstant ? before : until;
  }
}

function listQuery(narrowed: Narrowed) {
  const { 'status-types': statuses, 'subject-type': types, before: _before, ...rest } = narrowed;
  return {
    ...rest,
    ...(statuses ? { 'status-types': [...statuses] } : {}),
    ...(types ? { 'subject-type': [...types] } : {}),
  };
}

function targetOf(notification: NotificationThread): Target {
  const repository = notification.repository ? toRepositoryRef(notification.repository) : undefined;
  return {
    key: `notification ${notification.id}`,
    subject: subjectOf(notification, repository),
    item: { notification },
  };
}

/** Returns the subject of a thread. The number of an issue or pull request is the end of its API URL. */
function subjectOf(thread: NotificationThread, repository: RepositoryRef | undefined): Subject {
  const number = /\/(?:issues|pulls)\/(\d+)$/.exec(thread.subject?.url ?? '')?.[1];
  return {
    kind: 'notification',
    thread: thread.id,
    ...(repository ? { repository } : {}),
    ...(number === undefined ? {} : { index: Number(number) }),
  };
}

/** Parts of a condition that the request for notifications already enforces. */
type Narrowed = {
  readonly all?: true;
  readonly 'status-types'?: readonly string[];
  readonly 'subject-type'?: readonly string[];
  readonly since?: string;
  readonly before?: string;
};

const subjectTypes: Readonly<Record<string, string>> = {
  Issue: 'issue',
  Pull: 'pull',
  Commit: 'commit',
  Repository: 'repository',
};

/**
 * Returns the narrowest request for notifications that still returns everything a condition may match. Only parts that
 * must hold (joined by `&&`) narrow the request: `notification.unread`, `notification.pinned`, the subject's type, and
 * `updated_at` compared with an instant or with `now` minus a duration. Without a part about unread or pinned, it
 * requests the forge's default, which is unread and pinned notifications. If the condition uses these fields in other
 * ways, it requests all.
 */
export function narrowNotifications(condition: string | undefined, now: Date): Narrowed {
  const parts = condition === undefined ? [] : conjuncts(parse(condition).ast);
  return { ...statuses(parts, condition ?? ''), ...types(parts), ...bounds(parts, now) };
}

function conjuncts(node: ASTNode): readonly ASTNode[] {
  return node.op === '&&' ? [...conjuncts(node.args[0]), ...conjuncts(node.args[1])] : [node];
}

function statuses(parts: readonly ASTNode[], condition: string): Narrowed {
  const said = (name: string): boolean | undefined => {
    for (const part of parts) {
      const answer = saysFlag(part, `notification.${name}`);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  const [unread, pinned] = [said('unread'), said('pinned')];
  if (unread === true) return { 'status-types': ['unread'] };
  if (pinned === true) return { 'status-types': ['pinned'] };
  if (unread === false && pinned === false) return { 'status-types': ['read'] };
  if (unread === false) return { 'status-types': ['read', 'pinned'] };
  if (pinned === false && !/notification\.unread\b/.test(condition)) return { 'status-types': ['unread'] };
  return /notification\.(unread|pinned)\b/.test(condition) ? { all: true } : {};
}

/**
 * Returns whether an expression requires a flag to be true or false, by matching `x`, `!x`, `x == true` and `x ==
 * false`; otherwise undefined.
 */
function saysFlag(node: ASTNode, chain: string): boolean | undefined {
  if (nodeText(node) === chain) return true;
  if (node.op === '!_') {
    const inner = saysFlag(node.args, chain);
    return inner === undefined ? undefined : !inner;
  }
  if (node.op !== '==' || nodeText(node.args[0]) !== chain || node.args[1].op !== 'value') return undefined;
  const value: unknown = node.args[1].args;
  return typeof value === 'boolean' ? value : undefined;
}

function types(parts: readonly ASTNode[]): Narrowed {
  for (const part of parts) {
    if (part.op !== '==' && part.op !== 'in') continue;
    const [left, right] = part.args;
    if (nodeText(left) !== 'notification.subject.type') continue;
    const written = right.op === 'list' ? right.args : [right];
    const words = written.map((one: ASTNode) =>
      one.op === 'value' ? subjectTypes[String(one.args)] : undefined,
    );
    if (words.length > 0 && words.every((word: string | undefined) => word !== undefined)) {
      return { 'subject-type': words };
    }
  }
  return {};
}

/**
 * Returns the time bounds. The forge's bounds include their instant, so they serve both `<` and `<=`, and the condition
 * decides the rest.
 */
function bounds(parts: readonly ASTNode[], now: Date): Narrowed {
  const found: { since?: string; before?: string } = {};
  for (const part of parts) {
    if (part.op !== '<' && part.op !== '<=' && part.op !== '>' && part.op !== '>=') continue;
    const [left, right] = part.args;
    const isLeft = isUpdated(left);
    if (!isLeft && !isUpdated(right)) continue;
    const instant = instantOfNode(isLeft ? right : left, now);
    if (instant === undefined) continue;
    const isUpper = part.op.startsWith('<') === isLeft;
    if (isUpper) found.before = earlier(found.before, instant);
    else found.since = later(found.since, instant);
  }
  return found;
}

/** Returns the earlier instant. Instants of this form can be compared as texts. */
function earlier(known: string | undefined, instant: string): string {
  return known === undefined || instant < known ? instant : known;
}

function later(known: string | undefined, instant: string): string {
  return known === undefined || instant > known ? instant : known;
}

function isUpdated(node: ASTNode): boolean {
  return (
    node.op === 'call' &&
    node.args[0] === 'timestamp' &&
    nodeText(node.args[1][0]) === 'notification.updated_at'
  );
}

/** Parses `timestamp("…")`, `now`, `now - duration("…")`. */
function instantOfNode(node: ASTNode, now: Date): string | undefined {
  if (nodeText(node) === 'now') return now.toISOString();
  if (node.op === 'call' && node.args[0] === 'timestamp') {
    const at = new Date(literalText(node.args[1][0]) ?? Number.NaN);
    return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
  }
  if (node.op !== '-' || nodeText(node.args[0]) !== 'now') return undefined;
  const length = node.args[1];
  if (length.op !== 'call' || length.args[0] !== 'duration') return undefined;
  const ms = durationMs(literalText(length.args[1][0]) ?? '');
  return ms === undefined ? undefined : new Date(now.getTime() - ms).toISOString();
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function durationMs(written: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(written)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of written.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    sum += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}

function literalText(node: ASTNode | undefined): string | undefined {
  return node?.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

/** Returns a member chain as text, without spaces; empty for other expressions. */
function nodeText(node: ASTNode | undefined): string {
  if (node === undefined) return '';
  if (node.op === 'id') return node.args;
  if (node.op === '.') return `${nodeText(node.args[0])}.${node.args[1]}`;
  return '';
}
