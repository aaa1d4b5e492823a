import { existsSync, readFileSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Variables } from './config.ts';

const head = `# Settings of Reeve, written by reeve setup. Contains secrets: keep it readable only by its owner.
# Use it with  reeve serve --settings FILE.  Relative paths start at the folder of this file; as EnvironmentFile= of a
# systemd unit, set WorkingDirectory= to that folder.
`;

/** Names of the variables whose values are paths. */
const pathVariable = /^REEVE_(?:CONFIG|DATA|RULES)$|_FILE$/;

/**
 * Reads an env file (`NAME=value` lines, quotes allowed). Relative paths start at the folder of the file, and are
 * returned as absolute paths. A missing file counts as empty unless `mustExist` is set. Throws `usage`.
 */
export function readEnvFile(path: string, { mustExist = true } = {}): Variables {
  if (!mustExist && !existsSync(path)) return {};
  try {
    return resolvePaths(parseEnv(readFileSync(path, 'utf8')), dirname(resolve(path)));
  } catch (cause) {
    throw new ReeveError('usage', `--settings: ${messageOf(cause)}`, { cause });
  }
}

/** Returns the variables with absolute paths; relative ones start at a folder. */
export function resolvePaths(variables: Variables, folder: string): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      value && pathVariable.test(name) ? resolve(folder, value) : value,
    ]),
  );
}

/**
 * Returns the variables of an env file, overridden by those of the environment. Each setting keeps only one of its two
 * forms, `NAME` or `NAME_FILE`.
 */
export function mergeEnvironments(
  file: Variables,
  environment: Variables,
): Record<string, string | undefined> {
  const merged: Record<string, string | undefined> = { ...file };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    delete merged[name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`];
    merged[name] = value;
  }
  return merged;
}

/**
 * Returns the text of an env file with these variables set and everything else unchanged. An undefined value removes
 * the variable. A path inside the folder of the file is written relative to it, so that the folder can be moved; a
 * value that already names the same path is unchanged.
 */
export function editEnvText(text: string, values: Variables, folder: string): string {
  const before = parseEnv(text);
  let edited = text === '' ? head : text;
  for (const [name, given] of Object.entries(values)) {
    const value = given && pathVariable.test(name) ? writtenPath(given, before[name], folder) : given;
    const line = new RegExp(`^(?:export )?${name}=(?:'[^']*'|"[^"]*"|[^\\n]*)\\n?`, 'm');
    const wanted = value === undefined ? '' : `${name}=${quote(name, value)}\n`;
    if (line.test(edited)) edited = edited.replace(line, () => wanted);
    else edited += edited.endsWith('\n') || edited === '' ? wanted : `\n${wanted}`;
  }
  return edited;
}

function writtenPath(path: string, before: string | undefined, folder: string): string {
  const wanted = resolve(folder, path);
  if (before && resolve(folder, before) === wanted) return before;
  const inside = relative(folder, wanted);
  return inside === '' || /^\.\.(?:[/\\]|$)/.test(inside) || isAbsolute(inside) ? wanted : `./${inside}`;
}

/** Quotes a value. Single quotes preserve everything in a shell, in systemd and in Node, including line breaks. */
function quote(name: string, value: string): string {
  if (!value.includes("'")) return `'${value}'`;
  throw new ReeveError(
    'settings',
    `${name} contains a quote, which an env file cannot represent: write it to a separate file and set ${name}_FILE`,
  );
}

/** Writes a file atomically, with read access only for its owner. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const made = `${path}.new`;
  try {
    await writeFile(made, text, { mode: 0o600 });
    // The mode above has no effect on an existing file.
    await chmod(made, 0o600);
    await rename(made, path);
  } catch (cause) {
    throw new ReeveError('settings', `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}
