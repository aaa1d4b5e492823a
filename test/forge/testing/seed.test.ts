import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { parseSeed, type SeedFile } from '../../../src/forge/testing/seed-shape.ts';
import { basic } from '../../support/contract-forge.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const example = readFileSync(new URL('../../../examples/seed.yml', import.meta.url), 'utf8');

function seedOf(text: string): SeedFile {
  const read = parseSeed(text, 'seed.yml');
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read;
}

describe('the example seed', () => {
  let data: string;
  let forge: ForgeInstance;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'seed-'));
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data, seed: seedOf(example) });
    await forge.listen();
    await forge.deliveries.idle();
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const ask = async (path: string, name = 'chief') => {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      headers: basic(name, `${name}-on-loopback`),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return (await response.json()) as any;
  };
  const count = async (path: string): Promise<number> => (await ask(path)).length;

  it('creates two organizations with teams, and twelve repositories', async () => {
    const teams = [...(await ask('/orgs/acme/teams', 'ada')), ...(await ask('/orgs/globex/teams', 'ben'))];
    const owners = ['/orgs/acme', '/orgs/globex'];
    const repositories = await Promise.all(owners.map((path) => count(`${path}/repos`)));

    expect(teams.map(({ name }: { name: string }) => name).sort()).toEqual(
      ['Owners', 'Owners', 'builders', 'operators', 'readers'].sort(),
    );
    expect(repositories).toEqual([6, 4]);
    expect((await ask('/repos/ada/notes')).private).toBe(true);
    expect((await ask('/repos/ben/dotfiles')).empty).toBe(false);
    expect((await ask('/repos/acme/archive')).archived).toBe(true);
    expect((await ask('/repos/acme/tools')).default_branch).toBe('trunk');
  });

  it('fills a repository with branches, tags, a wiki, labels, issues, pull requests and protections', async () => {
    const at = '/repos/acme/shop';
    const [issue, pull, closed] = [
      await ask(`${at}/issues/1`),
      await ask(`${at}/pulls/4`),
      await ask(`${at}/issues/3`),
    ];

    expect([await count(`${at}/branches`), await count(`${at}/tags`), await count(`${at}/labels`)]).toEqual([
      4, 2, 4,
    ]);
    expect(await count(`${at}/wiki/pages`)).toBeGreaterThanOrEqual(2);
    expect(await count(`${at}/branch_protections`)).toBe(2);
    expect(issue).toMatchObject({
      user: { login: 'cleo' },
      milestone: { title: '1.1' },
      comments: 1,
      assignees: [{ login: 'ben' }],
    });
    expect(issue.labels.map(({ name }: { name: string }) => name).sort()).toEqual(['bug', 'priority/high']);
    expect(closed.state).toBe('closed');
    expect(pull).toMatchObject({ state: 'open', head: { ref: 'feature/discount' } });
    const reviews = await ask(`${at}/pulls/4/reviews`);
    expect(reviews.map(({ state }: { state: string }) => state)).toContain('APPROVED');
    expect((await ask('/repos/acme/api/pulls/2')).merged).toBe(true);
    expect((await ask('/repos/globex/reactor/pulls/2')).state).toBe('closed');
  });

  it('has runners in every state', async () => {
    const { runners } = await ask('/admin/actions/runners?limit=50');
    const states = new Set(
      runners.map(({ status, busy }: { status: string; busy: boolean }) => `${status} ${busy}`),
    );

    expect([...states].sort()).toEqual(['offline false', 'online false', 'online true']);
    for (const member of ['disabled', 'ephemeral']) {
      expect(runners.some((runner: Record<string, boolean>) => runner[member])).toBe(true);
    }
  });

  it.each([
    [
      '/acme/shop/pulls/4',
      ['Reviews', 'ben', 'APPROVED official', 'Checks', 'ci/test', 'success', 'all green'],
    ],
    ['/acme/shop/settings/branches', ['release/*', 'required_approvals: 1', 'status_check_contexts']],
    ['/org/acme/settings/actions/runners', ['4 in all', 'busy-linux', 'online, busy', 'offline', 'arm64']],
    ['/acme/shop/settings/actions/runners', ['1 in all', 'shop-only', 'acme/shop']],
    ['/user/settings/actions/runners', ['1 in all', 'mine']],
    ['/org/acme/settings/hooks', ['Hooks of acme']],
  ])('shows the created data at %s', async (path, texts) => {
    const page = (as: string) => fetch(`${forge.url}${path}`, { headers: basic(as, `${as}-on-loopback`) });
    const text = (await (await page('ada')).text()).replace(/\s+/g, ' ').replaceAll('&quot;', '"');

    for (const wanted of texts) expect(text).toContain(wanted);
    const isOpen = path.includes('/pulls/') || path.startsWith('/user/');
    expect((await page('cleo')).status).toBe(isOpen ? 200 : 404);
  });

  it('leaves no token behind, and sends webhooks for its changes', async () => {
    const hooks = await ask('/repos/acme/shop/hooks', 'ada');
    const response = await fetch(`${forge.url}/api/v1/users/ada/tokens`, {
      headers: basic('ada', 'ada-on-loopback'),
    });

    expect(await response.json()).toEqual([]);
    const states = new Set(forge.deliveries.list(hooks[0].id).map(({ state }) => state));
    expect([...states]).toEqual(['failed']);
  });

  it('changes nothing if everything exists already', async () => {
    await forge.close();
    const before = await openAndCount(data, undefined);

    const after = await openAndCount(data, seedOf(example));

    expect(after).toEqual(before);
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    await forge.listen();
  });
});

