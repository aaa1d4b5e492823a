import { type Account, basic, type ContractForge } from './contract-forge.ts';

/** Text that stands for hidden data, and the callers who may see it. The site administrator may see every text. */
type Canary = { readonly text: string; readonly seenBy: readonly string[] };

/** Forge with hidden data in every place that a list could reveal. */
export type HiddenData = {
  /** Callers by name; undefined sends no credentials. */
  readonly callers: ReadonlyMap<string, Account | string | undefined>;
  readonly canaries: readonly Canary[];
  /** Values for the placeholders in braces of a path. The first value is the default. */
  readonly parameters: Readonly<Record<string, readonly string[]>>;
};

type Person = Account & { readonly email: string };

/** Creates the accounts, organizations and repositories through the API. Each hidden object has a unique name. */
export async function makeHiddenData(forge: ContractForge): Promise<HiddenData> {
  const call = async (as: Account | string, method: string, path: string, body?: object) => {
    const answer = await forge.ask(method, path, { as, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };

  async function person(name: string, options: object = {}): Promise<Person> {
    const email = `${name}@mail-of-${name}.example`;
    const password = 'long enough 1';
    const body = { username: name, email, password, must_change_password: false, ...options };
    await call(forge.adminToken, 'POST', '/admin/users', body);
    return { name, email, password, token: await tokenOf(name, ['all']) };
  }

  async function tokenOf(name: string, scopes: readonly string[]): Promise<string> {
    const answer = await forge.ask('POST', `/users/${name}/tokens`, {
      headers: basic(name, 'long enough 1'),
      body: { name: `t${scopes.length}`, scopes },
    });
    return answer.json.sha1;
  }

  const [ada, olga, mia] = [await person('ada'), await person('olga'), await person('mia')];
  const ivy = await person('ivy');
  const [stranger, restricted] = [await person('stranger'), await person('restricted', { restricted: true })];
  const [hermit, shy] = [
    await person('hermit', { visibility: 'private' }),
    await person('shy', { visibility: 'limited' }),
  ];
  for (const [username, visibility] of [
    ['acme', 'public'],
    ['limitedorg', 'limited'],
    ['hiddenorg', 'private'],
  ]) {
    await call(olga, 'POST', '/orgs', { username, visibility });
  }
  const units = ['repo.code', 'repo.issues', 'repo.pulls'];
  const team = { name: 'secretteam', permission: 'read', units, includes_all_repositories: true };
  const { id } = await call(olga, 'POST', '/orgs/acme/teams', team);
  await call(olga, 'PUT', `/teams/${id}/members/mia`);
  // A person who can see a repository, but not its code.
  const triage = { name: 'triage', permission: 'write', units: ['repo.issues', 'repo.pulls'] };
  const triageTeam = await call(olga, 'POST', '/orgs/acme/teams', {
    ...triage,
    includes_all_repositories: true,
  });
  await call(olga, 'PUT', `/teams/${triageTeam.id}/members/ivy`);

  const repositories: readonly (readonly [Account, string, string, boolean])[] = [
    [ada, '/user/repos', 'site', false],
    [ada, '/user/repos', 'hideout', true],
    [olga, '/orgs/acme/repos', 'open', false],
    [olga, '/orgs/acme/repos', 'vault', true],
    [olga, '/orgs/limitedorg/repos', 'limitedopen', false],
    [olga, '/orgs/hiddenorg/repos', 'hiddenopen', false],
    [hermit, '/user/repos', 'cave', false],
  ];
  for (const [as, path, name, isPrivate] of repositories) {
    await call(as, 'POST', path, { name, private: isPrivate, auto_init: true });
  }
  const owned = ['ada/hideout', 'acme/vault', 'limitedorg/limitedopen', 'hiddenorg/hiddenopen', 'ada/site'];
  for (const repository of owned) {
    const owner = repository.startsWith('ada/') ? ada : olga;
    const [, name] = repository.split('/');
    await call(owner, 'POST', `/repos/${repository}/issues`, {
      title: `issue of ${name}`,
      body: `body of ${name}`,
    });
    await call(owner, 'PUT', `/user/starred/${repository}`);
  }
  const hiddenCode = { content: Buffer.from('contentofvault').toString('base64'), message: 'messageofvault' };
  const file = '/repos/acme/vault/contents/fileofvault.txt';
  await call(olga, 'POST', file, { ...hiddenCode, branch: 'main', new_branch: 'branchofvault' });
  await call(olga, 'POST', '/repos/acme/vault/pulls', { title: 'p', head: 'branchofvault', base: 'main' });
  await call(olga, 'POST', '/repos/acme/vault/pulls/2/reviews', {
    event: 'COMMENT',
    body: 'r',
    comments: [{ path: 'fileofvault.txt', body: 'l', new_position: 1 }],
  });
  // A public fork of a parent that is private now, and public activity of hidden accounts.
  await call(ada, 'POST', '/user/repos', { name: 'origin', auto_init: true });
  await call(stranger, 'POST', '/repos/ada/origin/forks', { name: 'fork' });
  await call(ada, 'PATCH', '/repos/ada/origin', { private: true, name: 'gonedark' });
  for (const hidden of [hermit, shy]) {
    await call(ada, 'PUT', `/repos/ada/site/collaborators/${hidden.name}`, { permission: 'write' });
    await call(hidden, 'POST', '/repos/ada/site/issues', { title: `x of ${hidden.name}` });
    await call(hidden, 'POST', '/repos/ada/site/issues/1/comments', { body: 'hm' });
    await call(hidden, 'PUT', '/user/starred/ada/site');
    await call(hidden, 'PUT', '/repos/ada/site/subscription');
    const file = { content: 'eA==', message: 'x', new_branch: hidden.name };
    await call(hidden, 'POST', `/repos/ada/site/contents/${hidden.name}.txt`, file);
    await call(hidden, 'POST', '/repos/ada/site/pulls', { title: 'y', head: hidden.name, base: 'main' });
    await call(hidden, 'POST', '/repos/ada/site/issues/1/times', { time: 60 });
    await call(hidden, 'POST', '/repos/ada/site/tags', { tag_name: hidden.name, message: 'x' });
  }
  const dependency = { owner: 'ada', repo: 'hideout', index: 1 };
  await call(ada, 'POST', '/repos/ada/site/issues/1/dependencies', dependency);
  await call(olga, 'POST', '/orgs/acme/actions/variables/KEPT', { value: 'value-of-acme' });
  await call(ada, 'POST', '/repos/ada/site/actions/variables/KEPT', { value: 'value-of-site' });
  await call(ada, 'PUT', '/repos/ada/site/actions/secrets/KEPT', { data: 'value-of-secret' });
  const uploaded = await fetch(`${forge.url}/api/packages/hiddenorg/generic/hiddenpackage/1/f`, {
    method: 'PUT',
    headers: basic(olga.name, olga.token),
    body: 'x',
  });
  if (uploaded.status !== 201) throw new Error(`the package was not taken: ${uploaded.status}`);
  // The repository is transferred to an organization in which its owner may not create repositories, so the transfer
  // waits for acceptance.
  const guests = { name: 'guests', permission: 'read', units };
  const guestTeam = await call(olga, 'POST', '/orgs/hiddenorg/teams', guests);
  await call(olga, 'PUT', `/teams/${guestTeam.id}/members/mia`);
  await call(mia, 'POST', '/user/repos', { name: 'offered', auto_init: true });
  await call(mia, 'POST', '/repos/mia/offered/transfer', { new_owner: 'hiddenorg' });

  const limited = await tokenOf('ada', ['all', 'public-only']);
  return {
    callers: new Map<string, Account | string | undefined>([
      ['anonymous', undefined],
      ...[ada, olga, mia, ivy, stranger, restricted, hermit, shy].map((one) => [one.name, one] as const),
      ['ada for public resources', limited],
      ['root', forge.adminToken],
    ]),
    canaries: [
      { text: 'hideout', seenBy: ['ada'] },
      { text: 'gonedark', seenBy: ['ada'] },
      { text: 'vault', seenBy: ['olga', 'mia', 'ivy'] },
      ...['contentofvault', 'messageofvault', 'fileofvault', 'branchofvault'].map((text) => ({
        text,
        seenBy: ['olga', 'mia'],
      })),
      { text: 'hiddenorg', seenBy: ['olga', 'mia'] },
      { text: 'hiddenopen', seenBy: ['olga', 'mia'] },
      { text: 'secretteam', seenBy: ['olga', 'mia'] },
      { text: 'limitedorg', seenBy: ['ada', 'olga', 'mia', 'ivy', 'stranger', 'hermit', 'shy'] },
      { text: 'limitedopen', seenBy: ['ada', 'olga', 'mia', 'ivy', 'stranger', 'hermit', 'shy'] },
      { text: 'mail-of-hermit', seenBy: ['hermit'] },
      {
        text: 'mail-of-shy',
        seenBy: ['ada', 'olga', 'mia', 'ivy', 'stranger', 'hermit', 'shy'],
      },
      { text: 'cave', seenBy: ['hermit'] },
      { text: 'value-of-acme', seenBy: ['olga'] },
      { text: 'value-of-site', seenBy: ['ada', 'ada for public resources'] },
      { text: 'hiddenpackage', seenBy: ['olga', 'mia'] },
    ],
    parameters: {
      'owner/repo': [
        ...['ada/site', 'acme/open', 'stranger/fork', 'mia/offered', 'hermit/cave'],
        ...['ada/hideout', 'acme/vault', 'limitedorg/limitedopen', 'hiddenorg/hiddenopen', 'ada/gonedark'],
      ],
      org: ['acme', 'limitedorg', 'hiddenorg'],
      username: ['ada', 'olga', 'hermit', 'shy', 'hiddenorg', 'acme'],
      collaborator: ['hermit', 'shy', 'ada'],
      user: ['hermit', 'ada'],
      index: ['1', '2', '3', '4'],
      id: ['1', '2', '3', '4'],
      branch: ['main', 'hermit', 'branchofvault'],
      ref: ['main', 'hermit', 'branchofvault'],
      sha: ['main', 'hermit', 'branchofvault'],
      tag: ['hermit', 'shy'],
      basehead: ['main...hermit', 'main...acme/vault:branchofvault', 'main...ada/hideout:main'],
      diffType: ['diff', 'patch'],
      filepath: ['README.md', 'hermit.txt', 'fileofvault.txt'],
      variablename: ['KEPT'],
      owner: ['hiddenorg', 'hermit', 'ada'],
      type: ['generic'],
      name: ['hiddenpackage'],
      version: ['1'],
    },
  };
}
