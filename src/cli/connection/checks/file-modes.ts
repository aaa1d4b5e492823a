import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variables } from '../../../server/settings/config.ts';
import { parseOperatorFile } from '../../../server/settings/operator-file.ts';
import type { Examination } from './examination.ts';

/** Files of Reeve and of the demo's forge in the data folder that only their owner may read. */
const privateFiles = [
  ...['reeve.db', 'reeve.db-wal', 'fingerprint.key', 'dashboard.password', 'demo.env'],
  ...['forge.db', 'forge.db-wal', 'control.token', 'git.config'].map((name) => join('forge', name)),
];
const privateFolders = ['.', 'forge', join('forge', 'repositories'), join('forge', 'attachments')];

/** A file or folder that other users may open, and the mode that it should have. */
type OpenPath = { readonly path: string; readonly mode: '600' | '700' };

/**
 * Returns the files with secrets, and data folders with their contents, that other users may read. For a file with a
 * single secret (NAME_FILE), group access is accepted, because containers mount such files that way.
 */
export async function findOpenPaths(examination: Examination): Promise<readonly OpenPath[]> {
  const { environment, envFile, settings } = examination;
  const config = environment.REEVE_CONFIG;
  const own = [
    ...(envFile === undefined ? [] : [envFile]),
    ...(config && (await holdsSecrets(config)) ? [config] : []),
    ...privateFiles.map((name) => join(settings.data, name)),
  ];
  const folders = privateFolders.map((name) => join(settings.data, name));
  const open = await Promise.all([
    ...own.map((path) => keepOpen({ path, mode: '600' }, 0o077)),
    findOpenSecretFiles(environment),
    ...folders.map((path) => keepOpen({ path, mode: '700' }, 0o077)),
  ]);
  return [...new Map(open.flat().map((one) => [one.path, one])).values()];
}

/** Returns the files with a single secret (NAME_FILE) that other users may read. */
export async function findOpenSecretFiles(environment: Variables): Promise<readonly OpenPath[]> {
  const named = Object.entries(environment).flatMap(([name, path]) =>
    /^(FORGE|WEBHOOK|SETUP|OAUTH2|REEVE_SECRET)_\w+_FILE$/.test(name) && path ? [path] : [],
  );
  return (await Promise.all(named.map((path) => keepOpen({ path, mode: '600' }, 0o007)))).flat();
}

/** Returns the path if it is open. A missing path is not open. */
async function keepOpen(one: OpenPath, forbidden: number): Promise<readonly OpenPath[]> {
  const found = await stat(one.path).catch(() => undefined);
  return found && found.mode & forbidden ? [one] : [];
}

/** Returns the commands that restrict access to the paths: one for files, one for folders. */
export function closingCommands(open: readonly OpenPath[]): string {
  const byMode = Map.groupBy(open, ({ mode }) => mode);
  return [...byMode]
    .map(([mode, paths]) => `chmod ${mode} ${paths.map(({ path }) => path).join(' ')}`)
    .join('; ');
}

async function holdsSecrets(path: string): Promise<boolean> {
  const { file } = parseOperatorFile(path, await readFile(path, 'utf8'));
  const isInline = (file?.secrets ?? []).some((entry) => entry.authorization ?? entry.hmac);
  return isInline || Object.values(file?.['named-secrets'] ?? {}).some(({ value }) => value !== undefined);
}
