import type { Client } from '../client/client.ts';
import { shownEvents } from '../contract/hook-events.ts';
import type { Hook } from '../contract/hooks.ts';
import type { Operation } from '../contract/operation.ts';
import type { Inverse } from './inverse.ts';

/**
 * Returns how a hook that was made is taken back: it is removed, found by its url. One that took the place of another is
 * not: the secret of the other cannot be read, and so it cannot be made again. Nor can an edit: it would clear a header.
 */
export function madeHook(list: Operation, remove: Operation): Inverse {
  return async ({ input, before, after }, client) => {
    const { config } = (input.body ?? {}) as { config?: { url?: string } };
    const found = await hooksTo(config?.url, list, input.params ?? {}, client);
    const [hook] = found;
    if (hook === undefined) return { value: null, undo: () => 'it is gone' };
    const live = { events: shownEvents(hook.events), active: hook.active ?? false };
    return {
      value: typeof after === 'object' && after !== null ? { ...after, ...live } : live,
      undo: () => {
        if (before !== null) return 'the hook whose place it took is gone, and its secret cannot be read';
        if (found.length > 1) return 'there are several hooks to this url now';
        return { operation: remove, input: { params: { ...input.params, id: hook.id } } };
      },
    };
  };
}

async function hooksTo(
  url: string | undefined,
  list: Operation,
  params: Readonly<Record<string, unknown>>,
  client: Client,
): Promise<readonly Hook[]> {
  const found: Hook[] = [];
  // The three lists of hooks have one shape; which one it is, is known at run time only.
  for await (const hook of client.items(list, { params } as never) as AsyncIterable<Hook>) {
    if (hook.config?.url === url) found.push(hook);
  }
  return found;
}
