import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, freshName, startEmbedded } from '../../support/contract-forge.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let ada: Account;
let template: string;
beforeAll(async () => {
  forge = await startEmbedded();
  ada = await forge.makeUser();
  template = await forge.makeRepository(ada, { auto_init: true, template: true });
  const body = { rule_name: 'main', required_approvals: 2, protected_file_patterns: 'secret/**' };
  await forge.ask('POST', `/repos/${template}/branch_protections`, { as: ada, body });
});
afterAll(() => forge.close());

it.each([
  ['read', 0],
  ['write', 0],
  ['admin', 1],
])('with %s access to the template, %i of its branch protections are copied', async (permission, count) => {
  const ben = await forge.makeUser();
  await forge.share(template, ada, { with: ben, permission });
  const name = freshName('made');
  const body = { owner: ben.name, name, git_content: true, protected_branch: true };

  const { status } = await forge.ask('POST', `/repos/${template}/generate`, { as: ben, body });

  const path = `/repos/${ben.name}/${name}/branch_protections`;
  expect([status, (await forge.ask('GET', path, { as: ben })).json.length]).toEqual([201, count]);
});
