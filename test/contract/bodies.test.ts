import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillPath, type Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { type Account, type Ask, basic, describeContract, freshName } from '../support/contract-forge.ts';

const withBody = Object.values<Operation>(operations).filter(({ body }) => body !== undefined);
const isSwitchedOff = new Set(withBody.filter((row) => row.switchedOff !== undefined).map(({ id }) => id));
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describeContract('bodies', (forge) => {
  let ada: Account;
  let repository: string;
  let paths: Readonly<Record<string, string | number>>;
  beforeAll(async () => {
    ada = await forge.makeUser();
    const organization = await forge.makeOrganization(ada);
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, {
      as: ada,
      body: { name: 'team', permission: 'write', units: ['repo.code'] },
    });
    repository = await forge.makeRepository(ada, { auto_init: true });
    await ask('POST', '/issues', { title: 'one' });
    const file = { content: '', message: 'x', new_branch: 'topic' };
    await ask('POST', '/contents/a.txt', file);
    await ask('POST', '/pulls', { title: 'two', head: 'topic', base: 'main' });
    const [owner = '', repo = ''] = repository.split('/');
    paths = { owner, repo, org: organization, username: ada.name, id: team.json.id };
  });

  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body, headers });

  function pathOf(operation: Operation): string {
    const names = Object.keys(operation.params.shape);
    const index = operation.path.includes('/pulls/') ? 2 : 1;
    return fillPath(operation, {
      ...Object.fromEntries(names.map((name) => [name, 1])),
      ...paths,
      ...(operation.path.startsWith('/teams/') ? {} : { id: 1 }),
      index,
    });
  }

  /** Sends requests as the site administrator, so that no operation refuses before it reads the body. */
  async function statusOf(operation: Operation, { headers, body }: Pick<Ask, 'headers' | 'body'>) {
    // Tokens are created only with a password, and the administrator's is unknown on a real forge.
    const needsPassword = operation.id === 'user.create-token';
    const credentials = needsPassword ? basic(ada.name, ada.password) : {};
    const { status } = await forge.ask(operation.method, pathOf(operation), {
      as: needsPassword ? undefined : forge.adminToken,
      body,
      headers: { ...headers, ...credentials },
    });
    return status;
  }

  describe('D1: a body that is missing or of another type is refused', () => {
    /**
     * Returns the operations that respond with an unexpected status, and that status. The expected status is 422, or
     * 403 from a disabled operation, which refuses its caller before it reads the body.
     */
    async function exceptions(rows: readonly Operation[], options: Pick<Ask, 'headers' | 'body'>) {
      const answers: [string, number][] = [];
      for (const row of rows) answers.push([row.id, await statusOf(row, options)]);
      return answers.filter(([id, status]) => status !== (isSwitchedOff.has(id) ? 403 : 422));
    }

    it('by every POST and PUT without a content type', async () => {
      const rows = withBody.filter(({ method }) => method === 'POST' || method === 'PUT');

      expect(await exceptions(rows, {})).toEqual([]);
    });

    it('by every operation if sent as plain text', async () => {
      expect(await exceptions(withBody, { body: '{}', headers: { 'content-type': 'text/plain' } })).toEqual(
        [],
      );
    });

    it('by every operation if sent as empty JSON', async () => {
      expect(await exceptions(withBody, { body: '', headers: json })).toEqual([]);
    });

    it('and the list of labels stays unchanged', async () => {
      const label = (await ask('POST', '/labels', { name: freshName('bug'), color: 'fff' })).json;
      await ask('PUT', '/issues/1/labels', { labels: [label.id] });

      const missing = await ask('PUT', '/issues/1/labels');
      const plain = await ask('PUT', '/issues/1/labels', '{"labels":[]}', { 'content-type': 'text/plain' });

      expect([missing.status, plain.status]).toEqual([422, 422]);
      expect((await ask('GET', '/issues/1/labels')).json).toMatchObject([{ name: label.name }]);
    });

    it('and the review stays unchanged', async () => {
      const reviewer = await forge.makeUser();
      const path = `/repos/${repository}/pulls/2/reviews`;
      const body = { event: 'APPROVED', body: 'fine' };
      const review = (await forge.ask('POST', path, { as: reviewer, body })).json;

      const missing = await ask('POST', `/pulls/2/reviews/${review.id}/dismissals`);

      expect(missing.status).toBe(422);
      expect((await ask('GET', `/pulls/2/reviews/${review.id}`)).json.dismissed).toBe(false);
    });
  });

  describe('D1: a form is accepted', () => {
    it('with texts, booleans and lists of texts', async () => {
      const name = freshName('label');
      const body = new URLSearchParams({ name, color: '#00aabb', exclusive: 'on' }).toString();
      const label = await ask('POST', '/labels', body, form);
      const issue = await ask('POST', '/issues', `title=a%20b&assignees=${ada.name}&body=x`, form);

      expect([label.status, label.json]).toMatchObject([201, { name, color: '00aabb', exclusive: true }]);
      expect([issue.status, issue.json]).toMatchObject([
        201,
        { title: 'a b', body: 'x', assignees: [{ login: ada.name }] },
      ]);
    });

    it('with numbers', async () => {
      const made = await ask('POST', '/issues/1/times', 'time=30', form);
      const wrong = await ask('POST', '/issues/1/times', 'time=soon', form);

      expect([made.status, made.json.time, wrong.status]).toEqual([200, 30, 422]);
    });

    it('as multipart data', async () => {
      const body = new FormData();
      body.set('title', 'in parts');
      body.set('file', new Blob(['x']), 'x.txt');
      const encoded = new Response(body);

      const answer = await ask('POST', '/issues', await encoded.text(), {
        'content-type': encoded.headers.get('content-type') ?? '',
      });

      expect([answer.status, answer.json.title]).toEqual([201, 'in parts']);
    });

    it('and completed by the query', async () => {
      const answer = await ask('POST', '/issues?title=query&body=query', 'title=form', form);

      expect([answer.status, answer.json.title, answer.json.body]).toEqual([201, 'form', 'query']);
    });

    it.each([
      ['a required field', '/labels', 'color=fff'],
      ['a valid flag', '/labels', 'name=x&color=fff&exclusive=maybe'],
      ['a valid encoding', '/issues', 'title=%zz'],
    ])('unless it lacks %s', async (_, path, body) => {
      expect((await ask('POST', path, body, form)).status).toBe(422);
    });
  });

  describe('D1: without a body and content type, the query is the body', () => {
    beforeEach(async () => {
      await ask('PATCH', '/issues/1', { title: 'one', body: 'text' });
    });

    it('of a PATCH', async () => {
      const changed = await ask('PATCH', '/issues/1?title=query');
      const unchanged = await ask('PATCH', '/issues/1');

      expect([changed.status, changed.json.title]).toEqual([201, 'query']);
      expect([unchanged.status, unchanged.json.title, unchanged.json.body]).toEqual([201, 'query', 'text']);
    });

    it('of a DELETE', async () => {
      const path = `/contents/${freshName('file')}`;
      const { json } = await ask('POST', path, { content: '', message: 'x' });

      const missing = await ask('DELETE', path);
      const removed = await ask('DELETE', `${path}?sha=${json.content.sha}&message=gone`);

      expect([missing.status, removed.status]).toEqual([422, 200]);
      expect(removed.json.commit.message).toMatch(/^gone/);
    });
  });

  describe('D1: JSON', () => {
    it('of `null` is an object without fields', async () => {
      const create = await ask('POST', '/issues', 'null', json);
      const edit = await ask('PATCH', '/issues/1', 'null', json);

      expect([create.status, edit.status]).toEqual([422, 201]);
    });

    it.each(['{"time":0}', '{"time":null}'])('of %s lacks the required number', async (body) => {
      expect((await ask('POST', '/issues/1/times', body, json)).status).toBe(422);
    });

    it.each([
      ['text of another encoding', '{"title":"\xff"}'],
      ['a second value', '{"title":"x"} {}'],
    ])('with %s is refused', async (_, body) => {
      const response = await fetch(`${forge.url}/api/v1/repos/${repository}/issues`, {
        method: 'POST',
        headers: { ...json, authorization: `token ${ada.token}` },
        body: Buffer.from(body, 'latin1'),
      });

      expect(response.status).toBe(422);
    });

    it('is accepted with any content type that names JSON', async () => {
      const headers = { 'content-type': 'application/vnd.api+json; charset=utf-8' };

      expect((await ask('POST', '/issues', '{"title":"x"}', headers)).status).toBe(201);
    });
  });
});
