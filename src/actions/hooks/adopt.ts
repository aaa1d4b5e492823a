import type { Client } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import type { Hook } from '../../contract/resources/hooks.ts';
import { type Adopted, type AdoptedPlace, readAll } from '../adoption.ts';

/** Returns the arguments of `sync-hooks` for the live hooks. Secrets cannot be read; an edit that would clear a header fails. */
export async function adoptHooks(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
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
