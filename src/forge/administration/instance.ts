import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { packageVersion } from '../../platform/package.ts';
import { allowedReactions } from '../issues/issues-service.ts';
import type { Database } from '../platform/database.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { defaultLimit, maxLimit } from '../platform/paging.ts';
import { secondsOf } from '../platform/time.ts';

/** The Gitea release whose behaviour the embedded forge implements. */
export const baselineVersion = '1.27.0';

/** Handlers that identify the forge to clients. */
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

const daySeconds = 24 * 3600;
const rows: readonly Operation[] = Object.values(operations);

/**
 * Returns whether any operation has a path that matches a pattern. A kind of repository that no operation creates does
 * not exist on this forge.
 */
function hasOperation(pattern: RegExp): boolean {
  return rows.some(({ path }) => pattern.test(path));
}

/** Counts rows using only an index, which takes milliseconds for a million rows. */
function countOf(db: Database, sql: string, ...values: number[]): number {
  return db.get<{ count: number }>(`/* usage */ SELECT count(*) AS count FROM ${sql}`, ...values)?.count ?? 0;
}

/** Handlers for the settings and usage of the instance. */
export const instanceSettingsHandlers = defineHandlers({
  getRepositorySettings: () => ({
    mirrors_disabled: !hasOperation(/\/mirror-sync$/),
    http_git_disabled: false,
    migrations_disabled: !hasOperation(/^\/repos\/migrate$/),
    stars_disabled: false,
    time_tracking_disabled: false,
    lfs_disabled: false,
  }),

  getUserInterfaceSettings: () => ({
    default_theme: 'gitea-auto',
    allowed_reactions: [...allowedReactions],
    custom_emojis: ['git', 'gitea', 'codeberg', 'gitlab', 'github', 'gogs'],
  }),

  getNodeInfo({ context: { db, clock } }) {
    const now = secondsOf(clock());
    const people = `users WHERE type = 'user' AND id > 0`;
    // The forge does not record an account's last request, so the last use of the account's tokens counts instead.
    const active = (days: number): number =>
      countOf(db, '(SELECT DISTINCT user_id FROM tokens WHERE last_used_at > ?)', now - days * daySeconds);
    return {
      version: '2.1',
      software: { name: 'reeve', version: packageVersion() },
      protocols: [],
      services: { inbound: [], outbound: [] },
      openRegistrations: false,
      usage: {
        users: { total: countOf(db, people), activeHalfyear: active(180), activeMonth: active(30) },
        localPosts: countOf(db, 'issues'),
        localComments: countOf(db, 'comments'),
      },
      metadata: {},
    };
  },
});
