import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { permissionOf } from '../../src/facts/collaborators.ts';
import { type Facts, requestOf } from '../../src/facts/fact.ts';
import { UnknownWriter } from '../../src/facts/write-access.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Account, type ContractForge, contractForges } from '../support/contract-forge.ts';

const timeoutMs = 120_000;

function factsOf(url: string, token: string, repository: { id: number; owner: string; name: string }): Facts {
  const client = createClient({ timeoutMs, url, credentials: { token } });
  const memory = createFactMemory(systemClock);
  return createFacts({ client, subject: { kind: 'repository', repository }, memory, clock: systemClock });
}

describe.each(contractForges)('write access through teams on $name', ({ start }) => {
  const units = {
    coder: { 'repo.code': 'write', 'repo.issues': 'read', 'repo.pulls': 'write' },
    committer: { 'repo.code': 'write', 'repo.releases': 'read' },
    triager: { 'repo.issues': 'write', 'repo.pulls': 'write' },
    reader: { 'repo.code': 'read', 'repo.issues': 'read', 'repo.pulls': 'read' },
  };
  let forge: ContractForge;
  let owner: Account;
  /** Administers the repositories: of no team, of the teams that may write the code, and of another team. */
  let bots: { readonly guest: Account; readonly colleague: Account; readonly other: Account };
  let organization: string;
  const members = new Map<string, Account>();
  const teams = new Map<string, number>();
  const must = async (method: string, path: string, body?: object) => {
    const answer = await forge.ask(method, path, { as: owner, ...(body ? { body } : {}) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  };
  const makeRepository = async (of: readonly string[], options: object = {}) => {
    const full = await forge.makeRepository(owner, { in: organization, ...options });
    for (const bot of Object.values(bots)) await forge.share(full, owner, { with: bot, permission: 'admin' });
    for (const team of of) await must('PUT', `/teams/${teams.get(team)}/repos/${full}`);
    return full;
  };
  const facts = async (full: string, { token }: Account): Promise<Facts> => {
    const { id } = await must('GET', `/repos/${full}`);
    return factsOf(forge.url, token, { id, owner: organization, name: full.split('/')[1] ?? '' });
  };
  const permission = async (known: Facts, role: string): Promise<string> => {
    const { name } = members.get(role) ?? { name: role };
    try {
      return (await known.ask(requestOf(permissionOf, name)))?.permission ?? 'no account';
    } catch (error) {
      expect(error).toBeInstanceOf(UnknownWriter);
      return (error as Error).message;
    }
  };
  beforeAll(async () => {
    forge = await start();
    owner = await forge.makeUser();
    bots = {
      guest: await forge.makeUser(),
      colleague: await forge.makeUser(),
      other: await forge.makeUser(),
    };
    organization = await forge.makeOrganization(owner);
    for (const [role, units_map] of Object.entries(units)) {
      const { id } = await must('POST', `/orgs/${organization}/teams`, {
        name: role,
        permission: 'read',
        units_map,
      });
      teams.set(role, id);
      members.set(role, await forge.makeUser());
      await must('PUT', `/teams/${id}/members/${members.get(role)?.name}`);
    }
    members.set('stranger', await forge.makeUser());
    for (const role of ['coder', 'committer'])
      await must('PUT', `/teams/${teams.get(role)}/members/${bots.colleague.name}`);
    await must('PUT', `/teams/${teams.get('reader')}/members/${bots.other.name}`);
  });
  afterAll(() => forge?.close());

  it.each([false, true])(
    'is that of the code, for an account that sees the teams (private: %s)',
    async (hidden) => {
      const full = await makeRepository(Object.keys(units), { private: hidden });

      for (const bot of [bots.colleague, owner]) {
        const known = await facts(full, bot);
        expect(await permission(known, 'coder')).toBe('write');
        expect(await permission(known, 'committer')).toBe('write');
        expect(await permission(known, 'triager')).toBe('read');
        expect(await permission(known, 'reader')).toBe('read');
        expect(await permission(known, 'stranger')).toBe(hidden ? 'none' : 'read');
        expect(await permission(known, owner.name)).toBe('owner');
      }
    },
  );

  it.each(['guest', 'other'] as const)(
    'is unknown to an administrator that does not see the teams (%s)',
    async (bot) => {
      const full = await makeRepository(['coder', 'triager', 'reader']);
      const known = await facts(full, bots[bot]);
      const unknown = `the team coder of ${organization}, through which ${members.get('coder')?.name} may have write access`;

      expect(await permission(known, 'coder')).toContain(unknown);
      expect(await permission(known, 'coder')).toContain('make it a member there');
      // Not being assignable proves that an account is in none of these teams.
      expect(await permission(known, 'stranger')).toBe('read');
      expect(await permission(known, owner.name)).toBe('owner');
      await must('PUT', `/repos/${full}/collaborators/${members.get('coder')?.name}`, {
        permission: 'write',
      });
      expect(await permission(await facts(full, bots[bot]), 'coder')).toBe('write');
    },
  );

  it.each(['guest', 'other'] as const)(
    'needs no sight of teams if every team that makes assignable may write (%s)',
    async (bot) => {
      const known = await facts(await makeRepository(['coder']), bots[bot]);

      expect(await permission(known, 'coder')).toBe('write');
      expect(await permission(known, 'reader')).toBe('read');
    },
  );

  it('without a team that may write is what the forge says', async () => {
    const known = await facts(await makeRepository(['reader']), bots.guest);

    expect(await permission(known, 'reader')).toBe('read');
    expect(await permission(known, 'coder')).toBe('read');
  });

  it('ends with the membership, and is asked again where facts are', async () => {
    const full = await makeRepository(['coder', 'reader']);
    const known = await facts(full, bots.colleague);
    const late = await forge.makeUser();
    members.set('late', late);
    await must('PUT', `/teams/${teams.get('coder')}/members/${late.name}`);
    expect(await permission(known, 'late')).toBe('write');

    await must('DELETE', `/teams/${teams.get('coder')}/members/${late.name}`);

    expect(await permission(known, 'late')).toBe('write');
    expect(await permission(known.fresh([requestOf(permissionOf, late.name)]), 'late')).toBe('read');
  });

  it('in the repository of a person is what the forge says', async () => {
    const [full, [bot, writer]] = [await forge.makeRepository(owner), [bots.guest, members.get('coder')]];
    await forge.share(full, owner, { with: bot, permission: 'admin' });
    await forge.share(full, owner, { with: writer as Account, permission: 'write' });
    const { id } = await must('GET', `/repos/${full}`);
    const known = factsOf(forge.url, bot.token, { id, owner: owner.name, name: full.split('/')[1] ?? '' });

    expect(await permission(known, 'coder')).toBe('write');
    expect(await permission(known, 'reader')).toBe('read');
  });

  it('is asked with few requests: teams and assignees once for all accounts', async () => {
    const full = await makeRepository(['coder', 'reader']);
    const { id } = await must('GET', `/repos/${full}`);
    const client = createClient({ timeoutMs, url: forge.url, credentials: { token: bots.colleague.token } });
    const asked: string[] = [];
    const counting = {
      ...client,
      call: (operation: { id: string }, input: never) => {
        asked.push(operation.id);
        return client.call(operation as never, input);
      },
    } as never;
    const known = createFacts({
      client: counting,
      subject: {
        kind: 'repository',
        repository: { id, owner: organization, name: full.split('/')[1] ?? '' },
      },
      memory: createFactMemory(systemClock),
      clock: systemClock,
    });
    for (const role of ['coder', 'reader', 'stranger']) await permission(known, role);

    const count = ({ id: wanted }: { readonly id: string }) => asked.filter((one) => one === wanted).length;
    expect(count(operations.getPermission)).toBe(3);
    expect([count(operations.listRepositoryTeams), count(operations.listAssignees)]).toEqual([1, 1]);
    expect(count(operations.getTeamMember)).toBe(2);
  });
});

describe('write access that a forge overstates', () => {
  let server: Server;
  const close = () => new Promise((resolve) => server.close(resolve));
  afterEach(close);
  const ada = { id: 7, login: 'ada' };
  /** Starts a forge that answers these paths below the repository and the API; 404 elsewhere. */
  const serve = async (answers: Readonly<Record<string, unknown>>) => {
    server = createServer((request, response) => {
      const path =
        (request.url ?? '').replace('/api/v1', '').replace('/repos/acme/demo', '').split('?')[0] ?? '';
      const body = path === '/version' ? { version: '15.0.3+gitea-1.22.0' } : answers[path];
      const status = typeof body === 'number' ? body : body === undefined ? 404 : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 204 ? '' : JSON.stringify(typeof body === 'object' ? body : {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return factsOf(`http://127.0.0.1:${port}`, 'token', { id: 1, owner: 'acme', name: 'demo' });
  };
  const says = (permission: string) => ({ '/collaborators/ada/permission': { permission, user: ada } });
  const team = (id: number, permission: string, units_map: object) => ({
    id,
    name: `team-${id}`,
    permission,
    units_map,
  });
  const triagers = team(3, 'write', { 'repo.issues': 'write' });
  const coders = team(4, 'write', { 'repo.code': 'write' });
  const ask = (facts: Facts) => facts.ask(requestOf(permissionOf, 'ada'));

  it('is not believed if a team without access to the code gives it', async () => {
    const facts = await serve({ ...says('write'), '/teams': [triagers] });
    expect(await ask(facts)).toEqual({ id: 7, permission: 'read' });
  });

  it('is believed of a collaborator, and if every team that may write may write the code', async () => {
    const all = { ...says('write'), '/teams': [triagers], '/collaborators/ada': 204 };
    expect(await ask(await serve(all))).toMatchObject({ permission: 'write' });
    await close();
    expect(await ask(await serve({ ...says('write'), '/teams': [coders] }))).toMatchObject({
      permission: 'write',
    });
  });

  it('is looked up in the teams that may write the code', async () => {
    const seen = { ...says('write'), '/teams': [triagers, coders], '/teams/4/members': [] };
    expect(await ask(await serve(seen))).toMatchObject({ permission: 'read' });
    await close();
    expect(await ask(await serve({ ...seen, '/teams/4/members/ada': ada }))).toMatchObject({
      permission: 'write',
    });
    await close();
    // Another account took the name meanwhile.
    const taken = { ...seen, '/teams/4/members/ada': { id: 8, login: 'ada' } };
    await expect(ask(await serve(taken))).rejects.toThrow('does not see the members of the team team-4');
    await close();
    await expect(ask(await serve({ ...seen, '/teams/4/members': 403 }))).rejects.toBeInstanceOf(
      UnknownWriter,
    );
  });

  it('is unknown with more teams than are asked for', async () => {
    const many = Array.from({ length: 51 }, (_, at) => team(at, 'none', { 'repo.code': 'write' }));
    const facts = await serve({
      ...says('read'),
      '/teams': many,
      '/assignees': [ada, { id: 8, login: 'bob' }],
    });
    // All of these teams may write, so that being assignable would be proof.
    expect(await ask(facts)).toMatchObject({ permission: 'write' });
    await close();
    const unlisted = await serve({ ...says('read'), '/teams': many, '/assignees': [] });
    await expect(ask(unlisted)).rejects.toThrow('51 teams through which ada may have write access');
  });

  it('is an error while the forge fails, and not a lack of access', async () => {
    const failing = { ...says('read'), '/teams': [coders], '/assignees': 503 };
    await expect(ask(await serve(failing))).rejects.toMatchObject({
      code: 'forge-unavailable',
      keepsWork: true,
    });
  });
});
