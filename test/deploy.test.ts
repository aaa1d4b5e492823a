import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricTable } from '../src/dashboard/metrics/metric-table.ts';
import { packageRoot } from '../src/package.ts';
import { settingsTable } from '../src/settings/settings-table.ts';

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'reeve-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Servers stand in folders that are not on every user's path. */
const environment = { ...process.env, PATH: `${process.env.PATH}${delimiter}/usr/sbin${delimiter}/sbin` };
const read = (path: string): string => readFileSync(join(packageRoot, 'deploy', path), 'utf8');
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** Runs the program that a file is made for; undefined where it is not installed. */
async function validate(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await execute(program, args, { env: environment });
    return stdout + stderr;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const known = new Set(
  settingsTable.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
);
/** Variables of other programs. */
const others = ['NODE_ENV'];

describe('the systemd unit', () => {
  const unit = read('systemd/reeve.service');

  it('sets variables that Reeve reads, and reads each credential that it loads', () => {
    const names = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=', 1)[0] ?? ''),
    );
    const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name);
    const used = [...unit.matchAll(/_FILE=%d\/([\w-]+)/g)].map(([, name]) => name);

    expect(names.filter((name) => !known.has(name) && !others.includes(name))).toEqual([]);
    expect(names).toContain('FORGE_TOKEN_FILE');
    expect(used).toEqual(loaded);
  });

  it('is valid, and exposes little', async ({ skip }) => {
    const path = write('reeve.service', unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));

    const problems = await validate('systemd-analyze', ['verify', path]);
    if (problems === undefined) return skip('systemd-analyze is not installed');
    const report = await validate('systemd-analyze', ['security', '--offline=true', '--threshold=20', path]);

    expect(problems).toBe('');
    expect(report).toMatch(/Overall exposure level for reeve.service: [01]\.\d/);
  });
});

describe('the configurations of proxies', () => {
  it('of nginx is valid', async ({ skip }) => {
    const fixtures = join(packageRoot, 'test/fixtures/tls');
    const site = read('proxy/nginx.conf')
      .replace('/etc/ssl/reeve.pem', join(fixtures, 'localhost.crt'))
      .replace('/etc/ssl/reeve.key', join(fixtures, 'localhost.key'));
    const path = write(
      'nginx.conf',
      `pid ${join(folder, 'nginx.pid')};\nevents {}\nhttp {\n  access_log off;\n${site}}\n`,
    );

    const report = await validate('nginx', ['-t', '-e', join(folder, 'nginx.log'), '-c', path]);
    if (report === undefined) return skip('nginx is not installed');

    expect(report).toContain('test is successful');
  });

  it('of Caddy is valid', async ({ skip }) => {
    const path = join(packageRoot, 'deploy/proxy/Caddyfile');

    const report = await validate('caddy', ['validate', '--adapter', 'caddyfile', '--config', path]);
    if (report === undefined) return skip('caddy is not installed');

    expect(report).toContain('Valid configuration');
  });
});

describe('the alerts', () => {
  type Rules = { readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[] };
  const path = join(packageRoot, 'deploy/prometheus/reeve.rules.yml');
  const { groups }: Rules = parse(readFileSync(path, 'utf8'));
  const expressions = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));

  it('name metrics and labels that Reeve has', () => {
    const labels: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
      Object.entries(metricTable).map(([name, row]) => [name, row.labels]),
    );
    const uses = expressions.flatMap((expression) => [
      ...expression.matchAll(/\b(reeve_\w+)(?:\{([^}]*)\})?/g),
    ]);

    expect(uses.length).toBeGreaterThanOrEqual(7);
    for (const [, name = '', matchers = ''] of uses) {
      expect(Object.keys(labels)).toContain(name);
      for (const [, label] of matchers.matchAll(/(\w+)=/g)) expect(labels[name]).toContain(label);
    }
  });

  it('are valid', async ({ skip }) => {
    const report = await validate('promtool', ['check', 'rules', path]);
    if (report === undefined) return skip('promtool is not installed');

    expect(report).toContain(`SUCCESS: ${expressions.length} rules found`);
  });
});

describe.each(readdirSync(join(packageRoot, 'deploy/compose')))('the compose file %s', (name) => {
  type Service = {
    readonly environment?: Readonly<Record<string, string>>;
    readonly secrets?: readonly string[];
    readonly volumes?: readonly string[];
  };
  type Compose = {
    readonly services: Readonly<Record<string, Service>>;
    readonly secrets: Readonly<Record<string, unknown>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const { services, secrets, volumes }: Compose = parse(read(`compose/${name}`));
  const base: Compose = parse(read('compose/reeve.yml'));

  it('sets variables that Reeve reads, and mounts each secret that it names', () => {
    const { environment: own = {} } = services.reeve ?? {};
    const { environment: inherited = {}, secrets: mounted = [] } = base.services.reeve ?? {};
    const variables = { ...inherited, ...own };
    const files = Object.values(variables).filter((value) => value.startsWith('/run/secrets/'));

    expect(Object.keys(variables).filter((variable) => !known.has(variable))).toEqual([]);
    expect(files.map((path) => path.replace('/run/secrets/', ''))).toEqual(mounted);
    expect(Object.keys(secrets)).toEqual(mounted);
  });

  it('declares each volume that it mounts', () => {
    const named = Object.values(services).flatMap((service) =>
      (service.volumes ?? []).filter((volume) => /^\w/.test(volume)).map((volume) => volume.split(':', 1)[0]),
    );

    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named));
  });

  it('is valid', async ({ skip }) => {
    const hasCompose = await validate('docker', ['compose', 'version']).catch(() => undefined);
    if (!hasCompose?.includes('Compose')) return skip('docker compose is not installed');

    await validate('docker', ['compose', '-f', join(packageRoot, 'deploy/compose', name), 'config', '-q']);
  });
});
