import ky from 'ky';
import { type AnyInput, fillPath, type Operation } from '../contract/operation.ts';
import { ReeveError } from '../platform/errors.ts';
import { type ForgeAnswer, unreachable } from './failure.ts';

/**
 * Returns the base URL of all paths, ending in `/api/v1`. Throws `settings` if it is not an http URL, with a message
 * that does not repeat the URL, because it may contain a password.
 */
export function apiRoot(url: string): URL {
  const parsed = URL.parse(url);
  // After an unescaped `/`, a password looks like a path.
  if (url.includes('@'))
    throw new ReeveError('settings', 'FORGE_URL must not contain credentials (an @); use FORGE_TOKEN');
  if (parsed === null)
    throw new ReeveError('settings', 'FORGE_URL is not a URL: write it as https://forge.example.org');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ReeveError('settings', 'FORGE_URL must begin with http:// or https://');
  }
  if (parsed.search) {
    throw new ReeveError('settings', 'FORGE_URL must not contain credentials or a query; use FORGE_TOKEN');
  }
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return new URL(`${path}/api/v1`, parsed.origin);
}

/** Returns the URL of a call: the path of the operation with its parameters, and the query. */
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

/** Time of the forge's clock and of ours, in milliseconds since 1970; undefined without a `Date` header. */
type ForgeDate = { readonly forgeMs: number; readonly ourMs: number } | undefined;

/**
 * Reads the time of a forge: the `Date` header of a response, in whole seconds. Our own time is that of the middle of
 * the exchange. The request contains no credential.
 */
export async function askForgeDate(url: string, now: () => number = Date.now): Promise<ForgeDate> {
  const address = new URL(`${apiRoot(url).href}/version`);
  const before = now();
  try {
    const response = await ky(address, {
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      timeout: false,
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    const forgeMs = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(forgeMs) ? undefined : { forgeMs, ourMs: (before + now()) / 2 };
  } catch (cause) {
    throw unreachable(`GET ${address.pathname}`, cause);
  }
}
