import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';

describe('the git repository of a wiki', () => {
  let forge: ContractForge;
  let ada: Account;
  const clones: GitClone[] = [];
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
  });
  afterAll(() => forge.close());
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  const addressOf = (repository: string, { name, password }: Account): string =>
    Object.assign(new URL(`${forge.url}/${repository}.wiki.git`), { username: name, password }).href;
  async function cloneOf(repository: string, account = ada): Promise<GitClone> {
    const clone = await cloneRepository(addressOf(repository, account));
    clones.push(clone);
    return clone;
  }
  const write = (repository: string, title: string, text: string) =>
    forge.ask('POST', `/repos/${repository}/wiki/new`, {
      as: ada,
      body: { title, content_base64: Buffer.from(text).toString('base64') },
    });

  it('is cloned with the pages that the API wrote, and pushed pages are served', async () => {
    const repository = await forge.makeRepository(ada);
    await write(repository, 'Home page', 'hello');
    const clone = await cloneOf(repository);
    const files = readdirSync(clone.folder).filter((name) => name.endsWith('.md'));
    mkdirSync(join(clone.folder, 'images'));
    writeFileSync(join(clone.folder, 'images', 'a.txt'), 'no page');
    await clone.commit({ 'Über-uns.md': 'us', 'notes.txt': 'no page', '100%.md': 'a stray sign' });
    await clone.git('push', '--quiet', 'origin', 'HEAD:main');

    const { json, headers } = await forge.ask('GET', `/repos/${repository}/wiki/pages`);
    const page = await forge.ask('GET', `/repos/${repository}/wiki/page/${encodeURIComponent('Über-uns')}`);

    expect(files).toEqual(['Home-page.md']);
    expect(readFileSync(join(clone.folder, 'Home-page.md'), 'utf8')).toBe('hello');
    expect(json.map(({ title }: { title: string }) => title)).toEqual(['Home page', 'Über uns']);
    // The header counts all entries, not only pages.
    expect(headers.get('x-total-count')).toBe('5');
    expect(page.status).toBe(200);
  });

  it('is created by the first push, and cannot be cloned before that', async () => {
    const repository = await forge.makeRepository(ada);
    const other = await forge.makeRepository(ada);
    await write(other, 'Home', 'x');
    const clone = await cloneOf(other);

    await expect(cloneOf(repository)).rejects.toThrow(/not found|404/);
    await clone.git('push', '--quiet', addressOf(repository, ada), 'HEAD:main');

    expect((await forge.ask('GET', `/repos/${repository}/wiki/page/Home`)).status).toBe(200);
  });

  it('accepts pushes only from writers, and moves when its repository is renamed', async () => {
    const repository = await forge.makeRepository(ada, { private: true });
    const reader = await forge.makeUser();
    const stranger = await forge.makeUser();
    await forge.share(repository, ada, { with: reader, permission: 'read' });
    await write(repository, 'Home', 'x');
    const clone = await cloneOf(repository, reader);
    await clone.commit({ 'Home.md': 'mine' });

    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:main')).rejects.toThrow(/Repository not found/);
    await expect(cloneOf(repository, stranger)).rejects.toThrow();
    await forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { name: 'renamed' } });
    const old = await cloneOf(repository);
    expect(readdirSync(old.folder)).toContain('Home.md');
  });
});
