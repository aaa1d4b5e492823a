import { readFile } from 'node:fs/promises';
import { type Document, isMap, parseDocument } from 'yaml';
import { z } from 'zod';
import { actions, argumentGrants } from '../../actions/actions.ts';
import { ownEvents } from '../../engine/bounds/own-writes.ts';
import { repeatedChoices } from '../../engine/bounds/refusals.ts';
import { budgets } from '../../engine/budget/budgets.ts';
import { facts } from '../../facts/facts.ts';
import { compileGlob, createRepositoryScope } from '../../patterns/glob.ts';
import { messageOf } from '../../platform/errors.ts';
import { createReachableHosts } from '../../platform/http/reachable-hosts.ts';
import { isTimezone } from '../../rules/expressions/function-row.ts';
import { keysAt } from '../../rules/files/issues.ts';
import { explainCron } from '../../rules/files/load-rule.ts';
import type { YamlPath } from '../../rules/files/yaml-source.ts';
import { nearest } from '../../rules/problem.ts';
import { type Retention, standardRetention } from '../../store/prune.ts';
import type { SecretUse } from '../../work/alarms/secret-tests.ts';
import type { ReportSettings } from '../../work/alarms/weekly-report.ts';
import { NamedSecretsForm } from './secrets/named-secrets.ts';

/** Shortest and longest interval of polling in seconds. */
export const minPollSeconds = 30;
export const maxPollSeconds = 86_400;

/** Owner and name of a repository, as in its URL. */
const fullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'write a repository as owner/name');
/** Name of an account or an organization, as in its URL. */
const accountName = z.string().regex(/^[\w][\w.-]*$/, 'write an account or organization as in its URL');

/** URL that is shown in messages and on pages. */
const address = z
  .url({ protocol: /^https?$/, error: 'a URL must begin with http:// or https://' })
  .refine((url) => !url.includes('@'), 'a URL must not contain credentials or an @');

/**
 * `webhook` of the operator file: Reeve's hooks on the forge. `reeve setup` creates them, and `reeve doctor` checks
 * them.
 */
export const WebhookForm = z.strictObject({
  url: address.describe('URL that the forge delivers to: `/webhook` of Reeve, as reachable from the forge.'),
  system: z.boolean().optional().describe('A hook of the instance, for every repository.'),
  users: z.array(accountName).optional().describe('Accounts with a hook.'),
  organizations: z.array(accountName).optional().describe('Organizations with a hook.'),
  repositories: z.array(fullName).optional().describe('Repositories with a hook.'),
  events: z
    .enum(['all', 'rules'])
    .optional()
    .describe(
      'Events of the hooks: all, or only push, repository and the events of the operator’s rules. Default all, because rule files of repositories can use any event.',
    ),
});
export type WebhookForm = z.output<typeof WebhookForm>;

/** `dashboard` of the operator file. */
const DashboardForm = z.strictObject({
  url: address.describe('URL of the dashboard as its users reach it; sign-in on the forge redirects to it.'),
});

const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]));

/** An entry of `secrets`: inline values, or files with one value per line. */
const Entry = z.strictObject({
  name: z.string().min(1),
  scope: values.describe('Repositories whose deliveries it may verify: "acme/*", or "*" for all.'),
  authorization: values.optional().describe('Accepted values of the Authorization header.'),
  'authorization-file': z
    .string()
    .optional()
    .describe(
      'A file with one accepted value per line. A relative path starts at the folder of the operator file.',
    ),
  hmac: values.optional().describe('Accepted secrets of the signature.'),
  'hmac-file': z
    .string()
    .optional()
    .describe(
      'A file with one accepted secret per line. A relative path starts at the folder of the operator file.',
    ),
});

const organizationName = z.string().regex(/^[\w][\w.-]*$/, 'write an organization as in its URL');

const Organization = z.strictObject({
  rules: fullName.describe('Repository whose rules/*.yml, on its default branch, apply to the organization.'),
  id: z
    .int()
    .positive()
    .optional()
    .describe('Id of that repository. If omitted, the first id is stored, and a different one is refused.'),
});

