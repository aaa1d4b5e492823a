import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let ada: Account;
beforeAll(async () => {
  forge = await startEmbedded();
  ada = await forge.makeUser();
});
afterAll(() => forge.close());

it('an issue of a repository that the caller cannot read is hidden in the timeline of the issue that depends on it', async () => {
  const [open, closed] = [
    await forge.makeRepository(ada),
    await forge.makeRepository(ada, { private: true }),
  ];
  for (const repository of [open, closed])
    await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'x' } });
  const [owner, repo] = closed.split('/');
  const body = { owner, repo, index: 1 };
  await forge.ask('POST', `/repos/${open}/issues/1/dependencies`, { as: ada, body });
  const read = async (as: Account | undefined) =>
    (await forge.ask('GET', `/repos/${open}/issues/1/timeline`, { as })).json[0].dependent_issue;

  expect(await read(ada)).toMatchObject({ number: 1, repository: { name: repo } });
  expect(await read(await forge.makeUser())).toBeNull();
  expect(await read(undefined)).toBeNull();
});

it('references from and into unreadable repositories are hidden', async () => {
  const bob = await forge.makeUser();
  const [open, closed] = [
    await forge.makeRepository(ada),
    await forge.makeRepository(ada, { private: true }),
  ];
  const make = (repository: string, as: Account, body = '') =>
    forge.ask('POST', `/repos/${repository}/issues`, { as, body: { title: 'x', body } });
  await make(open, ada);
  await make(closed, ada, `like ${open}#1`);
  await make(open, bob, `like ${closed}#1`);
  const read = async (repository: string, as: Account | undefined) =>
    (await forge.ask('GET', `/repos/${repository}/issues/1/timeline`, { as })).json ?? [];

  expect(await read(open, ada)).toMatchObject([{ type: 'issue_ref', ref_issue: { number: 1 } }]);
  expect(await read(open, bob)).toEqual([]);
  expect(await read(open, undefined)).toEqual([]);
  expect(await read(closed, ada)).toEqual([]);
});

it('a force-push removes the lost commits from earlier timeline entries', async () => {
  const repository = await forge.makeRepository(ada, { auto_init: true });
  const ask = (method: string, path: string, body?: object) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  const write = async (path: string, more: object): Promise<string> =>
    (await ask('POST', `/contents/${path}`, { content: '', message: path, ...more })).json.commit.sha;
  const first = await write('a', { new_branch: 'topic' });
  await ask('POST', '/pulls', { title: 'one', head: 'topic', base: 'main' });
  const second = await write('b', { branch: 'topic' });
  const other = await write('c', { branch: 'topic', new_branch: 'other' });
  const third = await write('d', { branch: 'main', new_branch: 'third' });
  const pushes = async () =>
    (await ask('GET', '/issues/1/timeline')).json
      .filter(({ type }: { type: string }) => type === 'pull_push')
      .map(({ body }: { body: string }) => JSON.parse(body));
  const move = (from: string, to: string) =>
    ask('PUT', '/branches/topic', { old_commit_id: from, new_commit_id: to, force: true });

  expect((await move(second, other)).status).toBeLessThan(300);
  expect(await pushes()).toEqual([
    { is_force_push: false, commit_ids: [first] },
    { is_force_push: false, commit_ids: [second] },
    { is_force_push: false, commit_ids: [other] },
  ]);
  expect((await move(other, third)).status).toBeLessThan(300);
  expect(await pushes()).toEqual([
    { is_force_push: false, commit_ids: [third] },
    { is_force_push: true, commit_ids: [other, third] },
  ]);
});
