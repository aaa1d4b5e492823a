import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { markNotifications } from '../../src/actions/mark-notifications.ts';
import { createClient } from '../../src/client/client.ts';
import { applyPlan } from '../../src/engine/apply.ts';
import { makePlan } from '../../src/engine/plan.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { json, startBareServer } from '../support/bare-server.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type As = 'read' | 'unread' | 'pinned';
const threads = {
  unread: { id: 5, unread: true, pinned: false },
  read: { id: 5, unread: false, pinned: false },
  pinned: { id: 5, unread: false, pinned: true },
};
const subject = { kind: 'notification', thread: 5 } as const;

describe('the plan', () => {
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

  it('fails if the thread cannot be read', async () => {
    const facts = makeFacts({ notification: new Error('404') }, { subject });

    await expect(markNotifications.plan({ as: 'read' }, facts, makeContext())).rejects.toThrow('404');
  });
});

describe('all threads', () => {
  const at = '2026-03-01T12:00:00Z';
  const plan = (given: object, kind: 'repository' | 'notification', unread = 3, instant = at) => {
    const facts = makeFacts({ unread_notifications: { [instant]: unread } }, { subject: { kind } });
    return markNotifications.plan({ as: 'read', all: true, ...given }, facts, makeContext());
  };

  it('are those of the repository, up to now', async () => {
    expect(await plan({}, 'repository')).toMatchObject([
      {
        operation: 'repository.mark-notifications',
        input: {
          params: { owner: 'acme', repo: 'site' },
          query: { last_read_at: at, 'status-types': ['unread'], 'to-status': 'read' },
        },
        target: 'notifications:acme/site',
        reason: '3 are unread',
        verify: true,
      },
    ]);
  });

  it('are those of the account, up to a given time', async () => {
    const until = '2026-02-01T01:00:00.5+01:00';
    const [change] = await plan({ until }, 'notification', 1, '2026-02-01T00:00:00Z');

    expect(change).toMatchObject({ operation: 'notification.mark-all', target: 'notifications' });
    expect(change?.input.query).toMatchObject({ last_read_at: '2026-02-01T00:00:00Z' });
  });

  it('are left unchanged if none is unread', async () => {
    expect(await plan({}, 'repository', 0)).toMatchObject([{ already: true }]);
  });

  it.each([
    ['a text that is not a time', { until: 'yesterday' }, '"yesterday" is not an RFC 3339 time'],
    ['a repository without `all`', { all: undefined }, 'a repository has no thread of its own'],
  ])('fail for %s', async (_title, given, words) => {
    await expect(plan(given, 'repository')).rejects.toThrow(words);
  });
});

describe('the outcome of the write', () => {
  it.each([
    ['applied', true],
    ['notification:5: the forge accepted the request, but the change is missing', false],
  ])('%s', async (expected, obeys) => {
    let thread: object = threads.unread;
    const server = await startBareServer(({ method }, response) => {
      if (method === 'PATCH' && obeys) thread = threads.read;
      if (method === 'PATCH') response.writeHead(205).end();
      else json(response, thread);
    });
    try {
      const client = createClient({ url: server.url });
      const facts = createFacts({
        client,
        subject,
        memory: createFactMemory(systemClock),
        clock: systemClock,
      });
      const [given, context] = [{ as: 'read' as const }, makeContext()];
      const changes = await markNotifications.plan(given, facts, context);
      const rule = { id: 'r', name: 'r', level: 'operator', limits: {} } as unknown as LoadedRule;
      const action = markNotifications as Action;
      const { changes: planned } = makePlan([
        { rule, step: '1', action, arguments: given, context, changes },
      ]);

      const { outcomes } = await applyPlan({ changes: planned, facts, client });

      expect(outcomes.map(({ status, error }) => error ?? status)).toEqual([expected]);
    } finally {
      await server.close();
    }
  });
});
