import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeliveries } from '../../../src/forge/hooks/deliveries.ts';
import { queueDelivery } from '../../../src/forge/hooks/emit.ts';
import type { Deliveries } from '../../../src/forge/platform/context.ts';
import { type Database, openDatabase } from '../../../src/forge/platform/database.ts';
import type { HookTaskRow } from '../../../src/forge/platform/rows.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

let folder: string;
let db: Database;
let deliveries: Deliveries;
const receivers: HookReceiver[] = [];
const clock = (): Date => new Date('2026-01-02T03:04:05Z');
const payload = '{\n  "é": "<&>"\n}';

/**
 * Starts the deliveries. Most tests do not measure the duration of an exchange, because a busy machine slows every
 * exchange.
 */
function start(timeoutMs = 600_000): void {
  db = openDatabase(join(folder, 'forge.db'));
  deliveries = createDeliveries({ database: db, log: silentLog, now: () => 1_767_323_045, timeoutMs });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deliver-'));
  start();
});
afterEach(async () => {
  await deliveries.close();
  db.close();
  for (const receiver of receivers.splice(0)) await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

async function receiver(...given: Parameters<typeof startReceiver>): Promise<HookReceiver> {
  const started = await startReceiver(...given);
  receivers.push(started);
  return started;
}

function addHook(url: string, given: Record<string, string | number> = {}): number {
  const hook = {
    type: 'gitea',
    url,
    content_type: 'json',
    is_active: 1,
    is_system: 1,
    created_at: 0,
    updated_at: 0,
    ...given,
  };
  const names = Object.keys(hook);
  const sql = `INSERT INTO hooks (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return db.run(sql, ...Object.values(hook)).lastId;
}

function queue(hookId: number, type = 'push'): string {
  const uuid = queueDelivery({ db, clock }, hookId, type, payload);
  deliveries.wake();
  return uuid;
}

const taskOf = (uuid: string): HookTaskRow | undefined =>
  db.get<HookTaskRow>('SELECT * FROM hook_tasks WHERE uuid = ?', uuid);

describe('a delivery', () => {
  test('carries every header of Gitea, in the same spelling', async () => {
    const target = await receiver();
    const uuid = queue(
      addHook(target.url, { secret: 'geheim-é', authorization_header: 'Bearer x y' }),
      'issue_label',
    );

    await deliveries.idle();

    const [request] = target.received;
    const sign = (algorithm: string): string =>
      createHmac(algorithm, 'geheim-é').update(payload).digest('hex');
    const expected = {
      'Content-Type': 'application/json',
      'User-Agent': 'Go-http-client/1.1',
      'X-Gitea-Delivery': uuid,
      'X-Gogs-Delivery': uuid,
      'X-GitHub-Delivery': uuid,
      'X-Gitea-Event': 'issues',
      'X-Gogs-Event': 'issues',
      'X-GitHub-Event': 'issues',
      'X-Gitea-Event-Type': 'issue_label',
      'X-Gogs-Event-Type': 'issue_label',
      'X-GitHub-Event-Type': 'issue_label',
      'X-Gitea-Signature': sign('sha256'),
      'X-Gogs-Signature': sign('sha256'),
      'X-Hub-Signature': `sha1=${sign('sha1')}`,
      'X-Hub-Signature-256': `sha256=${sign('sha256')}`,
      'X-Gitea-Hook-Installation-Target-Type': 'system',
      'X-GitHub-Hook-Installation-Target-Type': 'system',
      Authorization: 'Bearer x y',
    };
    const raw = request?.rawHeaders ?? [];
    const sent = Object.fromEntries(raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]]] : [])));
    expect(sent).toMatchObject(expected);
    expect([request?.method, request?.body]).toEqual(['POST', payload]);
  });

  test('sends empty signatures and no authorization without a secret', async () => {
    const target = await receiver();
    queue(addHook(target.url));

    await deliveries.idle();

    const headers = target.received[0]?.headers;
    expect(headers?.['x-gitea-signature']).toBe('');
    expect([headers?.['x-hub-signature'], headers?.['x-hub-signature-256']]).toEqual(['sha1=', 'sha256=']);
    expect(headers?.authorization).toBeUndefined();
  });

  test('signs the JSON inside a form, not the form', async () => {
    const target = await receiver();
    queue(addHook(target.url, { secret: 'key', content_type: 'form' }));

    await deliveries.idle();

    const [request] = target.received;
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(new URLSearchParams(request?.body).get('payload')).toBe(payload);
    const signature = createHmac('sha256', 'key').update(payload).digest('hex');
    expect(request?.headers['x-gitea-signature']).toBe(signature);
  });

  test('is recorded with request and response', async () => {
    const target = await receiver(() => ({ status: 418, body: 'x'.repeat(2 * 1024 * 1024) }));
    const hook = addHook(target.url, { authorization_header: 'Bearer hidden' });
    const uuid = queue(hook);

    await deliveries.idle();

    const task = taskOf(uuid);
    expect(task).toMatchObject({
      state: 'failed',
      response_status: 418,
      delivered_at: 1_767_323_045,
      request_body: payload,
    });
    expect(task?.response_body).toHaveLength(1024 * 1024);
    expect(JSON.parse(task?.request_headers ?? '')).toMatchObject({ 'X-Gitea-Delivery': uuid });
    expect(task?.request_headers).not.toContain('hidden');
    expect(deliveries.list(hook).map((entry) => entry.uuid)).toEqual([uuid]);
  });

  test('is not retried automatically, but is redelivered under a new id on request', async () => {
    let status = 500;
    const target = await receiver(() => ({ status }));
    const uuid = queue(addHook(target.url));
    await deliveries.idle();
    expect(target.received).toHaveLength(1);
    status = 204;

    const again = deliveries.redeliver(uuid);
    await deliveries.idle();

    expect(again).not.toBe(uuid);
    expect(target.received.map((entry) => entry.headers['x-gitea-delivery'])).toEqual([uuid, again]);
    expect(new Set(target.received.map((entry) => entry.body)).size).toBe(1);
    expect([taskOf(uuid)?.state, taskOf(again ?? '')?.state]).toEqual(['failed', 'delivered']);
    expect(deliveries.redeliver('unknown')).toBeUndefined();
  });

  test('fails without being sent if the hook was disabled in the meantime', async () => {
    const target = await receiver();
    const uuid = queue(addHook(target.url, { is_active: 0 }));

    await deliveries.idle();

    expect([target.received.length, taskOf(uuid)?.state]).toEqual([0, 'failed']);
  });

  test.each([
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', payload],
  ])('follows a %i redirect as %s', async (status, method, body) => {
    const target = await receiver((request) =>
      request.url === '/hook' ? { status, location: '/elsewhere' } : { status: 200 },
    );
    const uuid = queue(addHook(target.url));

    await deliveries.idle();

    expect(target.received[1]).toMatchObject({ url: '/elsewhere', method, body });
    expect(taskOf(uuid)?.state).toBe('delivered');
  });

  test('gives up after ten redirects, and does not send the authorization to another host', async () => {
    const other = await receiver();
    const target = await receiver((request) =>
      request.url === '/hook'
        ? { status: 307, location: other.url.replace('127.0.0.1', 'localhost') }
        : { status: 307, location: '/loop' },
    );
    const away = queue(addHook(target.url, { authorization_header: 'Bearer x' }));
    const loop = queue(addHook(target.url.replace('/hook', '/loop')));

    await deliveries.idle();

    expect([taskOf(away)?.state, other.received[0]?.headers.authorization]).toEqual(['delivered', undefined]);
    expect(taskOf(loop)?.response_body).toContain('10 redirects');
  });

  test.each(['http://127.0.0.1:1/', 'ftp://example.org/', 'http://['])(
    'to %s fails with a reason',
    async (url) => {
      const uuid = queue(addHook(url));

      await deliveries.idle();

      expect(taskOf(uuid)).toMatchObject({ state: 'failed', response_status: 0 });
      expect(taskOf(uuid)?.response_body).toMatch(/^Delivery: ./);
    },
  );
});

describe('the sender', () => {
  test('never lets one hook delay another', async () => {
    const dead = await receiver(() => undefined);
    const live = await receiver();
    const [slow, quick] = [addHook(dead.url), addHook(live.url)];
    const stuck = Array.from({ length: 12 }, () => queue(slow));
    const uuid = queue(quick);

    while (live.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

    await expect.poll(() => taskOf(uuid)?.state).toBe('delivered');
    const count = (state: string) => stuck.filter((id) => taskOf(id)?.state === state).length;
    expect([count('sending'), count('queued')]).toEqual([4, 8]);
  });

  test('aborts an exchange that takes too long', async () => {
    await deliveries.close();
    db.close();
    start(50);
    const dead = await receiver(() => undefined);
    const hook = addHook(dead.url);
    const stuck = Array.from({ length: 6 }, () => queue(hook));

    await deliveries.idle();

    expect(new Set(stuck.map((id) => taskOf(id)?.state))).toEqual(new Set(['failed']));
  });

  test('resumes the queue after a restart, and resends deliveries in progress', async () => {
    const dead = await receiver(() => undefined);
    const target = await receiver();
    const hook = addHook(dead.url);
    const uuids = Array.from({ length: 6 }, () => queue(hook));
    while (dead.received.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));

    await deliveries.close();
    db.run('UPDATE hooks SET url = ?', target.url);
    db.close();
    start();
    await deliveries.idle();

    expect(target.received.map((entry) => entry.headers['x-gitea-delivery']).sort()).toEqual(
      [...uuids].sort(),
    );
  });

  test('records deliveries that were in progress when the process died as failed', async () => {
    const target = await receiver();
    const uuid = queue(addHook(target.url));
    await deliveries.idle();
    db.run(`UPDATE hook_tasks SET state = 'sending' WHERE uuid = ?`, uuid);
    db.close();

    start();
    await deliveries.idle();

    expect([target.received.length, taskOf(uuid)?.state]).toEqual([1, 'failed']);
  });
});

describe('the delivery history', () => {
  test('drops deliveries after seven days, but never unsent ones', async () => {
    const hook = addHook('http://127.0.0.1:1/');
    const [old, young] = [queue(hook), queue(hook)];
    await deliveries.idle();
    const waiting = queueDelivery({ db, clock }, hook, 'push', payload);
    db.run('UPDATE hook_tasks SET created_at = 1 WHERE uuid IN (?, ?)', old, waiting);
    await deliveries.close();

    db.close();
    start();

    expect([taskOf(old), taskOf(young)?.uuid, taskOf(waiting)?.uuid]).toEqual([undefined, young, waiting]);
  });
});
