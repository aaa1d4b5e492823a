import type { Database } from '../database.ts';
import { ForgeProblem } from '../errors.ts';
import type { UserRow } from '../rows.ts';

/** Suffixes that follow the name in git URLs. */
const suffix = /(\.wiki)?(\.git)?$/i;

/** Thrown if a path uses a former name of a repository (301) or an account (307). */
export class Redirect extends Error {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly status: 301 | 307;

  /** Takes the adjacent outdated segments of the path and their replacements. */
  constructor(from: readonly string[], to: readonly string[], status: 301 | 307) {
    super(`moved to ${to.join('/')}`);
    this.from = from;
    this.to = to;
    this.status = status;
  }

  /** Returns a URL with the former names replaced; everything else is unchanged. */
  locationOf(url: string): string {
    const mark = url.indexOf('?');
    const segments = (mark < 0 ? url : url.slice(0, mark)).split('/');
    const start = url.startsWith('/api/v1/') ? 4 : 1;
    for (let at = start; at + this.from.length <= segments.length; at += 1) {
      const here = segments.slice(at, at + this.from.length);
      if (!here.every((segment, part) => nameIn(segment) === this.from[part]?.toLowerCase())) continue;
      const ending = suffix.exec(here.at(-1) ?? '')?.[0] ?? '';
      const names = this.to.map((name) => encodeURIComponent(name));
      segments.splice(at, here.length, ...names.slice(0, -1), `${names.at(-1)}${ending}`);
      break;
    }
    return segments.join('/') + (mark < 0 ? '' : url.slice(mark));
  }
}

function nameIn(segment: string): string {
  try {
    return decodeURIComponent(segment).replace(suffix, '').toLowerCase();
  } catch {
    // Invalid percent-encoding: the segment cannot be a former name.
    return '';
  }
}

/** Returns the account or organization with this name, ignoring case. */
export function userNamed(db: Database, name: string): UserRow | undefined {
  return db.get<UserRow>('SELECT * FROM users WHERE lower_name = ? AND id > 0', name.toLowerCase());
}

/**
 * Returns the account or organization with this name. Throws `Redirect` for a former name, unless the caller is
 * anonymous and the account is not public. Otherwise ends the request with 404.
 */
export function accountNamed(db: Database, name: string, caller: UserRow | undefined): UserRow {
  const account = userNamed(db, name);
  if (account) return account;
  const now = db.get<UserRow>(
    'SELECT u.* FROM account_redirects a JOIN users u ON u.id = a.user_id WHERE a.lower_name = ?',
    name.toLowerCase(),
  );
  if (now && (caller || now.visibility === 'public')) throw new Redirect([name], [now.name], 307);
  throw new ForgeProblem(404, 'user does not exist');
}
