import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('a review', (forge) => {
  let ada: Account;
  let bob: Account;
  let eve: Account;
  let repository: string;
  let head: string;
  beforeAll(async () => {
    [ada, bob, eve] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: bob, permission: 'write' });
    head = await write('a.txt', 'one\ntwo\nthree\n', { new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, `/repos/${repository}${path}`, { as, body });
  async function write(path: string, text: string, more: object = {}): Promise<string> {
    const content = Buffer.from(text).toString('base64');
    return (await ask('POST', `/contents/${path}`, { content, message: path, ...more })).json.commit.sha;
  }
  const review = (as: Account, event: string | undefined, body = '', more: object = {}): Promise<Answer> =>
    ask('POST', '/pulls/1/reviews', { event, body, ...more }, as);
  const get = async (id: number) => (await ask('GET', `/pulls/1/reviews/${id}`)).json;
  /** Polls a review, because a real forge processes pushes in the background. */
  const soon = (id: number) => expect.poll(() => get(id));
  const list = async (as: Account = ada) => (await ask('GET', '/pulls/1/reviews', undefined, as)).json;
  const request = (names: string[], as: Account = ada): Promise<Answer> =>
    ask('POST', '/pulls/1/requested_reviewers', { reviewers: names }, as);

  it('has all 14 fields', async () => {
    const { status, json } = await review(bob, 'APPROVED', 'Good.');

    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual([
      'body',
      'comments_count',
      'commit_id',
      'dismissed',
      'html_url',
      'id',
      'official',
      'pull_request_url',
      'stale',
      'state',
      'submitted_at',
      'team',
      'updated_at',
      'user',
    ]);
    expect(json).toMatchObject({
      state: 'APPROVED',
      body: 'Good.',
      commit_id: head,
      official: true,
      stale: false,
      dismissed: false,
      team: null,
      user: { login: bob.name },
    });
    expect(json.html_url).toMatch(/\/pulls\/1#issuecomment-\d+$/);
    expect(await get(json.id)).toMatchObject({ ...json, user: { login: bob.name } });
  });

  it('is official if its author can write or, if the rule has a list, is on it', async () => {
    expect((await review(eve, 'APPROVED')).json.official).toBe(false);
    await ask('POST', '/branch_protections', {
      rule_name: 'main',
      enable_approvals_whitelist: true,
      approvals_whitelist_username: [ada.name],
    });

    expect((await review(bob, 'APPROVED')).json.official).toBe(false);
  });

  it.each([
    ['an approval of the caller’s own pull request', 'ada', 'APPROVED', 'x'],
    ['a rejection of the caller’s own pull request', 'ada', 'REQUEST_CHANGES', 'x'],
    ['a rejection without text', 'bob', 'REQUEST_CHANGES', ' '],
    ['a draft without text', 'bob', undefined, ''],
    ['a comment without text', 'bob', 'COMMENT', ''],
  ])('is refused if it is %s', async (_, who, event, body) => {
    expect((await review(who === 'ada' ? ada : bob, event, body)).status).toBe(422);
    expect(await list()).toEqual([]);
  });

  it('is superseded by a newer vote of its author, but not by a comment', async () => {
    const first = (await review(bob, 'APPROVED')).json.id;
    await review(bob, 'COMMENT', 'By the way');
    expect(await get(first)).toMatchObject({ dismissed: false, official: true });

    const second = (await review(bob, 'REQUEST_CHANGES', 'No.')).json.id;

    expect(await get(first)).toMatchObject({ dismissed: true, official: false, state: 'APPROVED' });
    expect(await get(second)).toMatchObject({ dismissed: false, official: true, state: 'REQUEST_CHANGES' });
  });

  it('is hidden from others as a draft until it is submitted', async () => {
    const { json } = await review(bob, 'PENDING', 'Wait');
    const path = `/pulls/1/reviews/${json.id}`;

    expect(json.state).toBe('PENDING');
    expect(await list()).toEqual([]);
    expect((await list(bob)).length).toBe(1);
    expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('POST', path, { event: 'APPROVED' }, eve)).status).toBe(404);
    expect((await ask('POST', path, { body: 'still' }, bob)).status).toBe(422);
    const submitted = await ask('POST', path, { event: 'APPROVED', body: 'Yes' }, bob);
    expect(submitted.json).toMatchObject({ id: json.id, state: 'APPROVED', body: 'Yes', official: true });
    expect((await ask('POST', path, { event: 'APPROVED' }, bob)).status).toBe(422);
    expect((await list()).length).toBe(1);
  });

  it('keeps comments on lines, with their resolution and replies', async () => {
    const comments = [
      { path: 'a.txt', body: 'Why two?', new_position: 2 },
      { path: 'gone.txt', body: 'Old', old_position: 4 },
    ];
    const { json } = await review(bob, 'COMMENT', '', { comments });
    const path = `/pulls/1/reviews/${json.id}/comments`;
    const [first, second] = (await ask('GET', path)).json.sort(
      (one: { id: number }, other: { id: number }) => one.id - other.id,
    );

    expect([json.state, json.comments_count]).toEqual(['COMMENT', 2]);
    expect(first).toMatchObject({
      body: 'Why two?',
      path: 'a.txt',
      position: 2,
      original_position: 0,
      pull_request_review_id: json.id,
      commit_id: head,
      resolver: null,
      user: { login: bob.name },
    });
    expect(first.diff_hunk).toMatch(/^@@ .* @@[\s\S]*\+two$/);
    expect(second).toMatchObject({ position: 0, original_position: 4 });
    expect((await ask('POST', `/pulls/comments/${first.id}/resolve`, undefined, eve)).status).toBe(403);
    expect((await ask('POST', `/pulls/comments/${first.id}/resolve`)).status).toBe(204);
    expect(
      (await ask('GET', path)).json.find((one: { id: number }) => one.id === first.id).resolver.login,
    ).toBe(ada.name);
    expect((await ask('POST', `/pulls/comments/${first.id}/unresolve`)).status).toBe(204);
    const reply = await ask('POST', `/pulls/1/comments/${first.id}/replies`, { body: 'Because.' });
    expect([reply.status, reply.json.pull_request_review_id, reply.json.position]).toEqual([201, json.id, 2]);
    expect((await ask('POST', `/pulls/1/comments/${first.id}/replies`, { body: '' })).status).toBe(422);
    expect((await ask('POST', `/pulls/9/comments/${first.id}/replies`, { body: 'x' })).status).toBe(404);
    const plain = (await ask('POST', '/issues/1/comments', { body: 'plain' })).json.id;
    expect((await ask('POST', `/pulls/comments/${plain}/resolve`)).status).toBe(400);
    expect((await ask('POST', '/pulls/comments/99999999/resolve')).status).toBe(404);
  });

  it('becomes stale when the changes differ, but not after a rebase', async () => {
    const { id } = (await review(bob, 'APPROVED')).json;

    await write('b.txt', 'more', { branch: 'topic' });
    await soon(id).toMatchObject({ stale: true, dismissed: false, official: true });
    const late = (await review(bob, 'APPROVED', '', { commit_id: head })).json;
    expect(late).toMatchObject({ stale: true, commit_id: head });
    const fresh = (await review(bob, 'APPROVED')).json;
    expect(fresh.stale).toBe(false);

    await write('elsewhere', 'x', { branch: 'main' });
    await ask('POST', '/pulls/1/update?style=rebase');
    await soon(fresh.id).toMatchObject({ stale: false });
  });

  it('is dismissed by a push if it is an approval and the branch protection says so, never if it is a rejection', async () => {
    await ask('POST', '/branch_protections', { rule_name: 'main', dismiss_stale_approvals: true });
    await forge.share(repository, ada, { with: eve, permission: 'write' });
    const [approval, rejection] = [
      (await review(bob, 'APPROVED')).json.id,
      (await review(eve, 'REQUEST_CHANGES', 'No')).json.id,
    ];

    await write('b.txt', 'more', { branch: 'topic' });

    await soon(approval).toMatchObject({ dismissed: true, stale: true, state: 'APPROVED' });
    await soon(rejection).toMatchObject({ dismissed: false, stale: true });
  });

  it('is dismissed and restored by administrators', async () => {
    const { id } = (await review(bob, 'APPROVED')).json;
    const path = `/pulls/1/reviews/${id}`;

    expect((await ask('POST', `${path}/dismissals`, { message: 'x' }, bob)).status).toBe(403);
    const dismissed = await ask('POST', `${path}/dismissals`, { message: 'Out of date' });
    expect([dismissed.status, dismissed.json.dismissed, dismissed.json.state]).toEqual([
      200,
      true,
      'APPROVED',
    ]);
    expect((await ask('POST', `${path}/dismissals`, {})).status).toBe(200);
    const back = await ask('POST', `${path}/undismissals`);
    expect([back.status, back.json.dismissed]).toEqual([200, false]);
  });

  it('is dismissed together with all earlier reviews of its author', async () => {
    const old = (await review(bob, 'APPROVED')).json.id;
    const { id } = (await review(bob, 'REQUEST_CHANGES', 'No')).json;
    await ask('POST', `/pulls/1/reviews/${old}/undismissals`);

    await ask('POST', `/pulls/1/reviews/${id}/dismissals`, { message: '', priors: true });

    expect([(await get(old)).dismissed, (await get(id)).dismissed]).toEqual([true, true]);
  });

  it('cannot be dismissed if it is a comment, belongs to another pull request or is unknown, or if its pull request is closed', async () => {
    const comment = (await review(bob, 'COMMENT', 'Hm')).json.id;
    const { id } = (await review(bob, 'APPROVED')).json;
    await write('c.txt', 'c', { new_branch: 'other' });
    await ask('POST', '/pulls', { title: 'Other', head: 'other', base: 'main' });
    const dismiss = async (path: string) => (await ask('POST', `${path}/dismissals`, { message: '' })).status;

    expect(await dismiss(`/pulls/1/reviews/${comment}`)).toBe(403);
    expect(await dismiss(`/pulls/2/reviews/${id}`)).toBe(404);
    expect(await dismiss(`/pulls/9/reviews/${id}`)).toBe(404);
    expect(await dismiss('/pulls/1/reviews/99999999')).toBe(404);
    await ask('PATCH', '/pulls/1', { state: 'closed' });
    expect(await dismiss(`/pulls/1/reviews/${id}`)).toBe(403);
    expect((await review(bob, 'APPROVED')).status).toBe(422);
    expect((await review(bob, 'COMMENT', 'Later')).status).toBe(200);
  });

  it('is deleted by its author, whose earlier review counts again', async () => {
    const first = (await review(bob, 'APPROVED')).json.id;
    const { id } = (await review(bob, 'REQUEST_CHANGES', 'No')).json;

    expect((await ask('DELETE', `/pulls/1/reviews/${id}`, undefined, eve)).status).toBe(403);
    expect((await ask('DELETE', `/pulls/1/reviews/${id}`, undefined, bob)).status).toBe(204);
    expect((await ask('GET', `/pulls/1/reviews/${id}`)).status).toBe(404);
    expect((await get(first)).official).toBe(true);
  });

  it('is requested, shown, fulfilled and withdrawn', async () => {
    const asked = await request([bob.name]);

    expect([asked.status, asked.json.length]).toEqual([201, 1]);
    expect(asked.json[0]).toMatchObject({
      state: 'REQUEST_REVIEW',
      user: { login: bob.name },
      commit_id: '',
      html_url: '',
      official: true,
    });
    expect((await request([bob.name])).json).toEqual([]);
    const pull = await ask('GET', '/pulls/1');
    expect(pull.json.requested_reviewers.map((user: { login: string }) => user.login)).toEqual([bob.name]);
    expect(pull.json.requested_reviewers_teams).toEqual([]);
    const [listed] = (await ask('GET', '/pulls')).json;
    expect(listed.requested_reviewers.map((user: { login: string }) => user.login)).toEqual([bob.name]);
    await review(bob, 'COMMENT', 'Seen');
    expect((await list()).map((one: { state: string }) => one.state)).toEqual(['COMMENT']);
    await request([bob.name]);
    const removed = await ask('DELETE', '/pulls/1/requested_reviewers', { reviewers: [bob.name] });
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await list()).map((one: { state: string }) => one.state)).toEqual(['COMMENT']);
  });

  it('is not official while its author is requested again', async () => {
    const { id } = (await review(bob, 'APPROVED')).json;

    await request([bob.name]);
    expect((await get(id)).official).toBe(false);
    await ask('DELETE', '/pulls/1/requested_reviewers', { reviewers: [bob.name] });
    expect((await get(id)).official).toBe(true);
  });

  it('cannot be requested from unknown accounts or the author, or by callers without permission', async () => {
    expect((await request(['missing-account'])).status).toBe(404);
    expect((await request([ada.name])).status).toBe(422);
    expect((await request([bob.name], eve)).status).toBe(422);
    expect(
      (await forge.ask('POST', `/repos/${repository}/pulls/1/requested_reviewers`, { body: {} })).status,
    ).toBe(401);
    expect((await ask('POST', '/pulls/9/requested_reviewers', {})).status).toBe(404);
    await review(bob, 'APPROVED');
    await ask('PATCH', '/pulls/1', { state: 'closed' });
    expect((await request([bob.name])).status).toBe(403);
    expect((await request([eve.name])).status).toBe(201);
  });

  it('is listed in pages for everyone who can read the repository', async () => {
    for (const text of ['1', '2', '3']) await review(bob, 'COMMENT', text);

    const page = await ask('GET', '/pulls/1/reviews?page=2&limit=2', undefined, eve);
    expect([page.json.map((one: { body: string }) => one.body), page.headers.get('x-total-count')]).toEqual([
      ['3'],
      '3',
    ]);
    expect(page.headers.get('link')).toBeNull();
    expect((await forge.ask('GET', `/repos/${repository}/pulls/1/reviews`)).status).toBe(200);
    expect((await forge.ask('POST', `/repos/${repository}/pulls/1/reviews`, { body: {} })).status).toBe(401);
    expect((await ask('GET', '/pulls/9/reviews')).status).toBe(404);
    expect((await ask('GET', '/pulls/1')).json.review_comments).toBe(3);
  });

  it('is evaluated again when the base of the pull request changes', async () => {
    await ask('POST', '/branches', { new_branch_name: 'strict' });
    await ask('POST', '/branch_protections', {
      rule_name: 'strict',
      enable_approvals_whitelist: true,
      approvals_whitelist_username: [ada.name],
    });
    const { id } = (await review(bob, 'APPROVED')).json;

    await ask('PATCH', '/pulls/1', { base: 'strict' });
    await soon(id).toMatchObject({ official: false });
    await ask('PATCH', '/pulls/1', { base: 'main' });
    await soon(id).toMatchObject({ official: true });
  });
});
