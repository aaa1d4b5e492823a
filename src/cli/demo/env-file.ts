import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The secrets of a demo: made once, kept in `demo.env` so that a restart finds the same accounts. */
export type DemoSecrets = {
  readonly rootPassword: string;
  readonly adaPassword: string;
  readonly reevePassword: string;
  /** The bot's access token; empty until it is made. */
  readonly reeveToken: string;
  readonly authorization: string;
  readonly secret: string;
};

const names: Readonly<Record<keyof DemoSecrets, string>> = {
  rootPassword: 'DEMO_ROOT_PASSWORD',
  adaPassword: 'DEMO_ADA_PASSWORD',
  reevePassword: 'DEMO_BOT_PASSWORD',
  reeveToken: 'DEMO_BOT_TOKEN',
  authorization: 'DEMO_AUTHORIZATION',
  secret: 'DEMO_SECRET',
};

/** Returns where the demo's file is. */
function demoFile(data: string): string {
  return join(data, 'demo.env');
}

/** Returns the secrets in the demo's file, new ones where there is none. */
export function readDemoSecrets(data: string): DemoSecrets {
  const path = demoFile(data);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const known = new Map(
    lines.map((line) => [line.slice(0, line.indexOf('=')), unquote(line.slice(line.indexOf('=') + 1))]),
  );
  const secrets = Object.entries(names).map(([member, name]) => [
    member,
    known.get(name) ?? makeDemoSecret(member),
  ]);
  // Every member of the table has just been filled in.
  return Object.fromEntries(secrets) as DemoSecrets;
}

function makeDemoSecret(member: string): string {
  if (member === 'reeveToken') return '';
  const random = randomBytes(24).toString('hex');
  return member === 'authorization' ? `Bearer ${random}` : random;
}

function unquote(text: string): string {
  return text.replace(/^'(.*)'$/, '$1');
}

/** Writes the demo's file for a shell to source, readable by its owner alone. */
export async function writeDemoFile(
  data: string,
  secrets: DemoSecrets,
  urls: { forge: string; webhook: string },
): Promise<string> {
  const path = demoFile(data);
  const lines = [
    '# Made by `reeve serve` without FORGE_URL. Load it into a shell with:  . PATH/demo.env',
    `DEMO_URL='${urls.forge}'`,
    `DEMO_REPOSITORY='${urls.forge}/acme/demo.git'`,
    `DEMO_WEBHOOK_URL='${urls.webhook}'`,
    "DEMO_ROOT='root'",
    "DEMO_ADA='ada'",
    "DEMO_BOT='reeve'",
    ...Object.entries(names).map(([member, name]) => `${name}='${secrets[member as keyof DemoSecrets]}'`),
  ];
  await writeFile(`${path}.new`, `${lines.join('\n')}\n`, { mode: 0o600 });
  await chmod(`${path}.new`, 0o600);
  await rename(`${path}.new`, path);
  return path;
}
