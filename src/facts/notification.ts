import { operations } from '../contract/operations.ts';
import { NotificationThread } from '../contract/resources/notifications.ts';
import { int } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** The current state of the notification; in conditions of a sweep, the listed item. */
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

/** The number of unread notifications of the account, up to a given time. */
export const unreadNotifications = defineFact({
  name: 'unread_notifications',
  meaning:
    'The number of unread notifications of the bot’s account that last changed at this instant or before: those of the repository; for a notification, all of the account.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: int,
  of: ['repository', 'notification'],
  needs: { access: 'self', scopes: ['notification'] },
  argument: 'RFC 3339 time',
  requests: 1,
  example: 'unread_notifications("2026-12-31T00:00:00Z") > 100',
  async ask({ client, subject }, before = '') {
    const query = { 'status-types': ['unread'], before, limit: 1, page: 1 };
    const pages =
      subject.kind === 'repository'
        ? client.pages(operations.listRepositoryNotifications, { params: repositoryParams(subject), query })
        : client.pages(operations.listNotifications, { query });
    for await (const { total, items } of pages) return total ?? items.length;
    return 0;
  },
});
