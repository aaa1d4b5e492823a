import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('repository search', (forge) => {
  let ada: Account;
  let ben: Account;
  let uid: number;
  let benId: number;
  /** A word that occurs only in the names of these repositories. */
  const word = freshName('needle');
  beforeAll(async () => {
    [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
    uid = (await forge.ask('GET', '/user', { as: ada })).json.id;
    benId = (await forge.ask('GET', '/user', { as: ben })).json.id;
    await forge.makeRepository(ada, { name: `${word}-b`, description: `says ${word}text`, auto_init: true });
    await forge.makeRepository(ada, { name: `${word}-a`, template: true });
    const hidden = await forge.makeRepository(ada, { name: `${word}-hidden`, private: true });
    await forge.share(hidden, ada, { with: ben, permission: 'read' });
    await forge.makeRepository(ben, { name: `${word}-c` });
    await forge.ask('PUT', `/repos/${ada.name}/${word}-a/topics/${word}topic`, { as: ada });
    await forge.ask('POST', `/repos/${ada.name}/${word}-b/forks`, {
      as: ben,
      body: { name: `${word}-fork` },
    });
    await forge.ask('PUT', `/user/starred/${ada.name}/${word}-b`, { as: ben });
    await forge.ask('PATCH', `/repos/${ben.name}/${word}-c`, { as: ben, body: { archived: true } });
  });

  async function find(query: string, as: Account | undefined = ada) {
    const { status, json, headers } = await forge.ask('GET', `/repos/search?${query}`, { as });
    expect([status, json.ok]).toEqual([200, true]);
    const names: string[] = json.data.map(({ name }: { name: string }) => name.replace(`${word}-`, ''));
    return { names, headers, data: json.data };
  }

  it('finds repositories that the caller can read by a substring of the name, in name order', async () => {
    expect((await find(`q=${word}`)).names).toEqual(['a', 'b', 'c', 'fork', 'hidden']);
    expect((await find(`q=${word.toUpperCase()}`, ben)).names).toEqual(['a', 'b', 'c', 'fork', 'hidden']);
    expect((await forge.ask('GET', `/repos/search?q=${word}`)).json.data).toHaveLength(4);
    const stranger = await forge.makeUser();
    expect((await find(`q=${word}`, stranger)).names).toEqual(['a', 'b', 'c', 'fork']);
    expect((await find(`q=${word}&is_private=true`, stranger)).names).toEqual([]);
    expect((await find(`q=${word}&private=false`)).names).toEqual(['a', 'b', 'c', 'fork']);
    expect((await find(`q=${word}-a,${word}-b`)).names).toEqual(['a', 'b']);
    expect((await find(`q=${freshName('nothing')}`)).names).toEqual([]);
  });

  it('returns pages', async () => {
    const { names, headers, data } = await find(`q=${word}&limit=2&page=2`);

    expect([names, headers.get('x-total-count')]).toEqual([['c', 'fork'], '5']);
    expect(headers.get('link')).toContain('rel="next"');
    expect(data[0].owner.login).toBe(ben.name);
  });

  it('filters by the query', async () => {
    for (const [query, expected] of [
      [`uid=${uid}`, ['a', 'b', 'hidden']],
      [`uid=${benId}&exclusive=true`, ['c', 'fork']],
      [`uid=${benId}`, ['c', 'fork', 'hidden']],
      [`uid=${benId}&mode=collaborative`, ['hidden']],
      ['mode=fork', ['fork']],
      ['mode=source&archived=false', ['a', 'b', 'hidden']],
      ['mode=mirror', []],
      ['archived=true', ['c']],
      ['template=true', ['a']],
      ['is_private=true', ['hidden']],
      [`starredBy=${benId}`, ['b']],
    ] as const) {
      const { names } = await find(`q=${word}&${query}`);
      expect([query, names]).toEqual([query, expected]);
    }
  });

  it('matches topics, and descriptions if requested', async () => {
    expect((await find(`q=${word}topic&topic=true`)).names).toEqual(['a']);
    expect((await find(`q=${word}top&topic=true`)).names).toEqual([]);
    expect((await find(`q=${word}text`)).names).toEqual([]);
    expect((await find(`q=${word}text&includeDesc=true&mode=source`)).names).toEqual(['b']);
  });

  it('sorts as requested', async () => {
    expect((await find(`q=${word}&sort=id&order=desc&mode=source`)).names).toEqual(['c', 'hidden', 'a', 'b']);
    expect((await find(`q=${word}&sort=stars&order=desc&limit=1`)).names).toEqual(['b']);
    expect((await find(`q=${word}&sort=forks&order=desc&limit=1`)).names).toEqual(['b']);
    expect((await find(`q=${word}&order=nonsense&limit=1`)).names).toEqual(['a']);
    expect((await find(`q=${word}&priority_owner_id=${benId}`)).names.slice(0, 2).toSorted()).toEqual([
      'c',
      'fork',
    ]);
  });

  it.each(['mode=nonsense', 'sort=nonsense', 'sort=id&order=nonsense', 'sort=constructor'])(
    'refuses %s',
    async (query) => {
      expect((await forge.ask('GET', `/repos/search?${query}`)).status).toBe(422);
    },
  );
});
