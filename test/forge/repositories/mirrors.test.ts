import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSyncQueue, type ForgeContext } from '../../../src/forge/platform/context.ts';
import { type Database, openDatabase } from '../../../src/forge/platform/database.ts';
import { formatGoDuration, parseGoDuration } from '../../../src/forge/platform/time.ts';
import { queueDueMirrors, storeMirror } from '../../../src/forge/repositories/mirrors-service.ts';
import { parseRemote, resolveRemote } from '../../../src/forge/repositories/remote-git.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { type ContractForge, freshName, startEmbedded } from '../../support/contract-forge.ts';

describe('durations', () => {
  it.each([
    ['8h', 28_800, '8h0m0s'],
    ['1h30m', 5400, '1h30m0s'],
    ['1.5h', 5400, '1h30m0s'],
    ['90s', 90, '1m30s'],
    ['.5m', 30, '30s'],
    ['1999ms', 1, '1s'],
    ['0', 0, '0s'],
    ['-0s', 0, '0s'],
  ])('are parsed as Go parses them: %s', (text, seconds, formatted) => {
    expect(parseGoDuration(text)).toBe(seconds);
    expect(formatGoDuration(seconds)).toBe(formatted);
  });

  it.each(['', '8', 'h', '8 h', '1d', '8hours', '1e3s', '9999999999h', '-', '١h'])(
    'are invalid: "%s"',
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );

  it('may be negative, with a minus sign', () => {
    expect(parseGoDuration('-1h')).toBe(-3600);
  });
});

describe('remote URLs', () => {
  it('are stored without credentials, which separately given credentials replace', () => {
    const inside = parseRemote('https://ada:p%40ss@git.example.org/a/b.git#x');
    const given = parseRemote('https://ada:old@git.example.org/a/b.git', 'ben', 'new');

    expect(inside).toEqual({ address: 'https://git.example.org/a/b.git', username: 'ada', password: 'p@ss' });
    expect(given).toEqual({ address: 'https://git.example.org/a/b.git', username: 'ben', password: 'new' });
  });

  it.each([
    ['/etc', 'local'],
    ['../a', 'local'],
    ['file:///etc', 'local'],
    ['git@example.org:a/b.git', 'local'],
    ['--upload-pack=touch', 'local'],
    ['ext::sh -c touch', 'local'],
    ['ssh://git@example.org/a.git', 'protocol'],
    ['git://example.org/a.git', 'protocol'],
    ['https://', 'url'],
    ['https://a b/', 'url'],
    ['https://a/\n', 'accepted'],
    ['https://a/\nb', 'url'],
    ['https://%zz:x@a/', 'url'],
    [`https://a/${'a'.repeat(3000)}`, 'url'],
  ])('are refused: %s', (text, mistake) => {
    let found = 'accepted';
    try {
      parseRemote(text);
    } catch (error) {
      found = (error as { mistake: string }).mistake;
    }
    expect(found).toBe(mistake);
  });

  it.each([
    'http://127.0.0.1/a.git',
    'http://localhost/a.git',
    'http://[::1]:80/a.git',
    'http://[::ffff:127.0.0.1]/a.git',
    'http://169.254.169.254/latest',
    'http://10.1.2.3/a.git',
    'http://0x7f.1/a.git',
    'http://2130706433/a.git',
    'http://no-such-host.invalid/a.git',
  ])('in local networks are not connected to: %s', async (address) => {
    const features = { crossRepositoryDependencies: true, attachments: true, localMirrors: false };

    await expect(resolveRemote({ features }, parseRemote(address))).rejects.toMatchObject({
      mistake: 'host',
    });
  });
});

describe('the schedule of mirrors', () => {
  let db: Database;
  let now = 1_800_000_000;
  const queued: string[] = [];
  const context = () =>
    ({
      db,
      clock: () => new Date(now * 1000),
      syncs: { add: (key: string) => queued.push(key), close: async () => {} },
    }) as unknown as ForgeContext;
  beforeAll(() => {
    db = openDatabase(':memory:');
    db.run(`INSERT INTO users (id, name, lower_name, created_at, updated_at) VALUES (1, 'ada', 'ada', 0, 0)`);
    for (const name of ['hourly', 'manual'])
      db.run(
        `INSERT INTO repositories (owner_id, name, lower_name, default_branch, object_format, created_at, updated_at)
           VALUES (1, ?1, ?1, 'main', 'sha1', 0, 0)`,
        name,
      );
  });
  afterAll(() => db.close());

  it('queues due mirrors', () => {
    const remote = { address: 'https://git.example.org/a.git', username: '', password: '' };
    storeMirror(context(), 1, remote, 3600);
    storeMirror(context(), 2, remote, 0);

    now += 3599;
    queueDueMirrors(context());
    expect(queued).toEqual([]);
    now += 1;
    queueDueMirrors(context());
    expect(queued).toEqual(['mirror 1']);
  });
});

describe('the queue of synchronizations', () => {
  it('runs one synchronization per key at a time, continues after a failure, and can be closed', async () => {
    const queue = createSyncQueue(silentLog);
    const done: string[] = [];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const add = (key: string, name: string) =>
      queue.add(key, async () => {
        await gate;
        done.push(name);
        if (name === 'b') throw new Error('broken');
      });
    add('1', 'a');
    add('2', 'b');
    add('3', 'c');
    add('3', 'again');
    open();
    const { promise: last, resolve: end } = Promise.withResolvers<void>();
    queue.add('4', async () => end());
    await last;
    await queue.close();
    add('5', 'late');

    expect(done).toEqual(['a', 'b', 'c']);
  });
});

describe('migrations', () => {
  let closed: ContractForge;
  let open: ContractForge;
  beforeAll(async () => {
    closed = await startEmbedded({ features: { localMirrors: false } });
    open = await startEmbedded();
  });
  afterAll(() => Promise.all([closed.close(), open.close()]));

  const migrate = (forge: ContractForge, clone_addr: string) =>
    forge.ask('POST', '/repos/migrate', {
      as: forge.adminToken,
      body: { clone_addr, repo_name: freshName('copy') },
    });

  it('do not connect to local networks by default', async () => {
    const { status, json } = await migrate(closed, `${open.url}/root/none.git`);

    expect([status, json.message]).toEqual([422, 'You can not import from disallowed hosts.']);
  });

  it('connect to a host by its name, at the checked addresses', async () => {
    const ada = await open.makeUser();
    const repository = await open.makeRepository(ada, { auto_init: true });
    const address = `${open.url}/${repository}.git`.replace('127.0.0.1', 'localhost');

    expect((await migrate(open, address)).json).toMatchObject({ empty: false, original_url: address });
  });

  it('follow no redirect', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere.git/info/refs?service=git-upload-pack' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { status } = await migrate(open, `http://127.0.0.1:${port}/a.git`);
    await new Promise((resolve) => server.close(resolve));

    expect(status).toBe(422);
    expect(paths).toEqual(['/a.git/info/refs?service=git-upload-pack']);
  });
});
