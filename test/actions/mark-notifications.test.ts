import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { markNotifications } from '../../src/actions/mark-notifications.ts';
import { createClient } from '../../src/client/client.ts';
import { systemClock } from '../../src/clock.ts';
import { applyPlan } from '../../src/engine/apply.ts';
import { makePlan } from '../../src/engine/plan.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
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

describe('the outcome of the write', () => {
  it.each([
    ['applied', true],
    ['notification:5: the forge took the request, yet the change is not there', false],
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
