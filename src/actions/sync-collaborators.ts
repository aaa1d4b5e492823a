import { z } from 'zod';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { collaboratorPermissions } from '../facts/collaborators.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { repositoryParams } from '../facts/where.ts';
import { type Adopted, type AdoptedPlace, defineAction, readAll } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams, readItems } from './inverses.ts';
import { forgetDropped, isKnownDropped, rememberDropped, toLowerCase } from './names.ts';
import type { PlanContext } from './plan-context.ts';

const permissions = ['read', 'write', 'admin'] as const;
const CollaboratorForm = z.strictObject({
  login: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\w.-]+$/, 'name a user'),
  permission: z.enum(permissions).meta({ description: 'Access of the user to the repository.' }),
});
type CollaboratorForm = z.output<typeof CollaboratorForm>;

const SyncCollaborators = z.strictObject({
  collaborators: z.array(CollaboratorForm).min(1).max(200),
  prune: z.boolean().optional().meta({
    description: 'Removes all other collaborators, at most 5 or a quarter of them in one run. Default false.',
  }),
});
type SyncCollaborators = z.output<typeof SyncCollaborators>;

const collaboratorsFact = requestOf(collaboratorPermissions);
type HeldPermission = { readonly id: number; readonly login: string; readonly permission: string };

const undoCollaborator: Inverse = async (change, client) => {
  const params = pathParams(change);
  const login = toLowerCase(params.collaborator);
  const { collaborator: _collaborator, ...where } = params;
  const live = await readItems(client, operations.listCollaborators, { params: where });
  const isThere = live.some((one) => toLowerCase(one.login) === login);
  const answer = isThere
    ? await client.call(operations.getPermission, { params: params as never })
    : undefined;
  const { before } = change;
  return {
    value: answer?.permission ?? null,
    undo: () =>
      before === null
        ? { operation: operations.deleteCollaborator, input: { params } }
        : { operation: operations.putCollaborator, input: { params, body: { permission: asGiven(before) } } },
  };
};

/** Keeps the access of collaborators. Reeve's own account is never changed, because the bot would lock itself out. */
export const syncCollaborators = defineAction<SyncCollaborators>({
  name: 'sync-collaborators',
  meaning:
    'Keeps these users as collaborators of the repository, with this access. Other collaborators are removed only with `prune`. Reeve’s own account is never changed, and access through teams is left as it is. Forges send no events for collaborators: use a schedule.',
  example: `uses: sync-collaborators
with:
  collaborators:
    - { login: ada, permission: admin }
    - { login: release-bot, permission: write }
`,
  arguments: SyncCollaborators,
  of: ['repository'],
  needs: { access: 'admin', scopes: ['repository'] },
  describesState: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'administrators',
  inverses: {
    [operations.putCollaborator.id]: undoCollaborator,
    [operations.deleteCollaborator.id]: undoCollaborator,
  },
  adoption: { what: 'collaborators', read: adoptCollaborators },
  examine: ({ collaborators }) => {
    const logins = collaborators.map(({ login }) => toLowerCase(login));
    return logins.flatMap((login, place) =>
      logins.indexOf(login) === place
        ? []
        : [{ path: ['collaborators', place, 'login'], message: `the user "${login}" is listed twice` }],
    );
  },
  facts: () => [collaboratorsFact],
  async plan({ collaborators, prune }, facts, context) {
    const live = await facts.ask(collaboratorsFact);
    const changes: Change[] = [];
    for (const wanted of collaborators) {
      const held = live.find(({ login }) => toLowerCase(login) === toLowerCase(wanted.login));
      changes.push(await accessChange(wanted, held, facts, context));
    }
    if (!prune) return changes;
    const named = new Set(collaborators.map(({ login }) => toLowerCase(login)));
    const others = live.filter(
      ({ login, id }) => !named.has(toLowerCase(login)) && id !== context.account?.id,
    );
    return [...changes, ...others.map((held) => collaboratorRemoval(held, live.length, facts))];
  },
  // A user may have more access through a team. The collaborator's own permission cannot be read back in that case, so
  // it is recorded to avoid setting it on every run.
  async remember({ value, before, input }, _answer, context) {
    if (value !== null) await rememberDropped(memoryKey(input.params), value, before, context);
  },
});

function memoryKey(params: Readonly<Record<string, unknown>> = {}): string {
  return `collaborator ${[params.owner, params.repo, params.collaborator].map(toLowerCase).join('/')}`;
}

async function accessChange(
  { login, permission }: CollaboratorForm,
  held: HeldPermission | undefined,
  facts: Facts,
  context: PlanContext,
): Promise<Change> {
  const params = { ...repositoryParams(facts.subject), collaborator: login };
  const before = held?.permission ?? null;
  const change = {
    action: 'sync-collaborators',
    operation: operations.putCollaborator.id,
    input: { params, body: { permission } },
    target: `collaborator:${toLowerCase(login)}`,
    value: permission,
    before,
    after: permission,
    reads: [collaboratorsFact],
  };
  if (before === permission) {
    await forgetDropped(memoryKey(params), context);
    return { ...change, already: true, reason: 'already in the desired state' };
  }
  if (before === null) return { ...change, reason: 'the user is not a collaborator' };
  if (held?.id === context.account?.id) {
    return { ...change, already: true, reason: 'this is the account of Reeve, which is never changed' };
  }
  if (isMore(before, permission) && (await isKnownDropped(memoryKey(params), permission, before, context))) {
    const reason = `the user was given ${permission} access, and has ${before} access through a team or as an owner`;
    return { ...change, already: true, reason };
  }
  return { ...change, reason: `the user has ${before} access` };
}

function collaboratorRemoval({ login, permission }: HeldPermission, there: number, facts: Facts): Change {
  return {
    action: 'sync-collaborators',
    operation: operations.deleteCollaborator.id,
    input: { params: { ...repositoryParams(facts.subject), collaborator: login } },
    target: `collaborator:${toLowerCase(login)}`,
    value: null,
    before: permission,
    after: null,
    reason: 'the rule does not list the user, and prune is set',
    removes: { from: 'collaborators', there },
    reads: [collaboratorsFact],
    stage: 2,
  };
}

/** Returns whether the effective access is at least the wanted one, through a team or ownership. */
function isMore(before: string, wanted: (typeof permissions)[number]): boolean {
  return permissions.indexOf(asGiven(before)) >= permissions.indexOf(wanted);
}

/**
 * Returns the permission to give a collaborator: `admin` for an owner, because a collaborator cannot be given owner
 * access.
 */
function asGiven(permission: unknown): (typeof permissions)[number] {
  return permissions.find((one) => one === permission) ?? 'admin';
}

async function adoptCollaborators(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo === undefined) return {};
  const users = await readAll(client.items(operations.listCollaborators, { params: { owner, repo } }));
  const collaborators: CollaboratorForm[] = [];
  for (const { login } of users) {
    const { permission } = await client.call(operations.getPermission, {
      params: { owner, repo, collaborator: login },
    });
    collaborators.push({ login, permission: asGiven(permission) });
  }
  return collaborators.length === 0 ? {} : { arguments: { collaborators } };
}
