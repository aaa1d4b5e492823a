import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { unknownSecret } from '../../actions/secrets.ts';
import { apiRoot } from '../../client/address.ts';
import { type Credentials, type SignedIn, secretsOf } from '../../client/credentials.ts';
import type { OwnEvents } from '../../engine/bounds/own-writes.ts';
import type { RepeatedChoice } from '../../engine/bounds/refusals.ts';
import { type Budgets, budgets } from '../../engine/budget/budgets.ts';
import { count } from '../../platform/count.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { type LogLevel, logLevels } from '../../platform/log.ts';
import type { Grant } from '../../rules/sources/grants.ts';
import type { OrganizationSource } from '../../rules/sources/organization.ts';
import type { ReportProblems } from '../../rules/sources/report.ts';
import { readAddress } from '../../store/postgres/address.ts';
import { type ServerRole, serverRoles } from '../../store/store.ts';
import type { SecretUse } from '../../work/alarms/secret-tests.ts';
import { examineSecrets, type SecretEntry } from '../receiver/secrets.ts';
import {
  type AlarmSettings,
  maxPollSeconds,
  minPollSeconds,
  type OperatorEntry,
  type OperatorFile,
  type Pace,
  readAlarms,
  readOperatorFile,
  readPace,
  secretUsesOf,
  type WebhookForm,
} from './operator-file.ts';
import { isSecretVariable, readNamedSecrets } from './secrets/named-secrets.ts';

/** All settings of Reeve. */
export type Settings = RuleGrants &
  Pace &
  AlarmSettings & {
    readonly forge: SignedIn | undefined;
    /** Token of an account that can read hooks; used only by setup and doctor. */
    readonly setupToken: string | undefined;
    /** The hooks that setup manages and doctor checks. */
    readonly webhook: WebhookForm | undefined;
    /** URL of the dashboard, and the OAuth2 client for sign-in. */
    readonly dashboard: string | undefined;
    readonly signIn: { readonly clientId: string; readonly clientSecret: string } | undefined;
    readonly secrets: readonly SecretEntry[];
    readonly rules: string | undefined;
    readonly data: string;
    /** Connection string of the store; undefined: the store is a file in `data`. */
    readonly databaseUrl: string | undefined;
    /** Interval in seconds in which the forge is polled for changes; undefined: webhooks announce them. */
    readonly poll: number | undefined;
    /** Role of the server in this process. */
    readonly role: ServerRole;
    readonly repositories: readonly string[];
    readonly allowAdmin: boolean;
    /** Named secrets that operator rules can refer to. */
    readonly namedSecrets: ReadonlyMap<string, string>;
    /** Hosts that may receive messages although they are not public. */
    readonly notifyHosts: readonly string[];
    /** Pinned account ids by login. */
    readonly accounts: Readonly<Record<string, number>>;
    readonly host: string;
    readonly port: number;
    readonly forgePort: number;
    readonly logLevel: LogLevel;
  };

export type Variables = Readonly<Record<string, string | undefined>>;

/** Prefixes of Reeve's variables. An unknown variable with such a prefix is reported as a mistake. */
const ours = /^(REEVE|WEBHOOK)_/;

/**
 * Reads the settings from the environment and the operator file. Throws `settings` with all problems, one line each; no
 * line contains a secret. Webhook secrets are optional without `FORGE_URL`, because the demo generates one, and for
 * commands that receive no deliveries (`needsSecrets: false`). With `onUnusableFile`, for commands that need the store
 * alone, an operator file with problems is left out: they are reported to the function.
 */
