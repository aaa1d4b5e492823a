import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, int, resource, text } from '../shape.ts';

const Version = z.object({ version: text });

/** Paging settings of the forge: the maximum and the default of `limit`. */
const ApiSettings = resource(
  {},
  {
    max_response_items: int,
    default_paging_num: int,
    default_git_trees_per_page: int,
    default_max_blob_size: int,
    default_max_response_size: int,
  },
);

export const instanceOperations = {
  getVersion: defineOperation({
    id: 'instance.version',
    meaning: 'Returns the version; Forgejo reports `<own>+gitea-<compatible>`.',
    method: 'GET',
    path: '/version',
    ...callerAs('anyone'),
    scopes: [],
    success: 200,
    response: Version,
    errors: [],
    source: 'routers/api/v1/misc/version.go',
  }),
  getApiSettings: defineOperation({
    id: 'instance.api-settings',
    meaning: 'Returns the limits of this forge for lists and contents.',
    method: 'GET',
    path: '/settings/api',
    ...callerAs('anyone'),
    scopes: [],
    success: 200,
    response: ApiSettings,
    errors: [],
    source: 'routers/api/v1/settings/settings.go GetGeneralAPISettings',
  }),
} as const;

const row = { method: 'GET', ...callerAs('anyone'), scopes: [], success: 200, errors: [] } as const;

const RepositorySettings = resource(
  {},
  {
    mirrors_disabled: flag,
    http_git_disabled: flag,
    migrations_disabled: flag,
    stars_disabled: flag,
    time_tracking_disabled: flag,
    lfs_disabled: flag,
  },
);

const UserInterfaceSettings = resource(
  {},
  { default_theme: text, allowed_reactions: z.array(text), custom_emojis: z.array(text) },
);

/** Description of the instance in the format of https://nodeinfo.diaspora.software, version 2.1. */
const NodeInfo = resource(
  { version: text },
  {
    software: resource({ name: text, version: text }, { repository: text, homepage: text }),
    /** Federation protocols; the embedded forge has none. */
    protocols: z.array(text),
    services: resource({}, { inbound: z.array(text), outbound: z.array(text) }),
    openRegistrations: flag,
    usage: resource(
      {},
      {
        users: resource({}, { total: int, activeHalfyear: int, activeMonth: int }),
        /** Number of issues and pull requests. */
        localPosts: int,
        localComments: int,
      },
    ),
    metadata: z.object({}),
  },
);

export const instanceSettingsOperations = {
  getRepositorySettings: defineOperation({
    id: 'instance.repository-settings',
    meaning: 'Says what repositories of this instance cannot have.',
    path: '/settings/repository',
    ...row,
    response: RepositorySettings,
    source: 'routers/api/v1/settings/settings.go GetGeneralRepoSettings',
  }),
  getUserInterfaceSettings: defineOperation({
    id: 'instance.ui-settings',
    meaning: 'Returns the default theme, the reactions and the emojis of this instance.',
    path: '/settings/ui',
    ...row,
    response: UserInterfaceSettings,
    source: 'routers/api/v1/settings/settings.go GetGeneralUISettings',
  }),
  getNodeInfo: defineOperation({
    id: 'instance.node-info',
    meaning:
      'Returns the software and the use of this instance; on servers, only where federation is switched on.',
    path: '/nodeinfo',
    ...row,
    response: NodeInfo,
    source: 'Gitea 1.23 routers/api/v1/misc/nodeinfo.go NodeInfo',
  }),
} as const;
