import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { int, resource, text } from '../shape.ts';

const Version = z.object({ version: text });

/** Paging of this forge: the maximum and the default of `limit`. */
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
