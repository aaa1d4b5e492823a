// The same with the test runner of Node: node --test
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createForge } from '@reeve-forge/reeve/forge';

/** @type {import('@reeve-forge/reeve/forge').Forge} */
let forge;
before(async () => {
  forge = await createForge({
    seed: {
      version: 1,
      accounts: [{ name: 'ada', password: 'ada-on-loopback' }],
      repositories: [{ name: 'ada/shop', files: { 'README.md': '# Shop\n' } }],
    },
  });
});
after(() => forge.close());

it('an issue gets the number 1', async () => {
  const ben = await forge.createAccount('ben');

  const answer = await fetch(`${forge.apiUrl}/repos/ada/shop/issues`, {
    method: 'POST',
    headers: { authorization: `token ${ben.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'first' }),
  });

  assert.equal(answer.status, 201);
  const { number, user } = await answer.json();
  assert.deepEqual({ number, login: user.login }, { number: 1, login: 'ben' });
});
