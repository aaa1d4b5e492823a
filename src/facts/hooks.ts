import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Hook } from '../contract/resources/hooks.ts';
import { flag, list } from '../contract/shape.ts';
import { type AskContext, defineFact } from './fact.ts';
import { organizationParams, repositoryParams } from './where.ts';

/**
 * A hook without the value of its authorization header. Some releases return that value, and values of facts may be
 * printed.
 */
export const SeenHook = Hook.omit({ authorization_header: true }).extend({
  has_authorization: flag.optional(),
});
export type SeenHook = z.output<typeof SeenHook>;

/** The hooks of the repository, or of the organization if the subject is an organization. */
export const hooks = defineFact({
  name: 'hooks',
  meaning:
    'The hooks of the repository, or of the organization if that is the subject. `has_authorization` is present if the forge shows that a header is sent; the value of the header never is.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(SeenHook),
  of: ['repository', 'organization'],
  needs: { access: 'admin', scopes: ['repository', 'organization'] },
  requests: 1,
  example: 'hooks.exists(h, h.active && h.config["url"].startsWith("https://ci.example.org/"))',
  complete: completeHooks,
  ask: ({ client, subject }) =>
    seen(
      subject.kind === 'organization'
        ? client.items(operations.listOrganizationHooks, { params: organizationParams(subject) })
        : client.items(operations.listHooks, { params: repositoryParams(subject) }),
    ),
});

/** The hooks of the bot's own account, which receive events of all its repositories. */
export const accountHooks = defineFact({
  name: 'account_hooks',
  meaning: 'The hooks of the bot’s account, which receive events of all repositories that it owns.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(SeenHook),
  of: ['repository', 'organization'],
  needs: { access: 'self', scopes: ['user'] },
  requests: 1,
  example: 'account_hooks.all(h, h.active)',
  complete: completeHooks,
  ask: ({ client }: AskContext) => seen(client.items(operations.listUserHooks, {})),
});

async function seen(pages: AsyncIterable<Hook>): Promise<SeenHook[]> {
  const found: SeenHook[] = [];
  for await (const { authorization_header: header, ...hook } of pages) {
    found.push(header ? { ...hook, has_authorization: true } : hook);
  }
  return found;
}

/** Adds the fields that a facts file may omit, with default values; ids are numbered. */
function completeHooks(written: unknown): unknown {
  if (!Array.isArray(written)) return written;
  return written.map((hook, place) => ({
    id: place + 1,
    type: 'gitea',
    active: true,
    events: ['push'],
    branch_filter: '',
    ...hook,
  }));
}
