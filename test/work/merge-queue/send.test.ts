import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Consequences } from '../../../src/engine/bounds/consequences.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { attemptRequest, runOfAttempt, sendQueueAttempt } from '../../../src/work/merge-queue/send.ts';
import type { QueueAttemptAction } from '../../../src/work/merge-queue/state.ts';

describe('an update sent by a queue', () => {
  it('is recorded as the cause of the events that follow, under the id of the run that records the update', async () => {
    const kept = new Map<string, unknown>();
    const store = {
      isShared: false,
      recall: async (key: string) => kept.get(key),
      revise: async (key: string, edit: (value: unknown) => unknown) => {
        kept.set(key, edit(kept.get(key)));
        return kept.get(key);
      },
    };
    const at = new Date('2026-01-01T00:00:00Z');
    const action: QueueAttemptAction = {
      kind: 'update',
      attempt: {
        kind: 'update',
        number: 7,
        head: 'a'.repeat(40),
        base: 'b'.repeat(40),
        at: at.toISOString(),
        rule: 'rules/a.yml#merge',
      },
    };
    const repository = { id: 5, owner: 'acme', name: 'shop' };
    await sendQueueAttempt(action, {
      client: { send: async () => ({}) } as unknown as Client,
      account: { id: 9 },
      repository,
      base: 'main',
      consequences: new Consequences(store, { ...systemClock, now: () => at }),
      onRefused() {},
    });
    const run = runOfAttempt(action, attemptRequest(action, repository), {
      place: { repositoryId: 5, base: 'main', repository: 'acme/shop' },
      delivery: '1',
      at,
      verdict: undefined,
      requests: 1,
      ms: 1,
    });

    expect([...kept.values()].flat()).toMatchObject([
      { because: { run: run.id, change: run.changes[0]?.id }, causes: { event: 'updated', number: 7 } },
    ]);
  });
});
