import { z } from 'zod';
import { capabilityOfEvent } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import { namesToSend, shownEvents } from '../contract/events/hook-events.ts';
import type { Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { Hook } from '../contract/resources/hooks.ts';
import type { Facts } from '../facts/fact.ts';
import { type Adopted, type AdoptedPlace, defineAction, readAll } from './action.ts';
import type { Change } from './change.ts';
import {
  type Declared,
  differing,
  fingerprintSecrets,
  type Held,
  hookCreation,
  hookEdit,
  hookPlace,
  hookRemoval,
  recallHook,
  rememberHook,
  replacedBy,
  type Situation,
  SyncHooks,
  testChange,
} from './hook-changes.ts';
import { type Inverse, isStill } from './inverses.ts';

/**
 * Returns the inverse of the creation of a hook: finds the hook by its URL and deletes it. A hook that replaced another
 * hook is not deleted: the secret of the replaced hook cannot be read, so the replaced hook cannot be restored.
 */
function undoCreateHook(list: Operation, remove: Operation): Inverse {
  return async ({ input, before, after }, client) => {
    const { config } = (input.body ?? {}) as { config?: { url?: string } };
    const found = await hooksTo(config?.url, list, input.params ?? {}, client);
    const [hook] = found;
    if (hook === undefined) return { value: null, undo: () => 'it is gone' };
    const live = { events: shownEvents(hook.events), active: hook.active ?? false };
    return {
      value: typeof after === 'object' && after !== null ? { ...after, ...live } : live,
      undo: () => {
        if (before !== null)
          return 'the hook that it replaced is gone, and the secret of that hook cannot be read';
        if (found.length > 1) return 'there are several hooks to this url now';
        return { operation: remove, input: { params: { ...input.params, id: hook.id } } };
      },
    };
  };
}

/** State of a hook before an edit, in the form used by plans. */
const Before = z.object({
  events: z.array(z.string()),
  branch_filter: z.string(),
  active: z.boolean(),
  content_type: z.string().nullable(),
  name: z.string().optional(),
});

/**
 * Returns the inverse of an edit of a hook: restores the former fields. The header stays as edited, because an earlier
 * header cannot be read. If the edit set a secret header, the edit cannot be reverted: only the secret's name is known
 * here, and a request without its value would clear the header.
 */
function undoEditHook(get: Operation, edit: Operation): Inverse {
  return async ({ input, before, after }, client) => {
    const params = input.params ?? {};
    // The cast is safe: the three kinds of hooks have the same shape; the kind is known only at run time.
    const hook = (await client.send(get, { params })) as Hook;
    const members = { ...hook, content_type: hook.config?.content_type, events: shownEvents(hook.events) };
    const isSame = isStill(withoutHidden(after), members);
    return {
      value: isSame ? after : members,
      undo: () => {
        const had = Before.safeParse(before);
        if (!had.success) return 'the former state of the hook is unknown';
        const sent = (input.body ?? {}) as { authorization_header?: unknown };
        if (sent.authorization_header !== '') {
          return 'the hook sends a secret as its header, and an edit without the value would clear it';
        }
        const { events, content_type, ...rest } = had.data;
        const config = content_type === null ? {} : { config: { content_type } };
        const body = { ...rest, ...config, events: namesToSend(events), authorization_header: '' };
        return {
          operation: edit,
          input: { params, body },
          except: 'a header that the hook may have sent before',
        };
      },
    };
  };
}

/** Returns a declaration without the fields that a forge never shows. */
function withoutHidden(after: unknown): unknown {
  if (typeof after !== 'object' || after === null) return after;
  return Object.fromEntries(
    Object.entries(after).filter(([name]) => name !== 'authorization' && name !== 'hmac'),
  );
}

/**
 * The deletion of a hook is never reverted: a hook is deleted only after another hook has replaced it. A restored hook
 * would deliver in addition to its replacement, and without signature.
 */
const undoDeleteHook: Inverse = async () => ({
  value: null,
  undo: () => 'another hook has replaced it, and the secret of the deleted hook cannot be read',
});

const undoTestHook: Inverse = async () => ({
  value: true,
  undo: () => 'a test delivery cannot be reverted',
});

async function hooksTo(
  url: string | undefined,
  list: Operation,
  params: Readonly<Record<string, unknown>>,
  client: Client,
): Promise<readonly Hook[]> {
  const found: Hook[] = [];
  // The cast is safe: the three lists of hooks have the same shape; the kind is known only at run time.
  for await (const hook of client.items(list, { params } as never) as AsyncIterable<Hook>) {
    if (hook.config?.url === url) found.push(hook);
  }
  return found;
}

/**
 * Keeps each hook as declared. The URL identifies a hook; an edit always contains events, filter and header, because
 * the forge resets omitted ones. A secret cannot be edited: a new hook is created and tested, and the old one is
 * deleted.
 */
export const syncHooks = defineAction<z.output<typeof SyncHooks>>({
  name: 'sync-hooks',
  meaning:
    'Keeps the declared hooks of the repository, of the organization if that is the subject, or of the account; other hooks are left unchanged. Secrets are referred to by name, and their values are never written to files, logs or records. A new value of `hmac` creates a new hook, tests it, and deletes the old one. A forge hides the header of a hook: if an edit would clear an undeclared header, the step fails with that reason.',
  example: `uses: sync-hooks
with:
  hooks:
    - url: https://ci.example.org/hook
      events: [push, pull_request]
      branch_filter: "{main,release/*}"
      authorization: { secret: CI_HEADER }
      hmac: { secret: CI_SIGNATURE }
`,
  arguments: SyncHooks,
  of: ['repository', 'organization'],
  needs: { access: 'admin', scopes: ['repository'] },
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: {
    [operations.createHook.id]: undoCreateHook(operations.listHooks, operations.deleteHook),
    [operations.createOrganizationHook.id]: undoCreateHook(
      operations.listOrganizationHooks,
      operations.deleteOrganizationHook,
    ),
    [operations.createUserHook.id]: undoCreateHook(operations.listUserHooks, operations.deleteUserHook),
    [operations.editHook.id]: undoEditHook(operations.getHook, operations.editHook),
    [operations.editOrganizationHook.id]: undoEditHook(
      operations.getOrganizationHook,
      operations.editOrganizationHook,
    ),
    [operations.editUserHook.id]: undoEditHook(operations.getUserHook, operations.editUserHook),
    [operations.deleteHook.id]: undoDeleteHook,
    [operations.deleteOrganizationHook.id]: undoDeleteHook,
    [operations.deleteUserHook.id]: undoDeleteHook,
    [operations.testHook.id]: undoTestHook,
  },
  adoption: { what: 'hooks', read: adoptHooks },
  requires: {
    'hooks.name': 'hook_names',
    ...Object.fromEntries(
      Object.entries(capabilityOfEvent).map(([event, needed]) => [`hooks.events=${event}`, needed]),
    ),
  },
  examine: (written) =>
    written.hooks.flatMap(({ url }, place) =>
      written.hooks.findIndex((one) => one.url === url) === place
        ? []
        : [{ path: ['hooks', place, 'url'], message: 'this url is listed twice in this step' }],
    ),
  facts: (given) => [{ name: given['of-account'] ? 'account_hooks' : 'hooks' }],
  async plan(given, facts, context) {
    const place = hookPlace(given['of-account'], facts);
    const live = await facts.ask(place.fact);
    const changes: Change[] = [];
    for (const wanted of given.hooks) {
      const there = live.filter((hook) => hook.config?.url === wanted.url);
      const held = await Promise.all(
        there.map(
          async (hook): Promise<Held> => ({ hook, known: await recallHook(context.memory, hook.id) }),
        ),
      );
      const prints = fingerprintSecrets(wanted, context);
      const situation = { wanted, prints, place, isBlind: context.secrets === undefined };
      changes.push(...(await planHook(situation, held, facts)));
    }
    return changes;
  },
  confirm(change, answer) {
    const answered = Hook.safeParse(answer);
    if (!answered.success || !isDeclared(change.value)) return undefined;
    const lost = differing(change.value, answered.data);
    return lost.length === 0 ? undefined : `the forge did not accept ${lost.join(', ')} of the hook`;
  },
  async remember(change, answer, { memory, ...context }) {
    const answered = Hook.safeParse(answer);
    if (!answered.success || !isDeclared(change.value)) return;
    const prints = fingerprintSecrets(change.value, { memory, ...context });
    if (change.stage !== 0) {
      const known = await recallHook(memory, answered.data.id);
      return rememberHook(memory, answered.data.id, {
        ...known,
        authorization: prints.authorization ?? known?.authorization,
      });
    }
    await rememberHook(memory, answered.data.id, {
      authorization: 'none',
      ...prints,
      replaces: replacedBy(change),
    });
  },
});

async function planHook(
  situation: Situation,
  held: readonly Held[],
  facts: Facts,
): Promise<readonly Change[]> {
  const { prints, isBlind } = situation;
  const replaced = new Set(held.flatMap(({ known }) => known?.replaces ?? []));
  const leftovers = held.filter(({ hook }) => replaced.has(hook.id));
  const current = pick(
    held.filter(({ hook }) => !replaced.has(hook.id)),
    situation.wanted.url,
  );
  if (current === undefined) return [hookCreation(situation, [])];
  const isOther = !isBlind && prints.hmac !== undefined && prints.hmac !== current.known?.hmac;
  const leaving = isOther ? [current, ...leftovers] : leftovers;
  const first = isOther ? hookCreation(situation, leaving) : hookEdit(situation, current);
  if (leaving.length === 0) return [first];
  // The id of a hook is unknown until the hook is created; the new plan before the test contains the id.
  const testing = await testChange(situation, isOther ? 0 : current.hook.id, facts);
  const after = [...testing, ...leaving.map((old) => hookRemoval(situation, old))];
  return [first, ...(isOther ? after.map((change) => ({ ...change, needs: first.target })) : after)];
}

/**
 * Returns the current hook. If several hooks have the same URL, returns the hook that Reeve wrote; if that does not
 * identify one hook, throws.
 */
function pick(held: readonly Held[], url: string): Held | undefined {
  if (held.length <= 1) return held[0];
  const [own, ...others] = held.filter(({ known }) => known);
  if (own && others.length === 0) return own;
  throw new Error(
    `there are ${held.length} hooks to ${url}, and each of them delivers events: delete all but one`,
  );
}

function isDeclared(value: unknown): value is Declared {
  return typeof value === 'object' && value !== null && 'events' in value;
}

/**
 * Returns the arguments of `sync-hooks` for the live hooks. Secrets cannot be read, so the arguments do not contain
 * them; an edit that would clear a header fails.
 */
async function adoptHooks(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  const live = await readAll(
    repo === undefined
      ? client.items(operations.listOrganizationHooks, { params: { org: owner } })
      : client.items(operations.listHooks, { params: { owner, repo } }),
  );
  const hooks: Readonly<Record<string, unknown>>[] = [];
  const left: string[] = [];
  for (const hook of live) {
    const declaration = declarationOf(hook);
    if (declaration !== undefined) hooks.push(declaration);
    else left.push(`hook ${hook.id}: rules cannot declare hooks of the type ${hook.type ?? 'unknown'}`);
  }
  return hooks.length === 0 ? { left } : { arguments: { hooks }, left };
}

/** Returns the declaration of a hook; undefined if `sync-hooks` cannot express it. */
function declarationOf(hook: Hook): Readonly<Record<string, unknown>> | undefined {
  const { url, content_type } = hook.config ?? {};
  if (hook.type !== 'gitea' || url === undefined || hook.events.length === 0) return undefined;
  return {
    url,
    events: hook.events.toSorted(),
    ...(hook.branch_filter && hook.branch_filter !== '*' ? { branch_filter: hook.branch_filter } : {}),
    ...(hook.active === false ? { active: false } : {}),
    ...(content_type === 'form' ? { content_type } : {}),
  };
}
