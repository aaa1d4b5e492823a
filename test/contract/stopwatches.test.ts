import { beforeEach, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('stopwatches', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'work' } });
    await shared.ask('POST', '/issues', { body: { title: 'more work' } });
  });

  const start = (index = 1, as: Account = shared.owner) =>
    shared.ask('POST', `/issues/${index}/stopwatch/start`, { as });
  const stop = (index = 1) => shared.ask('POST', `/issues/${index}/stopwatch/stop`);
  const cancel = (index = 1) => shared.ask('DELETE', `/issues/${index}/stopwatch/delete`);
  const running = (as: Account = shared.owner) => forge.ask('GET', '/user/stopwatches', { as });
  const timesOf = async (index = 1) => (await shared.ask('GET', `/issues/${index}/times`)).json.length;
  const eventsOf = async (index = 1) => {
    const { json } = await shared.ask('GET', `/issues/${index}/timeline`);
    return json.map(({ type }: { type: string }) => type);
  };

  it('measure tracked time', async () => {
    const started = await start();
    const { json, headers } = await running();
    const stopped = await stop();

    expect([started.status, started.text, stopped.status, stopped.text]).toEqual([201, '', 201, '']);
    expect(headers.get('x-total-count')).toBe('1');
    const [owner, name] = shared.fullName.split('/');
    expect(json).toEqual([
      {
        created: expect.any(String),
        seconds: expect.any(Number),
        duration: expect.any(String),
        issue_index: 1,
        issue_title: 'work',
        repo_owner_name: owner,
        repo_name: name,
      },
    ]);
    expect([await timesOf(), (await running()).json]).toEqual([1, []]);
    expect(await eventsOf()).toEqual(['start_tracking', 'stop_tracking']);
  });

  it('are cancelled without adding tracked time', async () => {
    await start();

    expect((await cancel()).status).toBe(204);
    expect([await timesOf(), (await running()).json]).toEqual([0, []]);
    expect(await eventsOf()).toEqual(['start_tracking', 'cancel_tracking']);
  });

  it('start once, and stop only on their own issue', async () => {
    const before = [await stop(), await cancel()];
    await start();
    const again = await start();

    expect([...before, again].map(({ status }) => status)).toEqual([409, 409, 409]);
    expect((await stop(2)).status).toBe(409);
    expect((await running()).json).toHaveLength(1);
  });

  it('stop when another one starts, and when their issue is closed', async () => {
    await start(1);
    await start(2);
    const [watch, ...others] = (await running()).json;
    await shared.ask('PATCH', '/issues/2', { body: { state: 'closed' } });

    expect([watch.issue_index, others]).toEqual([2, []]);
    expect([await timesOf(1), await timesOf(2), (await running()).json]).toEqual([1, 1, []]);
  });

  it('belong to one account', async () => {
    await start(1, shared.writer);
    await start(1);
    await stop();

    expect((await running(shared.writer)).json).toHaveLength(1);
    expect((await running()).json).toEqual([]);
  });

  it('hide repositories that the account can no longer read', async () => {
    await start(1, shared.writer);
    const path = `/repos/${shared.fullName}/collaborators/${shared.writer.name}`;
    await forge.ask('DELETE', path, { as: shared.owner });

    expect((await running(shared.writer)).json).toEqual([]);
  });

  it('require write access and enabled time tracking', async () => {
    for (const [method, path, success] of [
      ['POST', '/issues/1/stopwatch/start', 201],
      ['POST', '/issues/1/stopwatch/stop', 201],
    ] as const) {
      expect(await shared.statuses(method, path)).toEqual([success, success, 403, 404, 404]);
    }
    expect(await shared.statuses('DELETE', '/issues/1/stopwatch/delete')).toEqual([409, 409, 403, 404, 404]);
    expect((await start(99)).status).toBe(404);
    expect((await forge.ask('GET', '/user/stopwatches')).status).toBe(401);
    const internal_tracker = { enable_time_tracker: false };
    await shared.ask('PATCH', '', { body: { has_issues: true, internal_tracker } });
    expect((await start()).status).toBe(403);
  });
});
