import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { messageOf } from './errors.ts';

const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]));

/** An entry of secrets as the operator writes it: values here, or files that hold one value a line. */
const Entry = z.strictObject({
  name: z.string().min(1),
  scope: values.describe('Repositories it may speak for: "acme/*", or "*" for all.'),
  authorization: values.optional().describe('Live values of the Authorization header.'),
  'authorization-file': z.string().optional(),
  hmac: values.optional().describe('Live secrets of the signature.'),
  'hmac-file': z.string().optional(),
});

/** The operator file (`REEVE_CONFIG`): what does not fit into a variable of the environment. */
export const OperatorFile = z.strictObject({
  version: z.literal(1),
  secrets: z.array(Entry).optional().describe('Who may send deliveries, and about which repositories.'),
  repositories: z
    .array(z.string())
    .optional()
    .describe('Served repositories, beside those the account has starred.'),
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
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return { problems: [`REEVE_CONFIG: ${messageOf(error)}`] };
  }
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
  return {
    problems: parsed.error.issues.map((issue) => {
      const found = document.getIn(issue.path, true);
      const offset =
        typeof found === 'object' && found !== null && 'range' in found ? (found.range as number[])[0] : 0;
      return `${placeOf(offset ?? 0)}: ${issue.path.join('.') || 'the file'}: ${issue.message}`;
    }),
  };
}
