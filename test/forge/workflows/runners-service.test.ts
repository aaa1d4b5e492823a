import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const start = new Date('2026-05-01T12:00:00Z');
const runners = [
  { name: 'idle', owner: 'acme', labels: ['linux', 'x64'], state: 'idle' },
  { name: 'busy', owner: 'acme', state: 'busy' },
  { name: 'lost', owner: 'acme', state: 'offline', disabled: true },
  { name: 'of-the-shop', repository: 'acme/shop', state: 'idle', ephemeral: true },
  {
    name: 'mine',
    owner: 'ada',
    last_online_at: '2026-05-01T11:59:30Z',
    last_active_at: '2026-05-01T11:59:55Z',
  },
  { name: 'everybody', last_online_at: '2026-05-01T11:58:00Z' },
];

describe('seeded runners of the embedded forge', () => {
  let forge: ForgeInstance;
  beforeAll(async () => {
    forge = await createForgeInstance({
      passwordCost,
      clock: () => start,
      control: true,
      seed: {
        seed: {
          version: 1,
          accounts: [
            { name: 'ada', password: 'pw' },
            { name: 'root', password: 'pw', admin: true },
          ],
          organizations: [{ name: 'acme', owner: 'ada' }],
          repositories: [{ name: 'acme/shop' }, { name: 'acme/other' }],
        },
      },
    });
    await forge.listen();
  });
  afterAll(() => forge.close());
  beforeEach(async () => {
    await control('POST', 'clock', { now: start.toISOString() });
    expect(await control('PUT', 'runners', runners)).toMatchObject({ status: 204 });
  });

  async function control(method: string, path: string, body: unknown) {
    const response = await fetch(`${forge.url}/-/control/${path}`, {
      method,
      headers: { authorization: `Bearer ${forge.controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }
  async function ask(
    path: string,
    { as = 'ada', method = 'GET', body }: { as?: string; method?: string; body?: unknown } = {},
  ) {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      method,
      headers: { ...basic(as, 'pw'), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, json: (text === '' ? undefined : JSON.parse(text)) as any };
  }
  const namesAt = async (path: string, as = 'ada'): Promise<string[]> =>
    (await ask(`${path}/actions/runners`, { as })).json.runners.map(({ name }: { name: string }) => name);

  it('belong to their level, and site administrators see all runners', async () => {
    expect(await namesAt('/orgs/acme')).toEqual(['idle', 'busy', 'lost']);
    expect(await namesAt('/repos/acme/shop')).toEqual(['of-the-shop']);
    expect(await namesAt('/repos/acme/other')).toEqual([]);
    expect(await namesAt('/user')).toEqual(['mine']);
    expect((await namesAt('/admin', 'root')).sort()).toEqual(runners.map(({ name }) => name).sort());
  });

  it('have the configured state', async () => {
    const { json } = await ask('/orgs/acme/actions/runners');

    expect(json.total_count).toBe(3);
    expect(json.runners[0]).toEqual({
      id: expect.any(Number),
      name: 'idle',
      status: 'online',
      busy: false,
      disabled: false,
      ephemeral: false,
      labels: [
        { id: 0, name: 'linux', type: 'custom' },
        { id: 1, name: 'x64', type: 'custom' },
      ],
    });
    expect(json.runners[1]).toMatchObject({ status: 'online', busy: true, labels: [] });
    expect(json.runners[2]).toMatchObject({ status: 'offline', busy: false, disabled: true });
  });

  it('are listed page by page, filtered by whether they are disabled', async () => {
    const second = await ask('/orgs/acme/actions/runners?limit=2&page=2');
    const disabled = await ask('/orgs/acme/actions/runners?disabled=true');
    const enabled = await ask('/orgs/acme/actions/runners?disabled=nonsense');

    expect([second.json.total_count, second.json.runners.length]).toEqual([3, 1]);
    expect([disabled.json.total_count, disabled.json.runners[0].name]).toEqual([1, 'lost']);
    expect(enabled.json.total_count).toBe(2);
  });

  it.each([
    ['2026-05-01T12:00:00Z', 'online', true],
    ['2026-05-01T12:00:05Z', 'online', true],
    ['2026-05-01T12:00:06Z', 'online', false],
    ['2026-05-01T12:00:30Z', 'online', false],
    ['2026-05-01T12:00:31Z', 'offline', false],
  ])('at %s are %s, busy: %s, as the clock runs', async (now, status, busy) => {
    await control('POST', 'clock', { now });

    expect((await ask('/user/actions/runners')).json.runners[0]).toMatchObject({ status, busy });
  });

  it('are disabled, enabled and removed only by their owner', async () => {
    const { id } = (await ask('/orgs/acme/actions/runners')).json.runners[0];
    const at = `/orgs/acme/actions/runners/${id}`;
    const edit = (body: object) => ask(at, { method: 'PATCH', body });

    expect((await edit({ disabled: true })).json).toMatchObject({ id, disabled: true });
    expect((await ask(at)).json.disabled).toBe(true);
    expect((await edit({ disabled: false })).json.disabled).toBe(false);
    expect((await edit({})).status).toBe(422);
    expect((await ask(`/repos/acme/shop/actions/runners/${id}`)).status).toBe(404);
    expect((await ask(`/admin/actions/runners/${id}`, { as: 'root' })).json.name).toBe('idle');
    expect((await ask(at, { method: 'DELETE' })).status).toBe(204);
    expect((await ask(at)).status).toBe(404);
  });

  it('keep their id if they are configured again, and are removed otherwise', async () => {
    const before = (await ask('/orgs/acme/actions/runners')).json.runners;
    await control('PUT', 'runners', { runners: [{ name: 'lost', owner: 'acme', state: 'idle' }] });

    const after = (await ask('/admin/actions/runners', { as: 'root' })).json.runners;

    expect(after.map(({ id, status }: { id: number; status: string }) => [id, status])).toEqual([
      [before[2].id, 'online'],
    ]);
  });

  it.each([
    ['an unknown owner', [{ name: 'x', owner: 'missing' }]],
    ['an unknown repository', [{ name: 'x', repository: 'acme/nothing' }]],
    ['two levels', [{ name: 'x', owner: 'acme', repository: 'acme/shop' }]],
    ['an unknown field', [{ name: 'x', speed: 3 }]],
    ['no name', [{ owner: 'acme' }]],
  ])('are refused with %s, and nothing changes', async (_, runners) => {
    const answer = await control('PUT', 'runners', runners);

    expect(answer.status).toBe(422);
    expect(await namesAt('/orgs/acme')).toEqual(['idle', 'busy', 'lost']);
  });
});
