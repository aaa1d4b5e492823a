import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { NotificationThread } from '../contract/resources/notifications.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { notification as notificationRow, unreadNotifications } from '../facts/notification.ts';
import { repositoryParams } from '../facts/where.ts';
import { defineAction, template } from './action.ts';
import type { Change } from './change.ts';
import { type ForgeObject, type Inverse, pathParams } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';

const MarkNotifications = z
  .strictObject({
    as: z
      .enum(['read', 'unread', 'pinned'])
      .meta({ description: 'Desired status. Marking a pinned thread as read unpins it.' }),
    all: z.literal(true).optional().meta({
      description:
        'Marks all unread threads as read with one request: those of the repository; for a notification, all of the account. Pinned ones are left unchanged.',
    }),
    until: template().min(1).max(50).optional().meta({
      description:
        'With `all`: only threads that last changed at this RFC 3339 time or before. Default: now.',
    }),
  })
  .refine((given) => !given.all || given.as === 'read', { message: 'all requires as: read' })
  .refine((given) => given.until === undefined || given.all, { message: 'until requires all: true' });
type MarkNotifications = z.output<typeof MarkNotifications>;

const notificationFact = requestOf(notificationRow);

/** The forge does not record which threads were unread before they were marked. */
const undoMarkAll: Inverse = async (change) => ({
  value: change.after,
  undo: () => 'it is no longer known which threads were unread',
});

const undoMark: Inverse = async (change, client) => {
  const live = (await client.send(operations.getNotification, { params: pathParams(change) })) as ForgeObject;
  const value = live.pinned ? 'pinned' : live.unread ? 'unread' : 'read';
  const input = { params: pathParams(change), query: { 'to-status': change.before } };
  return { value, undo: () => ({ operation: operations.markNotification, input }) };
};

/**
 * Marks the thread, or all unread threads. They are read again before the write, because a person may have read them in
 * the meantime, and after the write, because most HTTP clients drop the body of the forge's response (status 205).
 */
export const markNotifications = defineAction<MarkNotifications>({
  name: 'mark-notifications',
  meaning:
    'Marks the notification as read, unread or pinned; with `all`, every unread notification of the repository, or of the account, as read. Only notifications of the bot’s account, never those of others.',
  example: `uses: mark-notifications
with: { as: read }
`,
  arguments: MarkNotifications,
  of: ['notification', 'repository'],
  needs: { access: 'self', scopes: ['notification'] },
  describesState: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'administrators',
  inverses: {
    [operations.markNotification.id]: undoMark,
    [operations.markNotifications.id]: undoMarkAll,
    [operations.markRepositoryNotifications.id]: undoMarkAll,
  },
  adoption: undefined,
  facts: ({ all }) => (all ? [] : [notificationFact]),
  async plan(given, facts, context) {
    if (given.all) return [await bulkChange(given, facts, context)];
    if (facts.subject.kind !== 'notification')
      throw new Error('a repository has no thread of its own: set all: true');
    const thread = await facts.ask(notificationFact);
    const before = statusOf(thread);
    const isUpToDate = before === given.as;
    return [
      {
        action: 'mark-notifications',
        operation: operations.markNotification.id,
        input: { params: { id: thread.id }, query: { 'to-status': given.as } },
        target: `notification:${thread.id}`,
        value: given.as,
        before,
        after: given.as,
        reason: isUpToDate ? 'already in the desired state' : `the rule marks it as ${given.as}`,
        reads: [notificationFact],
        verify: true,
        ...(isUpToDate && { already: true }),
      },
    ];
  },
});

/** Plans one request that marks all threads; no request is sent if no thread is unread. */
async function bulkChange({ until }: MarkNotifications, facts: Facts, { now }: PlanContext): Promise<Change> {
  const ms = until === undefined ? now.getTime() : Date.parse(until);
  if (Number.isNaN(ms)) throw new Error(`"${until}" is not an RFC 3339 time`);
  // Forges compare times in whole seconds.
  const last_read_at = new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  const fact = requestOf(unreadNotifications, last_read_at);
  const unread = await facts.ask(fact);
  const query = { last_read_at, 'status-types': ['unread'], 'to-status': 'read' };
  const ofRepository = facts.subject.kind === 'repository';
  const { owner, repo } = ofRepository ? repositoryParams(facts.subject) : { owner: '', repo: '' };
  return {
    action: 'mark-notifications',
    operation: (ofRepository ? operations.markRepositoryNotifications : operations.markNotifications).id,
    input: ofRepository ? { params: { owner, repo }, query } : { query },
    target: ofRepository ? `notifications:${owner}/${repo}` : 'notifications',
    value: { unread: 0, until: last_read_at },
    before: { unread, until: last_read_at },
    after: { unread: 0, until: last_read_at },
    reason: unread === 0 ? 'nothing is unread' : `${unread} are unread`,
    reads: [fact],
    verify: true,
    ...(unread === 0 && { already: true }),
  };
}

/** Returns the status of a thread. A pinned thread does not count as unread. */
function statusOf({ pinned, unread }: NotificationThread): MarkNotifications['as'] {
  if (pinned) return 'pinned';
  return unread ? 'unread' : 'read';
}
