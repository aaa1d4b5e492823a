import { readFile } from 'node:fs/promises';
import { type Document, isMap, parseDocument } from 'yaml';
import { z } from 'zod';
import { actions } from '../../actions/actions.ts';
import { budgets } from '../../engine/budgets.ts';
import { repeatedChoices } from '../../engine/repeated.ts';
import { messageOf } from '../../errors.ts';
import { nearest } from '../../expressions/parse/nearest.ts';
import { facts } from '../../facts/facts.ts';
import { createScope } from '../../patterns/repository-scope.ts';
import { parseDuration } from '../duration.ts';
import { NamedSecretsForm } from '../secrets/named-secrets.ts';
import { parseSize } from '../size.ts';
import { DashboardForm, fullName, WebhookForm } from './webhook.ts';

const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]));

/** An entry of secrets as the operator writes it: values here, or files that hold one value a line. */
const Entry = z.strictObject({
  name: z.string().min(1),
  scope: values.describe('Repositories it may speak for: "acme/*", or "*" for all.'),
  authorization: values.optional().describe('Live values of the Authorization header.'),
  'authorization-file': z.string().optional().describe('A file with one live value a line.'),
  hmac: values.optional().describe('Live secrets of the signature.'),
  'hmac-file': z.string().optional().describe('A file with one live secret a line.'),
});

const organizationName = z.string().regex(/^[\w][\w.-]*$/, 'an organization is named as in its address');

const Organization = z.strictObject({
  rules: fullName.describe('Repository whose rules/*.yml, on its default branch, apply to the organization.'),
  id: z
    .int()
    .positive()
    .optional()
    .describe('Id of that repository. Left out, the id seen first is kept, and another one is refused.'),
});

const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);
/** Returns a schema of one of these names that says which one was probably meant. */
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
/** A list of patterns is judged as a whole: one that only takes out means something beside the others alone. */
const patterns = z.array(z.string()).check((context) => {
  if (context.value.length === 0) return;
  try {
    createScope(context.value);
  } catch (error) {
    context.issues.push({ code: 'custom', input: context.value, message: messageOf(error) });
  }
});

const Grant = z
  .strictObject({
    repositories: patterns.min(1).optional().describe('Repositories whose own file gets it.'),
    organizations: z
      .array(organizationName)
      .min(1)
      .optional()
      .describe('Organizations whose rules repository gets it.'),
    actions: z
      .array(nameOf('action', namesOf(actions)))
      .optional()
      .describe('Actions, by name.'),
    facts: z
      .array(nameOf('fact', namesOf(facts)))
      .optional()
      .describe('Facts that show more than the repository, by name.'),
  })
  .refine((grant) => grant.repositories ?? grant.organizations, {
    message: 'say who gets it: repositories or organizations',
  })
  .refine((grant) => grant.actions ?? grant.facts, { message: 'say what they get: actions or facts' });

const count = z.int().min(1).max(100_000);
const Limits = z.strictObject({
  delivery: count.optional().describe(`Changes one delivery may make. Default ${budgets.delivery.all}.`),
  hour: count.optional().describe(`Changes an hour in one repository. Default ${budgets.hour.all}.`),
  'repository-delivery': count
    .optional()
    .describe(`Of a delivery's changes, those of repository files. Default ${budgets.delivery.repository}.`),
  'repository-hour': count
    .optional()
    .describe(`Of an hour's changes, those of repository files. Default ${budgets.hour.repository}.`),
});

const duration = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) > 0, 'write a number and m, h or d, such as 12h or 7d');
/** Returns a schema of a size within these limits. */
const size = (least: string, most: string) =>
  z.string().refine((text) => {
    const bytes = parseSize(text) ?? 0;
    return bytes >= (parseSize(least) ?? 0) && bytes <= (parseSize(most) ?? 0);
  }, `write a number and KiB, MiB or GiB, from ${least} to ${most}`);

const RetentionForm = z.strictObject({
  settled: duration
    .optional()
    .describe('Age beyond which settled deliveries and all runs are deleted. Default 30d.'),
  dead: duration.optional().describe('Age beyond which dead deliveries are deleted. Default 90d.'),
  'max-size': size('64MiB', '999999GiB')
    .optional()
    .describe(
      'Size of the store, looked at once an hour. Beyond it the oldest are deleted whatever their age: settled deliveries, runs, then dead deliveries. Default 5GiB.',
    ),
});

