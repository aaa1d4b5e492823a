import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isEmail } from '../../forge/accounts/users-service.ts';
import { createForgeInstance } from '../../forge/forge.ts';
import { createHookHosts } from '../../forge/hooks/deliveries.ts';
import type { GitLimits } from '../../forge/platform/git/limits.ts';
import { controlTokenFile } from '../../forge/testing/control.ts';
import { describeSeed, parseSeed, type SeedFile } from '../../forge/testing/seed-shape.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import type { Terminal } from '../output/terminal.ts';
import { keepFilesPrivate, watchSignals } from './process.ts';

type ForgeCommandOptions = {
  readonly port?: string;
  readonly data?: string;
  readonly admin?: string;
  readonly adminPasswordFile?: string;
  readonly adminEmail?: string;
  readonly url?: string;
  readonly seed?: string;
  readonly control?: boolean;
  readonly json?: boolean;
  readonly hookHosts?: string;
  readonly maxPush?: string;
  readonly maxObject?: string;
};

/** Runs the embedded forge on loopback until it is stopped. Returns the exit status. */
export async function forge(options: ForgeCommandOptions, terminal: Terminal): Promise<number> {
  const administrator = readAdministrator(options);
  const rootUrl = readRootUrl(options.url);
  const port = readPort(options.port ?? '3000');
  const hookHosts = readHookHosts(options.hookHosts);
  const seed = options.seed === undefined ? undefined : readSeed(options.seed);
  const limits = readLimits(options);
  const data = resolve(options.data ?? './data/forge');
  keepFilesPrivate();
  const stop = watchSignals();
  const log = createLog({ level: 'warn', secrets: administrator ? [administrator.password] : [] });
  const running = await createForgeInstance({
    clock: () => new Date(),
    data,
    log,
    rootUrl,
    seed,
    control: options.control ?? false,
    limits,
    hookHosts,
  });
  try {
    if (administrator) await running.createAdministrator(administrator);
    if (options.admin !== undefined) {
      terminal.error(
        'The password is visible in the process list of this machine; use --admin-password-file to prevent that.',
      );
    }
    stop.signal.throwIfAborted();
    const url = await running.listen({ port, host: '127.0.0.1' });
    if (options.json) terminal.out(JSON.stringify({ url }));
    else {
      terminal.out(`The embedded forge listens on ${url} (API: ${url}/api/v1)`);
      if (options.control) terminal.out(`Control: ${url}/-/control/, bearer in ${controlTokenFile(data)}`);
    }
    await stop.received;
    return 0;
  } catch (error) {
    if (stop.explains(error)) return 0;
    throw error;
  } finally {
    await running.close();
  }
}

function readSeed(path: string): SeedFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ReeveError('usage', `--seed: ${messageOf(cause)}`, { cause });
  }
  const read = parseSeed(text, path);
  if ('problems' in read)
    throw new ReeveError('usage', `the seed cannot be used\n${read.problems.join('\n')}`);
  return read;
}

type Administrator = { readonly name: string; readonly password: string; readonly email?: string };

function readAdministrator(options: ForgeCommandOptions): Administrator | undefined {
  const account = readCredentials(options);
  const { adminEmail: email } = options;
  if (email === undefined) return account;
  if (account === undefined)
    throw new ReeveError('usage', '--admin-email needs --admin or --admin-password-file');
  if (!isEmail(email)) throw new ReeveError('usage', `--admin-email takes an address, not "${email}"`);
  return { ...account, email };
}

function readRootUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && url.search + url.hash === '' && !text.includes('@');
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new ReeveError('usage', '--url takes an http or https address without credentials and query');
  return url.href;
}

function readCredentials(options: ForgeCommandOptions): Administrator | undefined {
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

/** Prints the JSON Schema of seed files. Returns the exit status. */
export function seedSchema(terminal: Terminal): number {
  terminal.out(JSON.stringify(describeSeed(), undefined, 2));
  return 0;
}

function readLimits({ maxPush, maxObject }: ForgeCommandOptions): Partial<GitLimits> {
  return {
    ...(maxPush === undefined ? {} : { pushBytes: readMebibytes('--max-push', maxPush) }),
    ...(maxObject === undefined ? {} : { objectBytes: readMebibytes('--max-object', maxObject) }),
  };
}

function readHookHosts(text: string | undefined): readonly string[] {
  const hosts = text === undefined ? [] : text.split(',').map((host) => host.trim());
  try {
    createHookHosts(hosts);
  } catch (cause) {
    throw new ReeveError('usage', `--hook-hosts: ${messageOf(cause)}`, { cause });
  }
  return hosts;
}

function readMebibytes(option: string, text: string): number {
  const number = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number))
    throw new ReeveError('usage', `${option} takes a number of MiB from 1 to 999999, not "${text}"`);
  return number * 1024 * 1024;
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535))
    throw new ReeveError('usage', `--port takes a number from 0 to 65535, not "${text}"`);
  return port;
}
