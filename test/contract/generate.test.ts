import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';
import { makeSharedRepository } from '../support/shared-repository.ts';

describeContract('templates', (forge) => {
  let ada: Account;
  let ben: Account;
  let template: string;

  const write = (repository: string, as: Account, files: Record<string, string>, more: object = {}) =>
    forge.ask('POST', `/repos/${repository}/contents`, {
      as,
      body: {
        message: 'change',
        files: Object.entries(files).map(([path, text]) => ({
          operation: 'create',
          path,
          content: Buffer.from(text).toString('base64'),
        })),
        ...more,
      },
    });
  const textOf = async (repository: string, path: string, as: Account) =>
    (await forge.ask('GET', `/repos/${repository}/raw/${path}`, { as })).text;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    template = await forge.makeRepository(ada, { auto_init: true, template: true, name: 'My-Template' });
    await write(template, ada, {
      '.gitea/template': '# expanded\n**.md\nsrc/**\n',
      'src/${REPO_NAME_SNAKE}/name.txt':
        '$REPO_NAME ${REPO_OWNER} ${TEMPLATE_NAME_LOWER} $UNKNOWN $$ ${YEAR}',
      'src/about.md': '${REPO_DESCRIPTION}|${TEMPLATE_NAME_KEBAB}|${TEMPLATE_NAME_PASCAL}|${REPO_LINK}',
      'plain.txt': '${REPO_NAME}',
    });
    const ask = (path: string, body: object, method = 'POST') =>
      forge.ask(method, `/repos/${template}${path}`, { as: ada, body });
    await ask('/labels', { name: 'bug', color: '112233', description: 'wrong' });
    await ask('/topics', { topics: ['one', 'two'] }, 'PUT');
    await ask('/branch_protections', { rule_name: 'main', required_approvals: 2 });
    const config = { url: 'http://127.0.0.1:9/hook', content_type: 'json', secret: 'hidden' };
    await ask('/hooks', { type: 'gitea', config, events: ['push'], branch_filter: 'main', active: false });
  });

  const generate = (as: Account | string, body: object, from = template) =>
    forge.ask('POST', `/repos/${from}/generate`, { as, body });

  describe('create repositories', () => {
    it("with the template's files in one commit, with variables expanded", async () => {
      const name = freshName('FreshName');
      const { status, json } = await generate(ben, {
        owner: ben.name,
        name,
        description: 'Mine',
        private: true,
        git_content: true,
        default_branch: 'trunk',
      });
      const repository = `${ben.name}/${name}`;
      const commits = await forge.ask('GET', `/repos/${repository}/commits`, { as: ben });
      const tree = await forge.ask('GET', `/repos/${repository}/git/trees/trunk?recursive=true`, { as: ben });

      expect([status, json]).toMatchObject([
        201,
        {
          full_name: repository,
          description: 'Mine',
          private: true,
          empty: false,
          template: false,
          fork: false,
          default_branch: 'trunk',
          permissions: { admin: true },
        },
      ]);
      expect([commits.json.length, commits.json[0].parents]).toEqual([1, []]);
      expect(commits.json[0].commit.message).toBe('Initial commit\n');
      const paths: string[] = tree.json.tree
        .filter(({ type }: { type: string }) => type === 'blob')
        .map(({ path }: { path: string }) => path);
      const year = new Date().getFullYear();
      expect(paths.filter((path) => !path.startsWith('src/'))).toEqual(['README.md', 'plain.txt']);
      expect(paths.some((path) => /^src\/fresh_name_.*\/name\.txt$/.test(path))).toBe(true);
      const namePath = paths.find((path) => path.endsWith('name.txt')) ?? '';
      expect(await textOf(repository, namePath, ben)).toBe(
        `${name} ${ben.name} my-template UNKNOWN $ ${year}`,
      );
      expect(await textOf(repository, 'src/about.md', ben)).toBe(
        `Mine|my-template|MyTemplate|/${repository}`,
      );
      expect(await textOf(repository, 'plain.txt', ben)).toBe('${REPO_NAME}');
    });

    it("with the template's labels, topics, protections and hooks, and nothing else", async () => {
      const name = freshName('copy');
      const body = {
        owner: ada.name,
        name,
        labels: true,
        topics: true,
        protected_branch: true,
        webhooks: true,
      };
      const { status, json } = await generate(ada, body);
      const read = async (path: string) =>
        (await forge.ask('GET', `/repos/${ada.name}/${name}${path}`, { as: ada })).json;

      expect([status, json.empty]).toEqual([201, true]);
      expect(await read('/labels')).toMatchObject([{ name: 'bug', color: '112233', description: 'wrong' }]);
      expect((await read('/topics')).topics).toEqual(['one', 'two']);
      expect(await read('/branch_protections')).toMatchObject([{ rule_name: 'main', required_approvals: 2 }]);
      const [hook] = await read('/hooks');
      expect([hook.active, hook.branch_filter, hook.config]).toEqual([
        false,
        'main',
        { url: 'http://127.0.0.1:9/hook', content_type: 'json' },
      ]);
    });

    it('without hooks if the caller is not an administrator of the template', async () => {
      const name = freshName('copy');
      const { status } = await generate(ben, { owner: ben.name, name, webhooks: true, topics: true });

      expect(status).toBe(201);
      expect((await forge.ask('GET', `/repos/${ben.name}/${name}/hooks`, { as: ben })).json).toEqual([]);
    });

    it('in organizations where the caller may create repositories', async () => {
      const organization = await forge.makeOrganization(ben);
      const body = { owner: organization, name: freshName('copy'), topics: true };

      expect((await generate(ben, body)).status).toBe(201);
      expect((await generate(ada, { ...body, name: freshName('copy') })).status).toBe(403);
    });

    it('for other accounts only if the caller is a site administrator', async () => {
      const body = { owner: ben.name, name: freshName('copy'), topics: true };

      expect((await generate(ada, body)).status).toBe(403);
      expect((await generate(forge.adminToken, body)).json.owner.login).toBe(ben.name);
    });
  });

  it('are refused for an invalid request', async () => {
    const plain = await forge.makeRepository(ada);
    const body = { owner: ada.name, name: freshName('copy'), topics: true };

    const answers = [
      await generate(ada, body, plain),
      await generate(ada, { ...body, topics: false }),
      await generate(ada, { ...body, name: '' }),
      await generate(ada, { ...body, name: 'a b' }),
      await generate(ada, { ...body, name: 'My-Template' }),
      await generate(ada, { ...body, owner: freshName('absent') }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 409, 404]);
    const hidden = await makeSharedRepository(forge, { template: true });
    const wish = { owner: freshName('absent'), name: 'x', topics: true };
    expect(await hidden.statuses('POST', '/generate', wish)).toEqual([404, 404, 404, 404, 404]);
    expect((await forge.ask('POST', `/repos/${template}/generate`, { body: wish })).status).toBe(401);
  });
});

