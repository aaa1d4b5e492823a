import type { ForgeContext } from '../platform/context.ts';
import type { Bit, Seconds } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';

/** A hook of a repository, an owner or the instance. */
export type HookRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly owner_id: number | null;
  readonly is_system: Bit;
  readonly type: string;
  readonly name: string;
  readonly url: string;
  readonly content_type: 'json' | 'form';
  readonly secret: string;
  /** JSON with the additional `config` fields of chat hooks. */
  readonly meta: string;
  /** JSON list of the enabled event types, by internal name. */
  readonly events: string;
  readonly branch_filter: string;
  readonly authorization_header: string;
  readonly is_active: Bit;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
  /** Account that set the URL; null if the account was deleted or is unknown. */
  readonly url_by: number | null;
};

/** Returns a hook as the API shows it: never its secret, and always an empty `authorization_header`. */
export function toHook(hook: HookRow) {
  return {
    id: hook.id,
    type: hook.type,
    name: hook.name,
    branch_filter: hook.branch_filter,
    // The casts are safe: only this forge writes the `meta` and `events` columns.
    config: {
      ...(JSON.parse(hook.meta) as Record<string, string>),
      content_type: hook.content_type,
      url: hook.url,
    },
    events: JSON.parse(hook.events) as string[],
    authorization_header: '',
    active: hook.is_active === 1,
    updated_at: toInstant(hook.updated_at),
    created_at: toInstant(hook.created_at),
  };
}

/** Copies the instance's default hooks to a new repository. */
export function copyDefaultHooks({ db, clock }: ForgeContext, repositoryId: number): void {
  const copied =
    'type, name, url, content_type, secret, meta, events, branch_filter, authorization_header, is_active, url_by';
  db.run(
    `INSERT INTO hooks (repo_id, ${copied}, created_at, updated_at) SELECT ?1, ${copied}, ?2, ?2 FROM hooks
     WHERE repo_id IS NULL AND owner_id IS NULL AND is_system = 0 ORDER BY id`,
    repositoryId,
    secondsOf(clock()),
  );
}
