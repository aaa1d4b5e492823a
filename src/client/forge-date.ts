import ky from 'ky';
import { apiRoot } from './address.ts';
import { unreachable } from './failure.ts';

/** Time of the forge's clock and of ours, in milliseconds since 1970; undefined if it sends no `Date`. */
type ForgeDate = { readonly forgeMs: number; readonly ourMs: number } | undefined;

/**
 * Reads the time of a forge: the `Date` header of an answer, in whole seconds. Our own time is that of the middle of the
 * exchange. The request contains no credential.
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