describeContract('forks', (forge) => {
  let ada: Account;
  let ben: Account;
  let base: string;
  let fork: string;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    base = await forge.makeRepository(ada, { auto_init: true });
    const { json } = await forge.ask('POST', `/repos/${base}/forks`, { as: ben, body: {} });
    fork = json.full_name;
  });

  const add = (repository: string, as: Account, path: string, more: object = {}) =>
    forge.ask('POST', `/repos/${repository}/contents/${path}`, {
      as,
      body: { content: Buffer.from(path).toString('base64'), ...more },
    });
  const merge = (body: object, as: Account = ben, repository = fork) =>
    forge.ask('POST', `/repos/${repository}/merge-upstream`, { as, body });
  const tip = async (repository: string, branch = 'main') =>
    (await forge.ask('GET', `/repos/${repository}/branches/${branch}`, { as: ben })).json.commit;

  it('pull commits from their parent repository', async () => {
    const none = await merge({ branch: 'main' });
    await add(base, ada, 'a.txt');
    const forward = await merge({ branch: 'main', ff_only: true });
    const [there, here] = [await tip(base), await tip(fork)];
    await add(base, ada, 'b.txt');
    await add(fork, ben, 'c.txt');
    const diverged = await merge({ branch: 'main', ff_only: true });
    const merged = await merge({ branch: 'main' });
    const files = await forge.ask('GET', `/repos/${fork}/contents`, { as: ben });
    const again = await merge({ branch: 'main' });

    expect([none.status, none.json]).toEqual([200, { merge_type: 'up-to-date' }]);
    expect([forward.status, forward.json, here.id]).toEqual([200, { merge_type: 'fast-forward' }, there.id]);
    expect(diverged.status).toBe(400);
    expect([merged.status, merged.json]).toEqual([200, { merge_type: 'merge' }]);
    expect(files.json.map(({ name }: { name: string }) => name)).toEqual([
      'README.md',
      'a.txt',
      'b.txt',
      'c.txt',
    ]);
    expect(again.json).toEqual({ merge_type: 'up-to-date' });
  });

  it('merge the default branch of the parent if the parent has no branch of the same name', async () => {
    await add(fork, ben, 'd.txt', { new_branch: 'own' });
    await add(base, ada, 'e.txt');
    const { status, json } = await merge({ branch: 'own' });

    expect([status, json]).toEqual([200, { merge_type: 'merge' }]);
  });

  it('keep the visibility of their parent, whatever an edit says', async () => {
    const edit = (body: object) => forge.ask('PATCH', `/repos/${fork}`, { as: ben, body });
    const hidden = await edit({ private: true });
    const shown = await edit({ private: false });

    expect([hidden.status, hidden.json.private, shown.json.private]).toEqual([200, false, false]);
  });

  it('refuse to merge the parent if the branch, the parent or access is missing, or if archived', async () => {
    await forge.share(fork, ben, { with: ada, permission: 'read' });
    const unknown = await merge({ branch: 'none' });
    const reader = await merge({ branch: 'main' }, ada);
    const noFork = await merge({ branch: 'main' }, ada, base);
    await forge.ask('PATCH', `/repos/${base}`, { as: ada, body: { private: true } });
    const hidden = await merge({ branch: 'main' });
    await forge.ask('PATCH', `/repos/${fork}`, { as: ben, body: { archived: true } });
    const archived = await merge({ branch: 'main' });

    expect([unknown.status, reader.status, hidden.status, archived.status]).toEqual([404, 403, 403, 423]);
    // Gitea returns 500.
    expect([400, 500]).toContain(noFork.status);
  });
});

describeContract('git hooks', (forge) => {
  it('are refused to every account', async () => {
    const shared = await makeSharedRepository(forge);

    for (const [method, path, body] of [
      ['GET', '/hooks/git', undefined],
      ['GET', '/hooks/git/update', undefined],
      ['PATCH', '/hooks/git/update', { content: '#!/bin/sh\nexit 0\n' }],
      ['DELETE', '/hooks/git/update', undefined],
    ] as const) {
      expect(await shared.statuses(method, path, body)).toEqual([403, 403, 403, 404, 404]);
      const root = await forge.ask(method, `/repos/${shared.fullName}${path}`, {
        as: forge.adminToken,
        body,
      });
      expect([root.status, root.json.message]).toEqual([403, 'must be allowed to edit Git hooks']);
    }
  });
});
