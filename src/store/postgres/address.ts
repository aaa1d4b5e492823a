import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ReeveError } from '../../platform/errors.ts';

/** Address of a store, from `DATABASE_URL`. */
export type PostgresAddress = {
  /** The connection string, with the user and password. */
  readonly url: string;
  /** The schema that holds the tables. */
  readonly schema: string;
  /** Host and database for messages, without the user and password. */
  readonly name: string;
};

/** A statement that takes longer is ended by the server; a connection that says nothing for longer is given up. */
const statementMs = 8_000;
export const silenceMs = 10_000;

/** The settings of every connection. A pooler that shares connections between statements would not keep them. */
const sessionSettings: Readonly<Record<string, string | number>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  client_encoding: 'UTF8',
  // Compiling a statement takes longer than running one of ours.
  jit: 'off',
  synchronous_commit: 'on',
  statement_timeout: statementMs,
  // A process that stands still in the middle of a transaction must not keep the others waiting.
  idle_in_transaction_session_timeout: statementMs,
};

/** Parameters whose values may hold an @ that is not escaped. */
const looseParameters: ReadonlySet<string> = new Set(['user', 'password', 'application_name', 'options']);

/**
 * Returns whether an @ stands behind the first sign that ends user, password and host: that sign belongs to a password then, and what
 * follows would be taken for a host, a database or a parameter, which messages repeat.
 */
function isPasswordCut(base: string, query: string): boolean {
  const [, rest = ''] = /^[^:]+:\/\/[^/#\\]*(.*)$/s.exec(base) ?? [];
  const isStray = (parameter: string): boolean =>
    parameter.includes('@') && !looseParameters.has(parameter.split('=', 1)[0] ?? '');
  return rest.includes('@') || query.split('&').some(isStray);
}

/**
 * Reads a connection string. The parameter `schema` names the schema of the tables (default: `reeve`). Throws `settings` with a
 * message that does not repeat the string.
 */
export function readAddress(given: string): PostgresAddress {
  const [base = '', query = ''] = given.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const schema = parameters.get('schema') ?? 'reeve';
  if (!/^postgres(ql)?:\/\//.test(base))
    throw new ReeveError('settings', 'DATABASE_URL must begin with postgres://');
  if (isPasswordCut(base, query))
    throw unusable(
      'a sign in the password is not escaped: write / as %2F, ? as %3F, # as %23, @ as %40 and \\ as %5C',
    );
  const hosts = parameters.get('host') ?? base.replace(/^.*(:\/\/|@)/s, '').split('/')[0];
  if (hosts?.includes(',')) throw unusable('it names several hosts: use a name that leads to the primary');
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) throw unusable('the schema must be a name in lower case');
  parameters.delete('schema');
  try {
    const { host, pathname } = new URL(
      base
        .replace(/^postgres(ql)?:/, 'http:')
        .replace('@/', '@localhost/')
        .replace(':///', '://localhost/'),
    );
    const place = parameters.get('host') ?? host;
    return { url: `${base}?${parameters}`, schema, name: `PostgreSQL ${place}${pathname} (${schema})` };
  } catch {
    // What the parser says may repeat a part of it.
    throw unusable(
      'it is no address: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with signs in the password escaped (/ as %2F)',
    );
  }
}

function unusable(why: string): ReeveError {
  return new ReeveError('settings', `DATABASE_URL cannot be used: ${why}`);
}

/** Returns the connection string with the settings of a session, and those that are given. */
export function withSettings(
  { url, schema }: PostgresAddress,
  settings: Readonly<Record<string, string | number>> = {},
): string {
  const all = { ...sessionSettings, search_path: schema, ...settings };
  const [base = '', query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const own = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
  parameters.set('options', [parameters.get('options'), ...own].filter(Boolean).join(' '));
  // A space is written as %20: a connection string is no form.
  return `${base}?${parameters.toString().replaceAll('+', '%20')}`;
}

/**
 * Returns the class of the advisory locks of a schema: they belong to the whole database. Versions that run side by side must
 * compute the same one.
 */
export function lockClassOf(schema: string): number {
  return crc32(`reeve ${schema}`) >>> 1;
}

/** Returns the channel on which the processes of a schema tell each other about new work. */
export function channelOf(schema: string): string {
  return `reeve_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
}
