import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseOperatorFile } from '../../operator-file.ts';
import type { Examination } from './examination.ts';

/** What Reeve keeps in its folder for itself alone. */
const privateFiles = ['reeve.db', 'reeve.db-wal', 'fingerprint.key', 'dashboard.password'] as const;

/**
 * Returns the files with secrets that somebody other than their owner may read. Of files that were given for one secret
 * (NAME_FILE) the group is let through: containers mount them so.
 */
export async function openFiles({ environment, envFile, settings }: Examination): Promise<readonly string[]> {
  const named = Object.entries(environment).flatMap(([name, path]) =>
    /^(FORGE|WEBHOOK|SETUP|OAUTH2|REEVE_SECRET)_\w+_FILE$/.test(name) && path ? [path] : [],
  );
  const config = environment.REEVE_CONFIG;
  const own = [
    ...(envFile === undefined ? [] : [envFile]),
    ...(config && (await holdsSecrets(config)) ? [config] : []),
    ...privateFiles.map((name) => join(settings.data, name)),
  ];
  const open = [
    ...(await Promise.all(own.map(async (path) => ((await modeOf(path)) & 0o077 ? [path] : [])))),
    ...(await Promise.all(named.map(async (path) => ((await modeOf(path)) & 0o007 ? [path] : [])))),
  ];
  return [...new Set(open.flat())];
}

/** A file that is not there is open to nobody. */
async function modeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mode ?? 0;
}

async function holdsSecrets(path: string): Promise<boolean> {
  const { file } = parseOperatorFile(path, await readFile(path, 'utf8'));
  const isInline = (file?.secrets ?? []).some((entry) => entry.authorization ?? entry.hmac);
  return isInline || Object.values(file?.['named-secrets'] ?? {}).some(({ value }) => value !== undefined);
}
