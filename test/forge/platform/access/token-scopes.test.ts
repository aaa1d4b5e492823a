import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, type ContractForge, startEmbedded } from '../../../support/contract-forge.ts';
import { tryGit } from '../../../support/git-client.ts';

/** URLs outside the API that return data of an account or a repository, with the scopes that each requires. */
const pages = ['read:repository', 'read:issue'];
const code = ['read:repository'];
const addresses: readonly (readonly [string, readonly string[]])[] = [
  ['/attachments/ISSUE-FILE', ['read:issue']],
  ['/attachments/COMMENT-FILE', ['read:issue']],
  ['/attachments/PULL-FILE', ['read:issue']],
  ['/attachments/ASSET', code],
  ['/attachments/DRAFT-ASSET', ['write:repository']],
  ['/REPO/releases/download/v1/asset.txt', code],
  ['/REPO/releases/download/v2/asset.txt', ['write:repository']],
  ['/REPO/raw/branch/main/kept.txt', code],
  ['/REPO/raw/main/kept.txt', code],
  ['/REPO/raw/blob/BLOB', code],
  ['/REPO/media/branch/main/kept.txt', code],
  ['/REPO/media/main/kept.txt', code],
  ['/REPO/media/blob/BLOB', code],
  ['/REPO/archive/main.zip', code],
  ['/REPO/commit/COMMIT.diff', code],
  ['/REPO/pulls/2.diff', code],
  ['/REPO.git/info/refs?service=git-upload-pack', code],
  ['/REPO.wiki.git/info/refs?service=git-upload-pack', code],
  ['/REPO.git/info/refs?service=git-receive-pack', ['write:repository']],
  ['/REPO.git/info/lfs/objects/LFS', code],
  ['/REPO.git/info/lfs/locks', code],
  ['/api/packages/ORG/generic/kept/1/kept.txt', ['read:package']],
  ['/login/oauth/userinfo', ['read:user']],
  ['/', pages],
  ['/ORG', pages],
  ['/REPO', pages],
  ['/REPO/src/branch/main/kept.txt', pages],
  ['/REPO/commits/branch/main', pages],
  ['/REPO/commit/COMMIT', pages],
  ['/REPO/branches', pages],
  ['/REPO/tags', pages],
  ['/REPO/issues', pages],
  ['/REPO/issues/1', pages],
  ['/REPO/pulls', pages],
  ['/REPO/pulls/2', pages],
  ['/REPO/pulls/new/topic', pages],
  ['/REPO/wiki', pages],
  ['/REPO/wiki/Home', pages],
  ['/REPO/releases', pages],
  ['/REPO/releases/tag/v1', pages],
  ['/REPO/settings/branches', pages],
  ['/REPO/settings/hooks', pages],
  ['/REPO/settings/actions/runners', pages],
];

