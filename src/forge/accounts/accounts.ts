import type { EditUser } from '../../contract/resources/accounts.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { isLastAdministrator, removeAccount, renameAccount } from './accounts-service.ts';
import { toUser } from './users-rows.ts';
import {
  assertPersonalTexts,
  isEmail,
  isEmailTaken,
  readVisibility,
  shortestPassword,
} from './users-service.ts';

function assertTexts(edit: EditUser): void {
  assertPersonalTexts(edit);
  if (edit.password && edit.password.length < shortestPassword) {
    throw new ForgeProblem(400, `password must be at least ${shortestPassword} characters`);
  }
}

/** Rejects the request with 400 if the address is invalid or taken; account creation responds with 422 instead. */
function assertEmail({ db }: ForgeContext, account: UserRow, email: string | undefined): void {
  if (email === undefined) return;
  if (!isEmail(email)) throw new ForgeProblem(400, `e-mail invalid [email: ${email}]`);
  if (isEmailTaken(db, email, account.id))
    throw new ForgeProblem(400, `e-mail already in use [email: ${email}]`);
}

async function updateAccount(context: ForgeContext, account: UserRow, edit: EditUser): Promise<UserRow> {
  const { db } = context;
  assertTexts(edit);
  const visibility = readVisibility(edit.visibility) ?? account.visibility;
  const hash = edit.password ? await context.passwords.hash(edit.password) : account.password_hash;
  assertEmail(context, account, edit.email);
  if (edit.admin === false && isLastAdministrator(db, account))
    throw new ForgeProblem(400, `can not delete the last admin user [name: ${account.name}]`);
  db.run(
    `UPDATE users SET full_name = ?, email = ?, website = ?, location = ?, description = ?, visibility = ?,
       password_hash = ?, login_name = ?, is_active = ?, is_admin = ?, is_restricted = ?, prohibit_login = ?, must_change_password = ?,
       updated_at = ? WHERE id = ?`,
    edit.full_name ?? account.full_name,
    edit.email ?? account.email,
    edit.website ?? account.website,
    edit.location ?? account.location,
    edit.description ?? account.description,
    visibility,
    hash,
    edit.login_name,
    edit.active ?? account.is_active,
    edit.admin ?? account.is_admin,
    edit.restricted ?? account.is_restricted,
    edit.prohibit_login ?? account.prohibit_login,
    edit.must_change_password ?? account.must_change_password,
    secondsOf(context.clock()),
    account.id,
  );
  return found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', account.id));
}

type AccountListing = {
  readonly context: ForgeContext;
  readonly caller: UserRow | undefined;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

/** Returns people whose name or visible address contains the word; `where` narrows the search. */
function listOf(
  { context, caller, page, reply }: AccountListing,
  { word, where, values }: { word: string | undefined; where: string; values: readonly (string | number)[] },
) {
  const from = `FROM users u WHERE u.type = 'user' AND u.id > 0 AND (?1 = '' OR instr(u.lower_name, ?1) > 0
    OR instr(lower(u.full_name), ?1) > 0 OR (instr(lower(u.email), ?1) > 0 AND ${showsAddress(caller)})) AND ${where}`;
  const given = [(word ?? '').trim().toLowerCase(), ...values];
  const { db } = context;
  reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...given)?.count ?? 0);
  const limits = `LIMIT ?${given.length + 1} OFFSET ?${given.length + 2}`;
  const rows = db.all<UserRow>(
    `SELECT u.* ${from} ORDER BY u.lower_name ${limits}`,
    ...given,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toUser(context, row, caller));
}

/**
 * Returns the SQL condition under which a search matches the address of account `u`. Hidden addresses are skipped,
 * because a match would confirm a guess.
 */
function showsAddress(caller: UserRow | undefined): string {
  if (caller?.is_admin) return '1';
  return `(u.keep_email_private = 0 OR u.id = ${caller?.id ?? 0})`;
}

/**
 * Returns the SQL condition for accounts that are visible to the caller. A private account is visible to
 * administrators, to itself and to members of a shared organization. To a restricted caller, every other account counts
 * as private.
 */
function visibleTo(caller: UserRow | undefined): string {
  if (!caller || caller.is_public_only) return `u.visibility = 'public' AND ?3 = ?3`;
  if (caller.is_admin) return '?3 = ?3';
  const open = caller.is_restricted ? '0' : `u.visibility <> 'private'`;
  return `(${open} OR u.id = ?3 OR EXISTS (SELECT 1 FROM team_members a
    JOIN team_members b ON b.org_id = a.org_id WHERE a.user_id = ?3 AND b.user_id = u.id))`;
}

function personOnly(account: UserRow): void {
  if (account.type === 'organization') throw new ForgeProblem(422, 'target is an organization but not user');
}

/** Handlers for account search and for the account operations of site administrators. */
export const accountHandlers = defineHandlers({
  searchUsers(call) {
    const { q, uid } = call.query;
    const where = `(?2 = 0 OR u.id = ?2) AND u.is_active = 1 AND ${visibleTo(call.caller)}`;
    const data = listOf(call, { word: q, where, values: [uid ?? 0, call.caller?.id ?? 0] });
    return { ok: true, data };
  },

  listUsers(call) {
    const { q, visibility, is_active, is_admin } = call.query;
    const flag = (value: boolean | undefined): number => (value === undefined ? -1 : Number(value));
    const where = `(?2 = '' OR u.visibility = ?2) AND (?3 = -1 OR u.is_active = ?3) AND (?4 = -1 OR u.is_admin = ?4)`;
    const values = [readVisibility(visibility) ?? '', flag(is_active), flag(is_admin)];
    return listOf(call, { word: q, where, values });
  },

  async editUser({ context, account, body, caller }) {
    personOnly(account);
    return toUser(context, await updateAccount(context, account, body), caller);
  },

  renameUser({ context, account, body }) {
    personOnly(account);
    renameAccount(context, account, body.new_username);
    return undefined;
  },

  deleteUser({ context, account, caller, query }) {
    personOnly(account);
    if (account.id === caller.id) throw new ForgeProblem(422, 'you cannot delete yourself');
    removeAccount(context, { account, actor: caller, purge: query.purge ?? false });
    return undefined;
  },
});