async function openAndCount(data: string, seed: SeedFile | undefined): Promise<unknown> {
  const forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data, seed });
  await forge.listen();
  const headers = basic('chief', 'chief-on-loopback');
  const texts: unknown[] = [];
  for (const path of [
    '/repos/acme/shop/issues?state=all',
    '/repos/acme/shop',
    '/orgs/acme/repos',
    '/admin/actions/runners',
  ]) {
    const text = await (await fetch(`${forge.url}/api/v1${path}`, { headers })).text();
    texts.push(text.replaceAll(forge.url, ''));
  }
  await forge.close();
  return texts;
}

describe('a seed file', () => {
  it.each([
    ['no version', 'accounts: []', /seed\.yml:1:1: version/],
    [
      'an unknown field',
      'version: 1\naccounts:\n  - { name: ada, colour: red }',
      /seed\.yml:3:5: accounts\.0.*colour/,
    ],
    [
      'a wrong type',
      'version: 1\nrepositories:\n  - name: ada/x\n    private: yes',
      /seed\.yml:4:14: repositories\.0\.private/,
    ],
    ['a syntax error', 'version: 1\naccounts: [', /seed\.yml:2:\d+: /],
    ['an alias', 'version: 1\naccounts: &a []\norganizations: *a', /seed\.yml/],
  ])('with %s is refused with the position of the error', (_, text, problem) => {
    const read = parseSeed(text, 'seed.yml');

    expect('problems' in read && read.problems.join('\n')).toMatch(problem);
  });

  it('reports every unknown reference before anything is written', async () => {
    const text = `version: 1
accounts:
  - { name: ada }
  - { name: Ada }
organizations:
  - name: acme
    owner: missing
    teams: [{ name: t, members: [stranger], repositories: [gone] }]
repositories:
  - name: acme/shop
    files: { a: b }
    issues: [{ title: x, by: ghost, labels: [bug], milestone: m }]
    pulls: [{ title: y, by: ada, head: nowhere }]
  - name: void/x
    tags: [{ name: v1 }]
runners:
  - { name: r, repository: acme/nothing }
`;
    const forge = await createForgeInstance({ passwordCost, clock: () => new Date(), seed: seedOf(text) });

    const failure = await forge.listen().then(
      () => '',
      (error: Error) => error.message,
    );

    const answer = await fetch(`${forge.url}/api/v1/users/ada`);
    await forge.close();
    for (const problem of [
      /seed\.yml:4:\d+: Ada is made twice/,
      /seed\.yml:7:12: there is no account missing/,
      /there is no account stranger/,
      /there is no repository acme\/gone/,
      /seed\.yml:12:\d+: there is no account ghost/,
      /there is no label bug/,
      /there is no milestone m/,
      /seed\.yml:13:\d+: there is no branch nowhere/,
      /there is no account or organization void/,
      /a repository without files has no commit/,
      /there is no repository acme\/nothing/,
    ]) {
      expect(failure).toMatch(problem);
    }
    expect(answer.status).toBe(404);
  });

  it('creates badges, which administrators grant and remove', async () => {
    const text = `version: 1
accounts: [{ name: chief, password: pw, admin: true }, { name: ada }]
badges: [{ slug: helper, description: Helps., image_url: /helper.png }, { slug: early }]
`;
    const forge = await createForgeInstance({ passwordCost, clock: () => new Date(), seed: seedOf(text) });
    await forge.listen();
    const ask = async (method: string, ...slugs: string[]) => {
      const response = await fetch(`${forge.url}/api/v1/admin/users/ada/badges`, {
        method,
        headers: { ...basic('chief', 'pw'), 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: JSON.stringify({ badge_slugs: slugs }) }),
      });
      return method === 'GET' ? await response.json() : response.status;
    };

    const given = await ask('POST', 'helper', 'early');
    const refused = [await ask('POST', 'helper'), await ask('POST', 'unknown')];
    const taken = await ask('DELETE', 'early', 'unknown');
    const left = await ask('GET');
    await forge.close();

    expect([given, refused, taken]).toEqual([204, [422, 404], 204]);
    expect(left).toEqual([{ ID: 1, Slug: 'helper', Description: 'Helps.', ImageURL: '/helper.png' }]);
  });

  it('stops at the first refused request with its position, and removes the half-created repository', async () => {
    const text = `version: 1
accounts: [{ name: ada, password: pw }]
repositories:
  - { name: ada/fine }
  - name: ada/half
    labels: [{ name: x, color: no-color }]
`;
    const forge = await createForgeInstance({ passwordCost, clock: () => new Date(), seed: seedOf(text) });

    await expect(forge.listen()).rejects.toThrow(/seed\.yml:5:\d+: the seed stopped here: .*labels.* 422/s);

    const statuses = await Promise.all(
      ['fine', 'half'].map(async (name) => {
        const headers = basic('ada', 'pw');
        return (await fetch(`${forge.url}/api/v1/repos/ada/${name}`, { headers })).status;
      }),
    );
    await forge.close();
    expect(statuses).toEqual([200, 404]);
  });
});
