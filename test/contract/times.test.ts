import { beforeEach, expect, it } from 'vitest';
import { type Cast, makeCast } from '../support/cast.ts';
import { type Account, describeContract } from '../support/contract-forge.ts';

describeContract('tracked times', (forge) => {
  let cast: Cast;
  beforeEach(async () => {
    cast = await makeCast(forge);
    await cast.ask('POST', '/issues', { body: { title: 'work' } });
  });

  const track = (time: number, as: Account = cast.owner, more: object = {}) =>
    cast.ask('POST', '/issues/1/times', { body: { time, ...more }, as });
  const amounts = (json: { time: number }[]) => json.map(({ time }) => time).sort((a, b) => a - b);
  const tracker = (change: object) =>
    cast.ask('PATCH', '', {
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

  it('are seconds with who, when and on what', async () => {
    const { status, json } = await track(90);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      time: 90,
      user_name: cast.owner.name,
      issue: { number: 1, title: 'work', repository: { full_name: cast.repository } },
    });
    expect(json.issue_id).toBe(json.issue.id);
    expect(json.user_id).toEqual(expect.any(Number));
    expect(Math.abs(Date.parse(json.created) - Date.now())).toBeLessThan(60_000);
  });

  it('are listed by issue, repository, account and for oneself', async () => {
    await track(10);
    await track(20, cast.writer);

    const ofIssue = await cast.ask('GET', '/issues/1/times');
    const ofRepository = await cast.ask('GET', '/times');
    const ofWriter = await cast.ask('GET', `/times/${cast.writer.name}`);
    const own = await forge.ask('GET', '/user/times', { as: cast.writer });

    expect(amounts(ofIssue.json)).toEqual([10, 20]);
    expect(ofIssue.headers.get('x-total-count')).toBe('2');
    expect(ofIssue.headers.get('link')).toBeNull();
    expect(amounts(ofRepository.json)).toEqual([10, 20]);
    expect(amounts(ofWriter.json)).toEqual([20]);
    expect(amounts(own.json)).toEqual([20]);
  });

  it('come in pages', async () => {
    for (const time of [1, 2, 3]) await track(time);

    const page = await cast.ask('GET', '/issues/1/times?limit=2&page=2');
    const repository = await cast.ask('GET', '/times?limit=2');
    const own = await forge.ask('GET', '/user/times?limit=1&page=3', { as: cast.owner });

    expect([page.json.length, page.headers.get('x-total-count')]).toEqual([1, '3']);
    expect([repository.json.length, repository.headers.get('x-total-count')]).toEqual([2, '3']);
    expect([own.json.length, own.headers.get('x-total-count')]).toEqual([1, '3']);
  });

  it('are narrowed by account and by when they were made, both bounds inclusive', async () => {
    const { created } = (await track(10)).json;
    await track(20, cast.writer);
    const at = encodeURIComponent(created);
    const list = async (query: string) => amounts((await cast.ask('GET', `/issues/1/times?${query}`)).json);

    expect(await list(`user=${cast.writer.name}`)).toEqual([20]);
    expect(await list(`user=${cast.owner.name}&since=${at}&before=${at}`)).toEqual([10]);
    expect(await list('since=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await list('before=2001-01-01T00:00:00Z')).toEqual([]);
  });

  it.each(['/issues/1/times?since=soon', '/times?before=2020', '/issues/1/times?before=x'])(
    'answer 422 for %s',
    async (path) => {
      expect((await cast.ask('GET', path)).status).toBe(422);
    },
  );

  it('answer 422 for an own list with a bad bound', async () => {
    expect((await forge.ask('GET', '/user/times?since=soon', { as: cast.owner })).status).toBe(422);
  });

  it.each([
    ['no time', {}],
    ['no number', { time: 'long' }],
    ['zero', { time: 0 }],
    ['a bad instant', { time: 1, created: 'yesterday' }],
  ])('answer 422 for an entry with %s', async (_what, body) => {
    expect((await cast.ask('POST', '/issues/1/times', { body })).status).toBe(422);
  });

  it('of others are shown to writers alone', async () => {
    await tracker({ allow_only_contributors_to_track_time: false });
    await track(10);
    await track(30, cast.reader);

    const asReader = await cast.ask('GET', '/issues/1/times', { as: 'reader' });
    const ofOwner = `user=${cast.owner.name}`;
    const refused = await cast.ask('GET', `/issues/1/times?${ofOwner}`, { as: 'reader' });
    const refusedList = await cast.ask('GET', `/times?${ofOwner}`, { as: 'reader' });
    const refusedUser = await cast.ask('GET', `/times/${cast.owner.name}`, { as: 'reader' });

    expect(amounts(asReader.json)).toEqual([30]);
    expect([refused.status, refusedList.status, refusedUser.status]).toEqual([403, 403, 403]);
  });

  it('are for signed-in accounts that read the repository', async () => {
    const readable = [200, 200, 200, 404, 404];
    expect(await cast.statuses('GET', '/issues/1/times')).toEqual(readable);
    expect(await cast.statuses('GET', '/times')).toEqual(readable);
    expect(await cast.statuses('POST', '/issues/1/times', { time: 5 })).toEqual([200, 200, 403, 404, 404]);
    await cast.ask('PATCH', '', { body: { private: false } });
    for (const path of ['/issues/1/times', '/times', `/times/${cast.owner.name}`])
      expect((await cast.ask('GET', path, { as: 'anonymous' })).status).toBe(401);
    expect((await forge.ask('GET', '/user/times')).status).toBe(401);
  });

  it('may be tracked for others by administrators', async () => {
    const named = await track(10, cast.owner, { user_name: cast.reader.name });
    const ignored = await track(20, cast.writer, { user_name: cast.owner.name });
    const unknown = await track(20, cast.owner, { user_name: 'missing-account' });

    expect(named.json.user_name).toBe(cast.reader.name);
    expect(ignored.json.user_name).toBe(cast.writer.name);
    expect(unknown.status).toBe(404);
  });

  it('are removed one by one by their author', async () => {
    const entry = (await track(10, cast.writer)).json.id;
    const path = `/issues/1/times/${entry}`;

    const notOwn = await cast.ask('DELETE', path);
    const removed = await cast.ask('DELETE', path, { as: 'writer' });
    const again = await cast.ask('DELETE', path, { as: 'writer' });

    expect([notOwn.status, removed.status, again.status]).toEqual([403, 204, 404]);
    expect((await cast.ask('GET', '/issues/1/times')).json).toEqual([]);
  });

  it('are reset for oneself, and there must be some', async () => {
    await track(10);
    await track(20, cast.writer);

    const reset = await cast.ask('DELETE', '/issues/1/times');
    const again = await cast.ask('DELETE', '/issues/1/times');
    const asReader = await cast.ask('DELETE', '/issues/1/times', { as: 'reader' });

    expect([reset.status, again.status, asReader.status]).toEqual([204, 404, 403]);
    expect(amounts((await cast.ask('GET', '/issues/1/times')).json)).toEqual([20]);
  });

  it('answer 404 for an issue or account that is not there', async () => {
    expect((await cast.ask('GET', '/issues/9/times')).status).toBe(404);
    expect((await cast.ask('POST', '/issues/9/times', { body: { time: 1 } })).status).toBe(404);
    expect((await cast.ask('GET', '/issues/1/times?user=missing-account')).status).toBe(404);
    expect((await cast.ask('GET', '/times?user=missing-account')).status).toBe(404);
    expect((await cast.ask('GET', '/times/missing-account')).status).toBe(404);
  });

  it('are not to be had where the tracker is off', async () => {
    const { id } = (await track(10)).json;
    await tracker({ enable_time_tracker: false });

    const answers = [
      await cast.ask('GET', '/issues/1/times'),
      await track(10),
      await cast.ask('DELETE', '/issues/1/times'),
      await cast.ask('DELETE', `/issues/1/times/${id}`),
      await cast.ask('GET', '/times'),
      await cast.ask('GET', `/times/${cast.owner.name}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 400, 400, 400]);
  });
});
