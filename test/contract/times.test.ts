import { beforeEach, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('tracked times', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'work' } });
  });

  const track = (time: number, as: Account = shared.owner, more: object = {}) =>
    shared.ask('POST', '/issues/1/times', { body: { time, ...more }, as });
  const amounts = (json: { time: number }[]) => json.map(({ time }) => time).sort((a, b) => a - b);
  const tracker = (change: object) =>
    shared.ask('PATCH', '', {
      body: {
        has_issues: true,
        internal_tracker: {
          enable_time_tracker: true,
          allow_only_contributors_to_track_time: true,
          enable_issue_dependencies: true,
          ...change,
        },
      },
    });

  it('are seconds with account, time and issue', async () => {
    const before = Date.now();
    const { status, json } = await track(90);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      time: 90,
      user_name: shared.owner.name,
      issue: { number: 1, title: 'work', repository: { full_name: shared.fullName } },
    });
    expect(json.issue_id).toBe(json.issue.id);
    expect(json.user_id).toEqual(expect.any(Number));
    // The server's clock may differ.
    expect(Date.parse(json.created)).toBeGreaterThan(before - 60_000);
    expect(Date.parse(json.created)).toBeLessThan(Date.now() + 60_000);
  });

  it('are listed by issue, repository, account and for the caller', async () => {
    await track(10);
    await track(20, shared.writer);

    const ofIssue = await shared.ask('GET', '/issues/1/times');
    const ofRepository = await shared.ask('GET', '/times');
    const ofWriter = await shared.ask('GET', `/times/${shared.writer.name}`);
    const own = await forge.ask('GET', '/user/times', { as: shared.writer });

    expect(amounts(ofIssue.json)).toEqual([10, 20]);
    expect(ofIssue.headers.get('x-total-count')).toBe('2');
    expect(ofIssue.headers.get('link')).toBeNull();
    expect(amounts(ofRepository.json)).toEqual([10, 20]);
    expect(amounts(ofWriter.json)).toEqual([20]);
    expect(amounts(own.json)).toEqual([20]);
  });

  it('come in pages', async () => {
    for (const time of [1, 2, 3]) await track(time);

    const page = await shared.ask('GET', '/issues/1/times?limit=2&page=2');
    const repository = await shared.ask('GET', '/times?limit=2');
    const own = await forge.ask('GET', '/user/times?limit=1&page=3', { as: shared.owner });

    expect([page.json.length, page.headers.get('x-total-count')]).toEqual([1, '3']);
    expect([repository.json.length, repository.headers.get('x-total-count')]).toEqual([2, '3']);
    expect([own.json.length, own.headers.get('x-total-count')]).toEqual([1, '3']);
  });

  it('are filtered by account and by time, both bounds inclusive', async () => {
    const { created } = (await track(10)).json;
    await track(20, shared.writer);
    const at = encodeURIComponent(created);
    const list = async (query: string) => amounts((await shared.ask('GET', `/issues/1/times?${query}`)).json);

    expect(await list(`user=${shared.writer.name}`)).toEqual([20]);
    expect(await list(`user=${shared.owner.name}&since=${at}&before=${at}`)).toEqual([10]);
    expect(await list('since=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await list('before=2001-01-01T00:00:00Z')).toEqual([]);
  });

  it.each(['/issues/1/times?since=soon', '/times?before=2020', '/issues/1/times?before=x'])(
    'return 422 for %s',
    async (path) => {
      expect((await shared.ask('GET', path)).status).toBe(422);
    },
  );

  it("return 422 for an invalid bound of the caller's own list", async () => {
    expect((await forge.ask('GET', '/user/times?since=soon', { as: shared.owner })).status).toBe(422);
  });

  it.each([
    ['no time', {}],
    ['a time that is not a number', { time: 'long' }],
    ['zero', { time: 0 }],
    ['an invalid date', { time: 1, created: 'yesterday' }],
  ])('return 422 for an entry with %s', async (_what, body) => {
    expect((await shared.ask('POST', '/issues/1/times', { body })).status).toBe(422);
  });

  it('of others are shown only to writers', async () => {
    await tracker({ allow_only_contributors_to_track_time: false });
    await track(10);
    await track(30, shared.reader);

    const asReader = await shared.ask('GET', '/issues/1/times', { as: 'reader' });
    const ofOwner = `user=${shared.owner.name}`;
    const refused = await shared.ask('GET', `/issues/1/times?${ofOwner}`, { as: 'reader' });
    const refusedList = await shared.ask('GET', `/times?${ofOwner}`, { as: 'reader' });
    const refusedUser = await shared.ask('GET', `/times/${shared.owner.name}`, { as: 'reader' });

    expect(amounts(asReader.json)).toEqual([30]);
    expect([refused.status, refusedList.status, refusedUser.status]).toEqual([403, 403, 403]);
  });

  it('require a signed-in account that can read the repository', async () => {
    const readable = [200, 200, 200, 404, 404];
    expect(await shared.statuses('GET', '/issues/1/times')).toEqual(readable);
    expect(await shared.statuses('GET', '/times')).toEqual(readable);
    expect(await shared.statuses('POST', '/issues/1/times', { time: 5 })).toEqual([200, 200, 403, 404, 404]);
    await shared.ask('PATCH', '', { body: { private: false } });
    for (const path of ['/issues/1/times', '/times', `/times/${shared.owner.name}`])
      expect((await shared.ask('GET', path, { as: 'anonymous' })).status).toBe(401);
    expect((await forge.ask('GET', '/user/times')).status).toBe(401);
  });

  it('can be tracked for others by administrators', async () => {
    const named = await track(10, shared.owner, { user_name: shared.reader.name });
    const ignored = await track(20, shared.writer, { user_name: shared.owner.name });
    const unknown = await track(20, shared.owner, { user_name: 'missing-account' });

    expect(named.json.user_name).toBe(shared.reader.name);
    expect(ignored.json.user_name).toBe(shared.writer.name);
    expect(unknown.status).toBe(404);
  });

  it('are deleted one by one by their author', async () => {
    const entry = (await track(10, shared.writer)).json.id;
    const path = `/issues/1/times/${entry}`;

    const notOwn = await shared.ask('DELETE', path);
    const removed = await shared.ask('DELETE', path, { as: 'writer' });
    const again = await shared.ask('DELETE', path, { as: 'writer' });

    expect([notOwn.status, removed.status, again.status]).toEqual([403, 204, 404]);
    expect((await shared.ask('GET', '/issues/1/times')).json).toEqual([]);
  });

  it('are reset only for the caller, with 404 if the caller has none', async () => {
    await track(10);
    await track(20, shared.writer);

    const reset = await shared.ask('DELETE', '/issues/1/times');
    const again = await shared.ask('DELETE', '/issues/1/times');
    const asReader = await shared.ask('DELETE', '/issues/1/times', { as: 'reader' });

    expect([reset.status, again.status, asReader.status]).toEqual([204, 404, 403]);
    expect(amounts((await shared.ask('GET', '/issues/1/times')).json)).toEqual([20]);
  });

  it('return 404 for an unknown issue or account', async () => {
    expect((await shared.ask('GET', '/issues/9/times')).status).toBe(404);
    expect((await shared.ask('POST', '/issues/9/times', { body: { time: 1 } })).status).toBe(404);
    expect((await shared.ask('GET', '/issues/1/times?user=missing-account')).status).toBe(404);
    expect((await shared.ask('GET', '/times?user=missing-account')).status).toBe(404);
    expect((await shared.ask('GET', '/times/missing-account')).status).toBe(404);
  });

  it('are not available if time tracking is disabled', async () => {
    const { id } = (await track(10)).json;
    await tracker({ enable_time_tracker: false });

    const answers = [
      await shared.ask('GET', '/issues/1/times'),
      await track(10),
      await shared.ask('DELETE', '/issues/1/times'),
      await shared.ask('DELETE', `/issues/1/times/${id}`),
      await shared.ask('GET', '/times'),
      await shared.ask('GET', `/times/${shared.owner.name}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 400, 400, 400]);
  });
});