export async function loadSettings(
  environment: Variables,
  {
    needsSecrets = true,
    onUnusableFile,
  }: {
    readonly needsSecrets?: boolean;
    readonly onUnusableFile?: (problems: readonly string[]) => void;
  } = {},
): Promise<Settings> {
  const problems: string[] = [];
  const read = createReader(environment, problems);
  const path = read('REEVE_CONFIG');
  let operator = path === undefined ? { problems: [] } : await readOperatorFile(path);
  if (operator.problems.length > 0 && onUnusableFile) {
    onUnusableFile(operator.problems);
    operator = { problems: [] };
  }
  problems.push(...operator.problems);

  const forge = readForge(environment, read, problems);
  const folder = folderOf(path);
  const secrets = [...readEnvironmentEntry(read), ...readEntries(operator.file, folder, problems)];
  const poll = readPoll(read, operator.file, problems);
  const isPolled = (read('REEVE_POLL') ?? operator.file?.poll) !== undefined;
  const isConnected = needsSecrets && !isPolled && read('FORGE_URL') !== undefined;
  if (isConnected || secrets.length > 0) problems.push(...examineSecrets(secrets));
  const settings: Settings = {
    forge,
    setupToken: read('SETUP_TOKEN'),
    webhook: operator.file?.webhook,
    dashboard: operator.file?.dashboard?.url,
    signIn: readSignIn(read, problems),
    secrets,
    rules: read('REEVE_RULES'),
    data: resolve(read('REEVE_DATA') ?? './data'),
    databaseUrl: readDatabaseUrl(read, problems),
    poll,
    role: readRole(read, problems),
    repositories: operator.file?.repositories ?? [],
    allowAdmin: operator.file?.['allow-admin'] ?? false,
    ...readGrants(operator.file),
    ...readPace(operator.file),
    ...readAlarms(operator.file),
    namedSecrets: readNamedSecrets(operator.file?.['named-secrets'], environment, { folder, problems }),
    notifyHosts: operator.file?.['notify-hosts'] ?? [],
    accounts: operator.file?.accounts ?? {},
    host: read('HOST') ?? '127.0.0.1',
    port: readPort('PORT', 8080, read, problems),
    forgePort: readPort('FORGE_PORT', 3000, read, problems),
    logLevel: readLevel(read, problems),
  };
  for (const { name, by } of secretUsesOf(settings)) {
    if (!settings.namedSecrets.has(name)) problems.push(`${by}: ${unknownSecret(name)}`);
  }
  if (problems.length > 0) {
    throw new ReeveError(
      'settings',
      `${count(problems.length, 'setting')} cannot be used:\n  ${problems.join('\n  ')}`,
    );
  }
  return settings;
}

/**
 * Returns the forge that the environment configures, with its credentials; undefined if there is none. Throws
 * `settings`.
 */
export function loadForge(environment: Variables): Settings['forge'] {
  const problems: string[] = [];
  const read = createReader(environment, problems);
  if (read('FORGE_URL') === undefined || (read('FORGE_TOKEN') ?? read('FORGE_USER')) === undefined)
    return undefined;
  const forge = readForge(environment, read, problems);
  if (problems.length === 0) return forge;
  throw new ReeveError('settings', `the settings of the forge cannot be used:\n  ${problems.join('\n  ')}`);
}

/**
 * Returns the named secrets of the environment and an operator file, with the problems of those that cannot be read;
 * undefined if neither an operator file, a forge nor a named secret is set, so that a rule may name secrets of another
 * installation.
 */
export function loadNamedSecrets(
  environment: Variables,
  file: OperatorFile | undefined,
): NamedSecretSettings | undefined {
  const isSet = ({ 1: value = '' }: readonly [string, string | undefined]): boolean => value !== '';
  const names = Object.entries(environment).filter(isSet);
  if (file === undefined && !names.some(([name]) => name === 'FORGE_URL' || isSecretVariable(name)))
    return undefined;
  const problems: string[] = [];
  return {
    secrets: readNamedSecrets(file?.['named-secrets'], environment, {
      folder: folderOf(environment.REEVE_CONFIG),
      problems,
    }),
    notifyHosts: file?.['notify-hosts'] ?? [],
    uses: secretUsesOf(readAlarms(file)),
    path: environment.REEVE_CONFIG ?? 'environment',
    problems,
  };
}

/** The named secrets, and what the settings say about them. */
export type NamedSecretSettings = {
  readonly secrets: ReadonlyMap<string, string>;
  readonly notifyHosts: readonly string[];
  /** Secrets that settings name. */
  readonly uses: readonly SecretUse[];
  /** The operator file, for problems that have no place in a rule file. */
  readonly path: string;
  /** Problems of the secrets themselves, such as a file that cannot be read. */
  readonly problems: readonly string[];
};

/** Returns a secret that the environment contains directly or as a file; undefined if absent. Throws `settings`. */
export function readSecret(environment: Variables, name: string): string | undefined {
  const problems: string[] = [];
  const value = createReader(environment, problems)(name);
  if (problems.length === 0) return value;
  throw new ReeveError('settings', `${name} cannot be used:\n  ${problems.join('\n  ')}`);
}

