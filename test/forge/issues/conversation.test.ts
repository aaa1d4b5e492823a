import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { type Account, basic, startEmbedded } from '../../support/contract-forge.ts';
import { startReceiver } from '../../support/hook-receiver.ts';
import { passwordCost } from '../../support/privilege-setup.ts';
import { makeSharedRepository } from '../../support/shared-repository.ts';

const everything = ['issues', 'issue_comment', 'pull_request', 'push', 'create', 'delete', 'repository'];

describe('hooks', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  beforeEach(async () => {
    forge = await startEmbedded();
    return () => forge.close();
  });

  it('receive nothing for dependencies, times, subscriptions, locks, pins, due dates, milestones and reads', async () => {
    const receiver = await startReceiver();
    const shared = await makeSharedRepository(forge);
    const { ask } = shared;
    for (const title of ['one', 'two']) await ask('POST', '/issues', { body: { title } });
    const milestone = (await ask('POST', '/milestones', { body: { title: 'v1' } })).json.id;
    const config = { url: receiver.url, content_type: 'json' };
    await ask('POST', '/hooks', { body: { type: 'gitea', config, events: everything, active: true } });
    const [owner, repo] = shared.fullName.split('/');
    const meta = { index: 2, owner, repo };

    const answers = [
      await ask('POST', '/issues/1/dependencies', { body: meta }),
      await ask('DELETE', '/issues/1/dependencies', { body: meta }),
      await ask('POST', '/issues/1/blocks', { body: meta }),
      await ask('DELETE', '/issues/1/blocks', { body: meta }),
      await ask('POST', '/issues/1/times', { body: { time: 1 } }),
      await ask('DELETE', '/issues/1/times'),
      await ask('PUT', '/subscription'),
      await ask('DELETE', '/subscription'),
      await ask('DELETE', `/issues/1/subscriptions/${shared.owner.name}`),
      await ask('PUT', '/issues/1/lock', { body: {} }),
      await ask('DELETE', '/issues/1/lock'),
      await ask('POST', '/issues/1/pin'),
      await ask('DELETE', '/issues/1/pin'),
      await ask('POST', '/issues/1/deadline', { body: { due_date: '2030-01-01T00:00:00Z' } }),
      await ask('PATCH', `/milestones/${milestone}`, { body: { title: 'v2' } }),
      await ask('DELETE', `/milestones/${milestone}`),
      await ask('PUT', '/notifications'),
    ];
    await forge.forge.deliveries.idle();

    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    expect(receiver.types()).toEqual([]);
    await receiver.close();
  });

  it('receive an edit of the issue or comment to which a file is attached', async () => {
    const receiver = await startReceiver();
    const shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one', body: 'text' } });
    const comment = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'see' } })).json.id;
    const config = { url: receiver.url, content_type: 'json' };
    await shared.ask('POST', '/hooks', { body: { type: 'gitea', config, events: everything, active: true } });

    await upload(forge.url, shared.fullName, '/issues/1', shared.owner);
    await upload(forge.url, shared.fullName, `/issues/comments/${comment}`, shared.owner);
    await forge.forge.deliveries.idle();

    const [edited] = receiver.payloads('issues');
    const [commented] = receiver.payloads('issue_comment');
    expect(edited).toMatchObject({ action: 'edited', changes: { body: { from: 'text' } } });
    expect(edited.issue.assets).toHaveLength(1);
    expect(commented).toMatchObject({ action: 'edited', changes: { body: { from: 'see' } } });
    expect(commented.comment.assets).toHaveLength(1);
    await receiver.close();
  });
});

async function upload(url: string, repository: string, holder: string, as: Account, bytes = 'hello') {
  const form = new FormData();
  form.set('attachment', new Blob([bytes]), '..\\a "b"é.txt');
  const address = `${url}/api/v1/repos/${repository}${holder}/assets`;
  const headers = { authorization: `token ${as.token}` };
  const response = await fetch(address, { method: 'POST', headers, body: form });
  return { status: response.status, json: await response.json() };
}

