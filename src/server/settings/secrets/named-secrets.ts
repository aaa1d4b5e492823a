import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../platform/errors.ts';

/** A secret in the operator file: the value itself, a file that contains it, or an environment variable. */
const NamedSecret = z
  .strictObject({
    value: z.string().min(1).optional().describe('The value itself.'),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A file that contains only the value. A relative path starts at the folder of the operator file.',
      ),
    environment: z.string().min(1).optional().describe('An environment variable with the value.'),
  })
  .refine(({ value, file, environment }) => [value, file, environment].filter(Boolean).length === 1, {
    message: 'set one of value, file and environment',
  });

/** `named-secrets` of the operator file: secrets that operator rules can refer to (`{ secret: NAME }`). */
export const NamedSecretsForm = z
  .record(
    z.string().regex(/^[A-Za-z]\w{0,63}$/, 'the name of a secret consists of letters, digits and _'),
    NamedSecret,
  )
  .describe(
    'Secret values that operator rules refer to by name (`{ secret: NAME }`), for instance for hooks.',
  );
export type NamedSecretsForm = z.output<typeof NamedSecretsForm>;

const prefix = 'REEVE_SECRET_';
const leastLength = 8;

/** Returns whether an environment variable sets a named secret: `REEVE_SECRET_NAME`, or `REEVE_SECRET_NAME_FILE`. */
export function isSecretVariable(name: string): boolean {
  return /^REEVE_SECRET_[A-Za-z]\w*$/.test(name);
}

/**
 * Returns the named secrets by name, and adds their problems to `problems`, which never contain a value. A value must
 * have at least 8 characters, because a shorter one could not be redacted from logs and messages. Relative paths of the
 * form start at `folder`.
 */
export function readNamedSecrets(
  form: NamedSecretsForm | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  { folder, problems }: { readonly folder: string; readonly problems: string[] },
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const addFile = (name: string, where: string, path: string): void => {
    const value = readFrom(path, where, problems);
    if (value !== undefined) add(name, where, value);
  };
  const add = (name: string, where: string, value: string | undefined): void => {
    if (found.has(name)) problems.push(`${where}: the secret "${name}" is set twice`);
    else if (value === undefined || value.length < leastLength) {
      problems.push(`${where}: the secret "${name}" has fewer than ${leastLength} characters`);
    } else if (/[\r\n\0]/.test(value)) problems.push(`${where}: the secret "${name}" has more than one line`);
    else found.set(name, value);
  };
  for (const [name, { value, file, environment: variable }] of Object.entries(form ?? {})) {
    const where = `named-secrets.${name}`;
    if (file !== undefined) addFile(name, where, resolve(folder, file));
    else add(name, where, variable === undefined ? value : environment[variable]);
  }
  for (const [variable, value] of Object.entries(environment)) {
    if (!isSecretVariable(variable) || value === undefined || value === '') continue;
    const isFile = variable.endsWith('_FILE');
    const name = variable.slice(prefix.length, isFile ? -'_FILE'.length : undefined);
    if (isFile) addFile(name, variable, resolve(value));
    else add(name, variable, value);
  }
  return found;
}

function readFrom(path: string, where: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    problems.push(`${where}: ${messageOf(error)}`);
    return undefined;
  }
}
