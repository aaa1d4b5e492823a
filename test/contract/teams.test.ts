import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

type Team = { id: number; name: string };
const readers = { permission: 'read', units_map: { 'repo.code': 'read', 'repo.issues': 'read' } };

describeContract('teams', (forge) => {
  let ada: Account;
  let bob: Account;
  let eve: Account;
  let stranger: Account;
  let organization: string;
  let name: string;
  let repository: string;
  /** Ada owns the organization; Bob and Eve are each in one of its teams. */
  let bobs: Team;
  beforeAll(async () => {
    [ada, bob, eve, stranger] = await Promise.all(
      [1, 2, 3, 4].map(() => forge.makeUser()) as [
        Promise<Account>,
        Promise<Account>,
        Promise<Account>,
        Promise<Account>,
      ],
    );
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada, { in: organization, private: true, auto_init: true });
    name = repository.split('/')[1] ?? '';
    bobs = (await makeTeam({ ...readers })).json;
    const eves = (await makeTeam({ ...readers })).json;
    await must('PUT', `/teams/${bobs.id}/members/${bob.name}`);
    await must('PUT', `/teams/${eves.id}/members/${eve.name}`);
  });

  const makeTeam = (more: object, as: Account | undefined = ada) =>
    forge.ask('POST', `/orgs/${organization}/teams`, { as, body: { name: freshName('team'), ...more } });
  const must = async (method: string, path: string, body?: object) => {
    const answer = await forge.ask(method, path, { as: ada, ...(body ? { body } : {}) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const statuses = async (method: string, path: string, body?: object) => {
    const found: number[] = [];
    for (const as of [ada, bob, eve, stranger, undefined]) {
      found.push((await forge.ask(method, path, { as, ...(body ? { body } : {}) })).status);
    }
    return found;
  };

  it('are created with a permission per unit', async () => {
    const made = await makeTeam({ ...readers, description: 'who reads', visibility: 'limited' });

    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      description: 'who reads',
      // Permissions are per unit, not for the team as a whole.
      permission: 'none',
      units_map: readers.units_map,
      visibility: 'limited',
      includes_all_repositories: false,
      can_create_org_repo: false,
      organization: { name: organization },
    });
    expect([...made.json.units].sort()).toEqual(['repo.code', 'repo.issues']);
  });

  it("of administrators have every unit, and the deprecated `units` list gives each the team's permission", async () => {
    const administrators = await makeTeam({ permission: 'admin' });
    const writers = await makeTeam({ permission: 'write', units: ['repo.code', 'repo.unknown'] });

    expect(administrators.json.units_map['repo.wiki']).toBe('admin');
    expect(writers.json.units_map).toEqual({ 'repo.code': 'write' });
  });

  it.each([
    ['no name', { name: '' }, [422]],
    ['a name with a space', { name: 'a b' }, [422]],
    ['a name in use', { name: 'owners', permission: 'admin' }, [422]],
    ['no units', { permission: 'read' }, [422, 500]],
    ['an unknown visibility', { ...readers, visibility: 'secret' }, [422]],
    ['a description that is too long', { ...readers, description: 'x'.repeat(256) }, [422]],
  ])('are refused with %s', async (_, more, accepted) => {
    expect(accepted).toContain((await makeTeam(more)).status);
  });

  it('are created only by owners', async () => {
    expect((await statuses('POST', `/orgs/${organization}/teams`, { name: '' })).slice(1)).toEqual([
      403, 403, 403, 401,
    ]);
  });

  it('change the fields that an edit contains, and the Owners team only its description', async () => {
    const { id } = (await makeTeam(readers)).json;
    const edited = await forge.ask('PATCH', `/teams/${id}`, {
      as: ada,
      body: { description: 'changed', permission: 'write', units_map: { 'repo.pulls': 'write' } },
    });
    const { json } = await forge.ask('GET', `/orgs/${organization}/teams`, { as: ada });
    const owners = json.find((team: Team) => team.name === 'Owners');
    const kept = await forge.ask('PATCH', `/teams/${owners.id}`, {
      as: ada,
      body: { permission: 'read', visibility: 'public', can_create_org_repo: false, description: 'us' },
    });

    expect(edited.json).toMatchObject({
      description: 'changed',
      permission: 'none',
      units_map: { 'repo.pulls': 'write' },
    });
    expect(json[0].name).toBe('Owners');
    expect(kept.json).toMatchObject({
      permission: 'owner',
      visibility: 'limited',
      can_create_org_repo: true,
      description: 'us',
    });
  });

  it.each([
    ['private', [200, 200, 403, 404, 401]],
    ['limited', [200, 200, 200, 404, 401]],
    ['public', [200, 200, 200, 200, 401]],
  ])('that are %s are visible only to the permitted roles', async (visibility, expected) => {
    await must('PATCH', `/teams/${bobs.id}`, { visibility });

    expect(await statuses('GET', `/teams/${bobs.id}`)).toEqual(expected);
    const listed = await forge.ask('GET', `/orgs/${organization}/teams?limit=50`, { as: eve });
    expect(listed.json.some(({ id }: Team) => id === bobs.id)).toBe(visibility !== 'private');
    await must('PATCH', `/teams/${bobs.id}`, { visibility: 'private' });
  });

  it('are listed with a count and found by members of the organization', async () => {
    const { name: special } = (await makeTeam({ ...readers, description: 'needle' })).json;
    const list = await forge.ask('GET', `/orgs/${organization}/teams?limit=1`, { as: ada });
    const search = (query: string) =>
      forge.ask('GET', `/orgs/${organization}/teams/search?${query}`, { as: ada });

    expect(list.json).toHaveLength(1);
    expect(Number(list.headers.get('x-total-count'))).toBeGreaterThan(2);
    expect(list.headers.get('link')).toContain('rel="next"');
    expect((await search('q=NEEDLE')).json).toMatchObject({ ok: true, data: [{ name: special }] });
    expect((await search('q=needle&include_desc=false')).json.data).toEqual([]);
    expect((await statuses('GET', `/orgs/${organization}/teams`)).slice(3)).toEqual([403, 401]);
    const own = await forge.ask('GET', '/user/teams', { as: bob });
    expect(own.json).toMatchObject([{ id: bobs.id, organization: { name: organization } }]);
  });

  it('add and remove members, who leave the organization with their last team', async () => {
    const cid = await forge.makeUser();
    const { id } = (await makeTeam(readers)).json;
    const at = `/teams/${id}/members/${cid.name}`;
    await must('PUT', at);
    await must('PUT', at);
    const inside = await forge.ask('GET', at, { as: cid });
    const members = await forge.ask('GET', `/teams/${id}/members`, { as: ada });
    const isMember = () => forge.ask('GET', `/orgs/${organization}/members/${cid.name}`, { as: ada });
    const before = await isMember();
    await must('DELETE', at);

    expect(inside.json.login).toBe(cid.name);
    expect(members.json.map((user: { login: string }) => user.login)).toEqual([cid.name]);
    expect([before.status, (await isMember()).status]).toEqual([204, 404]);
    expect((await forge.ask('GET', at, { as: ada })).status).toBe(404);
    expect((await statuses('PUT', at)).slice(1)).toEqual([403, 403, 403, 401]);
    expect((await forge.ask('PUT', `/teams/${id}/members/${freshName('x')}`, { as: ada })).status).toBe(404);
  });

  it('cannot lose their last owner', async () => {
    const { json } = await forge.ask('GET', `/orgs/${organization}/teams`, { as: ada });
    const owners = json.find((team: Team) => team.name === 'Owners');

    const out = await forge.ask('DELETE', `/teams/${owners.id}/members/${ada.name}`, { as: ada });

    expect([422, 500]).toContain(out.status);
  });

  it('give access to their repositories, within their units', async () => {
    const at = `/repos/${organization}/${name}`;
    const before = await forge.ask('GET', at, { as: bob });
    await must('PUT', `/teams/${bobs.id}/repos/${organization}/${name}`);
    const seen = await Promise.all(
      ['', '/contents', '/issues', '/pulls', '/wiki/pages'].map((path) =>
        forge.ask('GET', at + path, { as: bob }),
      ),
    );
    const write = await forge.ask('POST', `${at}/labels`, { as: bob, body: { name: 'x', color: 'fff' } });
    await must('PATCH', `/teams/${bobs.id}`, { units_map: { 'repo.issues': 'write' } });
    const label = await forge.ask('POST', `${at}/labels`, { as: bob, body: { name: 'x', color: 'fff' } });
    const code = await forge.ask('GET', `${at}/contents`, { as: bob });
    await must('PATCH', `/teams/${bobs.id}`, readers);

    expect(before.status).toBe(404);
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 404, 404]);
    expect([write.status, label.status, code.status]).toEqual([403, 201, 403]);
    expect(seen[0]?.json.permissions).toEqual({ admin: false, push: false, pull: true });
  });

  it('with issues and pull requests only give no access to code: no fork, comparison or pull request', async () => {
    const at = `/repos/${organization}/${name}`;
    await must('PUT', `/teams/${bobs.id}/repos/${organization}/${name}`);
    const own = await forge.ask('POST', '/user/repos', { as: bob, body: { name: 'own', auto_init: true } });
    const units_map = { 'repo.issues': 'write', 'repo.pulls': 'write' };
    await must('PATCH', `/teams/${bobs.id}`, { permission: 'write', units_map });
    const pull = { title: 'x', head: `${organization}/${name}:main`, base: 'main' };
    const statuses = async (calls: readonly (readonly [string, string, object?])[]) =>
      Promise.all(
        calls.map(async ([method, path, body]) => (await forge.ask(method, path, { as: bob, body })).status),
      );

    const [issues, ...refused] = await statuses([
      ['GET', `${at}/issues`],
      ['GET', `${at}/pulls`],
      ['POST', `${at}/pulls`, pull],
      ['POST', `${at}/forks`, {}],
      ['GET', `${at}/compare/main...main`],
    ]);
    const elsewhere = await statuses([
      ['GET', `/repos/${own.json.full_name}/compare/main...${organization}/${name}:main`],
      ['POST', `/repos/${own.json.full_name}/pulls`, pull],
    ]);
    await must('PATCH', `/teams/${bobs.id}`, readers);

    expect([issues, refused]).toEqual([200, [403, 403, 403, 403]]);
    // Gitea makes no further checks if neither is a fork of the other.
    for (const status of elsewhere) expect([400, 404]).toContain(status);
  });

  it('list their repositories, and repositories list their teams', async () => {
    const at = `/teams/${bobs.id}/repos`;
    await must('PUT', `${at}/${organization}/${name}`);
    const list = await forge.ask('GET', at, { as: bob });
    const one = await forge.ask('GET', `${at}/${organization}/${name}`, { as: bob });
    const teams = await forge.ask('GET', `/repos/${repository}/teams`, { as: ada });
    const team = await forge.ask('GET', `/repos/${repository}/teams/${bobs.name}`, { as: ada });

    expect(list.json.map((row: { full_name: string }) => row.full_name)).toEqual([repository]);
    expect(list.headers.get('x-total-count')).toBe('1');
    expect([one.status, team.json.id]).toEqual([200, bobs.id]);
    expect(teams.json.map((row: Team) => row.name)).toEqual(['Owners', bobs.name]);
  });

  it('gain and lose repositories through owners, in operations of the team and of the repository', async () => {
    const { id, name: team } = (await makeTeam(readers)).json;
    const at = `/repos/${repository}/teams/${team}`;
    const given = await forge.ask('PUT', at, { as: ada });
    const twice = await forge.ask('PUT', at, { as: ada });
    const robbed = await forge.ask('DELETE', at, { as: ada });
    const again = await forge.ask('DELETE', at, { as: ada });
    const own = await forge.makeRepository(ada);

    expect([given, twice, robbed, again].map(({ status }) => status)).toEqual([204, 422, 204, 422]);
    expect((await forge.ask('GET', `/repos/${own}/teams`, { as: ada })).status).toBe(405);
    expect((await forge.ask('PUT', `/repos/${repository}/teams/missing`, { as: ada })).status).toBe(404);
    expect((await forge.ask('PUT', `/teams/${id}/repos/${organization}/nothing`, { as: ada })).status).toBe(
      404,
    );
    expect(
      (await forge.ask('PUT', `/teams/${bobs.id}/repos/${organization}/${name}`, { as: bob })).status,
    ).toBe(403);
    expect((await statuses('DELETE', `/teams/${id}/repos/${organization}/${name}`)).slice(1)).toEqual([
      403, 403, 404, 401,
    ]);
  });

  it('with the permission create repositories in the organization and administer these', async () => {
    const path = `/orgs/${organization}/repos`;
    const refused = await forge.ask('POST', path, { as: bob, body: { name: freshName('repo') } });
    await must('PATCH', `/teams/${bobs.id}`, { can_create_org_repo: true });
    const made = await forge.ask('POST', path, { as: bob, body: { name: freshName('repo') } });
    await must('PATCH', `/teams/${bobs.id}`, { can_create_org_repo: false });

    expect([refused.status, made.status]).toEqual([403, 201]);
    expect(made.json.permissions.admin).toBe(true);
  });

  it('lose the access they gave when they are deleted', async () => {
    const { id } = (await makeTeam(readers)).json;
    const cid = await forge.makeUser();
    await must('PUT', `/teams/${id}/members/${cid.name}`);
    await must('PUT', `/teams/${id}/repos/${organization}/${name}`);
    const before = await forge.ask('GET', `/repos/${repository}`, { as: cid });
    const refused = await statuses('DELETE', `/teams/${id}`);
    const after = await forge.ask('GET', `/repos/${repository}`, { as: cid });

    expect(refused).toEqual([204, 404, 404, 404, 404]);
    expect([before.status, after.status]).toEqual([200, 404]);
    expect((await forge.ask('GET', `/teams/${id}`, { as: ada })).status).toBe(404);
  });
});