describe('a token used outside the API', () => {
  let forge: ContractForge;
  let owner: Account;
  const names = new Map<string, string>();
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    forge = await startEmbedded();
    owner = await forge.makeUser();
    const organization = await forge.makeOrganization(owner, { visibility: 'private' });
    const repository = await forge.makeRepository(owner, {
      in: organization,
      private: true,
      auto_init: true,
    });
    const must = async (method: string, path: string, body?: object) => {
      const answer = await forge.ask(method, path, { as: owner, body });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const upload = async (path: string): Promise<string> => {
      const body = new FormData();
      body.set('attachment', new Blob(['kept bytes']), 'asset.txt');
      const headers = { authorization: `token ${owner.token}` };
      const answer = await fetch(`${forge.url}/api/v1${path}/assets`, { method: 'POST', headers, body });
      return ((await answer.json()) as { uuid: string }).uuid;
    };
    const base = `/repos/${repository}`;
    const file = { content: Buffer.from('kept text\n').toString('base64'), message: 'kept message' };
    const made = await must('POST', `${base}/contents/kept.txt`, { ...file, new_branch: 'topic' });
    const merged = await must('POST', `${base}/contents/kept.txt`, { ...file, branch: 'main' });
    await must('POST', `${base}/issues`, { title: 'kept issue' });
    await must('POST', `${base}/contents/more.txt`, { ...file, branch: 'topic' });
    await must('POST', `${base}/pulls`, { title: 'kept pull', head: 'topic', base: 'main' });
    const comment = await must('POST', `${base}/issues/1/comments`, { body: 'kept comment' });
    const release = await must('POST', `${base}/releases`, { tag_name: 'v1', name: 'kept release' });
    const draft = await must('POST', `${base}/releases`, { tag_name: 'v2', name: 'kept draft', draft: true });
    await must('POST', `${base}/wiki/new`, { title: 'Home', content_base64: file.content });
    const oid = createHash('sha256').update('kept').digest('hex');
    const headers = basic(owner.name, owner.password);
    for (const path of [
      `${repository}.git/info/lfs/objects/${oid}/4`,
      `api/packages/${organization}/generic/kept/1/kept.txt`,
    ]) {
      const sent = await fetch(`${forge.url}/${path}`, { method: 'PUT', headers, body: 'kept' });
      expect(sent.status).toBeLessThan(300);
    }
    for (const [word, value] of Object.entries({
      REPO: repository,
      ORG: organization,
      BLOB: made.content.sha,
      COMMIT: merged.commit.sha,
      LFS: oid,
      'ISSUE-FILE': await upload(`${base}/issues/1`),
      'PULL-FILE': await upload(`${base}/issues/2`),
      'COMMENT-FILE': await upload(`${base}/issues/comments/${comment.id}`),
      'DRAFT-ASSET': await upload(`${base}/releases/${draft.id}`),
      ASSET: await upload(`${base}/releases/${release.id}`),
    })) {
      names.set(word, value);
    }
  });
  afterAll(() => forge.close());

  async function tokenWith(scopes: readonly string[]): Promise<string> {
    const name = scopes.join(' ');
    const known = tokens.get(name);
    if (known) return known;
    const headers = basic(owner.name, owner.password);
    const path = `/users/${owner.name}/tokens`;
    const { json } = await forge.ask('POST', path, { headers, body: { name, scopes } });
    tokens.set(name, json.sha1);
    return json.sha1;
  }

  /** Sends requests as clients do, with the token as a bearer token and as a password. */
  async function ask(address: string, token: string): Promise<{ statuses: number[]; texts: string }> {
    const words = [...names].sort(([one], [other]) => other.length - one.length);
    const path = words.reduce((text, [word, value]) => text.replace(word, value), address);
    const lfs = address.includes('/lfs/locks') ? { accept: 'application/vnd.git-lfs+json' } : {};
    const headers = [{ authorization: `Bearer ${token}` }, basic(owner.name, token)];
    // The userinfo endpoint accepts only bearer tokens.
    const ways = address.includes('userinfo') ? headers.slice(0, 1) : headers;
    const answers = await Promise.all(
      ways.map((way) => fetch(`${forge.url}${path}`, { headers: { ...way, ...lfs }, redirect: 'manual' })),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    return { statuses: answers.map(({ status }) => status), texts: texts.join('\n') };
  }

  it.each(addresses)('grants access to %s with the scopes %j', async (address, scopes) => {
    const { statuses } = await ask(address, await tokenWith(scopes));

    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it.each(addresses)('grants no access to %s without the required scopes', async (address, needed) => {
    const all = [
      'issue',
      'misc',
      'notification',
      'organization',
      'package',
      'repository',
      'user',
      'activitypub',
      'admin',
    ];
    const categories = needed.map((scope) => scope.split(':')[1]);
    const others = all.filter((category) => !categories.includes(category)).map((one) => `write:${one}`);
    // Tries a scope of the same category that is too narrow, and each of several required scopes alone.
    const narrow = needed
      .filter((scope) => scope.startsWith('write:'))
      .map((scope) => scope.replace('write:', 'read:'));
    const halves = needed.length > 1 ? needed.map((scope) => [...others, scope]) : [];

    for (const scopes of [['read:misc'], [...others, ...narrow], ...halves]) {
      const { statuses, texts } = await ask(address, await tokenWith(scopes));

      for (const status of statuses) expect([401, 403, 404]).toContain(status);
      expect(texts).not.toMatch(/kept (bytes|text|message|issue|pull|comment|release|draft)/);
    }
  });

  it('limited to public resources can clone only public repositories', async () => {
    const token = await tokenWith(['public-only', 'write:repository', 'read:issue']);
    const open = await forge.makeRepository(owner, { auto_init: true });
    const listed = (place: string) =>
      tryGit('/', ['ls-remote', `${forge.url.replace('//', `//${owner.name}:${token}@`)}/${place}.git`]);
    const file = await ask('/attachments/ISSUE-FILE', token);

    const [publicly, hidden] = [await listed(open), await listed(names.get('REPO') ?? '')];

    expect(publicly.output).toContain('refs/heads/main');
    expect([publicly.code, hidden.code === 0, hidden.output]).toEqual([0, false, '']);
    expect(file.statuses).toEqual([404, 404]);
  });
});
