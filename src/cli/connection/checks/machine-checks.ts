import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { incidentKinds } from '../../../engine/incidents/incident.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { formatProblem } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { secretUsesOf } from '../../../server/settings/operator-file.ts';
import { readFingerprintKey } from '../../../server/settings/secrets/installation-secret.ts';
import { storeFileOf } from '../../../store/open-store.ts';
import { takeWorkerLock } from '../../../store/sqlite/lock.ts';
import { migrations } from '../../../store/sqlite/migrations.ts';
import { readHeartbeat } from '../../../work/alarms/heartbeat.ts';
import { findLastValid } from '../../../work/alarms/rule-sight.ts';
import { secretUses, testSecrets } from '../../../work/alarms/secret-tests.ts';
import { count, plain } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import { localAddress, probeReceiver, reachOf } from '../hooks/probe-receiver.ts';
import { findingOfRestart } from '../steps/settle-hooks.ts';
import type { Check, Examination } from './examination.ts';
import { closingCommands, findOpenPaths } from './file-modes.ts';

const leastFreeBytes = 200 * 2 ** 20;

/** Returns whether a version of Node is supported. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return ok(`Node ${version}`);
  return wrong(`Node ${version} is too old`, 'install Node 22.18 or later');
}

/** Returns the URL for a value of `HOST`. */
function localUrl(host: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}`;
}

/** Checks that do not need a forge. */
export const machineChecks: readonly Check[] = [
  {
    id: 'node',
    looks: 'The Node version.',
    fails: 'It is older than 22.18.',
    remedy: 'Install Node 22.18 or later, or use the one that `npm ci` installs.',
    run: async () => nodeFinding(process.versions.node),
  },
  {
    id: 'secret-strength',
    looks: 'The strength of the webhook secrets: number of distinct characters, example values, duplicates.',
    fails: 'A value can be guessed, or header and signature share one.',
    remedy: '`reeve setup --rotate` generates new values of 32 random bytes.',
    run: async ({ settings }) => {
      const faults = settings.secrets.flatMap(weaknessOf);
      if (faults.length === 0)
        return ok(`${count(settings.secrets.length, 'entry')} of webhook secrets, none can be guessed`);
      return wrong(faults.join('; '), 'reeve setup --rotate creates 32 random bytes each');
    },
  },
  {
    id: 'file-modes',
    looks:
      'Read permissions of the env file, of secret files, of an operator file with secrets, and of the data folder: the store, its key, the dashboard password, the demo’s forge.',
    fails: 'Another account of this machine can read one.',
    remedy: '`chmod 600 FILE`, `chmod 700 FOLDER`.',
    run: async (examination) => {
      const open = await findOpenPaths(examination);
      if (open.length === 0) return ok('files with secrets are readable only by their owner');
      const paths = open.map(({ path }) => path).join(', ');
      return wrong(`other users of this machine can read ${paths}`, closingCommands(open));
    },
  },
  {
    id: 'bind',
    looks: '`HOST`, and whether `webhook.url` uses https.',
    fails:
      'Reeve listens on a non-loopback address, and the forge sends secrets to it in clear text: there is no TLS proxy.',
    remedy: 'Set `HOST=127.0.0.1` behind a proxy with TLS, and `webhook.url` to its https URL.',
    run: async ({ settings: { host, webhook } }) => {
      const reach = await reachOf(localUrl(host));
      if (reach === 'loopback') return ok(`listens on ${host}, which only this machine can reach`);
      if (webhook?.url.startsWith('https:'))
        return ok(`listens on ${host}; the forge reaches it at ${webhook.url}`);
      return wrong(
        `listens on ${host}, and deliveries are not encrypted: header and payload can be read in transit`,
        'set HOST=127.0.0.1 behind a proxy with TLS, and webhook.url in the operator file to its https address',
      );
    },
  },
  {
    id: 'forge-tls',
    looks: '`FORGE_URL`.',
    fails: 'The token is sent to a public address in clear text (http).',
    remedy: 'Use the https URL of the forge.',
    run: async ({ forgeUrl }) => {
      if (forgeUrl.startsWith('https:')) return ok('the token is sent over https');
      const reach = await reachOf(forgeUrl);
      if (reach !== 'external') return ok(`the token is sent over http to a ${reach} address`);
      return wrong(
        `the token goes to ${new URL(forgeUrl).host} unencrypted`,
        'set FORGE_URL to the https address',
      );
    },
  },
  {
    id: 'dashboard-tls',
    looks: '`dashboard.url` of the operator file, and `HOST`.',
    fails: 'Users send the password or their session to another machine in clear text (http).',
    remedy: 'Put a TLS proxy in front of Reeve, and its https URL into `dashboard.url`.',
    run: async ({ settings: { dashboard, host, webhook } }) => {
      const advice =
        'put a proxy with TLS in front of Reeve, and set dashboard.url in the operator file to its https URL';
      if (dashboard?.startsWith('https:')) return ok('people reach the dashboard over https');
      if (dashboard !== undefined && (await reachOf(dashboard)) !== 'loopback')
        return wrong(`passwords and sessions go to ${new URL(dashboard).host} unencrypted`, advice);
      const reach = await reachOf(localUrl(host));
      if (reach === 'loopback') return ok('the dashboard has a loopback address');
      if (webhook?.url.startsWith('https:'))
        return ok(`the dashboard is shown on ${host}, behind the proxy of ${webhook.url}`);
      return wrong(`browsers send the dashboard password to ${host} without encryption`, advice);
    },
  },
  {
    id: 'data-folder',
    looks: '`REEVE_DATA`: whether it is writable, and its free disk space.',
    fails:
      'It does not exist (unless Reeve polls: then `reeve serve --poll` creates it), it is not writable, or the free space is below 200 MB or 5 % of the disk, whichever is less.',
    remedy: 'Make the folder writable for Reeve’s user, free some space, or move the folder.',
    run: checkFolder,
  },
  {
    id: 'store',
    looks: 'The schema version of the store.',
    fails: 'A newer Reeve has upgraded it, or the file is not a store.',
    remedy: 'Start the newer Reeve, or restore an earlier copy of `REEVE_DATA`.',
    after: ['data-folder'],
    run: checkStore,
  },
  {
    id: 'process',
    looks: 'The process that uses the store, and the program that listens on `HOST` and `PORT`.',
    fails:
      'A second process uses the store, another program uses the port, or a Reeve with other secrets runs there.',
    remedy: 'Stop the surplus process; restart Reeve with these settings.',
    after: ['store'],
    run: checkProcess,
  },
  {
    id: 'restart',
    looks: 'The settings with which the running Reeve started, compared with the current ones.',
    fails:
      '`FORGE_URL` or the token differs, so that it uses another forge or account. It warns if another setting differs.',
    remedy: 'Restart it: it reads its settings only at its start.',
    after: ['store', 'process'],
    run: checkRestart,
  },
  {
    id: 'rules',
    looks: 'The operator’s rule files (`REEVE_RULES`).',
    fails:
      'A file has problems, so that at most its last valid version is in force, or the folder does not exist.',
    remedy: '`reeve check` lists every problem with its position.',
    run: async ({ settings, rules, store }) => {
      if (settings.rules === undefined)
        return skipped('REEVE_RULES is not set: there are only rules of repositories');
      const files = await rules();
      const problems = files.flatMap((file) => file.problems);
      const [first] = problems;
      if (first === undefined) return ok(`${count(files.length, 'file')} in ${settings.rules}, no problems`);
      const [line = ''] = formatProblem(first).split('\n');
      // Another check reports that there is no usable store.
      const kept = await store()
        .then((opened) => findLastValid(files, opened))
        .catch(() => []);
      const words =
        kept.length === 0
          ? ''
          : `; the last valid version stays in force: ${kept.map((path) => basename(path)).join(', ')}`;
      return wrong(`${count(problems.length, 'problem')}: ${line}${words}`, `reeve check ${settings.rules}`);
    },
  },
  {
    id: 'named-secrets',
    looks: incidentKinds['secret-unusable'].looks.replace(', every ten minutes', ''),
    fails: incidentKinds['secret-unusable'].fails,
    remedy: incidentKinds['secret-unusable'].remedy,
    run: checkNamedSecrets,
  },
  {
    id: 'heartbeat',
    looks: '`heartbeat` of the operator file, and its latest result in the store.',
    fails: 'It is held because something is not well, the receiver did not take it, or no Reeve sends it.',
    remedy: 'Correct what the message names; start `reeve serve`.',
    after: ['store'],
    run: checkHeartbeat,
  },
];

async function checkNamedSecrets({ settings, rules }: Examination): Promise<Finding> {
  return findingOfSecrets(
    settings,
    (await rules()).flatMap((file) => file.rules),
  );
}

/** Tests the secrets that rules and settings name. */
export async function findingOfSecrets(
  settings: Examination['settings'],
  rules: readonly LoadedRule[],
): Promise<Finding> {
  const { namedSecrets, notifyHosts: hosts } = settings;
  const uses = [...secretUses(rules), ...secretUsesOf(settings)];
  if (namedSecrets.size === 0 && uses.length === 0)
    return skipped('there is no named secret, and no rule names one');
  const [first, ...others] = await testSecrets(uses, namedSecrets, { hosts });
  if (first === undefined) return ok(`${count(namedSecrets.size, 'named secret')}, all can be used`);
  const more = others.length === 0 ? '' : `; ${others.length} more`;
  return wrong(
    plain(`${first.text}${more}`),
    'correct the secret; reeve notify NAME --test sends a test message',
  );
}

/** Time after which a heartbeat counts as missing, in addition to its interval. */
const lateHeartbeatMs = 60_000;

async function checkHeartbeat({ settings, store }: Examination): Promise<Finding> {
  const { heartbeat } = settings;
  if (heartbeat === undefined) return skipped('the operator file does not set a heartbeat');
  const last = await readHeartbeat(await store());
  if (last === undefined) return skipped('no heartbeat was due yet: reeve serve sends it');
  const { state, at, since, why = '' } = last;
  const lateMs = Date.now() - Date.parse(at);
  if (lateMs > heartbeat.everyMs + lateHeartbeatMs)
    return wrong(`no heartbeat was sent or held since ${at}: no Reeve runs`, 'start reeve serve');
  if (state === 'sent') return ok(`the heartbeat to ${heartbeat.to} was sent at ${at}`);
  const what =
    state === 'held'
      ? 'the heartbeat is held'
      : `the receiver of ${heartbeat.to} does not take the heartbeat`;
  return wrong(plain(`${what} since ${since}: ${why}`), 'correct what the message names');
}

async function checkFolder({ settings: { data, poll } }: Examination): Promise<Finding> {
  const advice = `make ${data} writable for the user that Reeve runs as`;
  if (!(await stat(data).catch(() => undefined))) {
    // Polling needs nothing that `reeve setup` writes there.
    if (poll !== undefined)
      return skipped(`${data} does not exist yet: start reeve serve --poll, which creates it`);
    return wrong(`${data} does not exist`, 'run reeve setup, or set REEVE_DATA to the folder of reeve serve');
  }
  try {
    await access(data, constants.W_OK);
    // Only a write detects a read-only file system.
    await rm(await mkdtemp(join(data, 'doctor-')), { recursive: true });
  } catch (error) {
    return wrong(`${data} cannot be written (${error instanceof Error ? error.message : error})`, advice);
  }
  const space = await statfs(data);
  return spaceFinding(data, space.bavail * space.bsize, space.blocks * space.bsize);
}

/** Returns the finding about the free space on the disk that contains the folder. */
export function spaceFinding(data: string, freeBytes: number, allBytes: number): Finding {
  const text = `${data} can be written; ${Math.floor(freeBytes / 2 ** 20)} MB are free`;
  if (freeBytes >= Math.min(leastFreeBytes, 0.05 * allBytes)) return ok(text);
  return wrong(text, 'free some space there: a delivery that cannot be stored is lost');
}

async function checkStore(examination: Examination): Promise<Finding> {
  const { settings } = examination;
  if (settings.databaseUrl !== undefined) return checkDatabase(examination);
  const path = storeFileOf(settings);
  if (!(await stat(path).catch(() => undefined))) return ok('there is no store yet; reeve serve creates it');
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
      const known = migrations.length;
      if (version > known)
        return wrong(
          `the store has schema ${version}, this Reeve supports up to ${known}`,
          'start the newer Reeve',
        );
      return ok(
        version === known ? `schema ${version}` : `schema ${version}; the next start upgrades it to ${known}`,
      );
    } finally {
      database.close();
    }
  } catch (error) {
    return wrong(
      `${path} is not a store of Reeve (${error instanceof Error ? error.message : error})`,
      'restore a backup of REEVE_DATA, or move the file away: catch-up then finds missed events',
    );
  }
}

/** Opens the store as the server does: migrates the schema and tests a write. */
async function checkDatabase({ store }: Examination): Promise<Finding> {
  const advice = 'make the server of DATABASE_URL reachable, and let its account write';
  try {
    const { ok: isHealthy, reason = '' } = await (await store()).healthy();
    return isHealthy ? ok('the store in PostgreSQL accepts writes') : wrong(reason, advice);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return wrong(error.message, advice);
  }
}

async function checkProcess({ settings }: Examination): Promise<Finding> {
  const where = `${settings.host}:${settings.port}`;
  const [entry] = settings.secrets;
  if (entry === undefined)
    return skipped(
      settings.poll === undefined
        ? 'no webhook secret is configured'
        : 'polling needs no webhook secrets, by which a Reeve on this machine is recognized',
    );
  const there = await probeReceiver(localAddress(settings.host, settings.port), entry);
  if (there.who === 'ours') return ok(`Reeve runs on ${where} with these secrets`);
  if (there.who === 'throttled')
    return skipped(`the Reeve on ${where} limits requests after too many failures; try again in a minute`);
  if (there.who === 'other-secrets') {
    return wrong(`the Reeve on ${where} has other webhook secrets`, 'restart it with these settings');
  }
  if (there.who === 'stranger') {
    return wrong(
      `another program listens on ${where} (${there.why})`,
      'set PORT to a free port, or stop that program',
    );
  }
  if (settings.databaseUrl !== undefined) return ok(`no Reeve listens on ${where} now`);
  try {
    takeWorkerLock(storeFileOf(settings)).release();
    return ok(`no Reeve runs on ${where} now`);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return wrong(
      `${error.message}; and nothing answers on ${where}`,
      'stop the other process, or set its HOST and PORT',
    );
  }
}

/**
 * Checks that Reeve can listen on its address, for a setup without webhook secrets, by which a running Reeve would be
 * recognized there.
 */
export async function findingOfAddress(settings: Settings): Promise<Finding> {
  const { host, port, databaseUrl } = settings;
  const where = `${host}:${port}`;
  if (await isRunning(settings)) return ok('a Reeve runs with this store');
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
      return wrong(
        `cannot listen on ${where}: ${messageOf(error)}`,
        'set HOST to an address of this machine, and PORT to a free port',
      );
    const advice = 'set PORT to a free port, or stop that program';
    // A store in PostgreSQL has no lock that shows a running Reeve.
    if (databaseUrl !== undefined)
      return warning(
        `a program listens on ${where}; if it is no Reeve with this database, serve fails`,
        advice,
      );
    return wrong(`another program listens on ${where}`, advice);
  }
  server.close();
  await once(server, 'close');
  return ok(`${where} is free`);
}

/** Compares the settings with those of a running Reeve, which another check has recognized by its secrets or its lock. */
async function checkRestart({ settings, store }: Examination): Promise<Finding> {
  if (!(await isRunning(settings))) return ok('no Reeve runs that could have other settings');
  const opened = await store();
  const key = await readFingerprintKey(settings.data, opened);
  if (key === undefined) return skipped('it is unknown with which settings the running Reeve started');
  return (
    (await findingOfRestart(settings, opened, key)) ?? ok('the running Reeve started with these settings')
  );
}

/** Returns whether a Reeve uses the store, or answers on the configured address. */
async function isRunning(settings: Settings): Promise<boolean> {
  const [entry] = settings.secrets;
  if (entry !== undefined) {
    const there = await probeReceiver(localAddress(settings.host, settings.port), entry);
    if (there.who === 'ours' || there.who === 'throttled') return true;
  }
  // Polling needs no secrets. A store in PostgreSQL has no lock that only a running process holds.
  if (settings.databaseUrl !== undefined || !existsSync(storeFileOf(settings))) return false;
  try {
    takeWorkerLock(storeFileOf(settings)).release();
    return false;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'store-locked') return true;
    throw error;
  }
}

/** Placeholder words from examples and templates. */
const placeholders =
  /change.?me|replace.?me|placeholder|example|password|passw0rd|your.?(own|secret|token)|12345|qwertz?y?/i;
/**
 * Minimum number of different characters. A random text of 24 characters has at least this many with near certainty.
 */
const leastDifferent = 10;

/** Returns why the values of an entry could be guessed; empty if they cannot. The texts contain no value. */
function weaknessOf(entry: SecretEntry): readonly string[] {
  const faults: string[] = [];
  for (const kind of ['authorization', 'hmac'] as const) {
    for (const [location, value] of entry[kind].entries()) {
      const what = `${kind} value ${location + 1} of "${entry.name}"`;
      const own = value.replace(/^(Bearer|Basic|token) /i, '');
      if (placeholders.test(own)) faults.push(`${what} looks like an example`);
      else if (new Set(own).size < leastDifferent) faults.push(`${what} has few distinct characters`);
      else if (isDouble(own, entry, kind)) faults.push(`${what} is used for header and signature`);
    }
  }
  return faults;
}

/**
 * Returns whether the value is used for both header and signature: anyone who sees the header, which proxies may log,
 * could then sign. Reported only once, for the header.
 */
function isDouble(own: string, entry: SecretEntry, kind: 'authorization' | 'hmac'): boolean {
  return kind === 'authorization' && entry.hmac.some((value) => value === own);
}
