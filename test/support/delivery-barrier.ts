import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { startReceiver } from './hook-receiver.ts';

/**
 * A hook of its own on a real server. What the server sends to hooks goes through one queue, so once a test delivery has
 * arrived here, what was queued before it has been sent as well.
 */
export interface DeliveryBarrier {
  /** Asks for a test delivery and waits for it. */
  wait(): Promise<void>;
  close(): Promise<void>;
}

const timeoutMs = 240_000;

/** Makes a repository with a hook as this person, and a receiver for it. */
export async function createDeliveryBarrier(person: Client): Promise<DeliveryBarrier> {
  const receiver = await startReceiver();
  const { login } = await person.call(operations.getSelf, {});
  await person.call(operations.createRepository, { body: { name: 'barrier', auto_init: true } });
  const params = { owner: login, repo: 'barrier' };
  const hook = await person.call(operations.createHook, {
    params,
    body: {
      type: 'gitea',
      active: true,
      // A test is a push: a hook that does not hear pushes would stay silent.
      events: ['push'],
      config: { url: receiver.url, content_type: 'json' },
    },
  });
  return {
    async wait() {
      const before = receiver.received.length;
      await person.call(operations.testHook, { params: { ...params, id: hook.id } });
      const deadline = performance.now() + timeoutMs;
      while (receiver.received.length === before) {
        if (performance.now() > deadline) throw new Error('the server sent no test delivery');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    close: () => receiver.close(),
  };
}
