import { enabledEvents } from '../../contract/events/hook-events.ts';
import { operations } from '../../contract/operations.ts';
import { asWritten } from '../../contract/written-texts.ts';
import { createGlob, GlobError } from '../../patterns/glob.ts';
import { toUser } from '../accounts/users-rows.ts';
import { repositoryAddress, toPayloadCommit } from '../code/commits-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { hasNoBranch, resolveRef } from '../platform/git/refs.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { formatEventPayload, queueDelivery, wants } from './emit.ts';
import { type HookRow, toHook } from './hooks-rows.ts';
import { pushPayload } from './payloads.ts';

/** Owner of hooks: a repository, a person or organization, or the instance. */
type HookHolder = { readonly column: 'repo_id' | 'owner_id'; readonly id: number } | 'instance';
type Config = Readonly<Record<string, string>>;
type HookText = {
  readonly config?: Config | undefined;
  readonly events?: readonly string[] | undefined;
  readonly active?: boolean | undefined;
  readonly branch_filter?: string | undefined;
  readonly authorization_header?: string | undefined;
  readonly name?: string | undefined;
};

const types = new Set([
  ...[
    'gitea',
    'gogs',
    'slack',
    'discord',
    'dingtalk',
    'telegram',
    'msteams',
    'feishu',
    'matrix',
    'wechatwork',
  ],
  'packagist',
]);

