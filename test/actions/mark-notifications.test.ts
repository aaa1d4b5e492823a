import { describe, expect, it } from 'vitest';
import { markNotifications } from '../../src/actions/mark-notifications.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type As = 'read' | 'unread' | 'pinned';
const threads = {
  unread: { id: 5, unread: true, pinned: false },
  read: { id: 5, unread: false, pinned: false },
  pinned: { id: 5, unread: false, pinned: true },
};
const subject = { kind: 'notification', thread: 5 } as const;

describe('what is planned', () => {
  const all: readonly As[] = ['read', 'unread', 'pinned'];
  const cases = all.flatMap((from) => all.map((to) => [from, to] as const));

  it.each(cases)('from %s to %s', async (from, to) => {
    const facts = makeFacts({ notification: threads[from] }, { subject });
    const changes = await markNotifications.plan({ as: to }, facts, makeContext());

    expect(changes).toMatchObject([
      {
        target: 'notification:5',
        input: { params: { id: 5 }, query: { 'to-status': to } },
        before: from,
        after: to,
      },
    ]);
    expect(changes[0]?.already ?? false).toBe(from === to);
  });

  it('fails where the thread cannot be read', async () => {
    const facts = makeFacts({ notification: new Error('404') }, { subject });

    await expect(markNotifications.plan({ as: 'read' }, facts, makeContext())).rejects.toThrow('404');
  });
});
