import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEvent } from '../../../src/contract/events/events.ts';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

const workflow = `name: Deploy
on: [push, workflow_dispatch]
jobs:
  build: { runs-on: nowhere, steps: [{ run: "true" }] }
  deploy: { name: Roll out, needs: build, runs-on: [nowhere, linux], steps: [{ run: "true" }] }
`;

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let receiver: HookReceiver;
let ada: Account;
beforeAll(async () => {
  forge = await startEmbedded();
  receiver = await startReceiver();
  ada = await forge.makeUser();
});
afterAll(async () => {
  await forge.close();
  await receiver.close();
});

it('a dispatched workflow emits events for its jobs, with blocked jobs as waiting, and for its run', async () => {
  const organization = await forge.makeOrganization(ada);
  const repository = await forge.makeRepository(ada, { in: organization, auto_init: true });
  const ask = (method: string, path: string, body?: object) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  await ask('POST', '/contents/.github/workflows/deploy.yml', {
    content: Buffer.from(workflow).toString('base64'),
  });
  const config = { url: receiver.url, content_type: 'json' };
  const events = ['workflow_run', 'workflow_job'];
  await ask('POST', '/hooks', { type: 'gitea', config, events, active: true });

  const query = '?return_run_details=true';
  const { json } = await ask('POST', `/actions/workflows/deploy.yml/dispatches${query}`, { ref: 'main' });
  await forge.forge.deliveries.idle();

  const heard = receiver.received.map(({ headers, body }) => ({
    type: String(headers['x-gitea-event-type']),
    payload: JSON.parse(body),
  }));
  for (const { type, payload } of heard) expect(parseEvent(type, payload)).toBeDefined();
  const jobs = heard.filter(({ type }) => type === 'workflow_job').map(({ payload }) => payload);
  const run_id = json.workflow_run_id;
  expect(jobs.toSorted((one, other) => one.workflow_job.id - other.workflow_job.id)).toMatchObject([
    { action: 'queued', workflow_job: { name: 'build', labels: ['nowhere'], run_id, status: 'queued' } },
    {
      action: 'waiting',
      workflow_job: { name: 'Roll out', labels: ['nowhere', 'linux'], status: 'waiting' },
    },
  ]);
  const runs = heard.filter(({ type }) => type === 'workflow_run').map(({ payload }) => payload);
  expect(runs).toMatchObject([
    {
      action: 'requested',
      workflow: { id: 'deploy.yml', name: 'Deploy', path: '.github/workflows/deploy.yml' },
      workflow_run: { id: run_id, event: 'workflow_dispatch', status: 'queued', head_branch: 'main' },
      organization: { username: organization },
      repository: { full_name: repository },
      sender: { login: ada.name },
    },
  ]);
});

it.each([
  ['not YAML', ':\n  - ['],
  ['a list', '- a'],
  ['without a trigger', 'jobs: {}'],
  [
    'full of nested aliases',
    `on: workflow_dispatch\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]`,
  ],
])('a workflow file that is %s is not run, and is listed by its file name', async (_, text) => {
  const repository = await forge.makeRepository(ada, { auto_init: true });
  const ask = (method: string, path: string, body?: object) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  await ask('POST', '/contents/.gitea/workflows/odd.yml', { content: Buffer.from(text).toString('base64') });

  const listed = await ask('GET', '/actions/workflows');
  expect(listed.json.workflows).toMatchObject([{ id: 'odd.yml', name: 'odd.yml' }]);
  expect((await ask('POST', '/actions/workflows/odd.yml/dispatches', { ref: 'main' })).status).toBe(422);
});
