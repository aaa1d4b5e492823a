import ky from 'ky';
import { apiRoot } from './client.ts';
import { unreachable } from './failure.ts';

/** What the forge's clock says beside ours, in milliseconds since 1970; undefined where it sends no `Date`. */
type ForgeDate = { readonly forgeMs: number; readonly ourMs: number } | undefined;

/**
 * Asks a forge for the time: the `Date` header of an answer, in whole seconds. Our own time is that of the middle of the
 * exchange. Nothing but the address is sent.
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
