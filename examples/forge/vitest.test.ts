// A test of a program that talks to Gitea, with a forge of its own: vitest run
import { createForge, type Forge } from '@reeve-forge/reeve/forge';
import { afterAll, beforeAll, expect, it } from 'vitest';

let forge: Forge;
beforeAll(async () => {
  forge = await createForge({
    seed: {
      version: 1,
      accounts: [{ name: 'ada', password: 'ada-on-loopback' }],
      repositories: [{ name: 'ada/shop', files: { 'README.md': '# Shop\n' } }],
    },
  });
});
afterAll(() => forge.close());

it('an issue gets the number 1', async () => {
  const ben = await forge.createAccount('ben');

  const answer = await fetch(`${forge.apiUrl}/repos/ada/shop/issues`, {
    method: 'POST',
    headers: { authorization: `token ${ben.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'first' }),
  });

  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ number: 1, user: { login: 'ben' } });
});
