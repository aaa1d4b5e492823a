import { type AnyInput, fillPath, type Operation } from '../contract/operation.ts';
import { ReeveError } from '../platform/errors.ts';
import type { ForgeAnswer } from './answer.ts';

/**
 * Returns the base URL of all paths, ending in `/api/v1`. Throws `settings` if it is not an http URL, with a message that does not repeat
 * it: what is wrong may be a password in it.
 */
export function apiRoot(url: string): URL {
  const parsed = URL.parse(url);
  // Behind a `/` that is not escaped, a password looks like a path.
  if (url.includes('@'))
    throw new ReeveError('settings', 'FORGE_URL must not hold credentials (an @); use FORGE_TOKEN');
  if (parsed === null)
    throw new ReeveError('settings', 'FORGE_URL is not a URL: write it as https://forge.example.org');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ReeveError('settings', 'FORGE_URL must begin with http:// or https://');
  }
  if (parsed.search) {
    throw new ReeveError('settings', 'FORGE_URL must not hold credentials or a query; use FORGE_TOKEN');
  }
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return new URL(`${path}/api/v1`, parsed.origin);
}

/** Returns the URL of a call: the path of the row with its parameters, and the query. */
export function requestUrl(root: URL, operation: Operation, input: AnyInput): URL {
  const url = new URL(root.pathname + fillPath(operation, input.params), root);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  return url;
}

/** Returns the target of a redirect that may be followed: only for reads, and only within the same forge. */
export function redirectOf(
  answer: ForgeAnswer,
  from: URL,
  root: URL,
  where: string,
  mayFollow: boolean,
): URL {
  const location = answer.header('location');
  const target = location === null ? undefined : new URL(location, from);
  if (
    target === undefined ||
    !mayFollow ||
    target.origin !== root.origin ||
    !target.pathname.startsWith(root.pathname)
  ) {
    const to =
      target === undefined ? 'nowhere' : target.origin === root.origin ? target.pathname : target.origin;
    throw new ReeveError('forge-moved', `${where}: moved to ${to}; nothing was sent there`, {
      status: answer.status,
    });
  }
  return target;
}
