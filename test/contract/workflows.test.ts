import { beforeAll, describe, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

const byHand = `name: Deploy
on:
  push:
    branches: [release]
  workflow_dispatch:
    inputs:
      target: { default: staging }
      note: {}
jobs:
  build:
    runs-on: nowhere
    steps: [{ run: "true" }]
  deploy:
    name: Roll out
    needs: build
    runs-on: [nowhere, linux]
    steps: [{ run: "true" }]
`;
const onPush = `on: { push: { branches: [release] } }
jobs: { test: { runs-on: nowhere, steps: [{ run: "true" }] } }
`;

describeContract('workflows', (forge) => {
  let shared: SharedRepository;
  let tip: string;
  beforeAll(async () => {
    shared = await makeSharedRepository(forge, { auto_init: true });
    await shared.ask('PATCH', '', { body: { has_actions: true } });
    const files = Object.entries({ 'deploy.yml': byHand, 'test.yaml': onPush, 'notes.txt': 'x' }).map(
      ([name, text]) => ({
        operation: 'create',
        path: `.gitea/workflows/${name}`,
        content: encode(text),
      }),
    );
    const { json } = await shared.ask('POST', '/contents', { body: { files, message: 'add workflows' } });
    tip = json.commit.sha;
  });
  const dispatch = (
    body: object,
    more: { as?: 'writer' | 'reader'; workflow?: string; query?: string } = {},
  ) =>
    shared.ask('POST', `/actions/workflows/${more.workflow ?? 'deploy.yml'}/dispatches${more.query ?? ''}`, {
      body,
      as: more.as ?? 'owner',
    });
  const runs = async (query = '') => (await shared.ask('GET', `/actions/runs${query}`)).json;

  it('are those of the default branch', async () => {
    const { json } = await shared.ask('GET', '/actions/workflows');
    const one = await shared.ask('GET', '/actions/workflows/deploy.yml');

    expect(json.total_count).toBe(2);
    expect(json.workflows.map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([
      ['deploy.yml', 'Deploy'],
      ['test.yaml', 'test.yaml'],
    ]);
    expect(one.json).toMatchObject({
      id: 'deploy.yml',
      path: '.gitea/workflows/deploy.yml',
      state: 'active',
    });
    expect(one.json).toEqual(json.workflows[0]);
    expect((await shared.ask('GET', '/actions/workflows/notes.txt')).status).toBe(404);
    expect((await shared.ask('GET', '/actions/workflows/nothing.yml/runs')).status).toBe(404);
    expect((await shared.ask('GET', '/actions/workflows/test.yaml/runs')).json).toMatchObject({
      total_count: 0,
    });
  });

  it('can be dispatched on a branch or a tag, which creates a run', async () => {
    await shared.ask('POST', '/tags', { body: { tag_name: 'v1' } });
    const first = await dispatch({ ref: 'main' });
    const second = await dispatch({ ref: 'refs/tags/v1', inputs: { target: 'production' } });

    expect([first.status, first.text, second.status]).toEqual([204, '', 204]);
    const found = await runs(`?event=workflow_dispatch&head_sha=${tip}`);
    expect(found.total_count).toBe(2);
    expect(found.workflow_runs).toMatchObject([
      { path: 'deploy.yml@refs/tags/v1', run_number: 2 },
      {
        path: 'deploy.yml@refs/heads/main',
        run_number: 1,
        head_branch: 'main',
        head_sha: tip,
        event: 'workflow_dispatch',
        display_title: 'add workflows',
        status: 'queued',
        actor: { login: shared.owner.name },
      },
    ]);
    const { id } = found.workflow_runs[0];
    expect((await shared.ask('GET', `/actions/runs/${id}`)).json).toMatchObject({ id, run_number: 2 });
    expect((await shared.ask('GET', '/actions/runs/99999999')).status).toBe(404);
  });

  it('return the run of a dispatch on request', async () => {
    const { status, json } = await dispatch(
      { ref: 'refs/heads/main' },
      { query: '?return_run_details=true' },
    );

    expect(status).toBe(200);
    expect((await shared.ask('GET', `/actions/runs/${json.workflow_run_id}`)).json.url).toBe(json.run_url);
  });

  it.each([
    ['a missing branch', { ref: 'nothing' }, 'deploy.yml', 404],
    ['a missing tag', { ref: 'refs/tags/v0' }, 'deploy.yml', 404],
    ['a missing workflow', { ref: 'main' }, 'nothing.yml', 404],
    ['a workflow without a manual trigger', { ref: 'main' }, 'test.yaml', 422],
    ['a missing ref', {}, 'deploy.yml', 422],
  ])('are not dispatched for %s', async (_, body, workflow, status) => {
    const before = (await runs()).total_count;

    expect((await dispatch(body, { workflow })).status).toBe(status);
    expect((await runs()).total_count).toBe(before);
  });

  describe('in the list of runs', () => {
    it('come newest first, in pages with links', async () => {
      await dispatch({ ref: 'main' });
      await dispatch({ ref: 'main' });
      const { json, headers } = await shared.ask('GET', '/actions/runs?limit=1');

      expect(json.workflow_runs).toHaveLength(1);
      expect(json.workflow_runs[0].run_number).toBe(json.total_count);
      expect(headers.get('link')).toContain('rel="next"');
      expect(headers.get('x-total-count')).toBe(String(json.total_count));
    });

    it('are filtered by branch, state, actor and event', async () => {
      await dispatch({ ref: 'main' }, { as: 'writer' });
      const count = async (query: string) => (await runs(`?${query}`)).total_count;

      expect(await count(`actor=${shared.writer.name}`)).toBe(1);
      expect(
        await count(`actor=${shared.writer.name}&branch=main&status=queued&event=workflow_dispatch`),
      ).toBe(1);
      expect(await count('branch=nothing')).toBe(0);
      expect(await count('event=push')).toBe(0);
      expect(await count('status=success&status=failure')).toBe(0);
      expect((await shared.ask('GET', '/actions/runs?status=odd')).status).toBe(400);
      // Gitea returns 500.
      expect([404, 500]).toContain((await shared.ask('GET', '/actions/runs?actor=unknown-account')).status);
    });
  });

  it('require a signed-in reader to read, and a writer to dispatch', async () => {
    expect(await shared.statuses('GET', '/actions/workflows')).toEqual([200, 200, 200, 404, 404]);
    expect(await shared.statuses('GET', '/actions/workflows/deploy.yml')).toEqual([200, 200, 200, 404, 404]);
    expect(await shared.statuses('GET', '/actions/workflows/deploy.yml/runs')).toEqual([
      200, 200, 200, 404, 404,
    ]);
    expect(await shared.statuses('GET', '/actions/runs')).toEqual([200, 200, 200, 404, 404]);
    const path = '/actions/workflows/deploy.yml/dispatches';
    expect(await shared.statuses('POST', path, { ref: 'main' })).toEqual([204, 204, 403, 404, 404]);
  });

  it('are visible only to administrators while actions are disabled in the repository', async () => {
    const other = await makeSharedRepository(forge, { auto_init: true });
    const text = { content: encode(byHand), message: 'add a workflow' };
    await other.ask('POST', '/contents/.gitea/workflows/deploy.yml', { body: text });
    await other.ask('PATCH', '', { body: { has_actions: false } });

    for (const path of ['workflows', 'workflows/deploy.yml', 'runs']) {
      const answers = await other.statuses('GET', `/actions/${path}`);
      expect([path, answers.slice(0, 3)]).toEqual([path, [200, 403, 403]]);
    }
    const run = ['POST', '/actions/workflows/deploy.yml/dispatches', { ref: 'main' }] as const;
    expect((await other.statuses(...run)).slice(0, 3)).toEqual([204, 403, 403]);
  });
});
