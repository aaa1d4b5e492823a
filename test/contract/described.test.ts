import { beforeAll, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';

/** Operations that are numbered in the description of the service, and its notification operations. */
const described = [
  ['PATCH', '/repos/REPO/hooks/1'],
  ['POST', '/repos/REPO/pulls'],
  ['POST', '/repos/REPO/pulls/1/reviews/1/dismissals'],
  ['GET', '/repos/REPO/branch_protections'],
  ['GET', '/repos/REPO/branches'],
  ['POST', '/repos/REPO/tag_protections'],
  ['GET', '/repos/REPO/contents/README.md'],
  ['GET', '/repos/REPO/contents-ext/README.md'],
  ['GET', '/repos/REPO/wiki/pages'],
  ['GET', '/repos/REPO/wiki/page/Home'],
  ['GET', '/repos/REPO/issues/1/dependencies'],
  ['PUT', '/repos/REPO/issues/1/labels'],
  ['GET', '/repos/REPO/issues/1/times'],
  ['GET', '/repos/REPO/issues/comments/1/assets/1'],
  ['GET', '/notifications'],
  ['PUT', '/notifications'],
  ['GET', '/notifications/new'],
  ['GET', '/notifications/threads/1'],
  ['PATCH', '/notifications/threads/1'],
  ['GET', '/repos/REPO/notifications'],
  ['PUT', '/repos/REPO/notifications'],
  ['POST', '/user/applications/oauth2'],
  ['GET', '/user/hooks'],
  ['GET', '/users/ADA/starred'],
  ['PATCH', '/orgs/ORG'],
  ['GET', '/orgs/ORG/actions/runners'],
] as const;

describeContract('described operations', (forge) => {
  let ada: Account;
  let narrow: string;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada, { auto_init: true });
    const token = await forge.ask('POST', `/users/${ada.name}/tokens`, {
      headers: basic(ada.name, ada.password),
      body: { name: freshName('narrow'), scopes: ['read:misc'] },
    });
    narrow = token.json.sha1;
  });

  const fill = (path: string): string =>
    path.replace('REPO', repository).replace('ORG', organization).replace('ADA', ada.name);
  const bodyOf = (method: string): { body?: object } => (method === 'GET' ? {} : { body: {} });

  it.each(described)('refuse %s %s to a token of another scope', async (method, path) => {
    const answer = await forge.ask(method, fill(path), { as: narrow, ...bodyOf(method) });

    expect(answer.status, answer.text).toBe(403);
  });

  it.each(described.filter(([, path]) => /REPO|ORG/.test(path)))(
    'return 404 for %s %s with an unknown name',
    async (method, path) => {
      const elsewhere = path.replace('REPO', `${ada.name}/nothing-here`).replace('ORG', 'missing-account');

      expect((await forge.ask(method, elsewhere, { as: ada, ...bodyOf(method) })).status).toBe(404);
    },
  );
});
