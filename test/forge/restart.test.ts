import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { handlers } from '../../src/forge/handlers.ts';
import { basic, startEmbedded } from '../support/contract-forge.ts';
import { passwordCost } from '../support/privilege-setup.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'restart-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

describe('the embedded forge', () => {
  it('supports every operation of the contract', () => {
    expect(Object.keys(handlers).sort()).toEqual(Object.keys(operations).sort());
  });

  it('keeps its state across a restart', async () => {
    const first = await startEmbedded({ data });
    const ada = await first.makeUser();
    const repository = await first.makeRepository(ada, { auto_init: true });
    await first.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'kept' } });
    await first.close();

    const second = await startEmbedded({ data });

    const issue = await second.ask('GET', `/repos/${repository}/issues/1`, { as: ada });
    const file = await second.ask('GET', `/repos/${repository}/contents/README.md`, { as: ada });
    await second.close();
    expect([issue.json.title, file.json.type]).toEqual(['kept', 'file']);
  });

  it('reports which port is in use', async () => {
    const first = await startEmbedded();
    const second = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    const port = Number(new URL(first.url).port);

    await expect(second.listen({ port })).rejects.toMatchObject({ code: 'port-taken' });
    await Promise.all([first.close(), second.close()]);
  });

  it('uses the configured public URL', async () => {
    const forge = await createForgeInstance({
      passwordCost,
      clock: () => new Date(),
      data,
      rootUrl: 'https://forge.example/',
    });
    const listening = await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'pw' });

    const answer = await fetch(`${listening}/api/v1/user`, { headers: basic('root', 'pw') });

    const body = (await answer.json()) as { html_url: string };
    await forge.close();
    expect(body.html_url).toBe('https://forge.example/root');
  });

  it('uses the configured clock', async () => {
    const forge = await createForgeInstance({
      passwordCost,
      clock: () => new Date('2020-02-03T04:05:06.789Z'),
      data,
    });
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'pw' });

    const answer = await fetch(`${forge.url}/api/v1/user`, { headers: basic('root', 'pw') });

    const body = (await answer.json()) as { created: string };
    await forge.close();
    expect(body.created).toBe('2020-02-03T04:05:06Z');
  });

  it('sets the new password of an existing administrator', async () => {
    const forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'old' });
    await forge.createAdministrator({ name: 'root', password: 'new' });

    const statuses = await Promise.all(
      ['old', 'new'].map(async (password) => {
        const answer = await fetch(`${forge.url}/api/v1/user`, { headers: basic('root', password) });
        return answer.status;
      }),
    );

    await forge.close();
    expect(statuses).toEqual([401, 200]);
  });
});
