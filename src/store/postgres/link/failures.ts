import pg from 'pg';
import { messageOf, ReeveError } from '../../../platform/errors.ts';

/** Classes of SQLSTATE, and single states, by which the server refuses work that it will do later or elsewhere. */
const refusals: Readonly<Record<string, string>> = {
  '08': 'the connection failed',
  '25006': 'the server is read-only: it is a standby, or was demoted to one',
  '28': 'the server refuses the sign-in',
  '3D': 'there is no such database',
  '42501': 'the account may not do this',
  '53': 'the server lacks memory, space or connections',
  '55P03': 'a lock was not given in time',
  '57': 'the server is stopping, starting, or ended the statement',
  '58': 'the disk of the server reports an error',
  XX: 'the database is damaged',
};

/** How `pg` says that there is no connection; these errors have no code. */
const unreachable =
  /timeout|Connection terminated|not queryable|connection error|after calling end|Cannot use a pool|ECONN|socket/i;

/** Whether the same statement may succeed when it is repeated at once: it lost against another one. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** Whether the statement waited for a lock longer than its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Whether a unique index refused the statement. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Whether the connection must not be used again: it is broken, or leads to a server that takes no writes. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  return /^(08|57P|25006|XX)/.test(error.code ?? '');
}

/** Converts an error of the server or the connection to `store-unwritable` where the same call may succeed later. */
export function asStoreRefusal(error: unknown, name: string): unknown {
  if (error instanceof ReeveError || !(error instanceof Error)) return error;
  const reason = whyRefused(error);
  if (reason === undefined) return error;
  return new ReeveError('store-unwritable', `the store in ${name} refuses: ${reason} (${messageOf(error)})`, {
    cause: error,
    retryAfterMs: 5_000,
  });
}

function whyRefused(error: Error): string | undefined {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    return refusals[code] ?? refusals[code.slice(0, 2)];
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Several addresses of one host fail together, without a message.
  const text = error instanceof AggregateError ? code : `${code} ${error.message}`;
  return unreachable.test(text) || /^E[A-Z]+$/.test(code) ? 'the server cannot be reached' : undefined;
}
