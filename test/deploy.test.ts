import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../src/platform/package.ts';
import { loadRuleFiles } from '../src/rules/sources/folder.ts';
import { metricTable } from '../src/server/dashboard/metrics.ts';
import { loadSettings, settingsTable } from '../src/server/settings/config.ts';
import { type BareServer, json, startBareServer } from './support/bare-server.ts';
import { reeve } from './support/command.ts';
import { makeDashboardApp } from './support/dashboard-app.ts';
import { type DeploymentManifest, Kustomization, readManifests } from './support/kubernetes.ts';
import { makeStore } from './support/make-store.ts';

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'reeve-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Adds the folders in which servers are installed, which are not on every user's path. */
const environment = { ...process.env, PATH: `${process.env.PATH}${delimiter}/usr/sbin${delimiter}/sbin` };
const read = (path: string): string => readFileSync(join(packageRoot, 'deploy', path), 'utf8');
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** Runs a program that validates a file. Returns its output, or undefined if the program is not installed. */
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
/** Variables that other programs read. */
const others = ['NODE_ENV'];

describe('the systemd unit', () => {
  const unit = read('systemd/reeve.service');

  it('sets only variables that Reeve or Node reads, and uses each credential that it loads', () => {
    const names = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=', 1)[0] ?? ''),
    );
    const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name);
    const used = [...unit.matchAll(/_FILE=%d\/([\w-]+)/g)].map(([, name]) => name);

    expect(names.filter((name) => !known.has(name) && !others.includes(name))).toEqual([]);
    expect(names).toContain('FORGE_TOKEN_FILE');
    expect(used).toEqual(loaded);
  });

  it('is valid, and restricts access to the system', async ({ skip }) => {
    const path = write('reeve.service', unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));

    const problems = await validate('systemd-analyze', ['verify', path]);
    if (problems === undefined) return skip('systemd-analyze is not installed');
    const report = await validate('systemd-analyze', ['security', '--offline=true', '--threshold=20', path]);

    expect(problems).toBe('');
    expect(report).toMatch(/Overall exposure level for reeve.service: [01]\.\d/);
  });
});

