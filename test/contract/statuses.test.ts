import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('commit statuses', (forge) => {
  let ada: Account;
  let reader: Account;
  let repository: string;
  let sha: string;
  beforeAll(async () => {
    [ada, reader] = [await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    sha = (await ask('GET', '/branches/main')).json.commit.id;
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const report = (state: string, context: string, more: object = {}): Promise<Answer> =>
    ask('POST', `/statuses/${sha}`, { state, context, ...more });

  it('are reported with every field, and numbered within their commit', async () => {
    const first = await report('pending', 'ci', {
      target_url: 'https://ci.example/1',
      description: ' runs ',
    });
    const second = await report('success', 'ci');

    expect([first.status, second.status]).toEqual([201, 201]);
    expect(Object.keys(first.json).sort()).toEqual([
      'context',
      'created_at',
      'creator',
      'description',
      'id',
      'status',
      'target_url',
      'updated_at',
      'url',
    ]);
    expect(first.json).toMatchObject({
      id: 1,
      status: 'pending',
      description: 'runs',
      target_url: 'https://ci.example/1',
      creator: { login: ada.name },
    });
    expect(second.json.id).toBe(2);
  });

  it('are listed by commit id and by branch, with filters, sorting and paging', async () => {
    await report('pending', 'ci');
    await report('success', 'ci');
    await report('failure', 'lint');
    const ids = async (path: string) =>
      (await ask('GET', path)).json.map((status: { id: number }) => status.id);

    expect(await ids(`/statuses/${sha}?sort=leastindex`)).toEqual([3, 2, 1]);
    expect(await ids('/commits/main/statuses?sort=highestindex')).toEqual([1, 2, 3]);
    expect(await ids(`/statuses/${sha}?state=failure`)).toEqual([3]);
    expect(await ids(`/statuses/${'0'.repeat(40)}`)).toEqual([]);
    const page = await ask('GET', `/statuses/${sha}?sort=highestindex&page=2&limit=2`);
    expect([page.json.length, page.headers.get('x-total-count')]).toEqual([1, '3']);
    expect(page.headers.get('link')).toContain('rel="prev"');
  });

  it.each([
    [['pending'], 'pending'],
    [['success', 'skipped'], 'success'],
    [['success', 'pending'], 'pending'],
    [['success', 'warning'], 'failure'],
    [['error', 'pending'], 'failure'],
  ])('with the states %j combine into %s', async (states, combined) => {
    for (const [at, state] of states.entries()) await report(state, `check-${at}`);

    const { status, json } = await ask('GET', '/commits/main/status');

    expect([status, json.state, json.sha, json.total_count]).toEqual([200, combined, sha, states.length]);
    expect(json.repository.full_name).toBe(repository);
  });

  it('count only if they are the newest of their context', async () => {
    await report('failure', 'ci');
    await report('success', 'ci');

    const { json } = await ask('GET', `/commits/${sha}/status`);

    expect([json.state, json.statuses.map((one: { id: number }) => one.id)]).toEqual(['success', [2]]);
  });

  it('combine into pending, with a null list, if none was reported', async () => {
    expect((await ask('GET', '/commits/main/status')).json).toMatchObject({
      state: 'pending',
      total_count: 0,
      statuses: null,
    });
    expect((await ask('GET', '/commits/main/statuses')).json).toEqual([]);
  });

  it('are reported by writers and read by readers, and need an existing commit', async () => {
    expect((await ask('POST', `/statuses/${sha}`, { state: 'success' }, reader)).status).toBe(403);
    expect((await forge.ask('POST', `/repos/${repository}/statuses/${sha}`, { body: {} })).status).toBe(401);
    expect([404, 500]).toContain(
      (await ask('POST', `/statuses/${'0'.repeat(40)}`, { state: 'success' })).status,
    );
    expect((await ask('GET', `/statuses/${sha}`, undefined, reader)).status).toBe(200);
    expect((await ask('GET', '/commits/nowhere/status')).status).toBe(404);
    expect((await ask('GET', '/commits/nowhere/statuses')).status).toBe(404);
    expect((await ask('POST', `/statuses/${sha}`, { state: 7 })).status).toBe(422);
  });
});
