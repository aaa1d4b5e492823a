import { expect, it } from 'vitest';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { launcher } from '../../support/launcher.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

it('the task delete_old_actions removes activities older than a year', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const forge = await createForgeInstance({ passwordCost, launcher, clock: () => new Date(now) });
  const url = await forge.listen();
  await forge.createAdministrator({ name: 'root', password: 'correct horse' });
  const headers = { ...basic('root', 'correct horse'), 'content-type': 'application/json' };
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${url}/api/v1${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const kinds = async () => {
    const feed = (await (await ask('GET', '/users/root/activities/feeds')).json()) as { op_type: string }[];
    return feed.map(({ op_type }) => op_type);
  };
  await ask('POST', '/user/repos', { name: 'demo' });
  now += 366 * 86_400_000;
  await ask('POST', '/repos/root/demo/issues', { title: 'one' });
  expect(await kinds()).toEqual(['create_issue', 'create_repo']);

  const started = await ask('POST', '/admin/cron/delete_old_actions');

  expect(started.status).toBe(204);
  await expect.poll(kinds).toEqual(['create_issue']);
  await forge.close();
});
