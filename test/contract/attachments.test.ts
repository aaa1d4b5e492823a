import { beforeEach, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import {
  makeSharedRepository,
  type Role,
  roles,
  type SharedRepository,
} from '../support/shared-repository.ts';

describeContract('attachments', (forge) => {
  let shared: SharedRepository;
  /** API path of the comment. */
  let comment: string;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'with files', body: 'text' } });
    const { json } = await shared.ask('POST', '/issues/1/comments', {
      body: { body: 'see this' },
      as: 'writer',
    });
    comment = `/issues/comments/${json.id}`;
  });

  type File = { name?: string; bytes?: string; query?: string; as?: Role; part?: string };
  async function upload(path: string, file: File = {}) {
    const { name = 'notes.txt', bytes = 'hello', query = '', as = 'owner', part = 'attachment' } = file;
    const form = new FormData();
    form.set(part, new Blob([bytes]), name);
    const token = as === 'anonymous' ? undefined : shared[as].token;
    const response = await fetch(`${forge.url}/api/v1/repos/${shared.fullName}${path}/assets${query}`, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `token ${token}` },
      body: form,
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }
  const holders = () => ['/issues/1', comment];
  const download = (address: string, as?: Role) =>
    fetch(address, {
      headers: as && as !== 'anonymous' ? { authorization: `token ${shared[as].token}` } : {},
    });

  it('have limits that the forge returns', async () => {
    const { status, json } = await forge.ask('GET', '/settings/attachment');

    expect(status).toBe(200);
    expect(json).toEqual({
      enabled: true,
      allowed_types: expect.stringContaining('.txt'),
      max_files: expect.any(Number),
      max_size: expect.any(Number),
    });
  });

  it('are uploaded to an issue and a comment, listed, read, renamed and removed', async () => {
    for (const holder of holders()) {
      const created = await upload(holder);
      const path = `${holder}/assets/${created.json.id}`;
      const listed = await shared.ask('GET', `${holder}/assets`);
      const read = await shared.ask('GET', path);
      const renamed = await shared.ask('PATCH', path, { body: { name: 'other.md' } });
      const removed = await shared.ask('DELETE', path);

      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.any(Number),
        name: 'notes.txt',
        size: 5,
        download_count: 0,
        created_at: expect.any(String),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        browser_download_url: `${forge.url}/attachments/${created.json.uuid}`,
      });
      expect(listed.json).toEqual([created.json]);
      expect([read.status, read.json]).toEqual([200, created.json]);
      expect([renamed.status, renamed.json.name]).toEqual([201, 'other.md']);
      expect(removed.status).toBe(204);
      expect((await shared.ask('GET', path)).status).toBe(404);
      expect((await shared.ask('GET', `${holder}/assets`)).json).toEqual([]);
    }
  });

  it('are shown on their issue and in its list of comments', async () => {
    const onIssue = (await upload('/issues/1')).json;
    const onComment = (await upload(comment)).json;

    expect((await shared.ask('GET', '/issues/1')).json.assets).toEqual([onIssue]);
    // A single comment is shown without files.
    expect((await shared.ask('GET', comment)).json.assets).toEqual([]);
    expect((await shared.ask('GET', '/issues/1/comments')).json[0].assets).toEqual([onComment]);
  });

  it('take their name from the query if it is given', async () => {
    expect((await upload('/issues/1', { query: '?name=given.md' })).json.name).toBe('given.md');
  });

  it('are downloaded unchanged by accounts that can read the repository', async () => {
    const { browser_download_url: address } = (await upload(comment, { bytes: '<script>1</script>' })).json;

    const owner = await download(address, 'owner');
    const reader = await download(address, 'reader');

    expect([owner.status, await owner.text()]).toEqual([200, '<script>1</script>']);
    expect(owner.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reader.status).toBe(200);
    expect([(await download(address, 'stranger')).status, (await download(address)).status]).toEqual([
      404, 404,
    ]);
    const unknown = address.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000');
    expect((await download(unknown, 'owner')).status).toBe(404);
  });

  it('are refused if their file type is not allowed, on upload and on rename', async () => {
    const { id } = (await upload('/issues/1')).json;
    const renamed = await shared.ask('PATCH', `/issues/1/assets/${id}`, { body: { name: 'notes.exe' } });

    expect((await upload('/issues/1', { name: 'notes.exe' })).status).toBe(422);
    expect((await upload(comment, { name: 'none' })).status).toBe(422);
    expect(renamed.status).toBe(422);
  });

  it('must be uploaded in the form part named "attachment"', async () => {
    expect([500, 400]).toContain((await upload('/issues/1', { part: 'file' })).status);
    expect([500, 400]).toContain((await shared.ask('POST', `${comment}/assets`, { body: {} })).status);
  });

  it('exist only on the issue or comment they are attached to', async () => {
    const onIssue = (await upload('/issues/1')).json.id;
    const onComment = (await upload(comment)).json.id;
    await shared.ask('POST', '/issues', { body: { title: 'other' } });
    const second = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'no file' } })).json.id;
    const other = await forge.makeRepository(shared.owner);
    await forge.ask('POST', `/repos/${other}/issues`, { as: shared.owner, body: { title: 'elsewhere' } });

    const answers = await Promise.all([
      shared.ask('GET', `${comment}/assets/${onIssue}`),
      shared.ask('GET', `/issues/2/assets/${onIssue}`),
      shared.ask('GET', `/issues/comments/${second}/assets/${onComment}`),
      shared.ask('GET', '/issues/comments/999999/assets/1'),
      shared.ask('GET', '/issues/99/assets'),
      shared.ask('DELETE', `/issues/2/assets/${onIssue}`),
      shared.ask('PATCH', `/issues/comments/${second}/assets/${onComment}`, { body: { name: 'x.txt' } }),
      forge.ask('GET', `/repos/${other}${comment}/assets/${onComment}`, { as: shared.owner }),
      forge.ask('GET', `/repos/${other}/issues/1/assets/${onIssue}`, { as: shared.owner }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  });

  it('are read by readers and changed by the author and writers', async () => {
    const onIssue = (await upload('/issues/1')).json.id;
    const onComment = (await upload(comment)).json.id;
    const readable = [200, 200, 200, 404, 404];

    expect(await shared.statuses('GET', `/issues/1/assets/${onIssue}`)).toEqual(readable);
    expect(await shared.statuses('GET', `${comment}/assets/${onComment}`)).toEqual(readable);
    for (const holder of holders()) {
      const statuses = [];
      for (const as of roles) statuses.push((await upload(holder, { as })).status);
      expect(statuses).toEqual([201, 201, 403, 404, 404]);
    }
    for (const path of [`/issues/1/assets/${onIssue}`, `${comment}/assets/${onComment}`]) {
      const change = { body: { name: 'x.txt' }, as: 'reader' as const };
      expect((await shared.ask('PATCH', path, change)).status).toBe(403);
      expect((await shared.ask('DELETE', path, { as: 'reader' })).status).toBe(403);
    }
  });

  it('cannot be added to a comment by a writer who is not its author', async () => {
    const own = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'mine' } })).json.id;

    expect((await upload(`/issues/comments/${own}`, { as: 'writer' })).status).toBe(403);
    expect((await upload(`/issues/comments/${own}`, { as: 'owner' })).status).toBe(201);
  });

  it('of a public repository require anonymous callers to sign in', async () => {
    await shared.ask('PATCH', '', { body: { private: false } });

    expect((await upload('/issues/1', { as: 'anonymous' })).status).toBe(401);
  });

  it('are an empty response if the unit of their comment is disabled', async () => {
    const { id } = (await upload(comment)).json;
    // An empty repository has no pull requests either, and would return 404.
    await shared.ask('POST', '/contents/a', { body: { content: 'eA==', message: 'a' } });
    await shared.ask('PATCH', '', { body: { has_issues: false } });

    const answer = await shared.ask('GET', `${comment}/assets/${id}`);
    const listed = await shared.ask('GET', `${comment}/assets`);

    expect([answer.status, answer.text]).toEqual([200, '']);
    expect([listed.status, listed.text]).toEqual([200, '']);
  });

  it('cannot be changed in an archived repository', async () => {
    const { id } = (await upload('/issues/1')).json;
    await shared.ask('PATCH', '', { body: { archived: true } });

    expect((await upload('/issues/1')).status).toBe(423);
    expect((await upload(comment)).status).toBe(423);
    expect((await shared.ask('PATCH', `/issues/1/assets/${id}`, { body: { name: 'x.txt' } })).status).toBe(
      423,
    );
    expect((await shared.ask('DELETE', `/issues/1/assets/${id}`)).status).toBe(423);
  });

  it('are refused if they are too large', async () => {
    const { max_size: limit } = (await forge.ask('GET', '/settings/attachment')).json;

    const { status } = await upload('/issues/1', { bytes: 'x'.repeat(limit * 1024 * 1024 + 1) });

    expect(status).toBe(413);
  });
});
