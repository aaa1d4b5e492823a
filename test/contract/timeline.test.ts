import { beforeEach, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

type Entry = {
  readonly id: number;
  readonly type: string;
  readonly body: string;
  readonly user: { readonly login: string };
  readonly [member: string]: unknown;
};

describeContract('the timeline', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge, { auto_init: true });
  });

  const entries = async (number = 1): Promise<Entry[]> =>
    (await shared.ask('GET', `/issues/${number}/timeline`)).json ?? [];
  const types = async (number = 1) => (await entries(number)).map(({ type }) => type);
  const ofType = async (type: string, number = 1) =>
    (await entries(number)).filter((entry) => entry.type === type);
  const edit = (body: object, number = 1) => shared.ask('PATCH', `/issues/${number}`, { body });

  describe('of an issue', () => {
    beforeEach(async () => {
      await shared.ask('POST', '/issues', { body: { title: 'one' } });
    });

    it('is null at first', async () => {
      expect((await shared.ask('GET', '/issues/1/timeline')).json).toBeNull();
    });

    it('has comments among the events, in order, with ids from one sequence', async () => {
      const first = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'why' } })).json;
      await edit({ state: 'closed' });
      const second = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'so' }, as: 'reader' }))
        .json;
      await edit({ state: 'open' });

      const found = await entries();
      expect(found.map(({ type }) => type)).toEqual(['comment', 'close', 'comment', 'reopen']);
      expect(found[0]).toMatchObject({ id: first.id, body: 'why', html_url: first.html_url });
      expect(found[2]).toMatchObject({ id: second.id, user: { login: shared.reader.name } });
      expect(found[1]).toMatchObject({ user: { login: shared.owner.name }, body: '', ref_action: 'none' });
      expect(found[1]?.issue_url).toMatch(/\/issues\/1$/);
      expect(new Set(found.map(({ id }) => id)).size).toBe(4);
    });

    it('includes added and removed assignees', async () => {
      await edit({ assignees: [shared.writer.name] });
      await edit({ assignees: [] });

      const found = await ofType('assignees');
      expect(found).toMatchObject([
        {
          assignee: { login: shared.writer.name },
          removed_assignee: false,
          user: { login: shared.owner.name },
        },
        { assignee: { login: shared.writer.name }, removed_assignee: true },
      ]);
    });

    it('includes labels, milestones, titles, due dates and branches', async () => {
      const label = (await shared.ask('POST', '/labels', { body: { name: 'bug', color: 'fff' } })).json.id;
      const milestone = (await shared.ask('POST', '/milestones', { body: { title: 'v1' } })).json.id;
      await shared.ask('POST', '/issues/1/labels', { body: { labels: [label] } });
      await shared.ask('DELETE', `/issues/1/labels/${label}`);
      await edit({ milestone });
      await edit({ milestone: 0 });
      await edit({ title: 'two' });
      await edit({ ref: 'refs/heads/main' });

      expect(await entries()).toMatchObject([
        { type: 'label', body: '1', label: { id: label, name: 'bug' } },
        { type: 'label', body: '', label: { id: label } },
        { type: 'milestone', milestone: { id: milestone }, old_milestone: null },
        { type: 'milestone', milestone: null, old_milestone: { id: milestone } },
        { type: 'change_title', old_title: 'one', new_title: 'two' },
        { type: 'change_issue_ref', old_ref: '', new_ref: 'main' },
      ]);
    });

    it('includes due dates as days', async () => {
      await edit({ due_date: '2030-05-06T10:00:00Z' });
      await edit({ due_date: '2031-05-06T10:00:00Z' });
      await shared.ask('POST', '/issues/1/deadline', { body: { due_date: null } });

      const found = (await entries()).map(({ type, body }) => [type, body]);
      expect(found).toEqual([
        ['added_deadline', '2030-05-06'],
        ['modified_deadline', '2031-05-06|2030-05-06'],
        ['removed_deadline', '2031-05-06'],
      ]);
    });

    it('includes locks with their reason, and pins', async () => {
      await shared.ask('PUT', '/issues/1/lock', { body: { lock_reason: 'off-topic' } });
      await shared.ask('PUT', '/issues/1/lock', { body: { lock_reason: 'again' } });
      await shared.ask('DELETE', '/issues/1/lock');
      await shared.ask('POST', '/issues/1/pin');
      await shared.ask('DELETE', '/issues/1/pin');

      const found = (await entries()).map(({ type, body }) => [type, body]);
      expect(found).toEqual([
        ['lock', 'off-topic'],
        ['unlock', ''],
        ['pin', ''],
        ['unpin', ''],
      ]);
    });

    it('includes tracked times in words, and dependencies on both issues', async () => {
      const [owner, repo] = shared.fullName.split('/');
      await shared.ask('POST', '/issues', { body: { title: 'two' } });
      await shared.ask('POST', '/issues/1/times', { body: { time: 3660 } });
      await shared.ask('DELETE', '/issues/1/times');
      const other = { owner, repo, index: 2 };
      await shared.ask('POST', '/issues/1/dependencies', { body: other });
      await shared.ask('DELETE', '/issues/1/dependencies', { body: other });

      expect(await entries()).toMatchObject([
        { type: 'add_time_manual', body: '1 hour 1 minute', tracked_time: { time: 3660 } },
        { type: 'delete_time_manual', body: '1 hour 1 minute' },
        { type: 'add_dependency', dependent_issue: { number: 2 } },
        { type: 'remove_dependency', dependent_issue: { number: 2 } },
      ]);
      expect(await entries(2)).toMatchObject([
        { type: 'add_dependency', dependent_issue: { number: 1 } },
        { type: 'remove_dependency', dependent_issue: { number: 1 } },
      ]);
    });

    it('begins with the initial state of the issue', async () => {
      const label = (await shared.ask('POST', '/labels', { body: { name: 'bug', color: 'fff' } })).json.id;
      const milestone = (await shared.ask('POST', '/milestones', { body: { title: 'v1' } })).json.id;
      const body = { title: 'two', labels: [label], milestone, assignees: [shared.writer.name] };
      await shared.ask('POST', '/issues', { body });

      expect(await types(2)).toEqual(['milestone', 'label', 'assignees']);
    });

    it('includes references from issues and comments, also removed ones', async () => {
      await shared.ask('POST', '/issues', { body: { title: 'see #1', body: 'and #1 again, not `#1`' } });
      const path = '/issues/2/comments';
      const comment = (await shared.ask('POST', path, { body: { body: 'like #1' }, as: 'reader' })).json;
      const refers = async () => (await entries()).filter(({ type }) => type.endsWith('_ref'));

      expect(await refers()).toMatchObject([
        { type: 'issue_ref', ref_issue: { number: 2 }, ref_comment: null, ref_action: 'none' },
        {
          type: 'comment_ref',
          ref_issue: { number: 2 },
          ref_comment: { id: comment.id, body: 'like #1' },
          user: { login: shared.reader.name },
        },
      ]);
      await edit({ title: 'see', body: 'nothing' }, 2);
      await shared.ask('PATCH', `/issues/comments/${comment.id}`, { body: { body: 'still like #1' } });
      expect((await refers()).map(({ ref_action }) => ref_action)).toEqual(['neutered', 'none']);
      await shared.ask('PATCH', `/issues/comments/${comment.id}`, { body: { body: 'unlike' } });
      expect((await refers()).map(({ ref_action }) => ref_action)).toEqual(['neutered', 'neutered']);
    });

    it('includes commits that refer to the issue, once each', async () => {
      const body = { content: '', message: 'fix <it>, see #1 and #1' };
      const { sha } = (await shared.ask('POST', '/contents/x', { body: { ...body, new_branch: 'fix' } })).json
        .commit;
      const told = async () => (await ofType('commit_ref')).map(({ ref_commit_sha }) => ref_commit_sha);
      // A commit that is already on two branches when the forge processes the push counts as new on neither.
      await expect.poll(told).toEqual([sha]);
      await shared.ask('POST', '/branches', { body: { new_branch_name: 'again', old_branch_name: 'fix' } });

      expect(await told()).toEqual([sha]);
      expect((await ofType('commit_ref'))[0]?.body).toBe(
        `<a href="/${shared.fullName}/commit/${sha}">fix &lt;it&gt;, see #1 and #1</a>`,
      );
    });

    it('counts only the entries of a page, and filters by time', async () => {
      for (const body of ['a', 'b', 'c']) await shared.ask('POST', '/issues/1/comments', { body: { body } });
      const page = (query: string) => shared.ask('GET', `/issues/1/timeline?${query}`);
      const [first, second, third] = [
        await page('page=1&limit=2'),
        await page('page=2&limit=2'),
        await page('page=3&limit=2'),
      ];

      expect([first.json.length, second.json.length, third.json]).toEqual([2, 1, null]);
      expect(first.headers.get('x-total-count')).toBe('2');
      expect(second.headers.get('x-total-count')).toBe('1');
      expect((await page('since=2100-01-01T00:00:00Z')).json).toBeNull();
      expect((await page('before=2100-01-01T00:00:00Z')).json).toHaveLength(3);
      expect((await page('since=soon')).status).toBe(422);
    });

    it('requires read access', async () => {
      expect(await shared.statuses('GET', '/issues/1/timeline')).toEqual([200, 200, 200, 404, 404]);
      // Gitea returns 500.
      expect([404, 500]).toContain((await shared.ask('GET', '/issues/9/timeline')).status);
    });
  });

  describe('of a pull request', () => {
    const write = async (path: string, more: object): Promise<string> => {
      const content = Buffer.from(freshName('text')).toString('base64');
      const body = { content, message: path, ...more };
      return (await shared.ask('POST', `/contents/${path}`, { body })).json.commit.sha;
    };
    let commit: string;
    beforeEach(async () => {
      commit = await write('a.txt', { new_branch: 'topic' });
      await shared.ask('POST', '/pulls', { body: { title: 'one', head: 'topic', base: 'main' } });
    });
    const review = (event: string, as: 'writer' | Account = 'writer') =>
      shared.ask('POST', '/pulls/1/reviews', { body: { event, body: event }, as });

    it('includes the pushed commits', async () => {
      const next = await write('b.txt', { branch: 'topic' });

      await expect
        .poll(async () => (await ofType('pull_push')).map(({ body }) => JSON.parse(body)))
        .toEqual([
          { is_force_push: false, commit_ids: [commit] },
          { is_force_push: false, commit_ids: [next] },
        ]);
      expect((await entries())[0]?.pull_request_url).toMatch(/\/pulls\/1$/);
    });

    it('is referenced in the timeline of an issue that the pull request would close', async () => {
      await shared.ask('POST', '/issues', { body: { title: 'broken' } });
      await shared.ask('PATCH', '/pulls/1', { body: { body: 'Fixes #2' } });

      expect(await ofType('pull_ref', 2)).toMatchObject([{ ref_issue: { number: 1 }, ref_action: 'closes' }]);
    });

    it('includes review requests and their withdrawal, with the requesting account', async () => {
      const reviewers = [shared.writer.name];
      const path = '/pulls/1/requested_reviewers';
      const asked = (await shared.ask('POST', path, { body: { reviewers } })).json[0].id;
      await shared.ask('POST', path, { body: { reviewers } });
      await shared.ask('DELETE', path, { body: { reviewers }, as: 'writer' });

      expect(await ofType('review_request')).toMatchObject([
        {
          assignee: { login: shared.writer.name },
          removed_assignee: false,
          review_id: asked,
          user: { login: shared.owner.name },
        },
        {
          assignee: { login: shared.writer.name },
          removed_assignee: true,
          user: { login: shared.writer.name },
        },
      ]);
    });

    it('includes requests to teams', async () => {
      const organization = await forge.makeOrganization(shared.owner);
      const repository = await forge.makeRepository(shared.owner, { in: organization, auto_init: true });
      const units_map = { 'repo.code': 'write', 'repo.pulls': 'write' };
      const team = (
        await forge.ask('POST', `/orgs/${organization}/teams`, {
          as: shared.owner,
          body: { name: 'core', permission: 'write', includes_all_repositories: true, units_map },
        })
      ).json;
      const ask = (method: string, path: string, body?: object) =>
        forge.ask(method, `/repos/${repository}${path}`, { as: shared.owner, body });
      await ask('POST', '/contents/a.txt', { content: 'YQ==', new_branch: 'topic' });
      await ask('POST', '/pulls', { title: 'one', head: 'topic', base: 'main' });
      await ask('POST', '/pulls/1/requested_reviewers', { team_reviewers: ['core'] });
      await ask('DELETE', '/pulls/1/requested_reviewers', { team_reviewers: ['core'] });

      const found = (await ask('GET', '/issues/1/timeline')).json as Entry[];
      expect(found.filter(({ type }) => type === 'review_request')).toMatchObject([
        { assignee: null, assignee_team: { id: team.id, name: 'core' }, removed_assignee: false },
        { assignee: null, assignee_team: { id: team.id }, removed_assignee: true },
      ]);
    });

    it('includes reviews and their dismissal, and drops both when the review is deleted', async () => {
      const first = (await review('APPROVED')).json.id;
      await shared.ask('POST', `/pulls/1/reviews/${first}/dismissals`, { body: { message: 'too soon' } });
      const ofReviews = async () =>
        (await entries()).filter(({ type }) => ['review', 'dismiss_review'].includes(type));

      expect(await ofReviews()).toMatchObject([
        { type: 'review', body: 'APPROVED', review_id: first, user: { login: shared.writer.name } },
        { type: 'dismiss_review', body: 'too soon', review_id: first, user: { login: shared.owner.name } },
      ]);
      await shared.ask('DELETE', `/pulls/1/reviews/${first}`, { as: 'writer' });
      expect(await ofReviews()).toEqual([]);
    });

    it('includes a base change, the merge and the deleted branch', async () => {
      await shared.ask('POST', '/branches', { body: { new_branch_name: 'next', old_branch_name: 'main' } });
      await shared.ask('PATCH', '/pulls/1', { body: { base: 'next' } });
      const body = { do: 'merge', delete_branch_after_merge: true };
      expect((await shared.ask('POST', '/pulls/1/merge', { body })).status).toBe(200);

      const found = await entries();
      expect(found.find(({ type }) => type === 'change_target_branch')).toMatchObject({
        old_ref: 'main',
        new_ref: 'next',
      });
      // Forgejo also records that the merge commit refers to the pull request itself.
      const own = found.filter(({ type }) => type !== 'commit_ref');
      expect(own.slice(-2)).toMatchObject([
        { type: 'merge_pull', user: { login: shared.owner.name } },
        { type: 'delete_branch', old_ref: 'topic' },
      ]);
    });

    it('includes closing and reopening', async () => {
      await edit({ state: 'closed' });
      await edit({ state: 'open' });

      expect((await types()).slice(-2)).toEqual(['close', 'reopen']);
    });
  });
});