type ReadVariable = (name: string) => string | undefined;

function createReader(environment: Variables, problems: string[]): ReadVariable {
  const known = new Set(
    settingsTable.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  for (const name of Object.keys(environment)) {
    if (ours.test(name) && !known.has(name) && !isSecretVariable(name))
      problems.push(`${name} is not a setting of Reeve; known settings are ${[...known].join(', ')}`);
  }
  return (name) => {
    const value = environment[name] === '' ? undefined : environment[name];
    const file = known.has(`${name}_FILE`) ? environment[`${name}_FILE`] : undefined;
    if (file === undefined || file === '') return value;
    if (value !== undefined) problems.push(`${name} and ${name}_FILE are both set; keep one`);
    return readSecretFile(`${name}_FILE`, file, problems);
  };
}

function readSecretFile(name: string, path: string, problems: string[]): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    if (text === '') problems.push(`${name}: ${path} is empty`);
    return text;
  } catch (error) {
    problems.push(`${name}: ${messageOf(error)}`);
    return undefined;
  }
}

function readForge(environment: Variables, read: ReadVariable, problems: string[]): Settings['forge'] {
  const url = read('FORGE_URL');
  const isInFile = environment.FORGE_TOKEN_FILE ?? environment.FORGE_PASSWORD_FILE;
  const again = isInFile ? { readCredentials: () => readCredentials(environment) } : {};
  const [token, user, password] = [read('FORGE_TOKEN'), read('FORGE_USER'), read('FORGE_PASSWORD')];
  if (url === undefined) {
    if (token ?? user ?? password)
      problems.push('FORGE_TOKEN, FORGE_USER or FORGE_PASSWORD is set, but FORGE_URL is not');
    return undefined;
  }
  try {
    apiRoot(url);
  } catch (error) {
    problems.push(messageOf(error));
  }
  if (token !== undefined && (user ?? password) !== undefined) {
    problems.push('FORGE_TOKEN and FORGE_USER or FORGE_PASSWORD are both set; keep one way to sign in');
  }
  if (token !== undefined) return { url, credentials: { token }, ...again };
  if (user === undefined || password === undefined) {
    problems.push('FORGE_URL is set, but neither FORGE_TOKEN nor FORGE_USER with FORGE_PASSWORD');
    return undefined;
  }
  return { url, credentials: { user, password }, ...again };
}

/** Reads the token or password again; undefined if the file is currently missing or empty. */
function readCredentials(environment: Variables): Credentials | undefined {
  const problems: string[] = [];
  const forge = readForge(environment, createReader(environment, problems), problems);
  return problems.length === 0 ? forge?.credentials : undefined;
}

function readSignIn(read: ReadVariable, problems: string[]): Settings['signIn'] {
  const [clientId, clientSecret] = [read('OAUTH2_CLIENT_ID'), read('OAUTH2_CLIENT_SECRET')];
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  if (clientId ?? clientSecret)
    problems.push('OAUTH2_CLIENT_ID and OAUTH2_CLIENT_SECRET must be set together; one is missing');
  return undefined;
}

function readDatabaseUrl(read: ReadVariable, problems: string[]): string | undefined {
  const url = read('DATABASE_URL');
  try {
    if (url !== undefined) readAddress(url);
  } catch (error) {
    problems.push(messageOf(error));
  }
  return url;
}

function readRole(read: ReadVariable, problems: string[]): ServerRole {
  const text = read('REEVE_ROLE') ?? 'all';
  const role = serverRoles.find((one) => one === text);
  if (role === undefined) problems.push(`REEVE_ROLE must be one of ${serverRoles.join(', ')}`);
  else if (role !== 'all' && read('DATABASE_URL') === undefined)
    problems.push(
      `REEVE_ROLE ${role} needs DATABASE_URL: a store in a file has one process, which does everything`,
    );
  return role ?? 'all';
}

/** Returns the interval of polling in seconds, from `REEVE_POLL` or the operator file; adds a problem if it is invalid. */
export function readPoll(
  read: ReadVariable,
  file: OperatorFile | undefined,
  problems: string[],
): number | undefined {
  const text = read('REEVE_POLL');
  if (text === undefined) return file?.poll;
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= minPollSeconds && seconds <= maxPollSeconds) return seconds;
  problems.push(
    `REEVE_POLL (--poll) must be a number of seconds from ${minPollSeconds} to ${maxPollSeconds}, not "${text}"`,
  );
  return undefined;
}

