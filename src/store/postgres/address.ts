import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ReeveError } from '../../platform/errors.ts';

/** Address of a store, from `DATABASE_URL`. */
export type PostgresAddress = {
  /** The connection string, including user and password. */
  readonly url: string;
  /** The schema that contains the tables. */
  readonly schema: string;
  /** Host and database, for messages; without user and password. */
  readonly name: string;
};

/** Limit after which the server cancels a statement. A connection that does not respond for longer is closed. */
const statementMs = 8_000;
export const silenceMs = 10_000;

/** Settings of every connection. A pooler that shares connections between statements would lose these settings. */
const sessionSettings: Readonly<Record<string, string | number>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  client_encoding: 'UTF8',
  // JIT compilation takes longer than our statements.
  jit: 'off',
  synchronous_commit: 'on',
  statement_timeout: statementMs,
  // A process that stalls inside a transaction must not block the others.
  idle_in_transaction_session_timeout: statementMs,
};

/** Parameters whose values may contain an unescaped @. */
const looseParameters: ReadonlySet<string> = new Set(['user', 'password', 'application_name', 'options']);

/**
 * Returns whether an @ follows the first delimiter that ends user, password and host. In this case, the delimiter
 * belongs to a password, and the rest would be parsed as a host, a database or a parameter, which messages repeat.
 */
function isPasswordCut(base: string, query: string): boolean {
  const [, rest = ''] = /^[^:]+:\/\/[^/#\\]*(.*)$/s.exec(base) ?? [];
  const isStray = (parameter: string): boolean =>
    parameter.includes('@') && !looseParameters.has(parameter.split('=', 1)[0] ?? '');
  return rest.includes('@') || query.split('&').some(isStray);
}

/**
 * Parses a connection string. Its parameter `schema` names the schema of the tables (default: `reeve`). Throws
 * `settings`, with a message that does not repeat the string.
 */
export function readAddress(given: string): PostgresAddress {
  const [base = '', query = ''] = given.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const schema = parameters.get('schema') ?? 'reeve';
  if (!/^postgres(ql)?:\/\//.test(base))
    throw new ReeveError('settings', 'DATABASE_URL must begin with postgres://');
  if (isPasswordCut(base, query))
    throw unusable(
      'a character in the password is not escaped: write / as %2F, ? as %3F, # as %23, @ as %40 and \\ as %5C',
    );
  const hosts = parameters.get('host') ?? base.replace(/^.*(:\/\/|@)/s, '').split('/')[0];
  if (hosts?.includes(',')) throw unusable('it names several hosts: use a name that resolves to the primary');
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
    // The parser's message may repeat a part of the string.
    throw unusable(
      'it is not a valid address: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in the password escaped (/ as %2F)',
    );
  }
}

function unusable(why: string): ReeveError {
  return new ReeveError('settings', `DATABASE_URL cannot be used: ${why}`);
}

/** Returns the connection string with the session settings and the given settings. */
export function withSettings(
  { url, schema }: PostgresAddress,
  settings: Readonly<Record<string, string | number>> = {},
): string {
  const all = { ...sessionSettings, search_path: schema, ...settings };
  const [base = '', query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const own = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
  parameters.set('options', [parameters.get('options'), ...own].filter(Boolean).join(' '));
  // A space is encoded as %20, because a connection string is not form-encoded.
  return `${base}?${parameters.toString().replaceAll('+', '%20')}`;
}

/**
 * Returns the class of a schema's advisory locks, because the whole database shares advisory locks. Versions that run
 * concurrently must compute the same class.
 */
export function lockClassOf(schema: string): number {
  return crc32(`reeve ${schema}`) >>> 1;
}

/** Returns the channel on which the processes of a schema notify each other of new work. */
export function channelOf(schema: string): string {
  return `reeve_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
}
