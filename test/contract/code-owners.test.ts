import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('code owners', (forge) => {
  let ada: Account;
  let ben: Account;
  let cleo: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, ben, cleo] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
  });
  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  const write = (path: string, text: string, branches: { branch?: string; new_branch?: string } = {}) =>
    ask('POST', `/contents/${path}`, { content: Buffer.from(text).toString('base64'), ...branches });
  const ownersAre = (...lines: string[]) => write('.gitea/CODEOWNERS', lines.join('\n'));
  const open = async (title: string, path: string): Promise<void> => {
    await write(path, 'x', { branch: 'main', new_branch: 'topic' });
    await ask('POST', '/pulls', { title, head: 'topic', base: 'main' });
  };
  const asked = async (): Promise<readonly string[]> => {
    const number = (await ask('GET', '/pulls')).json[0].number;
    const { json } = await ask('GET', `/pulls/${number}`);
    return json.requested_reviewers.map(({ login }: { login: string }) => login).sort();
  };

  it('are requested to review files that they own, unless they are the author', async () => {
    await ownersAre(
      `docs/.*\\.md @${ben.name} @${ada.name}`,
      `.*\\.ts @${cleo.name} # of code`,
      '.* @nothing-there',
    );
    await open('Change docs', 'docs/a.md');

    expect(await asked()).toEqual([ben.name]);
  });

  it('of a negated pattern are requested for all other files', async () => {
    await ownersAre(`!docs/.* @${cleo.name}`);
    await open('Change code', 'a.ts');

    expect(await asked()).toEqual([cleo.name]);
  });

  it('are requested for a draft once it is ready', async () => {
    await ownersAre(`.*\\.md @${ben.name}`);
    await open('WIP: change docs', 'a.md');
    const before = await asked();
    const number = (await ask('GET', '/pulls')).json[0].number;
    await ask('PATCH', `/pulls/${number}`, { title: 'Change docs' });

    expect([before, await asked()]).toEqual([[], [ben.name]]);
  });

  it('are requested when a push adds files that they own, and not again after they have reviewed', async () => {
    await ownersAre(`.*\\.md @${ben.name}`, `.*\\.ts @${cleo.name}`);
    await open('Change docs', 'a.md');
    const number = (await ask('GET', '/pulls')).json[0].number;
    const review = { event: 'COMMENT', body: 'seen' };
    await forge.ask('POST', `/repos/${repository}/pulls/${number}/reviews`, { as: ben, body: review });
    const opinionsOf = async ({ name }: Account) => {
      const { json } = await ask('GET', `/pulls/${number}/reviews`);
      return json.filter(({ user }: { user: { login: string } }) => user.login === name).length;
    };
    const before = await opinionsOf(ben);
    await write('a.ts', 'x', { branch: 'topic' });

    await expect.poll(asked).toContain(cleo.name);
    expect([before > 0, await opinionsOf(ben)]).toEqual([true, before]);
  });
});
