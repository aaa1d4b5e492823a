import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { launcher } from '../../support/launcher.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const credentials = basic('root', 'pw');
const packageBytes = 100_000;

describe('package files', () => {
  let data: string;
  let forge: ForgeInstance;
  const start = async () => {
    forge = await createForgeInstance({
      passwordCost,
      launcher,
      clock: () => new Date(),
      data,
      limits: { packageBytes },
    });
    await forge.listen();
  };
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'packages-'));
    await start();
    await forge.createAdministrator({ name: 'root', password: 'pw' });
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const incoming = () => join(data, 'attachments', 'incoming');
  const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  /** Returns the number of stored files, without incomplete uploads. */
  const stored = () =>
    filesIn(join(data, 'attachments'))
      .filter((name) => name !== 'incoming')
      .flatMap((name) => filesIn(join(data, 'attachments', name))).length;
  const send = (method: string, path: string, body?: BodyInit) =>
    fetch(`${forge.url}/api/packages/root/generic/${path}`, {
      method,
      headers: credentials,
      ...(body === undefined ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    });

  it('that exceed the limit are refused, with or without a content length', async () => {
    const long = new Uint8Array(packageBytes + 1);

    const said = await send('PUT', 'long/1/f', long);
    const unsaid = await send('PUT', 'long/1/f', new Blob([long]).stream());
    const fits = await send('PUT', 'fits/1/f', long.subarray(1));

    expect([said.status, unsaid.status, fits.status]).toEqual([403, 403, 201]);
    expect(await said.text()).toBe('maximum allowed package type size exceeded\n');
    expect([filesIn(incoming()), stored()]).toEqual([[], 1]);
    expect((await send('DELETE', 'fits/1')).status).toBe(204);
    expect(stored()).toBe(0);
  });

  it('of an aborted upload leave nothing behind', async () => {
    const upload = request(`${forge.url}/api/packages/root/generic/half/1/f`, {
      method: 'PUT',
      headers: { ...credentials, 'content-length': '5000' },
    });
    upload.on('error', () => {});
    upload.write(new Uint8Array(2500));
    await expect.poll(() => filesIn(incoming())).toHaveLength(1);

    upload.destroy();

    await expect.poll(() => filesIn(incoming())).toEqual([]);
    expect([stored(), (await send('GET', 'half/1/f')).status]).toEqual([0, 404]);
  });

  it('that are uploaded twice concurrently are stored once', async () => {
    const answers = await Promise.all(['one', 'two', 'three'].map((text) => send('PUT', 'twice/1/f', text)));

    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect([statuses, stored(), filesIn(incoming())]).toEqual([[201, 409, 409], 1, []]);
    await send('DELETE', 'twice/1');
  });

  it('sent as forms or compressed bodies are refused', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']));

    expect((await send('PUT', 'form/1/f', form)).status).toBe(400);
  });

  it('emit an event when a version is created and deleted', async () => {
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    const made = await fetch(`${forge.url}/api/v1/user/hooks`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'gitea', config, events: ['package'], active: true }),
    });
    const { id } = (await made.json()) as { id: number };

    await send('PUT', 'told/1/f', 'x');
    await send('PUT', 'told/1/g', 'x');
    await send('DELETE', 'told/1');

    const payloads = forge.deliveries.list(id).map(({ payload }) => JSON.parse(payload));
    expect(payloads.map(({ action }) => action)).toEqual(['deleted', 'created']);
    expect(payloads[1]).toMatchObject({
      repository: null,
      package: { type: 'generic', name: 'told', version: '1', owner: { login: 'root' } },
      organization: null,
      sender: { login: 'root' },
    });
  });

  it('survive a restart, while incomplete uploads do not', async () => {
    await send('PUT', 'kept/1/f', 'text');
    await forge.close();
    mkdirSync(incoming(), { recursive: true });
    writeFileSync(join(incoming(), 'left-over'), 'x');

    await start();

    expect(filesIn(incoming())).toEqual([]);
    expect(await (await send('GET', 'kept/1/f')).text()).toBe('text');
  });
});
