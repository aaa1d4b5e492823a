import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseDocument } from 'yaml';
import { ReeveError } from '../../../platform/errors.ts';
import type { Variables } from '../../../server/settings/config.ts';
import { editEnvText, writePrivateFile } from '../../../server/settings/env-file.ts';
import { parseOperatorFile } from '../../../server/settings/operator-file.ts';
import { type Finding, ok } from '../finding.ts';

/**
 * Writes the env file: sets the given variables, leaves everything else unchanged, and makes the file readable only by
 * its owner.
 */
export async function saveEnvFile(path: string, values: Variables, plan: boolean): Promise<Finding> {
  const live = await readIfPresent(path);
  const wanted = editEnvText(live ?? '', values, dirname(path));
  return saveSetupFile({ path, live, wanted, plan, isPrivate: (await modeOf(path)) === 0o600 });
}

/** Writes the operator file. Throws `settings` if the existing one is invalid. */
export async function saveOperatorFile(path: string, edit: OperatorEdit, plan: boolean): Promise<Finding> {
  const live = await readIfPresent(path);
  const wanted = editOperatorText(await readOperatorText(path), edit);
  // The file may contain secrets. A new file is therefore private; the doctor checks the mode of an existing one.
  return saveSetupFile({ path, live, wanted, plan, isPrivate: live !== undefined });
}

/** Returns a function that restores the current operator file, or removes the file if it is missing now. */
export async function rememberOperatorFile(path: string): Promise<() => Promise<void>> {
  const before = await readIfPresent(path);
  return async () => {
    if (before === undefined) await rm(path, { force: true });
    else if ((await readIfPresent(path)) !== before) await writePrivateFile(path, before);
  };
}

async function saveSetupFile(file: {
  path: string;
  live: string | undefined;
  wanted: string;
  plan: boolean;
  isPrivate: boolean;
}): Promise<Finding> {
  const { path, live, wanted, plan, isPrivate } = file;
  if (live === wanted && isPrivate) return ok(`${path} has the required values`);
  const what = live === undefined ? 'written' : live === wanted ? 'made private' : 'brought up to date';
  if (plan) return { state: 'planned', text: `${path} would be ${what}` };
  await mkdir(dirname(path), { recursive: true });
  if (live === wanted) await chmod(path, 0o600);
  else await writePrivateFile(path, wanted);
  return { state: 'changed', text: `${path} ${what} (mode 0600)` };
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function modeOf(path: string): Promise<number | undefined> {
  const about = await stat(path).catch(() => undefined);
  return about && about.mode & 0o777;
}

/** Values that setup writes to the operator file; undefined removes a member. */
type OperatorEdit = Readonly<
  Partial<Record<'webhook' | 'repositories' | 'dashboard' | 'allow-admin', unknown>>
>;

const head = `# The operator file of Reeve: docs/reference/operator-file.md describes its settings.
version: 1
`;

/** Reads an operator file, or returns the beginning of a new one. Throws `settings` for an invalid file. */
export async function readOperatorText(path: string): Promise<string> {
  if (!existsSync(path)) return head;
  const text = await readFile(path, 'utf8');
  const { problems } = parseOperatorFile(path, text);
  if (problems.length === 0) return text;
  throw new ReeveError('settings', `the operator file cannot be used:\n  ${problems.join('\n  ')}`);
}

/**
 * Returns the text with the given members set; comments and everything else are unchanged. If all members already have
 * these values, the text is returned unchanged.
 */
function editOperatorText(text: string, edit: OperatorEdit): string {
  const document = parseDocument(text, { version: '1.2', merge: false });
  const live = document.toJS({ maxAliasCount: 0 }) as Record<string, unknown>;
  let isSame = true;
  for (const [key, value] of Object.entries(edit)) {
    // JSON drops undefined members.
    const wanted: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value));
    if (isDeepStrictEqual(live[key], wanted)) continue;
    isSame = false;
    if (wanted === undefined) document.delete(key);
    else document.set(key, wanted);
  }
  return isSame ? text : document.toString({ lineWidth: 110 });
}
