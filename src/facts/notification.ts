import { operations } from '../contract/operations.ts';
import { NotificationThread } from '../contract/resources/notifications.ts';
import { ReeveError } from '../errors.ts';
import { defineFact } from './fact.ts';

/** The notification as it is now. In conditions of a sweep it is the item as it was listed. */
export const notification = defineFact({
  name: 'notification',
  meaning:
    'A thread of the account’s own notifications. Conditions see it as the sweep listed it; before it is marked it is read again.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: NotificationThread,
  of: ['notification'],
  requests: 1,
  example: 'notification.subject.state in ["closed", "merged"]',
  ask: ({ client, subject }) => {
    if (subject.thread === undefined) throw new ReeveError('internal', `a ${subject.kind} has no thread`);
    return client.call(operations.getNotification, { params: { id: subject.thread } });
  },
});
