import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

const config = { url: 'http://localhost:9/hook', content_type: 'json' };
const issueFamily = ['issue_assign', 'issue_comment', 'issue_label', 'issue_milestone', 'issues'];

describeContract('hooks', (forge) => {
  let ada: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada);
  });

  const ask = (method: string, path: string, body?: unknown) =>
    forge.ask(method, `/repos/${repository}/hooks${path}`, { as: ada, body });
  const make = (more: object = {}) => ask('POST', '', { type: 'gitea', config, ...more });

  it('are created inactive and for pushes by default', async () => {
    const answer = await make();

    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      type: 'gitea',
      active: false,
      events: ['push'],
      branch_filter: '',
      config,
    });
  });

  it('never show their secret or their authorization header', async () => {
    const made = await make({
      config: { ...config, secret: 'shh-secret' },
      authorization_header: 'Bearer hush-hush',
    });
    const read = await ask('GET', `/${made.json.id}`);

    for (const answer of [made, read]) {
      expect(answer.text).not.toMatch(/shh-secret|hush-hush/);
      expect([answer.json.authorization_header, Object.keys(answer.json.config).sort()]).toEqual([
        '',
        ['content_type', 'url'],
      ]);
    }
  });

  it.each([
    [['issues'], issueFamily],
    [['issues_only'], ['issues']],
    [['ISSUES'], issueFamily],
    [
      ['pull_request_only', 'push'],
      ['pull_request', 'push'],
    ],
    [['issue', '*', 'all', 'nonsense'], []],
    [['pull_request_review_approved'], []],
    [[], ['push']],
    [
      ['pull_request'],
      [
        'pull_request',
        'pull_request_assign',
        'pull_request_comment',
        'pull_request_label',
        'pull_request_milestone',
        'pull_request_review',
        'pull_request_review_request',
        'pull_request_sync',
      ],
    ],
  ])('with the events %j receive %j', async (events, enabled) => {
    const answer = await make({ events });

    expect([...answer.json.events].sort()).toEqual(enabled);
  });

  it.each([
    ['an unknown type', { type: 'pigeon' }],
    ['no url', { config: { content_type: 'json' } }],
    ['no content type', { config: { url: config.url } }],
    ['an unknown content type', { config: { ...config, content_type: 'xml' } }],
    ['a URL that is not HTTP', { config: { ...config, url: 'ftp://localhost/' } }],
    ['an invalid branch filter', { branch_filter: '[' }],
    ['a name that is too long', { name: 'x'.repeat(256) }],
  ])('are refused with %s', async (_, wrong) => {
    expect((await make(wrong)).status).toBe(422);
  });

  it('may have a URL without a host', async () => {
    const { status, json } = await make({ config: { ...config, url: 'http://' } });

    expect([status, json.config.url]).toEqual([201, 'http://']);
  });

  it('may be registered twice for the same URL', async () => {
    const [first, second] = [await make(), await make()];

    expect([first.status, second.status]).toEqual([201, 201]);
  });

  describe('when edited', () => {
    const full = {
      events: ['issues_only', 'push'],
      active: true,
      branch_filter: 'main',
      authorization_header: 'Bearer x',
      name: ' mine ',
    };

    it('reset events to pushes and clear the filter if these are omitted', async () => {
      const { id } = (await make(full)).json;

      const answer = await ask('PATCH', `/${id}`, { active: false });

      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        events: ['push'],
        branch_filter: '',
        active: false,
        name: 'mine',
        config,
      });
    });

    it('keep `active`, `name` and `config` if these are omitted', async () => {
      const { id } = (await make(full)).json;

      const answer = await ask('PATCH', `/${id}`, { events: ['create'], branch_filter: 'v*' });

      expect(answer.json).toMatchObject({
        active: true,
        name: 'mine',
        config,
        events: ['create'],
        branch_filter: 'v*',
      });
    });

    it('keep the omitted members of `config`, and clear the name if it is empty', async () => {
      const { id } = (await make(full)).json;

      const answer = await ask('PATCH', `/${id}`, { config: { content_type: 'form' }, name: '' });

      expect(answer.json).toMatchObject({ config: { url: config.url, content_type: 'form' }, name: '' });
    });

    it.each([
      ['an invalid URL', { config: { url: 'nonsense' } }],
      ['an unknown content type', { config: { content_type: 'xml' } }],
      ['an invalid branch filter', { branch_filter: '{' }],
    ])('refuse %s', async (_, wrong) => {
      const { id } = (await make(full)).json;

      expect((await ask('PATCH', `/${id}`, wrong)).status).toBe(422);
    });

    it('are not found through another repository', async () => {
      const { id } = (await make()).json;
      const other = await forge.makeRepository(ada);
      const statuses = await Promise.all(
        ['GET', 'PATCH', 'DELETE'].map(async (method) => {
          const body = method === 'PATCH' ? {} : undefined;
          return (await forge.ask(method, `/repos/${other}/hooks/${id}`, { as: ada, body })).status;
        }),
      );

      expect(statuses).toEqual([404, 404, 404]);
    });
  });

  it('are not found after deletion', async () => {
    const { id } = (await make()).json;

    const first = await ask('DELETE', `/${id}`);
    const second = await ask('DELETE', `/${id}`);

    expect([first.status, second.status]).toEqual([204, 404]);
  });

  it.each([
    ['the account', () => '/user/hooks'],
    ['an organization', () => `/orgs/${organization}/hooks`],
  ])('of %s are listed with count and links', async (_, path) => {
    for (let at = 0; at < 3; at += 1)
      await forge.ask('POST', path(), { as: ada, body: { type: 'gitea', config } });

    const answer = await forge.ask('GET', `${path()}?limit=2`, { as: ada });

    expect([answer.status, answer.json.length, answer.headers.get('x-total-count')]).toEqual([200, 2, '3']);
    expect(answer.headers.get('link')).toContain('rel="next"');
  });

  it('of a repository are listed with a count and no links', async () => {
    const answer = await ask('GET', '?limit=1');

    expect([answer.json.length, answer.headers.get('link')]).toEqual([1, null]);
    expect(Number(answer.headers.get('x-total-count'))).toBeGreaterThan(1);
  });

  it('of an organization are managed by its owners', async () => {
    const stranger = await forge.makeUser();

    const read = await forge.ask('GET', `/orgs/${organization}/hooks`, { as: stranger });
    const anonymous = await forge.ask('GET', '/user/hooks');

    expect([read.status, anonymous.status]).toEqual([403, 401]);
  });
});
