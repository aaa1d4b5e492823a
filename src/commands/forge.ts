import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, ReeveError } from '../errors.ts';
import { createForge } from '../forge/forge.ts';
import { createLog } from '../log.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

export type ForgeOptions = {
  readonly port?: string;
  readonly data?: string;
  readonly admin?: string;
  readonly adminPasswordFile?: string;
  readonly json?: boolean;
};

/** Runs the embedded forge on loopback until it is told to stop. Returns the exit status. */
export async function forge(options: ForgeOptions, terminal: Terminal): Promise<number> {
  const administrator = readAdministrator(options);
  const port = readPort(options.port ?? '3000');
  const log = createLog({ level: 'warn', secrets: administrator ? [administrator.password] : [] });
  const running = await createForge({
    clock: () => new Date(),
    data: resolve(options.data ?? './data/forge'),
    log,
  });
  try {
    if (administrator) await running.createAdministrator(administrator);
    if (options.admin !== undefined) {
      terminal.error(
        'The password stands in the process list of this machine; --admin-password-file keeps it out.',
      );
    }
    const stopped = untilStopped();
    const url = await running.listen({ port, host: '127.0.0.1' });
    terminal.out(
      options.json ? JSON.stringify({ url }) : `The embedded forge listens on ${url} (API: ${url}/api/v1)`,
    );
    await stopped;
    return 0;
  } finally {
    await running.close();
  }
}

function readAdministrator(options: ForgeOptions): { name: string; password: string } | undefined {
  if (options.adminPasswordFile !== undefined) {
    try {
      return {
        name: 'root',
        password: readFileSync(options.adminPasswordFile, 'utf8').replace(/\r?\n$/, ''),
      };
    } catch (cause) {
      throw new ReeveError('usage', `--admin-password-file: ${messageOf(cause)}`, { cause });
    }
  }
  if (options.admin === undefined) return undefined;
  const colon = options.admin.indexOf(':');
  if (colon < 1 || colon === options.admin.length - 1)
    throw new ReeveError('usage', '--admin takes NAME:PASSWORD');
  return { name: options.admin.slice(0, colon), password: options.admin.slice(colon + 1) };
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535))
    throw new ReeveError('usage', `--port takes a number from 0 to 65535, not "${text}"`);
  return port;
}
