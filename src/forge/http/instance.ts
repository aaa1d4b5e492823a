import { defaultLimit, maxLimit } from '../core/paging.ts';
import { defineHandlers } from './handler.ts';

/** The release whose behaviour the embedded forge has. */
export const baselineVersion = '1.27.0';

/** What tells a client which forge this is. */
export const instanceHandlers = defineHandlers({
  getVersion: () => ({ version: baselineVersion }),

  getApiSettings: () => ({
    max_response_items: maxLimit,
    default_paging_num: defaultLimit,
    default_git_trees_per_page: 1000,
    default_max_blob_size: 10_485_760,
    default_max_response_size: 104_857_600,
  }),
});
