import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { startReceiver } from '../../support/hook-receiver.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

describe('the control routes of the embedded forge', () => {
  let data: string;
  let forge: ForgeInstance;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'control-'));
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data, control: true });
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'pw' });
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const control = (method: string, path: string, body: unknown, token = forge.controlToken) =>
    fetch(`${forge.url}/-/control/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const ask = async (path: string, method = 'GET', body?: unknown) => {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      method,
      headers: { ...basic('root', 'pw'), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, json: (text === '' ? undefined : JSON.parse(text)) as any };
  };

  it('accept only the bearer token from a file that no other account can read', async () => {
    const file = join(data, 'control.token');

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(forge.controlToken);
    for (const token of ['', 'wrong', `${forge.controlToken}x`]) {
      expect((await control('PUT', 'faults', { count: 0 }, token)).status).toBe(401);
    }
    expect((await control('PUT', 'faults', { count: 0 })).status).toBe(204);
  });

  it('are absent unless enabled', async () => {
    const plain = await createForgeInstance({ passwordCost, clock: () => new Date() });
    await plain.listen();

    const answer = await fetch(`${plain.url}/-/control/clock`, { method: 'POST' });

    await plain.close();
    expect([answer.status, plain.controlToken]).toEqual([404, undefined]);
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'forge.example'])('refuse to bind to %s', async (host) => {
    const open = await createForgeInstance({ passwordCost, clock: () => new Date(), control: true });

    await expect(open.listen({ host })).rejects.toMatchObject({ code: 'usage' });
    await open.close();
  });

  it('set the clock, which runs on from the given time', async () => {
    const set = await (await control('POST', 'clock', { now: '2031-02-03T04:05:06Z' })).json();
    const moved = await (await control('POST', 'clock', { advance_ms: 3_600_000 })).json();
    const { json } = await ask('/user/repos', 'POST', { name: 'in-the-future' });
    await control('POST', 'clock', { now: new Date().toISOString() });

    expect(set).toMatchObject({ now: expect.stringMatching(/^2031-02-03T04:05:06/) });
    // The clock runs on, by more than a minute on a busy machine.
    for (const time of [moved.now, json.created_at]) expect(time).toMatch(/^2031-02-03T05:(0[4-9]|[1-5]\d):/);
    expect((await control('POST', 'clock', { now: 'tomorrow' })).status).toBe(422);
  });

  it('make the API fail as often as requested, with a delay', async () => {
    await control('PUT', 'faults', { latency_ms: 50, status: 503, count: 2 });
    const startedAt = performance.now();

    const statuses = [await ask('/version'), await ask('/version'), await ask('/version')];

    expect(statuses.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(95);
    expect((await control('PUT', 'faults', { status: 200 })).status).toBe(422);
  });

  it('redeliver a delivery under a new id', async () => {
    const receiver = await startReceiver(() => ({ status: 204, body: '' }));
    const { json: repository } = await ask('/user/repos', 'POST', { name: 'told' });
    const config = { url: receiver.url, content_type: 'json' };
    const hook = { type: 'gitea', config, events: ['issues'], active: true };
    const { json } = await ask(`/repos/${repository.full_name}/hooks`, 'POST', hook);
    await ask(`/repos/${repository.full_name}/issues`, 'POST', { title: 'heard' });
    await forge.deliveries.idle();
    const [first] = forge.deliveries.list(json.id);

    const again = await control('POST', `hooks/${json.id}/deliveries/${first?.uuid}/redeliver`, {});
    const other = await control('POST', `hooks/${json.id + 1}/deliveries/${first?.uuid}/redeliver`, {});
    await forge.deliveries.idle();

    const { uuid } = (await again.json()) as { uuid: string };
    const [second] = forge.deliveries.list(json.id);
    await receiver.close();
    expect([again.status, other.status]).toEqual([202, 404]);
    expect(second).toMatchObject({
      uuid,
      again_of: first?.uuid,
      state: 'delivered',
      payload: first?.payload,
    });
  });
});
