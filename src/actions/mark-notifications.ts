import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { NotificationThread } from '../contract/resources/notifications.ts';
import { requestOf } from '../facts/fact.ts';
import { notification as notificationRow } from '../facts/notification.ts';
import { defineAction } from './action.ts';
import { type ForgeObject, pathParams } from './inverses/forms.ts';
import type { Inverse } from './inverses/inverse.ts';

const MarkNotifications = z.strictObject({
  as: z
    .enum(['read', 'unread', 'pinned'])
    .meta({ description: 'Desired status. Marking a pinned thread as read unpins it.' }),
});
type MarkNotifications = z.output<typeof MarkNotifications>;

const notificationFact = requestOf(notificationRow);

const undoMark: Inverse = async (change, client) => {
  const live = (await client.send(operations.getNotification, { params: pathParams(change) })) as ForgeObject;
  const value = live.pinned ? 'pinned' : live.unread ? 'unread' : 'read';
  const input = { params: pathParams(change), query: { 'to-status': change.before } };
  return { value, undo: () => ({ operation: operations.markNotification, input }) };
};

/**
 * Marks the thread. It is read again before the write, because users read their notifications too, and after it:
 * for most HTTP clients the answer has a status without a body.
 */
export const markNotifications = defineAction<MarkNotifications>({
  name: 'mark-notifications',
  meaning:
    'Marks the notification as read, unread or pinned. Only notifications of the bot’s account, never those of others.',
  example: `uses: mark-notifications
with: { as: read }
`,
  arguments: MarkNotifications,
  of: ['notification'],
  needs: { access: 'self', scopes: ['notification'] },
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: { [operations.markNotification.id]: undoMark },
  adoption: undefined,
  facts: () => [notificationFact],
  async plan(given, facts) {
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

/** A pinned thread is not unread. */
function statusOf({ pinned, unread }: NotificationThread): MarkNotifications['as'] {
  if (pinned) return 'pinned';
  return unread ? 'unread' : 'read';
}
