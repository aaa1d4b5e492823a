import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('merging', (forge) => {
  let ada: Account;
  let repository: string;
  let head: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await write('a.txt', 'one\n', { new_branch: 'topic' });
    head = await write('b.txt', 'two\n', { branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
  });

  const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  async function write(path: string, text: string, more: object = {}): Promise<string> {
    const content = Buffer.from(text).toString('base64');
    return (await ask('POST', `/contents/${path}`, { content, message: path, ...more })).json.commit.sha;
  }
  const merge = (body: object): Promise<Answer> => ask('POST', '/pulls/1/merge', body);
  it.each(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'])(
    'as %s adds the files to the base',
    async (style) => {
      if (style !== 'fast-forward-only') await write('elsewhere', 'x');

      const { status, text } = await merge({ do: style });

      expect([status, text]).toEqual([200, '']);
      expect((await ask('GET', '/contents/b.txt')).status).toBe(200);
      const { json } = await ask('GET', '/pulls/1');
      const main = (await ask('GET', '/branches/main')).json.commit;
      expect(json).toMatchObject({
        state: 'closed',
        merged: true,
        merged_by: { login: ada.name },
        merge_commit_sha: main.id,
      });
      expect((await ask('GET', '/pulls/1/merge')).status).toBe(204);
    },
  );

  it('as rebase drops a merge with the base, even if the head contains the base', async () => {
    await write('elsewhere', 'x');
    const base = (await ask('GET', '/branches/main')).json.commit.id;
    expect((await ask('POST', '/pulls/1/update')).status).toBe(200);
    const updated = (await ask('GET', '/branches/topic')).json.commit.id;

    expect((await merge({ do: 'rebase' })).status).toBe(200);

    const main = (await ask('GET', '/branches/main')).json.commit.id;
    const commits = (await ask('GET', `/compare/${base}...${main}`)).json.commits;
    expect(commits.map(({ parents }: { parents: readonly object[] }) => parents.length)).toEqual([1, 1]);
    expect(main).not.toBe(updated);
    expect((await ask('GET', '/contents/b.txt')).status).toBe(200);
  });

  it('records who merged, except in lists', async () => {
    await merge({ do: 'merge' });

    expect((await ask('GET', '/pulls/1')).json.merged_by).toMatchObject({ login: ada.name });
    const [listed] = (await ask('GET', '/pulls?state=closed')).json;
    expect([listed.merged, listed.merged_by]).toEqual([true, null]);
  });

  it('names the pull request in the commit message', async () => {
    await merge({ Do: 'merge' });
    const message = (await ask('GET', '/branches/main')).json.commit.message;

    expect(message).toMatch(/^Merge pull request 'A change' \(#1\) from topic into main\n/);
  });

  it('accepts the field names of Go clients', async () => {
    await merge({ Do: 'squash', MergeTitleField: 'Mine', MergeMessageField: 'And why' });

    const { message } = (await ask('GET', '/branches/main')).json.commit;
    expect(message).toMatch(/^Mine\n\nAnd why/);
  });

  it('deletes the head branch on request', async () => {
    await merge({ do: 'squash', delete_branch_after_merge: true, merge_title_field: 'Mine' });

    expect((await ask('GET', '/branches/topic')).status).toBe(404);
    expect((await ask('GET', '/branches/main')).json.commit.message).toMatch(/^Mine\n/);
  });

  it.each([
    [{}, 404],
    [{ delete_branch_after_merge: false }, 200],
  ])(
    'deletes the head branch if this is the default of the repository and the request does not override it: %j',
    async (more, status) => {
      await ask('PATCH', '', { has_pull_requests: true, default_delete_branch_after_merge: true });
      expect((await merge({ do: 'merge', ...more })).status).toBe(200);

      expect((await ask('GET', '/branches/topic')).status).toBe(status);
    },
  );

  it('keeps a head branch that another pull request uses, and the default branch', async () => {
    await ask('POST', '/branches', { new_branch_name: 'next', old_branch_name: 'main' });
    await ask('POST', '/pulls', { title: 'Another', head: 'topic', base: 'next' });
    // Forgejo merges, and reports with 403 that it kept the branch.
    expect([200, 403]).toContain((await merge({ do: 'merge', delete_branch_after_merge: true })).status);
    expect((await ask('GET', '/branches/topic')).status).toBe(200);

    await ask('POST', '/branches', { new_branch_name: 'old', old_branch_name: 'next' });
    await write('d.txt', 'four\n', { branch: 'main' });
    const { number } = (await ask('POST', '/pulls', { title: 'Back', head: 'main', base: 'old' })).json;
    const back = { do: 'merge', delete_branch_after_merge: true };
    expect([200, 403]).toContain((await ask('POST', `/pulls/${number}/merge`, back)).status);
    expect((await ask('GET', '/branches/main')).status).toBe(200);
  });

  it('is refused for merged, draft or closed pull requests, unknown styles and moved heads', async () => {
    expect((await merge({ do: 'octopus' })).status).toBe(422);
    expect((await merge({ do: 'merge', head_commit_id: '0'.repeat(40) })).status).toBe(409);
    await ask('PATCH', '/pulls/1', { title: 'WIP: x' });
    expect((await merge({ do: 'merge' })).status).toBe(405);
    await ask('PATCH', '/pulls/1', { title: 'x', state: 'closed' });
    expect((await merge({ do: 'merge' })).status).toBe(404);
    await ask('PATCH', '/pulls/1', { state: 'open' });
    expect((await merge({ do: 'merge', head_commit_id: head })).status).toBe(200);
    expect((await merge({ do: 'merge' })).status).toBe(405);
    expect((await ask('PATCH', '/pulls/1', { state: 'open' })).status).toBe(412);
  });

  it('is refused if the branches conflict', async () => {
    await write('a.txt', 'other\n');
    // Servers check for conflicts in the background. Before that check, Forgejo tries a requested merge, and returns
    // 500 for a fast-forward.
    const isMergeable = async () => (await ask('GET', '/pulls/1')).json.mergeable;
    await expect.poll(isMergeable).toBe(false);

    for (const style of ['merge', 'rebase', 'squash', 'fast-forward-only']) {
      const answer = await forge.askOnce('POST', `/repos/${repository}/pulls/1/merge`, {
        as: ada,
        body: { do: style },
      });
      // 405 for a known conflict, 409 if the merge was tried.
      expect([405, 409], answer.text).toContain(answer.status);
    }
    expect((await ask('GET', '/pulls/1')).json).toMatchObject({ state: 'open', mergeable: false });
  });

  it('is refused in a style that the repository disallows', async () => {
    await ask('PATCH', '', { has_pull_requests: true, allow_squash_merge: false });

    expect((await merge({ do: 'squash' })).status).toBe(405);
  });

  it('requires write access', async () => {
    const reader = await forge.makeUser();

    expect([403, 405]).toContain((await ask('POST', '/pulls/1/merge', { do: 'merge' }, reader)).status);
  });

  describe('from a fork', () => {
    it('works like merging from a branch of the same repository', async () => {
      const other = await forge.makeUser();
      const forked = await ask('POST', '/forks', {}, other);
      const name = repository.split('/')[1];
      const fork = `${other.name}/${name}`;
      const body = { content: 'eA==', message: 'forked', new_branch: 'mine' };
      await forge.ask('POST', `/repos/${fork}/contents/c.txt`, { as: other, body });

      const pull = { title: 'From afar', head: `${other.name}:mine`, base: 'main' };
      const opened = await ask('POST', '/pulls', pull, other);
      const next = { content: 'eA==', message: 'more', branch: 'mine' };
      const pushed = await forge.ask('POST', `/repos/${fork}/contents/d.txt`, { as: other, body: next });

      expect([forked.status, forked.json.full_name, forked.json.fork]).toEqual([202, fork, true]);
      expect(forked.json.parent.full_name).toBe(repository);
      expect(opened.json).toMatchObject({
        head: { label: 'mine', ref: 'mine', repo: { full_name: fork } },
        base: { repo: { full_name: repository } },
        changed_files: 1,
      });
      const seen = async () => {
        const { json } = await ask('GET', '/pulls/2');
        return [json.head.sha, json.changed_files];
      };
      await expect.poll(seen).toEqual([pushed.json.commit.sha, 2]);
      expect((await ask('GET', `/pulls/main/${other.name}:mine`)).json.number).toBe(2);
      expect((await ask('POST', '/pulls/2/merge', { do: 'merge' })).status).toBe(200);
      expect((await ask('GET', '/contents/d.txt')).status).toBe(200);
    });

    it("allows one fork per account, and only in the account's own organizations", async () => {
      const other = await forge.makeUser();
      const organization = await forge.makeOrganization(ada);

      expect((await ask('POST', '/forks', { organization }, other)).status).toBe(403);
      expect((await ask('POST', '/forks', { organization: 'nothing-at-all' }, other)).status).toBe(404);
      expect((await ask('POST', '/forks', { name: 'mine' }, other)).json.name).toBe('mine');
      expect((await ask('POST', '/forks', {}, other)).status).toBe(409);
      expect((await ask('POST', '/forks', { organization })).status).toBe(202);
      const misnamed = await ask('POST', '/forks', { name: 'bad/name' }, await forge.makeUser());
      // Gitea returns 500.
      expect([422, 500]).toContain(misnamed.status);
    });
  });
});
