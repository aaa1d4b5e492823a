import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import { loadSettings, secretValues } from '../../../src/server/settings/config.ts';
import { readAddress } from '../../../src/store/postgres/address.ts';
import { reeve } from '../../support/command.ts';

const long = 'x'.repeat(24);
const good = { FORGE_URL: 'http://h', FORGE_TOKEN: 'token', WEBHOOK_SECRET: long };
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function problemsOf(environment: Record<string, string>): Promise<string> {
  try {
    await loadSettings(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ReeveError);
    expect((error as ReeveError).exit).toBe(2);
    return (error as ReeveError).message;
  }
  return '';
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

it('the demo needs no settings', async () => {
  expect(await loadSettings({})).toMatchObject({
    forge: undefined,
    secrets: [],
    port: 8080,
    host: '127.0.0.1',
  });
});

it('one entry is made from the two variables, with one value per line', async () => {
  const { secrets } = await loadSettings({ ...good, WEBHOOK_AUTHORIZATION: `${long}a\n${long}b` });

  expect(secrets).toEqual([
    { name: 'environment', scope: ['*'], authorization: [`${long}a`, `${long}b`], hmac: [long] },
  ]);
});

it('a secret is read from a file, without its trailing line break', async () => {
  const path = await file('token', 'from-file\n');

  const { forge } = await loadSettings({
    FORGE_URL: 'http://h',
    FORGE_TOKEN_FILE: path,
    WEBHOOK_SECRET: long,
  });
  expect(forge?.credentials).toEqual({ token: 'from-file' });
});

it('polling needs no webhook secret, and is refused below 30 s', async () => {
  const unreachable = { FORGE_URL: 'http://h', FORGE_TOKEN: 'token' };
  const config = await file('poll.yml', 'version: 1\npoll: 90\n');

  expect(await problemsOf(unreachable)).toContain('no webhook secret is configured');
  expect(await loadSettings({ ...unreachable, REEVE_POLL: '30' })).toMatchObject({ poll: 30, secrets: [] });
  expect(await loadSettings({ ...unreachable, REEVE_CONFIG: config })).toMatchObject({ poll: 90 });
  expect(await loadSettings({ ...unreachable, REEVE_CONFIG: config, REEVE_POLL: '45' })).toMatchObject({
    poll: 45,
  });
  for (const text of ['29', '0', '-60', '60s', '1.5', '86401'])
    expect(await problemsOf({ ...unreachable, REEVE_POLL: text })).toContain('from 30 to 86400');
  const short = await file('short.yml', 'version: 1\npoll: 10\n');
  expect(await problemsOf({ ...unreachable, REEVE_CONFIG: short })).toContain('poll: Too small');
});

it('serve --poll is refused below 30 s, and without a forge', async () => {
  const environment = { FORGE_URL: 'http://127.0.0.1:9', FORGE_TOKEN: 'token', REEVE_DATA: folder };

  expect(await reeve(['serve', '--poll', '10'], { environment })).toMatchObject({
    status: 2,
    error: expect.stringContaining(
      'REEVE_POLL (--poll) must be a number of seconds from 30 to 86400, not "10"',
    ),
  });
  expect(await reeve(['serve', '--poll', '60'], { environment: { REEVE_DATA: folder } })).toMatchObject({
    status: 2,
    error: expect.stringContaining('the demo is not polled'),
  });
});

it('all mistakes are reported at once', async () => {
  const problems = await problemsOf({
    FORGE_URL: 'ftp://h',
    WEBHOOK_SECRET: 'short',
    PORT: '99999',
    LOG_LEVEL: 'loud',
    REEVE_RULE: 'x',
    FORGE_TOKEN: 'a',
    FORGE_PASSWORD: 'b',
  });

  expect(problems).toContain('6 settings cannot be used');
  for (const words of [
    'FORGE_URL must begin with http',
    'hmac value 1 has 5 bytes',
    'PORT must',
    'LOG_LEVEL must',
    'REEVE_RULE is no',
    'both set',
  ]) {
    expect(problems).toContain(words);
  }
  expect(problems).not.toContain('short');
});

describe('with a forge', () => {
  it.each([
    ['no secret at all', { FORGE_URL: 'http://h', FORGE_TOKEN: 't' }, 'no webhook secret is configured'],
    ['no credential', { FORGE_URL: 'http://h', WEBHOOK_SECRET: long }, 'neither FORGE_TOKEN nor'],
    ['credentials without a forge', { FORGE_TOKEN: 't' }, 'FORGE_URL is not'],
    ['a value and a file', { ...good, FORGE_TOKEN_FILE: '/nowhere' }, 'FORGE_TOKEN and FORGE_TOKEN_FILE'],
    [
      'credentials in the address',
      { ...good, FORGE_URL: 'http://a:secret-word@h' },
      'must not contain credentials',
    ],
  ])('%s is refused', async (_title, environment, words) => {
    const problems = await problemsOf(environment);

    expect(problems).toContain(words);
    expect(problems).not.toContain('secret-word');
  });
});

describe('DATABASE_URL', () => {
  const url = 'postgres://reeve:pass%2Fword-of-reeve@database.example/reeve';

  it('is a secret together with its password, and may be in a file', async () => {
    const path = await file('database-url', `${url}\n`);

    const settings = await loadSettings({ DATABASE_URL_FILE: path });

    expect(settings.databaseUrl).toBe(url);
    expect(secretValues(settings)).toEqual([url, 'pass%2Fword-of-reeve', 'pass/word-of-reeve']);
  });

  it('for another kind of database is refused without repeating the address', async () => {
    const problems = await problemsOf({ DATABASE_URL: 'mysql://reeve:secret-word@h/reeve' });

    expect(problems).toContain('DATABASE_URL must begin with postgres://');
    expect(problems).not.toContain('secret-word');
  });

  // Digits after the colon look like a port, so the rest of the password would be parsed as a database or a parameter.
  const parts = ['12', 'secret'];
  const cut = ['/', '?', '#', '\\', '//', '?a=', '/@', '@/', '@#', '?user&'];
  it.each(cut.flatMap((sign) => [parts, parts.toReversed()].map((two) => two.join(sign))))(
    'with unescaped characters in the password is refused without repeating any part of it: %s',
    async (password) => {
      for (const url of [
        `postgres://reeve:${password}@database.example/reeve`,
        `postgresql://reeve:${password}@database.example:5432/reeve?sslmode=require`,
      ]) {
        const problems = await problemsOf({ DATABASE_URL: url });

        expect(problems).toContain('DATABASE_URL cannot be used');
        expect(problems).toContain('%2F');
        expect(problems).not.toMatch(/12|secret/);
        expect(() => readAddress(url)).toThrow(/^(?!.*(12|secret)).*$/s);
      }
    },
  );

  it.each([
    [url, 'PostgreSQL database.example/reeve (reeve)'],
    ['postgres://reeve:p@ss,word@db:5432/reeve', 'PostgreSQL db:5432/reeve (reeve)'],
    ['postgres://db/reeve?user=reeve@server&password=a@b/c&schema=bot', 'PostgreSQL db/reeve (bot)'],
    ['postgres:///reeve?host=/run/postgresql', 'PostgreSQL /run/postgresql/reeve (reeve)'],
    ['postgres://reeve:word@[::1]/reeve', 'PostgreSQL [::1]/reeve (reeve)'],
  ])('is used, and is displayed without user and password: %s', async (given, name) => {
    const settings = await loadSettings({ DATABASE_URL: given });

    expect(readAddress(settings.databaseUrl ?? '').name).toBe(name);
  });

  it('hides a password with an unescaped @', async () => {
    const settings = await loadSettings({ DATABASE_URL: 'postgres://reeve:p@ssword@db/reeve' });

    expect(secretValues(settings)).toContain('p@ssword');
  });
});

describe('an address with credentials is refused without repeating them', () => {
  const places = ['https://ada:secret-word@git.example', 'https://ada:12/secret-word@git.example'];
  const others = ['https://ada:sec ret-word@git.example', 'ada:secret-word@git.example', 'secret-word'];

  it.each([...places, ...others])('FORGE_URL %s', async (url) => {
    const problems = await problemsOf({ FORGE_URL: url, FORGE_TOKEN: 't' });

    expect(problems).toContain('FORGE_URL');
    expect(problems).not.toContain('ret-word');
    expect(problems).not.toContain('ada');
  });

  it.each(places.flatMap((url) => ['webhook', 'dashboard'].map((name) => [name, url] as const)))(
    '%s.url of the operator file: %s',
    async (name, url) => {
      const path = await file(`address-${name}.yml`, `version: 1\n${name}: { url: "${url}" }\n`);

      const problems = await problemsOf({ REEVE_CONFIG: path });

      expect(problems).toContain('a URL must not contain credentials');
      expect(problems).not.toContain('secret-word');
    },
  );

  it.each(places)('--url of reeve forge: %s', async (url) => {
    const { status, error } = await reeve(['forge', '--url', url]);

    expect(status).toBe(2);
    expect(error).toContain('--url takes');
    expect(error).not.toContain('secret-word');
  });
});

describe('the operator file', () => {
  it('adds entries with a scope', async () => {
    const path = await file(
      'good.yml',
      `version: 1\nsecrets:\n  - { name: acme, scope: acme/*, hmac: ${long} }\nrepositories: [acme/*]\n`,
    );
    const settings = await loadSettings({
      FORGE_URL: 'http://h',
      FORGE_TOKEN: 'token-value',
      REEVE_CONFIG: path,
    });

    expect(settings.secrets).toEqual([{ name: 'acme', scope: ['acme/*'], authorization: [], hmac: [long] }]);
    expect(settings.repositories).toEqual(['acme/*']);
    expect(secretValues(settings)).toEqual(['token-value', long]);
  });

  it('is reported with the position of every mistake', async () => {
    const path = await file('bad.yml', 'version: 2\nsecret: []\nsecrets:\n  - name: 7\n');
    const problems = await problemsOf({ ...good, REEVE_CONFIG: path });

    expect(problems).toContain(`${path}:1:10: version`);
    expect(problems).toContain('secret');
    expect(problems).toContain(`${path}:4:11: secrets.0.name`);
  });

  it('is reported if it is missing or not valid YAML', async () => {
    expect(await problemsOf({ ...good, REEVE_CONFIG: join(folder, 'none.yml') })).toContain('ENOENT');
    const path = await file('broken.yml', 'version: [1\n');
    expect(await problemsOf({ ...good, REEVE_CONFIG: path })).toContain(`${path}:`);
  });
});

describe('the hosts to which messages may be sent', () => {
  it('are those that the operator file lists, and none by default', async () => {
    const path = await file(
      'hosts.yml',
      'version: 1\nnotify-hosts: [chat.internal, 10.1.0.0/16, "fd00::/8"]\n',
    );

    expect((await loadSettings({ ...good, REEVE_CONFIG: path })).notifyHosts).toEqual([
      ...['chat.internal', '10.1.0.0/16', 'fd00::/8'],
    ]);
    expect((await loadSettings(good)).notifyHosts).toEqual([]);
  });

  it.each(['*.internal', 'http://chat.internal', 'chat:8065', '10.0.0.0/40'])(
    'are refused if misspelt: %s',
    async (entry) => {
      const path = await file('host.yml', `version: 1\nnotify-hosts:\n  - '${entry}'\n`);

      expect(await problemsOf({ ...good, REEVE_CONFIG: path })).toMatch(
        /host\.yml:3:5: notify-hosts\.0: ".*" is not a (host|network): write /,
      );
    },
  );
});

describe('the pace of work', () => {
  it('is set by the operator file', async () => {
    const path = await file(
      'pace.yml',
      'version: 1\ndelivery-lifetime: 12h\nconcurrency: 3\nmax-body: 16MiB\nretention: { settled: 14d, dead: 36h, max-size: 2GiB }\n',
    );

    expect(await loadSettings({ ...good, REEVE_CONFIG: path })).toMatchObject({
      backoff: { lifetimeMs: 12 * 3_600_000 },
      concurrency: 3,
      maxBodyBytes: 16 * 2 ** 20,
      retention: { settledMs: 14 * 86_400_000, deadMs: 36 * 3_600_000, maxBytes: 2 * 2 ** 30 },
    });
  });

  it.each(['0d', '7', '7 d', '-1h', '1w', '1.5h'])('rejects the lifetime %s', async (lifetime) => {
    const path = await file('lifetime.yml', `version: 1\ndelivery-lifetime: '${lifetime}'\n`);

    expect(await problemsOf({ ...good, REEVE_CONFIG: path })).toMatch(
      /lifetime\.yml:2:20: delivery-lifetime: .*12h or 7d/,
    );
  });

  it('keeps settled deliveries for 30 days and dead ones for 90 days, but at most 5 GiB of both, by default', async () => {
    expect((await loadSettings(good)).retention).toEqual({
      settledMs: 30 * 86_400_000,
      deadMs: 90 * 86_400_000,
      maxBytes: 5 * 2 ** 30,
    });
  });

  it.each([
    ['max-body: 8MB', /max-body: .*KiB, MiB or GiB, from 64KiB to 256MiB/],
    ['max-body: 1GiB', /max-body: .*from 64KiB to 256MiB/],
    ['retention: { max-size: 1MiB }', /retention\.max-size: .*from 64MiB/],
    ['retention: { dead: 0d }', /retention\.dead: .*12h or 7d/],
    ['retention: { died: 90d }', /there is no key "died"/],
    ['repositorys: [acme/demo]', /there is no key "repositorys", did you mean "repositories"\?/],
    ['report: { repositorys: acme/demo }', /there is no key "repositorys", did you mean "repository"\?/],
    ['webhook: { repository: [acme/demo] }', /there is no key "repository", did you mean "repositories"\?/],
    ['limits: { repositorys: 1 }', /there is no key "repositorys"$/m],
  ])('rejects %s', async (line, problem) => {
    const path = await file('sizes.yml', `version: 1\n${line}\n`);

    expect(await problemsOf({ ...good, REEVE_CONFIG: path })).toMatch(problem);
  });
});
