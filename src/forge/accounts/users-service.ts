import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { UserRow, Visibility } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

/** Input for a new person's account; without a password, password sign-in is disabled. */
type NewAccount = {
  readonly name: string;
  readonly email: string;
  readonly password?: string | undefined;
  readonly full_name?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly isRestricted?: boolean | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly mustChangePassword?: boolean | undefined;
};

/**
 * Creates a person's account and returns its row. Ends the request with 422 if the name or address is taken or invalid.
 */
export async function createAccount(context: ForgeContext, account: NewAccount): Promise<UserRow> {
  const { db, clock } = context;
  const hash = account.password ? await context.passwords.hash(account.password) : '';
  return db.transaction(() => {
    assertNameIsFree(context, account.name);
    assertEmailIsFree(context, account.email);
    db.run('DELETE FROM account_redirects WHERE lower_name = ?', account.name.toLowerCase());
    const now = secondsOf(clock());
    db.run(
      `INSERT INTO users (name, lower_name, full_name, email, password_hash, is_admin, is_restricted,
         must_change_password, visibility, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      account.name,
      account.name.toLowerCase(),
      account.full_name ?? '',
      account.email,
      hash,
      account.isAdmin ?? false,
      account.isRestricted ?? false,
      account.mustChangePassword ?? false,
      account.visibility ?? 'public',
      now,
      now,
    );
    const row = userOrThrow(context, account.name);
    const sql =
      'INSERT INTO email_addresses (user_id, email, lower_email, is_primary) VALUES (?1, ?2, lower(?2), 1)';
    db.run(sql, row.id, row.email);
    return row;
  });
}

/** Sets the password of an account and makes it a site administrator; creates the account if it does not exist. */
export async function ensureAdministrator(context: ForgeContext, account: NewAccount): Promise<UserRow> {
  if (!userNamed(context.db, account.name)) return createAccount(context, { ...account, isAdmin: true });
  const hash = await context.passwords.hash(account.password ?? '');
  context.db.run(
    'UPDATE users SET password_hash = ?, is_admin = 1 WHERE lower_name = ?',
    hash,
    account.name.toLowerCase(),
  );
  return userOrThrow(context, account.name);
}

function userOrThrow(context: ForgeContext, name: string): UserRow {
  const row = userNamed(context.db, name);
  if (!row) throw new TypeError(`account ${name} is missing right after it was inserted`);
  return row;
}

const reservedNames = new Set([
  ...['.', '..', '.well-known', 'api', 'metrics', 'v2', 'assets', 'attachments', 'avatar', 'avatars'],
  ...['repo-avatars', 'captcha', 'login', 'org', 'repo', 'user', 'explore', 'issues', 'pulls', 'milestones'],
  ...['notifications', 'favicon.ico', 'manifest.json', 'robots.txt', 'sitemap.xml', 'ssh_info'],
  ...['swagger.v1.json', 'openapi3.v1.json', 'ghost', 'gitea-actions'],
]);

/** Returns whether a name is a path of the service, or ends with a suffix of its account pages. */
function isReserved(name: string): boolean {
  return reservedNames.has(name.toLowerCase()) || /\.(keys|gpg|rss|atom|png)$/i.test(name);
}

/** Ends the request with 422 if a person or organization cannot have this name. */
export function assertNameIsFree(context: ForgeContext, name: string): void {
  const isUsable = /^[a-zA-Z0-9](?:[a-zA-Z0-9]|[-_.](?![-_.]))*$/.test(name) && /[a-zA-Z0-9]$/.test(name);
  if (!isUsable || name.length > 40 || isReserved(name)) {
    throw new ForgeProblem(422, `name is invalid or reserved [name: ${name}]`);
  }
  if (userNamed(context.db, name)) throw new ForgeProblem(422, `user already exists [name: ${name}]`);
}

function assertEmailIsFree(context: ForgeContext, email: string): void {
  if (!isEmail(email)) throw new ForgeProblem(422, `e-mail invalid [email: ${email}]`);
  if (isEmailTaken(context.db, email)) throw new ForgeProblem(422, `e-mail already in use [email: ${email}]`);
}

/**
 * Returns whether an e-mail address is in use, as a primary or additional address. Ignores the primary address of the
 * account `exceptId`.
 */
export function isEmailTaken(db: Database, email: string, exceptId = 0): boolean {
  const sql =
    'SELECT 1 AS one FROM email_addresses WHERE lower_email = lower(?) AND NOT (is_primary = 1 AND user_id = ?)';
  return db.get(sql, email, exceptId) !== undefined;
}

/** Returns whether a text is a valid e-mail address. */
export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>()[\],;:"\\-][^\s@<>()[\],;:"\\]*@[^\s@<>()[\],;:"\\]+$/.test(text);
}

/**
 * Returns whether a text is an http or https URL by Gitea's rule, which also accepts a URL without a host (`http:x`).
 * The text is for display only: the forge never opens it.
 */
export function isWebsite(text: string): boolean {
  const [, rest] = /^https?:(.*)$/i.exec(text) ?? [];
  if (rest === undefined || [...rest].some((one) => one < ' ' || one === '\x7f')) return false;
  return !rest.startsWith('//') || /^\/\/[^\s/?\\^`{|}]*([/?]|$)/.test(rest);
}

const longest: Readonly<Record<string, number>> = {
  email: 254,
  full_name: 100,
  password: 255,
  website: 255,
  location: 50,
  description: 255,
};

/** Ends the request with 422 if a profile text is too long or the website is not a URL. */
export function assertPersonalTexts(edit: Readonly<Record<string, unknown>>): void {
  for (const [member, size] of Object.entries(longest)) {
    const value = edit[member];
    if (typeof value === 'string' && value.length > size)
      throw new ForgeProblem(422, `[${member}]: MaxSize(${size})`);
  }
  const { website } = edit;
  if (typeof website === 'string' && website !== '' && !isWebsite(website))
    throw new ForgeProblem(422, '[Website]: Url');
}

/** Parses a visibility; empty or absent text is undefined, other text ends the request with 422. */
export function readVisibility(text: string | undefined): Visibility | undefined {
  if (text === undefined || text === '') return undefined;
  if (text === 'public' || text === 'limited' || text === 'private') return text;
  throw new ForgeProblem(422, `[Visibility]: In(,public,limited,private)`);
}

/** Minimum length of a password that an administrator sets. */
export const shortestPassword = 8;