const rowNames = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);
/** Returns a schema that accepts these names. Its error message suggests the nearest name. */
const nameOf = (what: string, known: readonly string[]) =>
  z.string().check((context) => {
    if (known.includes(context.value)) return;
    const near = nearest(context.value, known);
    const hint = near === undefined ? `; known are ${known.join(', ')}` : `, did you mean "${near}"?`;
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: `there is no ${what} "${context.value}"${hint}`,
    });
  });
/**
 * Validates a list of patterns as a whole, because an excluding pattern is meaningful only together with other
 * patterns.
 */
const patterns = z.array(z.string()).check((context) => {
  if (context.value.length === 0) return;
  try {
    createRepositoryScope(context.value);
  } catch (error) {
    context.issues.push({ code: 'custom', input: context.value, message: messageOf(error) });
  }
});

const branchPatterns = z.array(z.string().min(1)).check((context) => {
  try {
    compileGlob(context.value);
  } catch (error) {
    context.issues.push({ code: 'custom', input: context.value, message: messageOf(error) });
  }
});

const Grant = z
  .strictObject({
    in: z
      .union([z.string().transform((one) => [one]), z.array(z.string())])
      .pipe(patterns.min(1))
      .optional()
      .describe(
        'Repositories that the grant is about: their own rule file may use it, and the files of their organization may use it there.',
      ),
    use: z
      .array(nameOf('action or fact', [...rowNames([...actions, ...facts]), ...argumentGrants]))
      .min(1)
      .optional()
      .describe(
        `Actions and facts, by name; ${argumentGrants.map((name) => `\`${name}\``).join(', ')} is for an argument.`,
      ),
    branches: branchPatterns
      .min(1)
      .optional()
      .describe(
        'Branches that actions on branches and merges may change: names or patterns. Default: the default branch alone.',
      ),
    forks: z.boolean().optional().describe('Whether branches of forks may be changed. Default false.'),
    repositories: patterns.min(1).optional().describe('Repositories whose own rule file gets the grant.'),
    organizations: z
      .array(organizationName)
      .min(1)
      .optional()
      .describe('Organizations whose rules repository gets the grant.'),
    actions: z
      .array(nameOf('action', [...rowNames(actions), ...argumentGrants]))
      .optional()
      .describe('Actions, by name.'),
    facts: z
      .array(nameOf('fact', rowNames(facts)))
      .optional()
      .describe('Facts with data from outside the repository or for administrators only, by name.'),
  })
  .refine((grant) => grant.in ?? grant.repositories ?? grant.organizations, {
    message: 'set who gets the grant: in, or repositories or organizations',
  })
  .refine((grant) => grant.use ?? grant.actions ?? grant.facts, {
    message: 'set what is granted: use, or actions or facts',
  })
  .refine((grant) => grant.in === undefined || (grant.repositories ?? grant.organizations) === undefined, {
    message: 'set who gets the grant only once: in, or repositories and organizations',
  });

const host = z.string().check((context) => {
  try {
    createReachableHosts([context.value]);
  } catch (error) {
    context.issues.push({ code: 'custom', input: context.value, message: messageOf(error) });
  }
});

const count = z.int().min(1).max(100_000);
const Limits = z.strictObject({
  delivery: count.optional().describe(`Changes per delivery. Default ${budgets.delivery.all}.`),
  hour: count.optional().describe(`Changes per hour in one repository. Default ${budgets.hour.all}.`),
  'repository-delivery': count
    .optional()
    .describe(`Changes per delivery by repository rule files. Default ${budgets.delivery.repository}.`),
  'repository-hour': count
    .optional()
    .describe(`Changes per hour by repository rule files. Default ${budgets.hour.repository}.`),
});

const duration = z
  .string()
  .refine((text) => (parseDurationMs(text) ?? 0) > 0, 'write a number and m, h or d, such as 12h or 7d');
/** Returns a schema for a size within these limits. */
const size = (least: string, most: string) =>
  z.string().refine((text) => {
    const bytes = parseSize(text) ?? 0;
    return bytes >= (parseSize(least) ?? 0) && bytes <= (parseSize(most) ?? 0);
  }, `write a number and KiB, MiB or GiB, from ${least} to ${most}`);

const RetentionForm = z.strictObject({
  settled: duration
    .optional()
    .describe(
      'Age at which settled deliveries, all runs and the history of merge queues are deleted. Default 30d.',
    ),
  dead: duration.optional().describe('Age at which dead deliveries are deleted. Default 90d.'),
  'max-size': size('64MiB', '999999GiB')
    .optional()
    .describe(
      'Size limit of the store, checked once an hour. Above it, the oldest entries are deleted, whatever their age: settled deliveries, runs, then dead deliveries. Default 5GiB.',
    ),
});

const secretName = z
  .string()
  .regex(/^[A-Za-z]\w{0,63}$/, 'write the name of a secret: letters, digits and _')
  .describe('Name of a secret with the URL.');

/** `heartbeat` of the operator file. */
const HeartbeatForm = z.strictObject({
  to: secretName.describe(
    'Name of a secret with the URL that is requested (GET) at each interval while all is well.',
  ),
  every: duration
    .refine((text) => {
      const ms = parseDurationMs(text) ?? 0;
      return ms >= 60_000 && ms <= 86_400_000;
    }, 'write an interval from 1m to 1d')
    .optional()
    .describe('Interval, from 1m to 1d. Default 5m.'),
});

/** `report` of the operator file. */
const ReportForm = z
  .strictObject({
    to: secretName
      .optional()
      .describe('Name of a secret with the URL that the report is sent to, as the action `notify` would.'),
    chat: z
      .boolean()
      .optional()
      .describe(
        'Sends JSON with the member `text`, which chats expect, instead of plain text. Default false.',
      ),
    repository: fullName
      .optional()
      .describe(
        'Repository with the issue that contains the latest report: open while something needs attention, and closed otherwise. The report names rules and repositories, so choose one that only operators can read.',
      ),
    cron: z
      .string()
      .check((context) => {
        const message = explainCron(context.value);
        if (message !== undefined) context.issues.push({ code: 'custom', input: context.value, message });
      })
      .optional()
      .describe('When the report is made, as five cron fields. Default `0 8 * * 1`: Mondays at 8.'),
    timezone: z
      .string()
      .refine(isTimezone, 'write a timezone such as Europe/Berlin')
      .optional()
      .describe('Timezone of `cron`. Default UTC.'),
  })
  .refine(({ to, repository }) => to ?? repository, {
    message: 'set where the report goes: to, repository, or both',
  });

/** The operator file (`REEVE_CONFIG`): settings that do not fit into an environment variable. */
export const OperatorFile = z.strictObject({
  version: z.literal(1),
  secrets: z
    .array(Entry)
    .optional()
    .describe('Secrets that verify deliveries, and the repositories they cover.'),
  repositories: patterns
    .optional()
    .describe('Served repositories, in addition to those starred by the account: names or patterns.'),
  organizations: z
    .record(organizationName, Organization)
    .optional()
    .describe('Organizations with a rules repository. Default: none.'),
  grants: z
    .array(Grant)
    .optional()
    .describe(
      'Actions and facts that rule files of repositories and organizations may use in addition to the default set. Default: none.',
    ),
  limits: Limits.optional().describe(
    'Budgets of changes. Beyond the budget of a delivery, further changes are refused; beyond the budget of an hour, the run is deferred.',
  ),
  'max-body': size('64KiB', '256MiB')
    .optional()
    .describe(
      'Largest body of a delivery; a larger one is refused with 413, and forges do not send it again. Bodies above 256 KiB share 32 MiB of memory, or twice this limit if that is more. Default 8MiB.',
    ),
  retention: RetentionForm.optional().describe('Retention of ended deliveries and their runs.'),
  'delivery-lifetime': duration
    .optional()
    .describe('Age at which a failing delivery is given up, such as 12h or 7d. Default 7d.'),
  concurrency: z
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe('Concurrent deliveries, and concurrent requests to the forge. Default 8.'),
  poll: z
    .int()
    .min(minPollSeconds)
    .max(maxPollSeconds)
    .optional()
    .describe(
      `Interval in seconds in which Reeve polls the forge for changes, for a machine that the forge cannot reach. Default: no polling. REEVE_POLL takes precedence.`,
    ),
  preview: z
    .boolean()
    .optional()
    .describe('Checks the rule file in pull requests that change it, and sets a status. Default false.'),
  'report-problems': z
    .enum(['status', 'issue', 'none'])
    .optional()
    .describe(
      'Report about an unusable rule file in its repository: the status reeve/rules on the default branch, one issue, or none. Default status.',
    ),
  own: z
    .enum(ownEvents)
    .optional()
    .describe(
      'Events of the bot’s account that trigger nothing: those that Reeve’s own changes cause (`changes`), or all of them (`account`). `account` is right for an account that other programs use as well. Default changes.',
    ),
  repeated: z
    .enum(repeatedChoices)
    .optional()
    .describe(
      'Handling of a delivery with the same body as an earlier one that is still stored: it runs without non-idempotent actions, or it is refused. A redelivery by a user looks the same as a replay attack. Default run.',
    ),
  'named-secrets': NamedSecretsForm.optional(),
  'notify-hosts': z
    .array(host)
    .optional()
    .describe(
      'Hosts that the action `notify` may reach although their addresses are not public, and without TLS: names, addresses, or networks such as 10.1.0.0/16. Default: none.',
    ),
  accounts: z
    .record(z.string().regex(/^[\w.-]{1,255}$/, 'write an account as its login'), z.int().min(1))
    .optional()
    .describe(
      'Ids of accounts by login (`ada: 42`). Rules give rights and tasks to a login only while this account has it. A login that is not listed here is bound to the account that had it when Reeve first used the login; `reeve adopt` confirms a different account. Default: none.',
    ),
  webhook: WebhookForm.optional().describe('The hooks that `reeve setup` manages and `reeve doctor` checks.'),
  dashboard: DashboardForm.optional(),
  heartbeat: HeartbeatForm.optional().describe(
    'An address that is called while all is well, and not otherwise, so that a dead man’s switch service notices silence. Default: none.',
  ),
  report: ReportForm.optional().describe(
    'A regular report about what needs attention, and when each rule could last run. Default: none.',
  ),
  'allow-admin': z
    .boolean()
    .optional()
    .describe('Allows the bot’s account to be a site administrator. Default false.'),
});
export type OperatorFile = z.output<typeof OperatorFile>;
export type OperatorEntry = z.output<typeof Entry>;

/**
 * Reads the operator file. Returns either its content or all problems, each with its place (`path:line:column`). A
 * problem never contains the value of a secret.
 */
export async function readOperatorFile(
  path: string,
): Promise<{ file?: OperatorFile; problems: readonly string[] }> {
  try {
    return parseOperatorFile(path, await readFile(path, 'utf8'));
  } catch (error) {
    return { problems: [`REEVE_CONFIG: ${messageOf(error)}`] };
  }
}

/** Parses the text of an operator file like `readOperatorFile`. Problems mention `path`. */
export function parseOperatorFile(
  path: string,
  text: string,
): { file?: OperatorFile; problems: readonly string[] } {
  const document = parseDocument(text, { prettyErrors: false, version: '1.2', merge: false });
  const placeOf = (offset: number): string => {
    const before = text.slice(0, offset).split('\n');
    return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    return { problems: faults.map((fault) => `${placeOf(fault.pos[0])}: ${fault.message}`) };
  const parsed = OperatorFile.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (parsed.success) return { file: parsed.data, problems: [] };
  return { problems: parsed.error.issues.flatMap((issue) => explainIssue(issue, document, placeOf)) };
}

function explainIssue(
  issue: z.core.$ZodIssue,
  document: Document,
  placeOf: (offset: number) => string,
): readonly string[] {
  const where = issue.path.join('.') || 'the file';
  if (issue.code !== 'unrecognized_keys') {
    return [`${placeOf(offsetOf(document, issue.path))}: ${where}: ${issue.message}`];
  }
  return issue.keys.map((key) => {
    const near = nearest(key, keysAt(OperatorFile, issue.path as YamlPath));
    const hint = near === undefined ? '' : `, did you mean "${near}"?`;
    return `${placeOf(offsetOf(document, issue.path, key))}: ${where}: there is no key "${key}"${hint}`;
  });
}

/** Returns the offset of a value in the text, or of a key of that value if `key` is given. */
function offsetOf(document: Document, path: readonly PropertyKey[], key?: string): number {
  const found = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair =
    key !== undefined && isMap(found) ? found.items.find((item) => String(item.key) === key) : undefined;
  const node: unknown = pair ? pair.key : found;
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) ? Number(range[0]) : 0;
}

/** Settings of what Reeve says about itself. */
export type AlarmSettings = {
  readonly heartbeat?: { readonly to: string; readonly everyMs: number } | undefined;
  readonly report?: ReportSettings | undefined;
};

/** Returns these settings from the operator file; absent ones are undefined. */
export function readAlarms(file: OperatorFile | undefined): AlarmSettings {
  const { heartbeat, report } = file ?? {};
  return {
    heartbeat: heartbeat && {
      to: heartbeat.to,
      everyMs: parseDurationMs(heartbeat.every ?? '5m') ?? 300_000,
    },
    report: report && {
      to: report.to,
      chat: report.chat ?? false,
      repository: report.repository,
      schedule: { cron: report.cron ?? '0 8 * * 1', timezone: report.timezone ?? 'UTC' },
    },
  };
}

/** Returns the secrets that the settings name. */
export function secretUsesOf({ heartbeat, report }: AlarmSettings): readonly SecretUse[] {
  const uses = [
    { name: heartbeat?.to, by: 'heartbeat.to' },
    { name: report?.to, by: 'report.to' },
  ];
  return uses.flatMap(({ name, by }) => (name === undefined ? [] : [{ name, by, isAddress: true }]));
}

/** Settings for the intake, processing and retention of deliveries. */
export type Pace = {
  /** Lifetime of deliveries. */
  readonly backoff: { readonly lifetimeMs?: number | undefined };
  readonly concurrency?: number | undefined;
  /** Largest body of a delivery in bytes. */
  readonly maxBodyBytes?: number | undefined;
  readonly retention: Retention;
};

/** Returns these settings from the operator file. Omitted settings are absent, except the retention. */
export function readPace(file: OperatorFile | undefined): Pace {
  const lifetimeMs = parseDurationMs(file?.['delivery-lifetime'] ?? '');
  const maxBodyBytes = parseSize(file?.['max-body'] ?? '');
  const { settled = '', dead = '', 'max-size': maxSize = '' } = file?.retention ?? {};
  return {
    backoff: { lifetimeMs },
    concurrency: file?.concurrency,
    maxBodyBytes,
    retention: {
      settledMs: parseDurationMs(settled) ?? standardRetention.settledMs,
      deadMs: parseDurationMs(dead) ?? standardRetention.deadMs,
      maxBytes: parseSize(maxSize) ?? standardRetention.maxBytes,
    },
  };
}

const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Returns `512KiB`, `8MiB` or `5GiB` as bytes; undefined for any other text. */
function parseSize(text: string): number | undefined {
  const unit = units[text.slice(-3)];
  return /^\d{1,6}[KMG]iB$/.test(text) && unit !== undefined ? Number(text.slice(0, -3)) * unit : undefined;
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns `30m`, `12h` or `7d` as milliseconds; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const unitMs = unitsMs[text.at(-1) ?? ''];
  return /^\d{1,5}[mhd]$/.test(text) && unitMs !== undefined ? Number(text.slice(0, -1)) * unitMs : undefined;
}
