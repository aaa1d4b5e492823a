import { stringify } from 'yaml';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import type { Hook } from '../contract/resources/hooks.ts';
import type { Label } from '../contract/resources/labels.ts';
import { EditBranchProtection } from '../contract/resources/protections.ts';
import { ReeveError } from '../errors.ts';

type Step = { readonly uses: string; readonly with: Readonly<Record<string, unknown>> };

/** A rule file as text, and what of the live state it cannot say. */
type Adopted = { readonly yaml: string; readonly left: readonly string[] };

/**
 * Returns the rule file that describes what is live in a repository (`acme/demo`) or an organization (`acme`): branch and
 * tag protections, labels, hooks; settings, labels and hooks. Held against what it was made from it wants nothing. What
 * the account may not read is told and left out.
 */
export async function adopt(client: Client, name: string): Promise<Adopted> {
  const [owner = '', repo] = name.split('/');
  const left: string[] = [];
  const read = <Item>(what: string, ask: () => Promise<Item>): Promise<Item | undefined> =>
    ask().catch((error: unknown) => {
      const isDenied = error instanceof ReeveError && error.code === 'forge-forbidden';
      if (!isDenied) throw error;
      left.push(`${what}: the account may not read them`);
      return undefined;
    });
  const steps =
    repo === undefined
      ? await ofOrganization(client, owner, { read, left })
      : await ofRepository(client, { owner, repo }, { read, left });
  const rule = {
    description: `What was live in ${name} when it was adopted.`,
    // An organization lies in the pattern of its repositories.
    in: [repo === undefined ? `${name}/*` : name],
    on: { schedule: '17 3 * * *' },
    each: repo === undefined ? 'organization' : 'repository',
    steps,
  };
  const file = { version: 1, rules: { [name.replace(/[^\w-]/g, '-').toLowerCase()]: rule } };
  return { yaml: stringify(file, { lineWidth: 110, aliasDuplicateObjects: false }), left };
}

type Reading = {
  readonly read: <Item>(what: string, ask: () => Promise<Item>) => Promise<Item | undefined>;
  readonly left: string[];
};

async function ofRepository(
  client: Client,
  params: { owner: string; repo: string },
  { read, left }: Reading,
): Promise<readonly Step[]> {
  const branches = await read('branch protections', () =>
    client.call(operations.listBranchProtections, { params }),
  );
  const tags = await read('tag protections', () => client.call(operations.listTagProtections, { params }));
  const labels = await read('labels', () => all(client.items(operations.listLabels, { params })));
  const hooks = await read('hooks', () => all(client.items(operations.listHooks, { params })));
  const protections = (branches ?? []).map((one) => ({ rule_name: one.rule_name, ...termsOf(one) }));
  const patterns = (tags ?? []).map(({ name_pattern, whitelist_usernames, whitelist_teams }) => ({
    name_pattern,
    ...(whitelist_usernames?.length ? { whitelist_usernames } : {}),
    ...(whitelist_teams?.length ? { whitelist_teams } : {}),
  }));
  return [
    ...stepIf('sync-branch-protections', 'protections', protections),
    ...stepIf('protect-tags', 'tags', patterns),
    ...stepIf('sync-labels', 'labels', (labels ?? []).map(labelOf)),
    ...stepIf('sync-hooks', 'hooks', hooksOf(hooks ?? [], left)),
  ];
}

async function ofOrganization(
  client: Client,
  org: string,
  { read, left }: Reading,
): Promise<readonly Step[]> {
  const params = { org };
  const live = await client.call(operations.getOrganization, { params });
  const labels = await read('labels', () => all(client.items(operations.listOrganizationLabels, { params })));
  const hooks = await read('hooks', () => all(client.items(operations.listOrganizationHooks, { params })));
  const { full_name, email, description, website, location, visibility, repo_admin_change_team_access } =
    live;
  const settings = {
    full_name,
    email,
    description,
    website,
    location,
    visibility,
    repo_admin_change_team_access,
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined && value !== null);
  return [
    { uses: 'sync-organization', with: Object.fromEntries(known) },
    ...stepIf('sync-labels', 'labels', (labels ?? []).map(labelOf)),
    ...stepIf('sync-hooks', 'hooks', hooksOf(hooks ?? [], left)),
  ];
}

function stepIf(uses: string, argument: string, items: readonly unknown[]): readonly Step[] {
  return items.length === 0 ? [] : [{ uses, with: { [argument]: items } }];
}

/** The members that can be given, as far as they say something: what is off, empty or zero is how a forge begins. */
function termsOf(protection: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = Object.keys(EditBranchProtection.shape);
  const said = names.map((name) => [name, protection[name]] as const);
  return Object.fromEntries(said.filter(([, value]) => saysSomething(value)));
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0;
}

function labelOf({
  name,
  color,
  description,
  exclusive,
  is_archived,
}: Label): Readonly<Record<string, unknown>> {
  return {
    name,
    color: color ?? 'ededed',
    ...(description ? { description } : {}),
    ...(exclusive ? { exclusive } : {}),
    ...(is_archived ? { archived: true } : {}),
  };
}

/** Secrets cannot be read, and stay as they are; an edit that would clear a header fails and says so. */
function hooksOf(hooks: readonly Hook[], left: string[]): readonly Readonly<Record<string, unknown>>[] {
  return hooks.flatMap((hook) => {
    const { url, content_type } = hook.config ?? {};
    if (hook.type !== 'gitea' || url === undefined || hook.events.length === 0) {
      left.push(`hook ${hook.id}: it is of the kind ${hook.type ?? 'unknown'}, which no rule can say`);
      return [];
    }
    return [
      {
        url,
        events: hook.events.toSorted(),
        ...(hook.branch_filter && hook.branch_filter !== '*' ? { branch_filter: hook.branch_filter } : {}),
        ...(hook.active === false ? { active: false } : {}),
        ...(content_type === 'form' ? { content_type } : {}),
      },
    ];
  });
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