describe('the proxy configurations', () => {
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

describe('nginx in front of two Reeves', () => {
  it('forwards each delivery to an instance that acknowledges it', async ({ skip }) => {
    if ((await validate('nginx', ['-v'])) === undefined) return skip('nginx is not installed');
    const acknowledged: string[] = [];
    const canStore = [true, true];
    const hangs = [false, false];
    const startReeve = (index: number): Promise<BareServer> =>
      startBareServer(({ method, path, body }, response) => {
        if (hangs[index]) return;
        if (canStore[index]) acknowledged.push(`${method} ${path} ${body.length} at ${index}`);
        json(response, {}, canStore[index] ? 202 : 503);
      });
    const servers = [await startReeve(0), await startReeve(1)] as const;
    const [first, second] = servers.map(({ url }) => new URL(url).host);
    const free = await startBareServer((_, response) => json(response, {}));
    await free.close();
    const site = read('proxy/two.nginx.conf')
      .replace(/^ +ssl_certificate.*\n/gm, '')
      .replace('listen 443 ssl;', `listen ${new URL(free.url).host};`)
      .replace('reeve-1:8080', String(first))
      .replace('reeve-2:8080', String(second));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    const path = write(
      'two.conf',
      `daemon off;\npid ${join(folder, 'two.pid')};\nerror_log ${join(folder, 'two.log')};\nevents {}\nhttp {\n  access_log off;\n${temporary.join('\n')}\n${site}}\n`,
    );
    const nginx = spawn('nginx', ['-e', join(folder, 'two.log'), '-c', path], {
      env: environment,
      stdio: 'ignore',
    });
    const ended = once(nginx, 'exit');
    const body = 'x'.repeat(100_000);
    const deliver = async (): Promise<number> =>
      (await fetch(`${free.url}/webhook`, { method: 'POST', body })).status;
    const deliverAll = (): Promise<readonly number[]> => Promise.all(Array.from({ length: 10 }, deliver));
    const allStored = Array(10).fill(202);
    try {
      await expect.poll(() => deliver().catch(() => 0)).toBe(202);
      acknowledged.length = 0;
      expect(await deliverAll()).toEqual(allStored);
      expect(acknowledged).toHaveLength(10);
      expect(new Set(acknowledged).size).toBe(2);
      expect((await fetch(`${free.url}/metrics`)).status).toBe(404);

      canStore[0] = false;
      acknowledged.length = 0;
      expect(await deliverAll()).toEqual(allStored);
      expect(acknowledged).toEqual(Array(10).fill('POST /webhook 100000 at 1'));
      canStore[0] = true;

      hangs[0] = true;
      acknowledged.length = 0;
      expect(await deliverAll()).toEqual(allStored);
      expect(acknowledged).toEqual(Array(10).fill('POST /webhook 100000 at 1'));
      // The forge gives up after 5 s.
      const [, waitSeconds] = /location = \/webhook \{[^}]*proxy_read_timeout (\d+)s;/.exec(site) ?? [];
      expect(Number(waitSeconds)).toBeLessThan(5);
      hangs[0] = false;
      await servers[1].close();
      expect(await deliverAll()).toEqual(allStored);
    } finally {
      nginx.kill();
      await ended;
      await Promise.all(servers.map((server) => server.close().catch(() => {})));
    }
  });
});

describe('the alerts', () => {
  type Rules = { readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[] };
  const path = join(packageRoot, 'deploy/prometheus/reeve.rules.yml');
  const { groups }: Rules = parse(readFileSync(path, 'utf8'));
  const expressions = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));

  it('name only metrics and labels that Reeve exports', () => {
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
    readonly image?: string;
    readonly extends?: { readonly file: string; readonly service: string };
    readonly environment?: Readonly<Record<string, string>>;
    readonly secrets?: readonly string[];
    readonly volumes?: readonly string[];
    readonly networks?: readonly string[];
    readonly read_only?: boolean;
    readonly cap_drop?: readonly string[];
  };
  type Compose = {
    readonly services: Readonly<Record<string, Service>>;
    readonly secrets: Readonly<Record<string, { readonly file: string }>>;
    readonly volumes: Readonly<Record<string, unknown>>;
    readonly networks?: Readonly<Record<string, unknown>>;
  };
  const text = read(`compose/${name}`);
  const { services, secrets, volumes, networks = {} }: Compose = parse(text, { merge: true });
  /** Returns the service, including what it inherits from another file. */
  const complete = ({ extends: from, ...own }: Service): Service => {
    if (from === undefined) return own;
    const base = (parse(read(`compose/${from.file}`)) as Compose).services[from.service] ?? {};
    return { ...base, ...own, environment: { ...base.environment, ...own.environment } };
  };
  const all = Object.entries(services).map(([id, service]) => [id, complete(service)] as const);
  const reeves = all.filter(([, { image }]) => image === 'reeve:local');

  it('sets only variables that Reeve reads, and mounts each secret that it names', () => {
    expect(reeves.length).toBe(name === 'postgres.yml' ? 2 : 1);
    for (const [, { environment: variables = {}, secrets: mounted = [], ...service }] of reeves) {
      const files = Object.values(variables).filter((value) => value.startsWith('/run/secrets/'));

      expect(Object.keys(variables).filter((variable) => !known.has(variable))).toEqual([]);
      expect(files.map((path) => path.replace('/run/secrets/', ''))).toEqual(mounted);
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
    const used = new Set(all.flatMap(([, service]) => service.secrets ?? []));
    expect(Object.keys(secrets).toSorted()).toEqual([...used].toSorted());
  });

  it('contains no secret', () => {
    for (const [, { environment: variables = {} }] of all)
      expect(
        Object.keys(variables).filter((variable) =>
          /TOKEN|SECRET|PASS|DATABASE_URL|AUTHORIZATION/.test(variable),
        ),
      ).toEqual(Object.keys(variables).filter((variable) => variable.endsWith('_FILE')));
    expect(Object.values(secrets).every(({ file }) => file.startsWith('./secrets/'))).toBe(true);
    const values = all.flatMap(([, service]) => Object.values(service.environment ?? {}));
    expect(values.filter((value) => /postgres:\/\/|[\w+]{32,}/.test(value))).toEqual([]);
  });

  it('declares each network that it uses', () => {
    const used = all.flatMap(([, service]) => service.networks ?? []);

    expect(Object.keys(networks).toSorted()).toEqual([...new Set(used)].toSorted());
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

describe('the manifests for Kubernetes', () => {
  const folderOf = join(packageRoot, 'deploy/kubernetes');
  const manifests = readManifests(folderOf);
  const kustomization = Kustomization.parse(parse(read('kubernetes/kustomization.yaml')));
  const all = manifests.map(({ manifest }) => manifest);
  const ofKind = <Kind extends (typeof all)[number]['kind']>(kind: Kind) =>
    all.filter((one): one is Extract<(typeof all)[number], { kind: Kind }> => one.kind === kind);
  const deployments = ofKind('Deployment');
  const configMaps = new Map(ofKind('ConfigMap').map(({ metadata, data }) => [metadata.name, data]));
  const containerOf = ({ spec }: DeploymentManifest) => {
    const [container] = spec.template.spec.containers;
    if (container === undefined) throw new Error('no container');
    return container;
  };
  /** Returns the environment of a container, including that of the image. */
  const environmentOf = (deployment: DeploymentManifest): Readonly<Record<string, string>> => {
    const { env, envFrom } = containerOf(deployment);
    const image = /^ENV (.*)$/m.exec(readFileSync(join(packageRoot, 'Dockerfile'), 'utf8'))?.[1] ?? '';
    return {
      ...Object.fromEntries(image.split(' ').map((pair) => pair.split('=') as [string, string])),
      ...Object.assign({}, ...envFrom.map(({ configMapRef }) => configMaps.get(configMapRef.name))),
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
    };
  };

  it('are all listed in the kustomization, whose image tag is the current version', async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

    expect(kustomization.resources.toSorted()).toEqual(
      [...new Set(manifests.map(({ file }) => file))].toSorted(),
    );
    expect(kustomization.images).toMatchObject([{ name: 'reeve', newTag: version }]);
    expect(deployments.map((one) => containerOf(one).image)).toEqual(['reeve', 'reeve']);
    expect(ofKind('Namespace').map(({ metadata }) => metadata.name)).toEqual([kustomization.namespace]);
  });

  it('can be built by kubectl', async ({ skip }) => {
    const built = await validate('kubectl', ['kustomize', folderOf]);
    if (built === undefined) return skip('kubectl is not installed');

    expect(built.match(/^kind: /gm)).toHaveLength(all.length);
    expect(built).toContain(`image: ${kustomization.images[0]?.newName}:${kustomization.images[0]?.newTag}`);
  });

  it('run existing commands and flags, with one deployment for each role', async () => {
    const { out } = await reeve(['serve', '--help']);
    const roles = deployments.map((deployment) => {
      const [program, script, ...words] = containerOf(deployment).args;
      expect([program, script]).toEqual(['node', 'bin/reeve.mjs']);
      expect(words.slice(0, 2)).toEqual(['serve', '--role']);
      expect(words).toHaveLength(3);
      return words[2];
    });

    expect(out).toContain('--role <role>');
    expect(roles.toSorted()).toEqual(['web', 'worker']);
    expect(readFileSync(join(packageRoot, 'Dockerfile'), 'utf8')).toContain(
      'CMD ["node", "bin/reeve.mjs", "serve"]',
    );
  });

  it('set only variables that Reeve reads, and all the settings that Reeve needs', async () => {
    for (const deployment of deployments) {
      const environment = environmentOf(deployment);
      const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
      const { volumeMounts } = containerOf(deployment);
      const secrets = volumeMounts.find(({ name }) => name === 'secrets')?.mountPath ?? '';
      const values: Readonly<Record<string, string>> = {
        DATABASE_URL_FILE: 'postgres://reeve:a-password@database/reeve',
        WEBHOOK_SECRET_FILE: 'kR7vQ2mZ9xB4nL6tW1sD8fH3jP5gC0yA',
      };
      const given = files.map(([name, path]) => {
        expect(path.startsWith(`${secrets}/`), path).toBe(true);
        return [name, write(name, values[name] ?? 'Zk4Vt9Qn2Xb7Lm1Wc6Rf3Hs8Jp5Gd0Ya')] as const;
      });
      const config = write('reeve.yml', configMaps.get('reeve-files')?.['reeve.yml'] ?? '');

      const settings = await loadSettings({
        ...environment,
        ...Object.fromEntries(given),
        REEVE_CONFIG: config,
      });

      expect(Object.keys(environment).filter((name) => !known.has(name) && !others.includes(name))).toEqual(
        [],
      );
      expect(settings).toMatchObject({ host: '0.0.0.0', port: 8080, data: '/data', rules: '/rules' });
      expect(settings.databaseUrl).toBe(values.DATABASE_URL_FILE);
      expect(deployment.spec.template.spec.enableServiceLinks).toBe(false);
    }
  });

  it('use the keys of one secret, which the documentation creates, and contain no secret themselves', () => {
    const keys = new Set(
      deployments
        .flatMap((one) => Object.entries(environmentOf(one)))
        .filter(([name]) => name.endsWith('_FILE'))
        .map(([, path]) => path.split('/').at(-1)),
    );
    const documented = readFileSync(join(packageRoot, 'docs/deploy.md'), 'utf8');
    const created = [...documented.matchAll(/--from-file=(?:[\w-]+=)?(?:secrets\/)?([\w-]+)/g)].map(
      ([, key]) => key,
    );
    const volumes = deployments
      .flatMap(({ spec }) => spec.template.spec.volumes)
      .filter((volume) => 'secret' in volume);

    expect(created.toSorted()).toEqual([...keys].toSorted());
    expect(new Set(volumes.map(({ secret }) => secret.secretName))).toEqual(new Set(['reeve']));
    expect(documented).toContain('create secret generic reeve ');
    for (const { file } of manifests)
      expect(read(`kubernetes/${file}`)).not.toMatch(/postgres:\/\/|[\w+/]{40,}|kind: Secret/);
  });

  it('mount each volume of their pod, and no other volume', () => {
    for (const deployment of deployments) {
      const { volumes } = deployment.spec.template.spec;
      const mounted = containerOf(deployment).volumeMounts;

      expect(mounted.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
      for (const volume of volumes)
        if ('configMap' in volume) expect([...configMaps.keys()]).toContain(volume.configMap.name);
      const writable = mounted.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
      expect(writable).toEqual(['/data', '/tmp']);
      const config = environmentOf(deployment).REEVE_CONFIG ?? '';
      expect(Object.keys(configMaps.get('reeve-files') ?? {})).toContain(config.replace('/etc/reeve/', ''));
    }
  });

  it("probe the program's health endpoints on its port", async () => {
    const { store, close } = await makeStore();
    const app = makeDashboardApp(store);
    try {
      for (const deployment of deployments) {
        const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(deployment);
        expect(ports).toEqual([{ name: 'http', containerPort: Number(environmentOf(deployment).PORT) }]);
        for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
          expect(httpGet.port).toBe('http');
          expect((await app.inject({ url: httpGet.path })).statusCode).toBe(200);
        }
        expect(livenessProbe.httpGet.path).not.toBe(readinessProbe.httpGet.path);
      }
    } finally {
      await app.close();
      await close();
    }
  });

  it('select the pods of their role', () => {
    const labels = new Map(
      deployments.map(({ metadata, spec }) => [metadata.name, spec.template.metadata.labels]),
    );
    for (const { metadata, spec } of deployments) {
      expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
      expect(spec.template.spec.topologySpreadConstraints[0]?.labelSelector.matchLabels).toEqual(
        labels.get(metadata.name),
      );
    }
    for (const { metadata, spec } of ofKind('PodDisruptionBudget')) {
      expect(spec.selector.matchLabels).toEqual(labels.get(metadata.name));
      const replicas = deployments.find((one) => one.metadata.name === metadata.name)?.spec.replicas ?? 0;
      // With a higher number, no node could be drained.
      expect(spec.minAvailable).toBeLessThan(replicas);
    }
    const [service] = ofKind('Service');
    expect(service?.spec.selector).toEqual(labels.get('reeve-web'));
    expect(service?.spec.ports).toMatchObject([{ targetPort: 'http' }]);
    const [ingress] = ofKind('Ingress');
    expect(ingress?.spec.rules[0]?.http.paths[0]?.backend.service).toEqual({
      name: service?.metadata.name,
      port: { name: service?.spec.ports[0]?.name },
    });
    const [policy] = ofKind('NetworkPolicy');
    for (const pod of labels.values())
      expect(pod).toMatchObject(policy?.spec.podSelector.matchLabels ?? { none: '' });
  });

  it('contain rules without problems, and Reeve finds the rules in the mounted volume', async () => {
    // Imitates a Kubernetes volume, in which files are links to a folder that an update replaces.
    const volume = mkdtempSync(join(folder, 'rules-'));
    const rules = configMaps.get('reeve-rules') ?? {};
    mkdirSync(join(volume, '..2026_11_01'));
    symlinkSync('..2026_11_01', join(volume, '..data'));
    for (const [name, text] of Object.entries(rules)) {
      writeFileSync(join(volume, '..2026_11_01', name), text);
      symlinkSync(join('..data', name), join(volume, name));
    }

    const files = await loadRuleFiles([volume]);

    expect(files.map(({ path }) => path)).toEqual(Object.keys(rules).map((name) => join(volume, name)));
    expect(files.flatMap(({ problems }) => problems)).toEqual([]);
    expect(files.flatMap((file) => file.rules)).not.toEqual([]);
  });
});
