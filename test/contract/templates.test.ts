import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('templates', (forge) => {
  let ada: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  it.each(['/gitignore/templates', '/label/templates', '/licenses'])(
    'of %s are listed for everyone, and an unknown name is not found',
    async (path) => {
      const list = await forge.ask('GET', path);
      const names = list.json.map((entry: string | { key: string }) =>
        typeof entry === 'string' ? entry : entry.key,
      );
      const [first] = names;
      const one = await forge.ask('GET', `${path}/${encodeURIComponent(first)}`);
      const missing = [
        await forge.ask('GET', `${path}/no-such-name`),
        await forge.ask('GET', `${path}/toString`),
        await forge.ask('GET', `${path}/..%2F..%2Fpackage.json`),
      ];

      expect([list.status, one.status]).toEqual([200, 200]);
      expect(missing.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(names).toEqual([...new Set(names)]);
    },
  );

  it('have content', async () => {
    const license = (await forge.ask('GET', '/licenses/MIT')).json;
    const gitignore = (await forge.ask('GET', '/gitignore/templates/Node')).json;
    const labels = (await forge.ask('GET', '/label/templates/Default')).json;

    expect(license).toMatchObject({ key: 'MIT', name: 'MIT', url: `${forge.url}/api/v1/licenses/MIT` });
    expect(license.body).toContain('Permission is hereby granted, free of charge');
    expect(license.implementation).toContain('LICENSE');
    expect(gitignore.name).toBe('Node');
    expect(gitignore.source.split('\n')).toContain('node_modules/');
    expect(labels[0]).toEqual({
      name: 'bug',
      exclusive: false,
      color: 'ee0701',
      description: 'Something is not working',
    });
  });

  it('become the first files of a repository', async () => {
    const repository = await forge.makeRepository(ada, {
      auto_init: true,
      gitignores: 'Node,Python',
      license: 'MIT',
      readme: 'Default',
      description: 'What it is for',
      issue_labels: 'Advanced',
    });
    const read = async (path: string) => (await forge.ask('GET', `/repos/${repository}/raw/${path}`)).text;

    const [gitignore, license, readme] = [
      await read('.gitignore'),
      await read('LICENSE'),
      await read('README.md'),
    ];
    const labels = await forge.ask('GET', `/repos/${repository}/labels`);
    const commits = await forge.ask('GET', `/repos/${repository}/commits`);

    expect(gitignore).toMatch(
      /^# ---> Node\n[\s\S]*node_modules\/\n[\s\S]*\n# ---> Python\n[\s\S]*__pycache__\/\n/,
    );
    expect(license).toMatch(new RegExp(`^MIT License\\n\\nCopyright \\(c\\) 20\\d\\d ${ada.name}\\n`));
    expect(readme).toBe(`# ${repository.split('/')[1]}\n\nWhat it is for`);
    expect(labels.json.some((label: { exclusive: boolean }) => label.exclusive)).toBe(true);
    expect(commits.json).toHaveLength(1);
  });

  it('of .gitignore files are the same as on other forges, including comments', async () => {
    const repository = await forge.makeRepository(ada, { auto_init: true, gitignores: 'C,C++' });
    const [gitignore, commits, c] = [
      await forge.ask('GET', `/repos/${repository}/raw/.gitignore`),
      await forge.ask('GET', `/repos/${repository}/commits?stat=true`),
      await forge.ask('GET', '/gitignore/templates/C'),
    ];
    const names = (await forge.ask('GET', '/gitignore/templates')).json;

    expect(c.json.source).toMatch(/^# Prerequisites\n\*\.d\n/);
    expect(gitignore.text.startsWith(`# ---> C\n${c.json.source}\n# ---> C++\n# Prerequisites\n`)).toBe(true);
    // Line count of .gitignore and README.md; the last line of README.md has no newline.
    expect(commits.json[0].stats.additions).toBe(gitignore.text.split('\n').length - 1 + 2);
    // Names from the library, from its folder for editors and systems, from a symbolic link in that folder, and from
    // our own templates.
    expect(names).toEqual(
      expect.arrayContaining(['C', 'VisualStudioCode', 'Kotlin', 'Fortran', 'MATLAB', 'JBoss', 'Zig']),
    );
    expect(names).toEqual([...names].sort());
  });

  it('end the first README.md with the description, or with a blank line if there is none', async () => {
    const repository = await forge.makeRepository(ada, { auto_init: true });

    const readme = await forge.ask('GET', `/repos/${repository}/raw/README.md`, { as: ada });

    expect(readme.text).toBe(`# ${repository.split('/')[1]}\n\n`);
  });

  it.each([
    ['readme', { readme: 'Other' }, [400]],
    // Gitea returns 500 for these two.
    ['gitignores', { gitignores: 'Node,Other' }, [400, 500]],
    ['license', { license: 'Other' }, [400, 500]],
    ['issue_labels', { issue_labels: 'Other' }, [422]],
  ])('refuse to create a repository with an unknown name in %s', async (_, members, statuses) => {
    const name = freshName('repo');

    const refused = await forge.ask('POST', '/user/repos', {
      as: ada,
      body: { name, auto_init: true, ...members },
    });
    const missing = await forge.ask('GET', `/repos/${ada.name}/${name}`, { as: ada });

    expect(statuses).toContain(refused.status);
    expect(missing.status).toBe(404);
  });
});

describeContract('instance settings', (forge) => {
  it('are visible to everyone', async () => {
    const repository = await forge.ask('GET', '/settings/repository');
    const ui = await forge.ask('GET', '/settings/ui');

    expect([repository.status, ui.status]).toEqual([200, 200]);
    expect(repository.json).toMatchObject({
      http_git_disabled: false,
      lfs_disabled: expect.any(Boolean),
      migrations_disabled: expect.any(Boolean),
      mirrors_disabled: expect.any(Boolean),
      stars_disabled: false,
      time_tracking_disabled: false,
    });
    expect(ui.json.allowed_reactions).toContain('+1');
    expect(ui.json.default_theme).toMatch(/^\w+-auto$/);
  });
});

describeContract('node info', (forge) => {
  it('counts accounts, issues and comments', async () => {
    const before = await forge.ask('GET', '/nodeinfo');
    const ada = await forge.makeUser();
    const repository = await forge.makeRepository(ada);
    await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'x' } });
    const { status, json } = await forge.ask('GET', '/nodeinfo');

    expect([status, json.version, json.openRegistrations]).toEqual([200, '2.1', false]);
    expect(json.software.version).toMatch(/^\d+\.\d+/);
    expect(json.usage.users.total).toBeGreaterThan(before.json.usage.users.total);
    expect(json.usage.localPosts).toBeGreaterThan(before.json.usage.localPosts);
    expect(json.usage.users.activeMonth).toBeGreaterThan(0);
  });
});

describeContract('the deprecated path for new repositories', (forge) => {
  it('creates a repository in an organization, for permitted members', async () => {
    const [ada, stranger] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    const organization = await forge.makeOrganization(ada);
    const path = `/org/${organization}/repos`;
    const name = freshName('repo');

    const made = await forge.ask('POST', path, { as: ada, body: { name } });
    const twice = await forge.ask('POST', path, { as: ada, body: { name } });
    const refused = await forge.ask('POST', path, { as: stranger, body: { name: 'x' } });
    const anonymous = await forge.ask('POST', path, { body: { name: 'x' } });

    expect([made, twice, refused, anonymous].map(({ status }) => status)).toEqual([201, 409, 403, 401]);
    expect(made.json.full_name).toBe(`${organization}/${name}`);
  });
});