function readUrl(text: string): string {
  // A URL without a host is also accepted; its deliveries fail.
  const isEmpty = /^https?:\/\/$/i.test(text);
  if (!isEmpty && !(/^https?:\/\//i.test(text) && URL.canParse(text))) {
    throw new ForgeProblem(422, 'Invalid url');
  }
  return text;
}

function readContentType(text: string): string {
  if (text !== 'json' && text !== 'form') throw new ForgeProblem(422, 'Invalid content type');
  return text;
}

function readBranchFilter(text: string | undefined): string {
  const filter = text ?? '';
  if (filter === '') return filter;
  try {
    createGlob(filter, { separator: '', strict: false });
  } catch (error) {
    if (error instanceof GlobError) throw new ForgeProblem(422, `Invalid branch filter: ${error.message}`);
    throw error;
  }
  return filter;
}

function readName(text: string): string {
  const name = asWritten(operations.createHook, 'name', text);
  if (name.length > 255) throw new ForgeProblem(422, '[Name]: MaxSize(255)');
  return name;
}

/** Returns the additional fields of a chat hook as JSON. Only Slack's fields are shown again. */
function readMeta(type: string, config: Config): string {
  if (type !== 'slack') return '{}';
  const { channel = '', username = '', icon_url = '', color = '' } = config;
  if (!/^[#@]?[^\s#@]+$/.test(channel.trim())) throw new ForgeProblem(400, 'Invalid slack channel name');
  return JSON.stringify({ channel: channel.trim(), username, icon_url, color });
}

/** Parses the texts that Go accepts as a boolean; any other text is a client error. */
function readSystemFlag(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['', '0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw new ForgeProblem(422, 'Invalid is_system_webhook value');
}

type HookWriter = { readonly context: ForgeContext; readonly caller: UserRow };

function insertHook(
  { context, caller }: HookWriter,
  holder: HookHolder,
  hook: HookText & { type: string },
): HookRow {
  const { db, clock } = context;
  const config = hook.config ?? {};
  if (!types.has(hook.type)) throw new ForgeProblem(422, `Invalid hook type: ${hook.type}`);
  for (const member of ['url', 'content_type']) {
    if (!Object.hasOwn(config, member)) throw new ForgeProblem(422, `Missing config option: ${member}`);
  }
  const now = secondsOf(clock());
  const isSystem = readSystemFlag(config.is_system_webhook ?? '');
  const { lastId } = db.run(
    `INSERT INTO hooks (repo_id, owner_id, is_system, type, name, url, content_type, secret, meta, events, branch_filter,
       authorization_header, is_active, created_at, updated_at, url_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    holder !== 'instance' && holder.column === 'repo_id' ? holder.id : null,
    holder !== 'instance' && holder.column === 'owner_id' ? holder.id : null,
    isSystem,
    hook.type,
    readName(hook.name ?? ''),
    readUrl(config.url ?? ''),
    readContentType(config.content_type ?? ''),
    config.secret ?? '',
    readMeta(hook.type, config),
    JSON.stringify(enabledEvents(hook.events)),
    readBranchFilter(hook.branch_filter),
    hook.authorization_header ?? '',
    hook.active ?? false,
    now,
    now,
    caller.id,
  );
  return found(db.get<HookRow>('SELECT * FROM hooks WHERE id = ?', lastId));
}

/**
 * Updates a hook. Not a merge patch: an absent event list, filter or header is reset; the secret never changes. An edit
 * that repeats the URL keeps the account that is recorded for the URL, unless a site administrator sends the edit.
 */
function updateHook({ context, caller }: HookWriter, hook: HookRow, edit: HookText): HookRow {
  const { db, clock } = context;
  const url = edit.config?.url === undefined ? hook.url : readUrl(edit.config.url);
  const isSet = url !== hook.url || (edit.config?.url !== undefined && caller.is_admin === 1);
  db.run(
    `UPDATE hooks SET name = ?, url = ?, content_type = ?, events = ?, branch_filter = ?, authorization_header = ?,
       is_active = ?, updated_at = ?, url_by = ? WHERE id = ?`,
    edit.name === undefined ? hook.name : readName(edit.name),
    url,
    edit.config?.content_type === undefined ? hook.content_type : readContentType(edit.config.content_type),
    JSON.stringify(enabledEvents(edit.events)),
    readBranchFilter(edit.branch_filter),
    edit.authorization_header ?? '',
    edit.active ?? hook.is_active,
    secondsOf(clock()),
    isSet ? caller.id : hook.url_by,
    hook.id,
  );
  return found(db.get<HookRow>('SELECT * FROM hooks WHERE id = ?', hook.id));
}

type ListCall = {
  readonly context: ForgeContext;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

type HookCondition = { readonly sql: string; readonly values: readonly number[] };

function conditionOf(holder: HookHolder): HookCondition {
  if (holder === 'instance') return { sql: 'repo_id IS NULL AND owner_id IS NULL', values: [] };
  return { sql: `${holder.column} = ?`, values: [holder.id] };
}

function listOf({ context, page, reply }: ListCall, { sql, values }: HookCondition) {
  const { db } = context;
  const count = `SELECT count(*) AS count FROM hooks WHERE ${sql}`;
  reply.total(db.get<{ count: number }>(count, ...values)?.count ?? 0);
  const list = `SELECT * FROM hooks WHERE ${sql} ORDER BY id LIMIT ? OFFSET ?`;
  return db.all<HookRow>(list, ...values, page.limit, page.offset).map(toHook);
}

type HookCall = { readonly context: ForgeContext; readonly params: { readonly id: number } };

/** Returns a hook that belongs to the owner, or ends the request with 404. */
function hookOf({ context, params }: HookCall, holder: HookHolder): HookRow {
  const { sql, values } = conditionOf(holder);
  return found(context.db.get<HookRow>(`SELECT * FROM hooks WHERE id = ? AND ${sql}`, params.id, ...values));
}

function removeHook(call: HookCall, holder: HookHolder): undefined {
  call.context.db.run('DELETE FROM hooks WHERE id = ?', hookOf(call, holder).id);
  return undefined;
}

/** Returns the repository hook in the path. */
function findHook(call: HookCall & { readonly repository: { readonly id: number } }): HookRow {
  return hookOf(call, ofRepositoryHooks(call.repository.id));
}

function ofRepositoryHooks(id: number): HookHolder {
  return { column: 'repo_id', id };
}

function ofOwner(id: number): HookHolder {
  return { column: 'owner_id', id };
}

/**
 * Returns the condition for hooks of the instance. `type` is `default` or `all`; any other value means the system
 * hooks.
 */
function instanceCondition(type: string | undefined): HookCondition {
  const condition = conditionOf('instance');
  if (type === 'all') return condition;
  return { sql: `${condition.sql} AND is_system = ?`, values: [type === 'default' ? 0 : 1] };
}

/** Handlers for hooks of repositories, accounts, organizations and the instance. */
export const hookHandlers = defineHandlers({
  listHooks: (call) => listOf(call, conditionOf(ofRepositoryHooks(call.repository.id))),

  getHook: (call) => toHook(findHook(call)),

  createHook: (call) => toHook(insertHook(call, ofRepositoryHooks(call.repository.id), call.body)),

  editHook: (call) => toHook(updateHook(call, findHook(call), call.body)),

  deleteHook: (call) => removeHook(call, ofRepositoryHooks(call.repository.id)),

  listUserHooks: (call) => listOf(call, conditionOf(ofOwner(call.caller.id))),

  createUserHook: (call) => toHook(insertHook(call, ofOwner(call.caller.id), call.body)),

  getUserHook: (call) => toHook(hookOf(call, ofOwner(call.caller.id))),

  editUserHook: (call) => toHook(updateHook(call, hookOf(call, ofOwner(call.caller.id)), call.body)),

  deleteUserHook: (call) => removeHook(call, ofOwner(call.caller.id)),

  listOrganizationHooks: (call) => listOf(call, conditionOf(ofOwner(call.organization.id))),

  createOrganizationHook: (call) => toHook(insertHook(call, ofOwner(call.organization.id), call.body)),

  getOrganizationHook: (call) => toHook(hookOf(call, ofOwner(call.organization.id))),

  editOrganizationHook: (call) =>
    toHook(updateHook(call, hookOf(call, ofOwner(call.organization.id)), call.body)),

  deleteOrganizationHook: (call) => removeHook(call, ofOwner(call.organization.id)),

  listSystemHooks: (call) => listOf(call, instanceCondition(call.query.type)),

  createSystemHook: (call) => toHook(insertHook(call, 'instance', call.body)),

  getSystemHook: (call) => toHook(hookOf(call, 'instance')),

  editSystemHook: (call) => toHook(updateHook(call, hookOf(call, 'instance'), call.body)),

  deleteSystemHook: (call) => removeHook(call, 'instance'),
});

/** Handlers for test deliveries: a sample push event for the head of a ref. */
export const hookTestHandlers = defineHandlers({
  async testHook({ context, params, query, caller, ...target }) {
    const { repository, owner } = target;
    const hook = findHook({ context, repository, params });
    const git = context.git.open(repository.id);
    const given = query.ref ? await resolveRef(git, query.ref) : undefined;
    // An invalid ref counts as absent.
    const word = given && query.ref ? query.ref : `refs/heads/${repository.default_branch}`;
    const resolved = (await hasNoBranch(git)) ? undefined : (given ?? (await resolveRef(git, word)));
    const { commit } = found(resolved, 'repository is empty');
    // As in Gitea, the hook's event list and branch filter also apply here, so 204 may mean that nothing was queued.
    if (!wants(hook, { type: 'push', ref: word })) return undefined;
    const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    const shape = toPayloadCommit(context.db, address, commit);
    const payload = pushPayload({
      ref: word,
      before: commit.id,
      after: commit.id,
      compareUrl: `${address.html}/compare/${commit.id}...${commit.id}`,
      commits: [shape],
      totalCommits: 1,
      headCommit: shape,
      repository: toRepository(context, repository, { owner, viewer: undefined, permission: 'none' }),
      sender: toUser(context, caller, undefined),
    });
    queueDelivery(context, hook.id, 'push', formatEventPayload('push', payload));
    context.deliveries.wake();
    return undefined;
  },
});
