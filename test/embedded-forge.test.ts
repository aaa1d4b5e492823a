import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createForge, type Forge, type ForgeOptions } from '../src/exports/embedded-forge.ts';
import { packageRoot } from '../src/platform/package.ts';

const seed = {
  version: 1,
  accounts: [{ name: 'ada', password: 'ada-on-loopback' }],
  repositories: [{ name: 'ada/shop', files: { 'README.md': '# Shop\n' } }],
};

describe('a forge for the tests of other projects', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
  });
  const start = async (options?: ForgeOptions): Promise<Forge> => {
    const forge = await createForge(options);
    open.push(forge);
    return forge;
  };
  const ask = async ({ apiUrl }: Forge, path: string, token: string, body?: object) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };

  it('has an administrator, accounts with tokens, the contents of its seed, and the given time', async () => {
    const forge = await start({ seed: JSON.stringify(seed), now: () => new Date('2030-05-06T07:08:09Z') });
    const ben = await forge.createAccount('ben');

    expect(forge.apiUrl).toBe(`${forge.url}/api/v1`);
    const root = await ask(forge, '/user', forge.admin.token);
    expect(root.json).toMatchObject({ login: 'root', is_admin: true });
    const issue = await ask(forge, '/repos/ada/shop/issues', ben.token, { title: 'first' });
    expect(issue).toMatchObject({
      status: 201,
      json: { number: 1, user: { login: 'ben' }, created_at: '2030-05-06T07:08:09Z' },
    });
    await expect(forge.createAccount('ben')).rejects.toThrow(
      'the forge answers POST /admin/users with 422: ',
    );
  });

  it('runs the example of its documentation page', async () => {
    const page = await readFile(join(packageRoot, 'docs/forge.md'), 'utf8');
    const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const source = pathToFileURL(join(packageRoot, 'src/exports/embedded-forge.ts')).href;
    const file = join(folder, 'example.ts');
    const asked = 'const answer = await fetch(';
    const program = example.replace('@reeve-forge/reeve/forge', source).replace('await fetch(', asked);
    await writeFile(file, `${program}\nexport const { status } = answer;\n`);

    expect((await import(file)).status).toBe(200);
  });

  it('resolves idle once its webhooks were answered', async () => {
    const forge = await start({ seed });
    let heard = 0;
    const receiver = createServer((request, answer) => {
      request.resume().on('end', () => {
        heard += 1;
        answer.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    open.push(receiver);
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const hook = { type: 'gitea', active: true, events: ['issues'], config: { url, content_type: 'json' } };
    expect((await ask(forge, '/repos/ada/shop/hooks', forge.admin.token, hook)).status).toBe(201);
    await ask(forge, '/repos/ada/shop/issues', forge.admin.token, { title: 'first' });

    await forge.idle();

    expect(heard).toBe(1);
  });

  it('keeps its folder across a restart, and its administrator gets a new token', async () => {
    const data = await mkdtemp(join(tmpdir(), 'reeve-embedded-'));
    open.push({ close: () => rm(data, { recursive: true }) });
    const first = await createForge({ data, seed });
    await first.close();

    const second = await start({ data });

    expect((await ask(second, '/repos/ada/shop', second.admin.token)).status).toBe(200);
    expect((await ask(second, '/repos/ada/shop', first.admin.token)).status).toBe(401);
  });

  it('reports the mistakes of a seed, and leaves nothing behind if its port is taken', async () => {
    await expect(createForge({ seed: { version: 1, accounts: [{ nam: 'ada' }] } })).rejects.toThrow(
      /^the seed cannot be used\n.*accounts/s,
    );
    const { url } = await start();
    await expect(createForge({ port: Number(new URL(url).port) })).rejects.toThrow('is taken');
  });
});
