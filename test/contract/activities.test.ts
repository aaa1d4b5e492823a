import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, basic, describeContract, freshName } from '../support/contract-forge.ts';

/** Polling options for pushes, which a real server records after a delay. */
const patience = { interval: 100 };

type Activity = { op_type: string; content: string; ref_name: string };

describeContract('activities', (forge) => {
  let ada: Account;
  let ben: Account;
  let stranger: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, ben, stranger] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: ben, permission: 'write' });
    await ask('PUT', `/repos/${repository}/subscription`, ben);
  });
  const ask = (
    method: string,
    path: string,
    as: Account | string | undefined,
    body?: unknown,
  ): Promise<Answer> => forge.ask(method, path, { as, body });
  const feedOf = (path: string, as: Account | string | undefined = ada) =>
    ask('GET', `${path}/activities/feeds`, as);
  const kinds = ({ json }: Answer) => json.map(({ op_type }: Activity) => op_type);
  /** Activities as `type content`, sorted, because activities of the same second have no fixed order. */
  const told = ({ json }: Answer) =>
    json.map(({ op_type, content }: Activity) => `${op_type} ${content}`.trim()).toSorted();

  it('record what happens to issues', async () => {
    const place = await forge.makeRepository(ada);
    const at = `/repos/${place}`;
    await ask('POST', `${at}/issues`, ada, { title: 'one' });
    await ask('POST', `${at}/issues/1/comments`, ben, { body: 'two\nlines' });
    await ask('PATCH', `${at}/issues/1`, ada, { state: 'closed' });
    await ask('PATCH', `${at}/issues/1`, ada, { state: 'open' });
    await ask('POST', `${at}/issues/1/comments`, ada, { body: 'x'.repeat(300) });

    const feed = await feedOf(at);

    const contents = told(feed);
    expect([feed.status, contents.filter((text: string) => !text.includes('xxx'))]).toEqual([
      200,
      [
        'close_issue 1|',
        'comment_issue 1|two\nlines',
        'create_issue 1|one',
        'create_repo',
        'reopen_issue 1|',
      ],
    ]);
    const long = contents.find((text: string) => text.includes('xxx'));
    expect(long.length).toBeLessThan(230);
    expect(feed.headers.get('x-total-count')).toBe('6');
    const comment = feed.json.find(({ content }: Activity) => content.includes('lines'));
    expect(comment).toMatchObject({
      act_user: { login: ben.name },
      repo: { full_name: place },
      comment: { body: 'two\nlines' },
      is_private: false,
      ref_name: '',
    });
    expect(comment.comment_id).toBe(comment.comment.id);
  });

  it('record what happens to branches, tags and releases', async () => {
    const place = await forge.makeRepository(ada, { auto_init: true });
    const at = `/repos/${place}`;
    await ask('POST', `${at}/contents/a`, ada, { content: '', message: 'add a' });
    await ask('POST', `${at}/branches`, ada, { new_branch_name: 'topic' });
    await ask('DELETE', `${at}/branches/topic`, ada);
    await ask('POST', `${at}/tags`, ada, { tag_name: 'v1' });
    await ask('POST', `${at}/releases`, ada, { tag_name: 'v1', name: 'First' });

    const isPush = ({ op_type, ref_name, content }: Activity) =>
      op_type === 'commit_repo' && ref_name === 'refs/heads/main' && content !== '';
    const read = async () => (await feedOf(at)).json as Activity[];
    // A real server records pushes in the background.
    await expect
      .poll(
        async () => (await read()).map(({ op_type, ref_name }) => `${op_type} ${ref_name}`.trim()),
        patience,
      )
      .toEqual(
        expect.arrayContaining([
          'create_repo',
          'commit_repo refs/heads/main',
          'commit_repo refs/heads/topic',
          'delete_branch refs/heads/topic',
          'push_tag refs/tags/v1',
          'publish_release refs/tags/v1',
        ]),
      );
    const pushes = (await read()).filter(isPush).map(({ content }) => JSON.parse(content));
    expect(pushes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          Commits: [
            expect.objectContaining({
              Message: expect.stringContaining('add a'),
              AuthorEmail: `${ada.name}@example.org`,
            }),
          ],
          Len: 1,
        }),
      ]),
    );
  });

  it('record what happens to pull requests', async () => {
    const at = `/repos/${repository}`;
    for (const branch of ['one', 'two'])
      await ask('POST', `${at}/contents/${branch}`, ada, { content: '', message: 'x', new_branch: branch });
    const [first, second] = [
      (await ask('POST', `${at}/pulls`, ada, { title: 'first', head: 'one', base: 'main' })).json.number,
      (await ask('POST', `${at}/pulls`, ada, { title: 'second', head: 'two', base: 'main' })).json.number,
    ];
    await ask('POST', `${at}/issues/${first}/comments`, ben, { body: 'hm' });
    await ask('POST', `${at}/pulls/${first}/reviews`, ben, {
      event: 'REQUEST_CHANGES',
      body: 'no',
    });
    await ask('POST', `${at}/pulls/${first}/reviews`, ben, { event: 'APPROVED', body: 'fine' });
    await ask('POST', `${at}/pulls/${first}/merge`, ada, { Do: 'merge' });
    await ask('PATCH', `${at}/pulls/${second}`, ada, { state: 'closed' });
    await ask('PATCH', `${at}/pulls/${second}`, ada, { state: 'open' });

    const seen = told(await feedOf(at));

    for (const activity of [
      `create_pull_request ${first}|first`,
      `comment_pull ${first}|hm`,
      `reject_pull_request ${first}|no`,
      `approve_pull_request ${first}|fine`,
      `merge_pull_request ${first}|first`,
      `close_pull_request ${second}|`,
      `reopen_pull_request ${second}|`,
    ])
      expect(seen).toContain(activity);
  });

  it('record what happens to a repository', async () => {
    const organization = await forge.makeOrganization(ada);
    const place = await forge.makeRepository(ada, { auto_init: true });
    const [owner, old] = place.split('/');
    const name = freshName('new');
    await ask('PATCH', `/repos/${place}`, ada, { name });
    await ask('POST', `/repos/${owner}/${name}/transfer`, ada, { new_owner: organization });
    await ask('POST', `/repos/${organization}/${name}/forks`, ben, {});

    const feed = await feedOf(`/repos/${organization}/${name}`);
    const forks = await feedOf(`/repos/${ben.name}/${name}`, ben);

    expect(told(feed)).toEqual(
      ['create_repo', `rename_repo ${old}`, `transfer_repo ${owner}/${name}`].toSorted(),
    );
    expect(kinds(forks)).toEqual(['create_repo']);
  });

  describe('feeds', () => {
    let open: string;
    let secret: string;
    let organization: string;
    beforeAll(async () => {
      organization = await forge.makeOrganization(ada);
      open = await forge.makeRepository(ada, { in: organization });
      secret = await forge.makeRepository(ada, { in: organization, private: true });
      for (const place of [open, secret])
        await ask('POST', `/repos/${place}/issues`, ada, { title: place === open ? 'seen' : 'hidden' });
    });
    const titles = (answer: Answer) => told(answer).filter((text: string) => text.startsWith('create_issue'));

    it('of an account include its own activities and those of repositories that it watches', async () => {
      const own = await feedOf(`/users/${ben.name}`, ben);
      const performed = await ask('GET', `/users/${ben.name}/activities/feeds?only-performed-by=true`, ben);
      const ids = new Set(
        performed.json.map(({ act_user: { login } }: { act_user: { login: string } }) => login),
      );

      expect(told(own)).toContain('create_pull_request 1|first');
      expect(own.json.every(({ user_id }: { user_id: number }) => user_id === own.json[0].user_id)).toBe(
        true,
      );
      expect([...ids]).toEqual([ben.name]);
    });

    it('of private repositories are shown only to accounts that can read them', async () => {
      const answers = [
        await feedOf(`/users/${ada.name}`, ada),
        await feedOf(`/users/${ada.name}`, stranger),
        await feedOf(`/orgs/${organization}`, ada),
        await feedOf(`/orgs/${organization}`, stranger),
        await forge.ask('GET', `/orgs/${organization}/activities/feeds`),
      ];

      const ours = (answer: Answer) =>
        titles(answer).filter((text: string) => text.endsWith('seen') || text.endsWith('hidden'));
      const both = ['create_issue 1|hidden', 'create_issue 1|seen'];
      expect(answers.map(ours)).toEqual([both, both.slice(1), both, both.slice(1), both.slice(1)]);
      expect((await feedOf(`/repos/${secret}`, stranger)).status).toBe(404);
    });

    it('of a team include those of its repositories', async () => {
      const body = { name: freshName('team'), permission: 'read', units: ['repo.code', 'repo.issues'] };
      const { id } = (await ask('POST', `/orgs/${organization}/teams`, ada, body)).json;
      await ask('PUT', `/teams/${id}/repos/${open}`, ada);

      const feed = await feedOf(`/teams/${id}`, ada);

      expect([feed.status, titles(feed)]).toEqual([200, ['create_issue 1|seen']]);
      expect([403, 404]).toContain((await feedOf(`/teams/${id}`, stranger)).status);
    });

    it('are paged, and filtered by day', async () => {
      const path = `/repos/${open}/activities/feeds`;
      const pages = [
        await ask('GET', `${path}?limit=1`, ada),
        await ask('GET', `${path}?limit=1&page=2`, ada),
      ];
      const today = new Date().toISOString().slice(0, 10);

      expect(pages.flatMap(kinds).toSorted()).toEqual(['create_issue', 'create_repo']);
      expect(pages.map(({ headers }) => headers.get('x-total-count'))).toEqual(['2', '2']);
      expect((await ask('GET', `${path}?date=2001-01-01`, ada)).json).toEqual([]);
      expect((await ask('GET', `${path}?date=${today}`, ada)).json).toHaveLength(2);
      expect((await ask('GET', `${path}?date=x`, ada)).json).toHaveLength(2);
    });

    it('are hidden if the account hides them, and show no private repositories to tokens limited to public resources', async () => {
      const guest = await forge.makeUser();
      const place = await forge.makeRepository(guest);
      const hidden = await forge.makeRepository(guest, { private: true });
      const headers = basic(guest.name, guest.password);
      const body = { name: freshName('token'), scopes: ['read:user', 'read:repository', 'public-only'] };
      const token = (await forge.ask('POST', `/users/${guest.name}/tokens`, { headers, body })).json.sha1;
      const limited = await feedOf(`/users/${guest.name}`, token);
      const before = await feedOf(`/users/${guest.name}`, stranger);
      await ask('PATCH', '/user/settings', guest, { hide_activity: true });
      const names = ({ json }: Answer) =>
        json.map(({ repo }: { repo: { full_name: string } }) => repo.full_name).toSorted();

      expect([names(limited), names(before)]).toEqual([[place], [place]]);
      expect((await feedOf(`/users/${guest.name}`, stranger)).json).toEqual([]);
      expect((await feedOf(`/repos/${place}`, stranger)).json).toEqual([]);
      expect((await ask('GET', `/users/${guest.name}/heatmap`, stranger)).json).toEqual([]);
      expect(names(await feedOf(`/users/${guest.name}`, guest))).toEqual([hidden, place].toSorted());
    });
  });

  it('are counted in a heat map', async () => {
    const guest = await forge.makeUser();
    const place = await forge.makeRepository(guest);
    const hidden = await forge.makeRepository(guest, { private: true });
    for (const at of [place, hidden]) await ask('POST', `/repos/${at}/issues`, guest, { title: 'x' });
    const counted = ({ json }: Answer) =>
      json.reduce((sum: number, { contributions }: { contributions: number }) => sum + contributions, 0);

    const own = await ask('GET', `/users/${guest.name}/heatmap`, guest);
    const others = await ask('GET', `/users/${guest.name}/heatmap`, stranger);

    expect([own.status, counted(own), counted(others)]).toEqual([200, 4, 2]);
    expect(own.json.every(({ timestamp }: { timestamp: number }) => timestamp % 900 === 0)).toBe(true);
    expect((await forge.ask('GET', '/users/no-such-account/heatmap')).status).toBe(404);
  });
});
