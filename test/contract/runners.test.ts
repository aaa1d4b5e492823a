import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

describeContract('runners', (forge) => {
  let owner: Account;
  let member: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    [owner, member] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    organization = await forge.makeOrganization(owner);
    repository = await forge.makeRepository(owner, { in: organization });
    await forge.share(repository, owner, { with: member, permission: 'admin' });
  });

  /** For each level: its path, its owner, and a related account without access. */
  const levels = (): readonly (readonly [string, Account | string, Account | undefined])[] => [
    [`/orgs/${organization}`, owner, member],
    [`/repos/${repository}`, owner, member],
    ['/user', member, undefined],
    ['/admin', forge.adminToken, owner],
  ];

  it('are listed with the total count in the body, on every level', async () => {
    for (const [path, as] of levels()) {
      const answer = await forge.ask('GET', `${path}/actions/runners?limit=1&page=1&disabled=false`, { as });

      expect([path, answer.status]).toEqual([path, 200]);
      expect(Object.keys(answer.json).sort()).toEqual(['runners', 'total_count']);
      expect(answer.headers.get('x-total-count')).toBeNull();
    }
  });

  it('are accessible only to the owner of their level', async () => {
    const calls = [
      ['GET', '/actions/runners', undefined],
      ['GET', '/actions/runners/1', undefined],
      ['PATCH', '/actions/runners/1', { disabled: true }],
      ['DELETE', '/actions/runners/1', undefined],
      ['POST', '/actions/runners/registration-token', {}],
    ] as const;
    for (const [path, , stranger] of levels()) {
      for (const [method, rest, body] of calls) {
        const anonymous = await forge.ask(method, `${path}${rest}`, { body });
        expect([method, path, rest, anonymous.status]).toEqual([method, path, rest, 401]);
        if (!stranger) continue;
        const close = await forge.ask(method, `${path}${rest}`, { as: stranger, body });
        expect([method, path, rest, close.status]).toEqual([method, path, rest, 403]);
      }
    }
  });

  it('return 404 for an unknown id', async () => {
    for (const [path, as] of levels()) {
      const at = `${path}/actions/runners/987654321`;
      const statuses = [
        await forge.ask('GET', at, { as }),
        await forge.ask('PATCH', at, { as, body: { disabled: true } }),
        await forge.ask('DELETE', at, { as }),
        await forge.ask('GET', `${path}/actions/runners/first`, { as }),
      ].map(({ status }) => status);
      expect([path, ...statuses]).toEqual([path, 404, 404, 404, 404]);
    }
  });

  it('register with a token that stays the same and differs per level', async () => {
    const tokens: string[] = [];
    for (const [path, as] of levels()) {
      const ask = () => forge.ask('POST', `${path}/actions/runners/registration-token`, { as, body: {} });
      const [first, second] = [await ask(), await ask()];
      expect([path, first.status, first.json]).toEqual([path, 200, second.json]);
      tokens.push(first.json.token);
    }
    expect(new Set(tokens).size).toBe(tokens.length);
  });
});
