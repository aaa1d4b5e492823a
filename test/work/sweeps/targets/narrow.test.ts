import { expect, it } from 'vitest';
import { narrowNotifications } from '../../../../src/work/sweeps/targets/notifications.ts';

const now = new Date('2026-05-04T10:00:00Z');

it.each([
  [undefined, {}],
  ['notification.unread', { 'status-types': ['unread'] }],
  ['!notification.unread && !notification.pinned', { 'status-types': ['read'] }],
  ['notification.pinned == true', { 'status-types': ['pinned'] }],
  ['notification.unread == false', { 'status-types': ['read', 'pinned'] }],
  ['notification.unread || notification.pinned', { all: true }],
  ['notification.subject.type == "Pull"', { 'subject-type': ['pull'] }],
  [
    'notification.subject.type in ["Issue", "Pull"] && notification.unread',
    {
      'status-types': ['unread'],
      'subject-type': ['issue', 'pull'],
    },
  ],
  ['notification.subject.type == "Pull" || now > now', {}],
  ['timestamp(notification.updated_at) < now - duration("24h")', { before: '2026-05-03T10:00:00.000Z' }],
  [
    'timestamp("2026-05-01T00:00:00Z") <= timestamp(notification.updated_at)',
    { since: '2026-05-01T00:00:00.000Z' },
  ],
  ['!(timestamp(notification.updated_at) < now)', {}],
])('narrows the request by what the condition requires: %s', (condition, expected) => {
  expect(narrowNotifications(condition, now)).toEqual(expected);
});
