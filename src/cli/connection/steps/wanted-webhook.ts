import { ReeveError } from '../../../platform/errors.ts';
import { type HookLocation, hookLocations } from '../../../server/hooks/places.ts';
import { WebhookForm } from '../../../server/settings/operator-file.ts';
import type { Prompt } from '../../output/prompt.ts';
import type { SetupOptions } from './answers.ts';

/** Number of times that an empty answer is asked for again. */
const maxAsked = 3;

/**
 * Returns the wanted `webhook` of the operator file: its current content, with the options added. If neither has
 * locations, the user is prompted. `login` is the account that creates the hooks. Returns undefined if Reeve polls the
 * forge instead.
 */
export async function wantWebhook(
  options: SetupOptions,
  live: WebhookForm | undefined,
  around: { prompt: Prompt | undefined; login: string; standardUrl: string; isPolled: boolean },
): Promise<WebhookForm | undefined> {
  const { prompt, isPolled } = around;
  if (isPolled) {
    requireNoHooks(options, live);
    return undefined;
  }
  const isSaid =
    options.system || options.user || options.organization || options.repository || live !== undefined;
  let answer: string | undefined;
  for (let asked = 0; prompt && !isSaid && !answer && asked < maxAsked; asked += 1)
    answer = await prompt.ask(
      'Locations of the hooks? Names of repositories (owner/name) and organizations, user, system; or poll, if the forge cannot reach this machine',
    );
  const names = (answer ?? '').split(/[\s,]+/).filter(Boolean);
  if (names.length === 1 && names[0]?.toLowerCase() === 'poll') return undefined;
  const isOrganization = (name: string): boolean => !['system', 'user'].includes(name) && !name.includes('/');
  const asked = options.webhook ?? live?.url;
  const url =
    asked ?? (await prompt?.ask('URL at which the forge reaches Reeve', { standard: around.standardUrl }));
  const form = {
    url: withPath(url ?? around.standardUrl),
    system: live?.system || options.system || names.includes('system') || undefined,
    users: union(live?.users, options.user || names.includes('user') ? [around.login] : []),
    organizations: union(live?.organizations, options.organization, names.filter(isOrganization)),
    repositories: union(
      live?.repositories,
      options.repository,
      names.filter((name) => name.includes('/')),
    ),
    events: options.events ?? live?.events,
  };
  return validateWebhook(form);
}

/** Throws `usage` if hooks are wanted or exist although Reeve polls: with both, an event would be handled twice. */
function requireNoHooks(options: SetupOptions, live: WebhookForm | undefined): void {
  const given = (['webhook', 'system', 'user', 'organization', 'events', 'rotate'] as const).filter(
    (name) => options[name],
  );
  if (given.length > 0)
    throw new ReeveError(
      'usage',
      `Reeve polls the forge (--poll or REEVE_POLL), which needs no hooks: leave out --${given.join(', --')}, or polling`,
    );
  if (live !== undefined)
    throw new ReeveError(
      'usage',
      'the operator file has hooks: with hooks and polling, an event would be handled twice. Delete the hooks on the forge and the section "webhook", or leave out polling',
    );
}

/** Returns the form without these locations; undefined if none is left. */
export function withoutLocations(
  webhook: WebhookForm,
  gone: readonly HookLocation[],
): WebhookForm | undefined {
  const left = (level: HookLocation['level'], names: readonly string[] | undefined): string[] | undefined =>
    union(names?.filter((name) => !gone.some((one) => one.level === level && one.name === name)));
  const form = {
    ...webhook,
    system: gone.some(({ level }) => level === 'system') ? undefined : webhook.system,
    users: left('user', webhook.users),
    organizations: left('organization', webhook.organizations),
    repositories: left('repository', webhook.repositories),
  };
  return hookLocations(form).length === 0 ? undefined : form;
}

function union(...lists: readonly (readonly string[] | undefined)[]): string[] | undefined {
  const all = [...new Set(lists.flatMap((list) => list ?? []))];
  return all.length === 0 ? undefined : all;
}

/** Adds the path of the receiver, /webhook, to a URL without a path. */
function withPath(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.pathname === '/') parsed.pathname = '/webhook';
  return parsed.href;
}

function validateWebhook(form: unknown): WebhookForm {
  const parsed = WebhookForm.safeParse(form);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new ReeveError('usage', `the hooks cannot be set up as requested:\n  ${lines.join('\n  ')}`);
  }
  if (hookLocations(parsed.data).length > 0) return parsed.data;
  throw new ReeveError(
    'usage',
    'set the locations of the hooks: --repository owner/name, --organization name, --user or --system; or --poll 60, if the forge cannot reach this machine',
  );
}