/** The operator file (`REEVE_CONFIG`): what does not fit into a variable of the environment. */
export const OperatorFile = z.strictObject({
  version: z.literal(1),
  secrets: z.array(Entry).optional().describe('Who may send deliveries, and about which repositories.'),
  repositories: patterns
    .optional()
    .describe('Served repositories, beside those the account has starred: names or patterns.'),
  organizations: z
    .record(organizationName, Organization)
    .optional()
    .describe('Organizations with rules of their own, in a repository of theirs. Default: none.'),
  grants: z
    .array(Grant)
    .optional()
    .describe(
      'What files of repositories and organizations may use beyond the small set. Default: nothing more.',
    ),
  limits: Limits.optional().describe(
    'How many changes may be made: beyond those of a delivery the rest is refused, beyond those of an hour the run is deferred.',
  ),
  'max-body': size('64KiB', '256MiB')
    .optional()
    .describe(
      'Largest body of a delivery; a larger one is refused with 413, and forges do not send it again. Bodies above 256 KiB share 32 MiB of memory, or twice this where that is more. Default 8MiB.',
    ),
  retention: RetentionForm.optional().describe('How long ended deliveries are kept with their runs.'),
  'delivery-lifetime': duration
    .optional()
    .describe('Age beyond which a delivery that still fails is given up, such as 12h or 7d. Default 7d.'),
  concurrency: z
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe('Deliveries handled at once, and calls under way at the forge. Default 8.'),
  preview: z
    .boolean()
    .optional()
    .describe('Check the rule file of pull requests that touch it, and answer with a status. Default false.'),
  'report-problems': z
    .enum(['status', 'issue', 'none'])
    .optional()
    .describe(
      'How a repository is told that its rule file cannot be used: the status reeve/rules on its default branch, one issue, or not at all. Default status.',
    ),
  repeated: z
    .enum(repeatedChoices)
    .optional()
    .describe(
      'What becomes of a delivery with the same body as an earlier one that is still kept: it runs, without actions that describe no state, or it is refused. A redelivery by a person looks the same as a replay. Default run.',
    ),
  'named-secrets': NamedSecretsForm.optional(),
  webhook: WebhookForm.optional().describe('The hooks that `reeve setup` keeps and `reeve doctor` looks at.'),
  dashboard: DashboardForm.optional(),
  'allow-admin': z
    .boolean()
    .optional()
    .describe('Run although the account is a site administrator. Default false.'),
});
export type OperatorFile = z.output<typeof OperatorFile>;
export type OperatorEntry = z.output<typeof Entry>;

/**
 * Reads the operator file. Returns what it says, or everything that is wrong with it, each with its place
 * (`path:line:column`). A value of a secret is never repeated.
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

/** Reads the text of an operator file, as `readOperatorFile` does. `path` is for the places of problems. */
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
  return { problems: parsed.error.issues.flatMap((issue) => explain(issue, document, placeOf)) };
}

function explain(
  issue: z.core.$ZodIssue,
  document: Document,
  placeOf: (offset: number) => string,
): readonly string[] {
  const where = issue.path.join('.') || 'the file';
  if (issue.code !== 'unrecognized_keys') {
    return [`${placeOf(offsetOf(document, issue.path))}: ${where}: ${issue.message}`];
  }
  return issue.keys.map((key) => {
    const near = nearest(key, knownKeys);
    const hint = near === undefined ? '' : `, did you mean "${near}"?`;
    return `${placeOf(offsetOf(document, issue.path, key))}: ${where}: there is no key "${key}"${hint}`;
  });
}

const knownKeys = [
  ...[OperatorFile, Entry, Organization, Grant, Limits, RetentionForm],
  ...[WebhookForm, DashboardForm],
].flatMap((schema) => Object.keys(schema.shape));

/** Returns where a value stands in the text; with `key`, where that key of the map does. */
function offsetOf(document: Document, path: readonly PropertyKey[], key?: string): number {
  const found = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair =
    key !== undefined && isMap(found) ? found.items.find((item) => String(item.key) === key) : undefined;
  const node: unknown = pair ? pair.key : found;
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) ? Number(range[0]) : 0;
}
