import type { HookRow } from '../core/rows.ts';
import { toInstant } from '../core/time.ts';

/** Returns a hook as the API shows it: never its secret, and always an empty `authorization_header`. */
export function toHook(hook: HookRow) {
  return {
    id: hook.id,
    type: hook.type,
    name: hook.name,
    branch_filter: hook.branch_filter,
    // Both columns hold what this forge wrote.
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
