import { randomUUID } from 'node:crypto';
import { createGlob, GlobError } from '../../patterns/glob.ts';
import type { Emission, Emit, ForgeContext } from '../platform/context.ts';
import { secondsOf } from '../platform/time.ts';
import type { HookRow } from './hooks-rows.ts';

/** Values of the `Event` header that differ from the event type, because they are broader or have another name. */
const eventNames: Readonly<Record<string, string>> = {
  issue_assign: 'issues',
  issue_label: 'issues',
  issue_milestone: 'issues',
  pull_request_assign: 'pull_request',
  pull_request_label: 'pull_request',
  pull_request_milestone: 'pull_request',
  pull_request_sync: 'pull_request',
  pull_request_review_request: 'pull_request',
  pull_request_comment: 'issue_comment',
  pull_request_review_approved: 'pull_request_approved',
  pull_request_review_rejected: 'pull_request_rejected',
  pull_request_review_comment: 'pull_request_comment',
};

/** Event types to which the branch filter applies; others are never filtered. */
const filtered: ReadonlySet<string> = new Set(['push', 'create', 'delete']);
/** Gitea indents the payloads of these two events by one space, all others by two. */
const narrow: ReadonlySet<string> = new Set(['repository', 'wiki']);

/** Returns the value of the `X-Gitea-Event` header for an event type. */
function eventNameOf(type: string): string {
  return eventNames[type] ?? type;
}

/** Formats a payload as the text to send and sign. */
export function formatEventPayload(type: string, payload: object): string {
  return JSON.stringify(payload, null, narrow.has(type) ? 1 : 2);
}

const hooksOf = /* sql */ `
SELECT * FROM (SELECT *, 0 AS level FROM hooks WHERE repo_id = ?1
  UNION ALL SELECT *, 1 FROM hooks WHERE owner_id = ?2
  UNION ALL SELECT *, 2 FROM hooks WHERE repo_id IS NULL AND owner_id IS NULL AND is_system = 1)
WHERE is_active = 1 ORDER BY level, id`;

/**
 * Creates `emit`, which builds the payload once for all subscribed hooks, at the time of the event: later changes do
 * not alter it. Calls `wake` after the commit.
 */
export function createEmit(context: Pick<ForgeContext, 'db' | 'clock'>, wake: () => void): Emit {
  const { db } = context;
  return (emission) => {
    const hooks = db
      .all<HookRow>(hooksOf, emission.repository?.id ?? 0, emission.owner.id)
      .filter((hook) => wants(hook, emission));
    if (hooks.length === 0) return;
    const text = formatEventPayload(emission.type, emission.payload());
    for (const hook of hooks) queueDelivery(context, hook.id, emission.type, text);
    db.afterCommit(wake);
  };
}

/** Queues one payload for one hook, regardless of its subscriptions; returns the delivery's id. */
export function queueDelivery(
  { db, clock }: Pick<ForgeContext, 'db' | 'clock'>,
  hookId: number,
  type: string,
  text: string,
): string {
  const uuid = randomUUID();
  db.run(
    'INSERT INTO hook_tasks (uuid, hook_id, event_type, event, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    uuid,
    hookId,
    type,
    eventNameOf(type),
    text,
    secondsOf(clock()),
  );
  return uuid;
}

/** Returns whether a hook subscribes to an event and its branch filter matches. */
export function wants(
  hook: Pick<HookRow, 'events' | 'branch_filter'>,
  { type, ref }: Pick<Emission, 'type' | 'ref'>,
): boolean {
  // The cast is safe: the handlers of hook operations write this column.
  const events = JSON.parse(hook.events) as string[];
  const subscription = /^pull_request_review_(approved|rejected|comment)$/.test(type)
    ? 'pull_request_review'
    : type;
  if (!events.includes(type) && !events.includes(subscription)) return false;
  return !filtered.has(type) || ref === undefined || passesFilter(hook.branch_filter, ref);
}

/**
 * Returns whether the filter matches the complete short branch name or the full ref; a tag has only its full ref. `*`
 * matches slashes.
 */
function passesFilter(filter: string, ref: string): boolean {
  if (filter === '' || filter === '*' || filter === '**') return true;
  try {
    // The forge's globs do not support a leading "!".
    const matches = createGlob(filter.replace(/^!/, '\\!'), { separator: '', strict: false });
    return matches(ref) || (ref.startsWith('refs/heads/') && matches(ref.slice('refs/heads/'.length)));
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}