/** Returns the passwords of a connection string, both decoded and as written. */
function passwordsOf(url: string): readonly string[] {
  const written = /^[^:]+:\/\/[^:/?#\\]*:([^/?#\\]*)@/.exec(url)?.[1] ?? '';
  const inQuery = new URLSearchParams(url.split('?')[1]).get('password') ?? '';
  return [written, decodeSafely(written), inQuery].filter((password) => password !== '');
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function linesOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(/\r?\n/).filter((line) => line !== '');
}

/** Returns the entry that `WEBHOOK_AUTHORIZATION` and `WEBHOOK_SECRET` form together. Its scope is every repository. */
function readEnvironmentEntry(read: ReadVariable): readonly SecretEntry[] {
  const entry = {
    name: 'environment',
    scope: ['*'],
    authorization: linesOf(read('WEBHOOK_AUTHORIZATION')),
    hmac: linesOf(read('WEBHOOK_SECRET')),
  };
  return entry.authorization.length + entry.hmac.length > 0 ? [entry] : [];
}

/** Returns the folder at which the relative paths of an operator file start. */
function folderOf(operatorFile: string | undefined): string {
  return dirname(resolve(operatorFile || 'reeve.yml'));
}

function readEntries(
  file: OperatorFile | undefined,
  folder: string,
  problems: string[],
): readonly SecretEntry[] {
  return (file?.secrets ?? []).map((entry: OperatorEntry) => ({
    name: entry.name,
    scope: entry.scope,
    authorization: withFile(entry, 'authorization', { folder, problems }),
    hmac: withFile(entry, 'hmac', { folder, problems }),
  }));
}

function withFile(
  entry: OperatorEntry,
  kind: 'authorization' | 'hmac',
  { folder, problems }: { readonly folder: string; readonly problems: string[] },
): readonly string[] {
  const path = entry[`${kind}-file`];
  const fromFile =
    path === undefined
      ? undefined
      : readSecretFile(`secrets "${entry.name}" ${kind}-file`, resolve(folder, path), problems);
  return [...(entry[kind] ?? []), ...linesOf(fromFile)];
}

function readPort(name: string, standard: number, read: ReadVariable, problems: string[]): number {
  const text = read(name);
  if (text === undefined) return standard;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  problems.push(`${name} must be a port from 0 to 65535, not "${text}"`);
  return standard;
}

function readLevel(read: ReadVariable, problems: string[]): LogLevel {
  const text = read('LOG_LEVEL') ?? 'info';
  const level = logLevels.find((one) => one === text);
  if (level === undefined) problems.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${text}"`);
  return level ?? 'info';
}

/** Returns every secret value of the settings, for redaction. */
export function secretValues(settings: Settings): readonly string[] {
  const { forge, secrets, setupToken, signIn } = settings;
  return [
    ...(setupToken === undefined ? [] : [setupToken]),
    ...(signIn === undefined ? [] : [signIn.clientSecret]),
    ...(forge ? secretsOf(forge.credentials) : []),
    ...secrets.flatMap((entry) => [...entry.authorization, ...entry.hmac]),
    ...settings.namedSecrets.values(),
    ...(settings.databaseUrl === undefined
      ? []
      : [settings.databaseUrl, ...passwordsOf(settings.databaseUrl)]),
  ];
}

type SettingRow = {
  readonly name: string;
  readonly meaning: string;
  /** Default as text; absent: no default. */
  readonly default?: string;
  /** Set for secrets, which can also be read from a file: `NAME_FILE`. */
  readonly secret?: true;
};

/** Every environment variable that Reeve reads. The reference page is generated from this table. */
export const settingsTable: readonly SettingRow[] = [
  {
    name: 'FORGE_URL',
    meaning: 'URL of the forge, with or without /api/v1. Unset: serve starts the embedded forge.',
  },
  { name: 'FORGE_TOKEN', meaning: 'Access token of the bot’s account.', secret: true },
  { name: 'FORGE_USER', meaning: 'Name of the bot’s account, instead of a token.' },
  { name: 'FORGE_PASSWORD', meaning: 'Password of the bot’s account, instead of a token.', secret: true },
  {
    name: 'WEBHOOK_AUTHORIZATION',
    meaning: 'Required value of the Authorization header of deliveries; one accepted value per line.',
    secret: true,
  },
  {
    name: 'WEBHOOK_SECRET',
    meaning: 'Secret of the delivery signatures; one accepted value per line.',
    secret: true,
  },
  {
    name: 'SETUP_TOKEN',
    meaning:
      'Access token of an account that can create and read hooks, only for reeve setup and reeve doctor. It is not stored. Unset: FORGE_TOKEN.',
    secret: true,
  },
  {
    name: 'OAUTH2_CLIENT_ID',
    meaning:
      'Client id of the OAuth2 application on the forge for dashboard sign-in; reeve setup creates it.',
  },
  { name: 'OAUTH2_CLIENT_SECRET', meaning: 'Client secret of this application.', secret: true },
  { name: 'REEVE_RULES', meaning: 'Folder of the operator’s rule files.' },
  { name: 'REEVE_DATA', meaning: 'Folder for all data that survives a restart.', default: './data' },
  {
    name: 'DATABASE_URL',
    meaning:
      'Connection string of a PostgreSQL database for the store (postgres://USER:PASSWORD@HOST/DATABASE), instead of a file in REEVE_DATA. The parameter schema names the schema of its tables; default: reeve.',
    secret: true,
  },
  {
    name: 'REEVE_POLL',
    meaning: `Interval in seconds in which Reeve polls the forge for changes, at least ${minPollSeconds}, for a machine that the forge cannot reach: no hooks and no webhook secrets are needed. serve --poll sets it as well.`,
  },
  {
    name: 'REEVE_ROLE',
    meaning:
      'Role of this process: web accepts deliveries and shows the dashboard, worker handles deliveries and schedules, all does both. web and worker need DATABASE_URL.',
    default: 'all',
  },
  {
    name: 'REEVE_CONFIG',
    meaning: 'The operator file: secrets with a scope, grants, served repositories, organizations, limits.',
  },
  {
    name: 'REEVE_SECRET_NAME',
    meaning:
      'Value of the secret NAME, which operator rules refer to as { secret: NAME }; any number of variables.',
    secret: true,
  },
  { name: 'HOST', meaning: 'Address to listen on; also that of the demo’s forge.', default: '127.0.0.1' },
  { name: 'PORT', meaning: 'Port to listen on; 0 selects a free one.', default: '8080' },
  { name: 'FORGE_PORT', meaning: 'Port of the embedded forge; 0 selects a free one.', default: '3000' },
  { name: 'LOG_LEVEL', meaning: `Lowest logged level: ${logLevels.join(', ')}.`, default: 'info' },
];

/** Settings for the permissions of rules and for unusable rule files. */
type RuleGrants = {
  /** Organizations with their own rules. */
  readonly organizations: readonly OrganizationSource[];
  /** Permissions of repository and organization files beyond the default set. */
  readonly grants: readonly Grant[];
  readonly budgets: Budgets;
  /** Whether the rule files of pull requests that change them are checked. */
  readonly preview: boolean;
  readonly reportProblems: ReportProblems;
  /** Which events of Reeve's account trigger nothing. */
  readonly own: OwnEvents;
  /** How to handle a delivery that repeats an earlier one. */
  readonly repeated: RepeatedChoice;
};

/** Returns these settings from the operator file, with defaults. */
export function readGrants(file: OperatorFile | undefined): RuleGrants {
  const limits = file?.limits ?? {};
  return {
    organizations: Object.entries(file?.organizations ?? {}).map(([name, { rules, id }]) => ({
      name,
      rules,
      id,
    })),
    grants: (file?.grants ?? []).map((grant) => ({
      repositories: grant.repositories ?? [],
      organizations: grant.organizations ?? [],
      in: grant.in,
      names: [...(grant.use ?? []), ...(grant.actions ?? []), ...(grant.facts ?? [])],
      branches: grant.branches,
      forks: grant.forks,
    })),
    budgets: {
      delivery: {
        all: limits.delivery ?? budgets.delivery.all,
        repository: limits['repository-delivery'] ?? budgets.delivery.repository,
      },
      hour: {
        all: limits.hour ?? budgets.hour.all,
        repository: limits['repository-hour'] ?? budgets.hour.repository,
      },
    },
    preview: file?.preview ?? false,
    reportProblems: file?.['report-problems'] ?? 'status',
    own: file?.own ?? 'changes',
    repeated: file?.repeated ?? 'run',
  };
}