/** Units of teams, each with a member of the same name; `undefined`: administrators. */
const unitsOf = {
  coder: { 'repo.code': 'write', 'repo.issues': 'read', 'repo.pulls': 'write' },
  committer: { 'repo.code': 'write', 'repo.releases': 'read' },
  triager: { 'repo.issues': 'write', 'repo.pulls': 'write' },
  reader: { 'repo.code': 'read', 'repo.issues': 'write' },
  administrator: undefined,
} as const;
const roles = Object.keys(unitsOf) as (keyof typeof unitsOf)[];

describeContract('write access through teams', (forge) => {
  const members = new Map<string, Account>();
  const ids = new Map<string, number>();
  let owner: Account;
  let collaborator: Account;
  let stranger: Account;
  /** Administers the repositories, and is in no team. */
  let guest: Account;
  /** Administers the repositories, and is in the team `coder`. */
  let colleague: Account;
  let organization: string;
  const repositories: string[] = [];
  const must = async (method: string, path: string, body?: object) => {
    const answer = await forge.ask(method, path, { as: owner, ...(body ? { body } : {}) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  };
  beforeAll(async () => {
    [owner, collaborator, stranger, guest, colleague] = await Promise.all([
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
    ]);
    organization = await forge.makeOrganization(owner);
    for (const hidden of [false, true]) {
      const made = await forge.makeRepository(owner, { in: organization, private: hidden, auto_init: true });
      repositories.push(made);
      await forge.share(made, owner, { with: collaborator, permission: 'write' });
      for (const one of [guest, colleague])
        await forge.share(made, owner, { with: one, permission: 'admin' });
    }
    for (const role of roles) {
      const units_map = unitsOf[role];
      const rights = units_map ? { permission: 'read', units_map } : { permission: 'admin' };
      const { id } = await must('POST', `/orgs/${organization}/teams`, { name: role, ...rights });
      ids.set(role, id);
      for (const one of repositories) await must('PUT', `/teams/${id}/repos/${one}`);
      const member = await forge.makeUser();
      members.set(role, member);
      await must('PUT', `/teams/${id}/members/${member.name}`);
    }
    await must('PUT', `/teams/${ids.get('coder')}/members/${colleague.name}`);
  });

  const people = () => ({ owner, collaborator, stranger, ...Object.fromEntries(members) });
  const ofEach = async <Value>(ask: (person: Account) => Promise<Value>): Promise<Record<string, Value>> => {
    const found: Record<string, Value> = {};
    for (const [role, person] of Object.entries(people())) found[role] = await ask(person);
    return found;
  };
  const stated = (repository: string, as: Account) =>
    ofEach(async ({ name }) => {
      const path = `/repos/${repository}/collaborators/${name}/permission`;
      return (await forge.ask('GET', path, { as })).json.permission as string;
    });

  it('lets members push whose team may write the code, and tells themselves', async () => {
    for (const repository of repositories) {
      const pushed = await ofEach(async (as) => {
        const path = `/repos/${repository}/contents/${freshName('file')}`;
        const { status } = await forge.ask('POST', path, { as, body: { content: 'YQ==', message: 'm' } });
        const { json } = await forge.ask('GET', `/repos/${repository}`, { as });
        return [status === 201, json.permissions?.push ?? false];
      });

      const [may, mayNot] = [
        [true, true],
        [false, false],
      ];
      expect(pushed).toEqual({
        owner: may,
        collaborator: may,
        stranger: mayNot,
        coder: may,
        committer: may,
        triager: mayNot,
        reader: mayNot,
        administrator: may,
      });
    }
  });

  it('is not stated to administrators, whatever team they are in', async () => {
    const [open = '', hidden = ''] = repositories;
    const known = { owner: 'owner', collaborator: 'write', administrator: 'owner' };
    for (const as of [guest, colleague, owner]) {
      for (const [repository, others] of [
        [open, 'read'],
        [hidden, 'none'],
      ] as const) {
        const rest = { stranger: others, coder: others, committer: others, triager: others, reader: others };
        expect(await stated(repository, as)).toEqual({ ...known, ...rest });
      }
    }
  });

  it('of administrators and owners is stated alike everywhere', async () => {
    for (const repository of repositories)
      expect(await stated(repository, guest)).toMatchObject({
        owner: 'owner',
        collaborator: 'write',
        administrator: 'owner',
      });
  });

  it('follows from the teams of the repository, which every administrator sees with their units', async () => {
    for (const as of [guest, colleague, owner]) {
      const { json } = await forge.ask('GET', `/repos/${repositories[1]}/teams`, { as });
      const code = Object.fromEntries(
        json.map((team: Team & { units_map: Record<string, string> }) => [
          team.name,
          team.units_map['repo.code'] ?? 'none',
        ]),
      );

      expect(code).toEqual({
        Owners: 'owner',
        administrator: 'admin',
        coder: 'write',
        committer: 'write',
        reader: 'read',
        triager: 'none',
      });
    }
  });

  it('shows itself to every administrator in the list of assignees, if the team reads pull requests or writes issues', async () => {
    for (const as of [guest, colleague, owner]) {
      const { json } = await forge.ask('GET', `/repos/${repositories[1]}/assignees`, { as });
      const names = new Set(json.map(({ login }: { login: string }) => login));
      // Forges differ in whether a team is listed that only writes the code.
      const { committer: _, ...listed } = await ofEach(async ({ name }) => names.has(name));

      expect(listed).toEqual({
        owner: true,
        collaborator: true,
        stranger: false,
        coder: true,
        triager: true,
        reader: true,
        administrator: true,
      });
    }
  });

  it('has members that only members of the team and owners see', async () => {
    const seenBy = async (as: Account, role: string) => {
      const team = ids.get(role);
      const paths = [`/members/${members.get(role)?.name}`, `/members/${stranger.name}`, '/members?limit=1'];
      const answers = await Promise.all(
        paths.map((path) => forge.ask('GET', `/teams/${team}${path}`, { as })),
      );
      return answers.map(({ status }) => status);
    };

    expect(await seenBy(owner, 'coder')).toEqual([200, 404, 200]);
    expect(await seenBy(colleague, 'coder')).toEqual([200, 404, 200]);
    expect(await seenBy(colleague, 'triager')).toEqual([403, 403, 403]);
    expect(await seenBy(guest, 'coder')).toEqual([404, 404, 404]);
  });
});
