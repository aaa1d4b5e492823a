import { enabledEvents } from '../contract/hook-events.ts';
import { createGlob, GlobError } from '../glob.ts';
import type { ForgeContext } from './context.ts';
import { ForgeProblem, found } from './errors.ts';
import { defineHandlers } from './handler.ts';

import { secondsOf } from './instants.ts';
import type { Page } from './paging.ts';
import { toHook } from './resources/hook.ts';
import type { HookRow } from './rows.ts';

/** Whose hooks: a repository's, or those of a person or organization. */
type Holder = { readonly column: 'repo_id' | 'owner_id'; readonly id: number };
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
  const url = URL.parse(text);
  if (!/^https?:\/\//i.test(text) || !url || url.hostname === '') {
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
    createGlob(filter, { separator: '' });
  } catch (error) {
    if (error instanceof GlobError) throw new ForgeProblem(422, `Invalid branch filter: ${error.message}`);
    throw error;
  }
  return filter;
}

function readName(text: string): string {
  const name = text.trim();
  if (name.length > 255) throw new ForgeProblem(422, '[Name]: MaxSize(255)');
  return name;
}

/** Chat hooks carry a few more members; of them only Slack's are shown again. */
function readMeta(type: string, config: Config): string {
  if (type !== 'slack') return '{}';
  const { channel = '', username = '', icon_url = '', color = '' } = config;
  if (!/^[#@]?[^\s#@]+$/.test(channel.trim())) throw new ForgeProblem(400, 'Invalid slack channel name');
  return JSON.stringify({ channel: channel.trim(), username, icon_url, color });
}

function insertHook(context: ForgeContext, holder: Holder, hook: HookText & { type: string }): HookRow {
  const { db, clock } = context;
  const config = hook.config ?? {};
  if (!types.has(hook.type)) throw new ForgeProblem(422, `Invalid hook type: ${hook.type}`);
  for (const member of ['url', 'content_type']) {
    if (!Object.hasOwn(config, member)) throw new ForgeProblem(422, `Missing config option: ${member}`);
  }
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO hooks (${holder.column}, type, name, url, content_type, secret, meta, events, branch_filter,
       authorization_header, is_active, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    holder.id,
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
  );
  return found(db.get<HookRow>('SELECT * FROM hooks WHERE id = ?', lastId));
}

/** No merge patch: absent events, filter and header are reset; the secret never changes. */
function updateHook(context: ForgeContext, hook: HookRow, edit: HookText): HookRow {
  const { db, clock } = context;
  db.run(
    `UPDATE hooks SET name = ?, url = ?, content_type = ?, events = ?, branch_filter = ?, authorization_header = ?,
       is_active = ?, updated_at = ? WHERE id = ?`,
    edit.name === undefined ? hook.name : readName(edit.name),
    edit.config?.url === undefined ? hook.url : readUrl(edit.config.url),
    edit.config?.content_type === undefined ? hook.content_type : readContentType(edit.config.content_type),
    JSON.stringify(enabledEvents(edit.events)),
    readBranchFilter(edit.branch_filter),
    edit.authorization_header ?? '',
    edit.active ?? hook.is_active,
    secondsOf(clock()),
    hook.id,
  );
  return found(db.get<HookRow>('SELECT * FROM hooks WHERE id = ?', hook.id));
}

type ListCall = {
  readonly context: ForgeContext;
  readonly page: Page;
  readonly reply: { total(count: number): void };
};

function listOf({ context, page, reply }: ListCall, { column, id }: Holder) {
  const { db } = context;
  const count = `SELECT count(*) AS count FROM hooks WHERE ${column} = ?`;
  reply.total(db.get<{ count: number }>(count, id)?.count ?? 0);
  const sql = `SELECT * FROM hooks WHERE ${column} = ? ORDER BY id LIMIT ? OFFSET ?`;
  return db.all<HookRow>(sql, id, page.limit, page.offset).map(toHook);
}

/** Returns the hook of a repository that the path names. */
export function findHook(call: {
  readonly context: ForgeContext;
  readonly repository: { readonly id: number };
  readonly params: { readonly id: number };
}): HookRow {
  const sql = 'SELECT * FROM hooks WHERE id = ? AND repo_id = ?';
  return found(call.context.db.get<HookRow>(sql, call.params.id, call.repository.id));
}

const inRepository = (id: number): Holder => ({ column: 'repo_id', id });
const ofOwner = (id: number): Holder => ({ column: 'owner_id', id });

/** What answers for hooks of repositories, accounts and organizations. */
export const hookHandlers = defineHandlers({
  listHooks: (call) => listOf(call, inRepository(call.repository.id)),

  getHook: (call) => toHook(findHook(call)),

  createHook: ({ context, repository, body }) =>
    toHook(insertHook(context, inRepository(repository.id), body)),

  editHook: (call) => toHook(updateHook(call.context, findHook(call), call.body)),

  deleteHook(call) {
    call.context.db.run('DELETE FROM hooks WHERE id = ?', findHook(call).id);
    return undefined;
  },

  listUserHooks: (call) => listOf(call, ofOwner(call.caller.id)),

  createUserHook: ({ context, caller, body }) => toHook(insertHook(context, ofOwner(caller.id), body)),

  listOrganizationHooks: (call) => listOf(call, ofOwner(call.organization.id)),

  createOrganizationHook: ({ context, organization, body }) =>
    toHook(insertHook(context, ofOwner(organization.id), body)),
});
