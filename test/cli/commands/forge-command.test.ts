import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeSeed } from '../../../src/forge/testing/seed-shape.ts';
import { reeve, reeveProcess, start, waitForExit, waitForOutput } from '../../support/command.ts';

describe('reeve forge', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forge-command-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('creates an instance from a seed, and accepts control requests with the token', async () => {
    const [seed, data] = [join(folder, 'seed.yml'), join(folder, 'data')];
    writeFileSync(
      seed,
      'version: 1\naccounts: [{ name: ada, password: pw }]\nrepositories: [{ name: ada/notes }]\n',
    );
    const child = start(['forge', '--port', '0', '--data', data, '--seed', seed, '--control', '--json']);
    const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /\{"url"/))?.[1] ?? '';
    const file = join(data, 'control.token');

    const repository = await fetch(`${url}/api/v1/repos/ada/notes`);
    const response = await fetch(`${url}/-/control/runners`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${readFileSync(file, 'utf8').trim()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify([{ name: 'r', owner: 'ada', state: 'busy' }]),
    });

    const mode = statSync(file).mode & 0o777;
    const end = waitForExit(child);
    child.kill('SIGTERM');
    expect([repository.status, response.status, mode, (await end).status]).toEqual([200, 204, 0o600, 0]);
  });

  it('uses the given address as its own, and the given e-mail address for its administrator', async () => {
    const named = [
      '--admin',
      'root:pw',
      '--admin-email',
      'root@example.org',
      '--url',
      'http://forge.example/',
    ];
    const child = start(['forge', '--port', '0', '--data', folder, ...named, '--json']);
    const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /\{"url"/))?.[1] ?? '';

    const authorization = `Basic ${Buffer.from('root:pw').toString('base64')}`;
    const answer = await fetch(`${url}/api/v1/user`, { headers: { authorization } });
    const account = z.object({ email: z.string(), html_url: z.string() }).parse(await answer.json());

    const end = waitForExit(child);
    child.kill('SIGTERM');
    expect((await end).status).toBe(0);
    expect(account).toEqual({ email: 'root@example.org', html_url: 'http://forge.example/root' });
  });

  it.each([
    { flags: '--url forge.example', named: '--url' },
    { flags: '--url http://ada:pw@forge.example/', named: '--url' },
    { flags: '--url http://forge.example/?x', named: '--url' },
    { flags: '--admin-email root@example.org', named: '--admin-email' },
    { flags: '--admin root:pw --admin-email nonsense', named: '--admin-email' },
  ])('refuses $flags', async ({ flags, named }) => {
    const { status, out, error } = await reeve([
      'forge',
      '--port',
      '0',
      '--data',
      folder,
      ...flags.split(' '),
    ]);

    expect([status, out]).toEqual([2, '']);
    expect(error).toContain(named);
  });

  it('lists all mistakes of a seed, with positions, and starts nothing', async () => {
    const seed = join(folder, 'seed.yml');
    writeFileSync(seed, 'version: 2\naccounts:\n  - { name: "" }\n  - { nom: ada }\n');

    const { status, out, error } = await reeveProcess([
      'forge',
      '--port',
      '0',
      '--data',
      folder,
      '--seed',
      seed,
    ]);

    expect([status, out]).toEqual([2, '']);
    for (const place of [`${seed}:1:10`, `${seed}:3:13`, `${seed}:4:5`]) expect(error).toContain(place);
  });

  it('prints the schema of seed files', async () => {
    const { status, out } = await reeve(['forge', '--seed-schema']);

    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(describeSeed())));
    expect(
      z.object({ properties: z.object({ runners: z.unknown() }) }).safeParse(JSON.parse(out)).success,
    ).toBe(true);
  });
});
