import { z } from 'zod';
import type { Client } from '../../client/client.ts';
import { namesToSend, shownEvents } from '../../contract/events/hook-events.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Hook } from '../../contract/resources/hooks.ts';
import { type Inverse, isStill } from './inverse.ts';

/**
 * Returns how the creation of a hook is reverted: the hook is found by its URL and deleted. One that replaced another is
 * not deleted: the secret of the other cannot be read, so the other cannot be restored.
 */
export function undoCreateHook(list: Operation, remove: Operation): Inverse {
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

/** State of a hook before an edit, as in plans. */
const Before = z.object({
  events: z.array(z.string()),
  branch_filter: z.string(),
  active: z.boolean(),
  content_type: z.string().nullable(),
  name: z.string().optional(),
});

/**
 * Returns how an edit of a hook is reverted: with its former members. The header stays as edited, because an
 * earlier one cannot be read; if it is a secret, of which only the name is known here, an edit would clear it and none is made.
 */
export function undoEditHook(get: Operation, edit: Operation): Inverse {
  return async ({ input, before, after }, client) => {
    const params = input.params ?? {};
    // The three kinds of hooks have one shape; the kind is known only at run time.
    const hook = (await client.send(get, { params })) as Hook;
    const members = { ...hook, content_type: hook.config?.content_type, events: shownEvents(hook.events) };
    const isSame = isStill(withoutHidden(after), members);
    return {
      value: isSame ? after : members,
      undo: () => {
        const had = Before.safeParse(before);
        if (!had.success) return 'what it was before is not known';
        const sent = (input.body ?? {}) as { authorization_header?: unknown };
        if (sent.authorization_header !== '') {
          return 'it sends a secret as its header, which an edit without the value would clear';
        }
        const { events, content_type, ...rest } = had.data;
        const config = content_type === null ? {} : { config: { content_type } };
        const body = { ...rest, ...config, events: namesToSend(events), authorization_header: '' };
        return { operation: edit, input: { params, body }, except: 'a header it may have sent before' };
      },
    };
  };
}

/** Members of a declaration that a forge never shows. */
function withoutHidden(after: unknown): unknown {
  if (typeof after !== 'object' || after === null) return after;
  return Object.fromEntries(
    Object.entries(after).filter(([name]) => name !== 'authorization' && name !== 'hmac'),
  );
}

/** A hook is deleted only after another one has replaced it: restored, it would deliver in addition to that one, and unsigned. */
export const undoDeleteHook: Inverse = async () => ({
  value: null,
  undo: () => 'another hook has its place, and its own secret cannot be read',
});

/** A test delivery cannot be reverted. */
export const undoTestHook: Inverse = async () => ({
  value: true,
  undo: () => 'what was delivered cannot be called back',
});

async function hooksTo(
  url: string | undefined,
  list: Operation,
  params: Readonly<Record<string, unknown>>,
  client: Client,
): Promise<readonly Hook[]> {
  const found: Hook[] = [];
  // The three lists of hooks have one shape; the kind is known only at run time.
  for await (const hook of client.items(list, { params } as never) as AsyncIterable<Hook>) {
    if (hook.config?.url === url) found.push(hook);
  }
  return found;
}
