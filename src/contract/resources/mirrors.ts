import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, codeAs, repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** A remote to which a repository is pushed. */
export const PushMirror = resource(
  { remote_name: text },
  {
    repo_name: text,
    /** URL without credentials. */
    remote_address: text,
    created: instant,
    /** The Unix epoch if the mirror has never been updated. */
    last_update: instant,
    /** Error of the last push; empty if it succeeded. */
    last_error: text,
    /** Go duration, for example `8h0m0s`; `0s` means only on demand. */
    interval: text,
    sync_on_commit: flag,
  },
);
export type PushMirror = z.output<typeof PushMirror>;

const path = '/repos/{owner}/{repo}/push_mirrors';
const byName = z.object({ ...inRepository, name: text });
const inFile = 'routers/api/v1/repo/mirror.go';

/** Mirrors and migrations: copies of repositories to and from other servers. */
export const mirrorOperations = {
  migrateRepository: defineOperation({
    id: 'repository.migrate',
    meaning:
      'Copies a repository from a git address (HTTP or HTTPS); `mirror` keeps it up to date. Hosts in local networks are refused unless the instance allows them. The embedded forge copies branches and tags, and supports the service `git` alone.',
    method: 'POST',
    path: '/repos/migrate',
    ...callerAs('signed-in'),
    scopes: ['repository'],
    body: z.strictObject({
      clone_addr: text,
      repo_name: text,
      /** Account or organization of the new repository. */
      repo_owner: text.optional(),
      /** Deprecated: use `repo_owner`. */
      uid: int.optional(),
      service: text.optional(),
      auth_username: text.optional(),
      auth_password: text.optional(),
      description: text.optional(),
      private: flag.optional(),
      mirror: flag.optional(),
      /** Go duration, for example `8h`; `0` means only on demand. Default 8 hours, minimum 10 minutes. */
      mirror_interval: text.optional(),
    }),
    success: 201,
    response: Repository,
    errors: [403, 409, 422],
    baseline: { 'a wrong interval': 500 },
    source: 'routers/api/v1/repo/migrate.go Migrate',
  }),
  syncMirror: defineOperation({
    id: 'repository.sync-mirror',
    meaning: 'Brings a mirror up to date, in the background; 400 for a repository that is none.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/mirror-sync',
    ...codeAs('writer'),
    success: 200,
    errors: [400, 403, 404, 423],
    archived: 'after-role',
    source: `${inFile} MirrorSync`,
  }),
  listPushMirrors: defineOperation({
    id: 'push-mirror.list',
    meaning: 'Lists the addresses that a repository is pushed to.',
    method: 'GET',
    path,
    ...repositoryAs('admin'),
    roleFirst: true,
    query: z.object(pages),
    success: 200,
    response: list(PushMirror),
    errors: [403, 404],
    paging: 'link',
    source: `${inFile} ListPushMirrors`,
  }),
  getPushMirror: defineOperation({
    id: 'push-mirror.get',
    meaning: 'Returns a push mirror by the name of its remote.',
    method: 'GET',
    path: `${path}/{name}`,
    ...repositoryAs('admin'),
    roleFirst: true,
    params: byName,
    success: 200,
    response: PushMirror,
    errors: [403, 404],
    source: `${inFile} GetPushMirrorByName`,
  }),
  createPushMirror: defineOperation({
    id: 'push-mirror.create',
    meaning:
      'Adds an address that branches and tags are pushed to: every interval, after every push with `sync_on_commit`, and on demand. What only the address has is removed there. 401 for a host that must not be reached.',
    method: 'POST',
    path,
    ...repositoryAs('admin'),
    roleFirst: true,
    body: z.strictObject({
      remote_address: text.optional(),
      remote_username: text.optional(),
      remote_password: text.optional(),
      /** Go duration, for example `8h`; `0` means only on demand, otherwise at least 10 minutes. */
      interval: text.optional(),
      sync_on_commit: flag.optional(),
    }),
    success: 200,
    response: PushMirror,
    errors: [400, 401, 403, 404, 423],
    archived: 'after-role',
    source: `${inFile} AddPushMirror`,
  }),
  deletePushMirror: defineOperation({
    id: 'push-mirror.delete',
    meaning:
      'Removes a push mirror; success also for a name that does not exist. The other repository stays.',
    method: 'DELETE',
    path: `${path}/{name}`,
    ...repositoryAs('admin'),
    roleFirst: true,
    params: byName,
    success: 204,
    errors: [403, 404, 423],
    archived: 'after-role',
    source: `${inFile} DeletePushMirrorByRemoteName`,
  }),
  syncPushMirrors: defineOperation({
    id: 'push-mirror.sync',
    meaning: 'Pushes to all addresses of a repository, one after the other; 422 names those that failed.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/push_mirrors-sync',
    ...repositoryAs('admin'),
    roleFirst: true,
    success: 200,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: `${inFile} PushMirrorSync`,
  }),
} as const;
