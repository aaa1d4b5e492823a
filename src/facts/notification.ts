import { operations } from '../contract/operations.ts';
import { NotificationThread } from '../contract/resources/notifications.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';

/** The current state of the notification. In conditions of a sweep it is the listed item. */
export const notification = defineFact({
  name: 'notification',
  meaning:
    'A notification thread of the bot’s account. Conditions read it as listed by the sweep; it is read again before it is marked.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: NotificationThread,
  of: ['notification'],
  needs: { access: 'self', scopes: ['notification'] },
  requests: 1,
  example: 'notification.subject.state in ["closed", "merged"]',
  ask: ({ client, subject }) => {
    if (subject.thread === undefined) throw new ReeveError('internal', `a ${subject.kind} has no thread`);
    return client.call(operations.getNotification, { params: { id: subject.thread } });
  },
});