describe('attached files', () => {
  let data: string;
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'attachments-'));
    forge = await startEmbedded({ data });
  });
  afterEach(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });
  const files = () =>
    readdirSync(join(data, 'attachments'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);

  it('are sent as downloads that browsers do not execute, under a name without folders, and are counted', async () => {
    const shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one' } });
    const { json } = await upload(forge.url, shared.fullName, '/issues/1', shared.owner, '<b>x</b>');

    const headers = { authorization: `token ${shared.owner.token}` };
    const response = await fetch(json.browser_download_url, { headers });
    await response.text();

    expect(json.name).toBe('a "b"é.txt');
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="a _b__.txt"; filename*=UTF-8''a%20%22b%22%C3%A9.txt`,
    );
    expect((await shared.ask('GET', `/issues/1/assets/${json.id}`)).json.download_count).toBe(1);
  });

  it.each([
    ['their attachment', (id: number) => `/issues/1/assets/${id}`],
    ['their issue', () => '/issues/1'],
  ])('are removed from disk with %s', async (_what, pathOf) => {
    const shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one' } });
    const { json } = await upload(forge.url, shared.fullName, '/issues/1', shared.owner);
    expect(files()).toEqual([json.uuid]);

    expect((await shared.ask('DELETE', pathOf(json.id))).status).toBe(204);

    expect(files()).toEqual([]);
  });

  it('survive a restart, while orphaned files of an interrupted upload are removed at the next start', async () => {
    const shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one' } });
    const { json } = await upload(forge.url, shared.fullName, '/issues/1', shared.owner);
    await forge.close();
    const orphan = '00000000-0000-4000-8000-000000000000';
    const database = new DatabaseSync(join(data, 'forge.db'));
    database.exec(`INSERT INTO file_trash (uuid) VALUES ('${orphan}')`);
    database.close();
    mkdirSync(join(data, 'attachments', '00'), { recursive: true });
    writeFileSync(join(data, 'attachments', '00', orphan), 'half');

    forge = await startEmbedded({ data });

    expect(files()).toEqual([json.uuid]);
    const headers = { authorization: `token ${shared.owner.token}` };
    const address = `${forge.url}/attachments/${json.uuid}`;
    expect(await (await fetch(address, { headers })).text()).toBe('hello');
  });

  it.each(['..%2f..%2fforge.db', '%00', 'x', '%2e%2e%2fforge.db'])(
    'are not found under the name %s',
    async (name) => {
      const response = await fetch(`${forge.url}/attachments/${name}`);

      expect([400, 404]).toContain(response.status);
    },
  );
});

describe('instance settings', () => {
  let forge: ForgeInstance;
  let url: string;
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...basic('root', 'pw'), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  beforeEach(async () => {
    const features = { attachments: false, crossRepositoryDependencies: false };
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), features });
    url = await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'pw' });
    for (const name of ['app', 'other']) {
      await ask('POST', '/user/repos', { name });
      for (const title of ['one', 'two']) await ask('POST', `/repos/root/${name}/issues`, { title });
    }
    return () => forge.close();
  });

  it('can forbid dependencies across repositories, with a plain text error', async () => {
    const path = '/repos/root/app/issues/1/dependencies';
    const far = await ask('POST', path, { index: 1, owner: 'root', repo: 'other' });
    const spelled = await ask('POST', path, { index: 2, owner: 'Root', repo: 'app' });
    const near = await ask('POST', path, { index: 2, owner: 'root', repo: 'app' });

    expect(far).toEqual({ status: 400, text: '"CrossRepositoryDependencies not enabled"' });
    expect([spelled.status, near.status]).toEqual([400, 201]);
  });

  it('can disable attachments', async () => {
    const comment = JSON.parse(
      (await ask('POST', '/repos/root/app/issues/1/comments', { body: 'x' })).text,
    ).id;

    for (const path of ['/issues/1/assets', '/issues/1/assets/1', `/issues/comments/${comment}/assets`])
      expect((await ask('GET', `/repos/root/app${path}`)).status).toBe(404);
    expect(JSON.parse((await ask('GET', '/settings/attachment')).text).enabled).toBe(false);
  });
});

it("a disabled time tracker responds with the message in Gitea's spelling", async () => {
  const forge = await startEmbedded();
  const shared = await makeSharedRepository(forge);
  await shared.ask('POST', '/issues', { body: { title: 'one' } });
  const internal_tracker = { enable_time_tracker: false };
  await shared.ask('PATCH', '', { body: { has_issues: true, internal_tracker } });

  const { status, json } = await shared.ask('DELETE', '/issues/1/times');

  expect([status, json]).toEqual([400, { Message: 'time tracking disabled' }]);
  await forge.close();
});

it('responses with status 205 have a body with the changed threads', async () => {
  const forge = await startEmbedded();
  const shared = await makeSharedRepository(forge);
  await shared.ask('POST', '/issues', { body: { title: 'one' }, as: 'writer' });
  const send = (path: string, method: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const headers = { authorization: `token ${shared.owner.token}` };
      const sent = request(`${forge.url}/api/v1${path}`, { method, headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({ status: response.statusCode, text: Buffer.concat(pieces).toString('utf8') }),
        );
      });
      sent.on('error', reject).end();
    });

  const all = await send('/notifications', 'PUT');
  const [{ id }] = JSON.parse(all.text);
  const one = await send(`/notifications/threads/${id}?to-status=pinned`, 'PATCH');

  expect([all.status, one.status]).toEqual([205, 205]);
  expect(JSON.parse(one.text)).toMatchObject({ id, pinned: true, unread: false });
  await forge.close();
});
