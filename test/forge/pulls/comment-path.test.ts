import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';

let forge: ContractForge;
let ada: Account;
beforeAll(async () => {
  forge = await startEmbedded();
  ada = await forge.makeUser();
});
afterAll(() => forge.close());

it.each(['/^v/', '../x', '/etc/passwd', ':(top)x'])(
  'a review can comment on "%s" without a git error',
  async (path) => {
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const ask = (method: string, rest: string, body: object) =>
      forge.ask(method, `/repos/${repository}${rest}`, { as: ada, body });
    await ask('POST', '/contents/a.txt', { content: 'eA==', message: 'a', new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });

    const comments = [{ path, body: 'where?', old_position: 1 }];
    const { status, text } = await ask('POST', '/pulls/1/reviews', { event: 'COMMENT', body: 'x', comments });

    expect(status, text).toBe(200);
  },
);
