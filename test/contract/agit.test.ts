import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type ContractForge, describeContract } from '../support/contract-forge.ts';
import { cloneRepository, type GitClone, tryGit } from '../support/git-client.ts';
import { startReceiver } from '../support/hook-receiver.ts';

describeContract('pushes for review', (forge: ContractForge) => {
  let owner: Account;
  let reader: Account;
  let repository: string;
  let work: GitClone;
  const clones: GitClone[] = [];
  beforeAll(async () => {
    owner = await forge.makeUser();
    reader = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(owner, { auto_init: true });
    work = await cloneAs(reader);
    await work.commit({ 'a.txt': 'a\n' }, 'Add a\n\nWhat a is for.');
  });
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  function addressOf(account: Account, name = repository): string {
    const url = new URL(`${forge.url}/${name}.git`);
    return Object.assign(url, { username: account.name, password: account.password }).href;
  }
  async function cloneAs(account: Account): Promise<GitClone> {
    const clone = await cloneRepository(addressOf(account));
    clones.push(clone);
    return clone;
  }
  /** Returns the output for the user, without the trailing spaces that git adds. */
  async function push(...args: string[]): Promise<string> {
    const { complaint } = await tryGit(work.folder, ['push', ...args]);
    return complaint.replace(/ +$/gm, '');
  }
  const pull = async (number: number) =>
    (await forge.ask('GET', `/repos/${repository}/pulls/${number}`, { as: owner })).json;
  const head = async () => (await work.git('rev-parse', 'HEAD')).trim();
  const refs = async () =>
    (await work.git('ls-remote', 'origin')).split('\n').flatMap((line) => line.split('\t')[1] ?? []);

  it('open a pull request for a reader with title and body from the commit, and create no branch', async () => {
    const seen = await push('origin', 'HEAD:refs/for/main/topic');

    expect(seen).toContain(
      `remote: Visit the existing pull request:\nremote:   ${forge.url}/${repository}/pulls/1\n`,
    );
    expect(seen).toContain('* [new reference]   HEAD -> refs/pull/1/head');
    expect(await pull(1)).toMatchObject({
      title: 'Add a',
      body: 'What a is for.',
      state: 'open',
      allow_maintainer_edit: false,
      user: { login: reader.name },
      base: { label: 'main', ref: 'main' },
      head: { label: '', ref: 'refs/pull/1/head', sha: await head(), repo: { full_name: repository } },
    });
    expect(await refs()).toEqual(['HEAD', 'refs/heads/main', 'refs/pull/1/head']);
  });

  it('take topic, title and description from push options, base64-encoded if they have line breaks', async () => {
    const description = `{base64}${Buffer.from('one\ntwo').toString('base64')}`;
    await push(
      '-o',
      'topic=x',
      '-o',
      'title=Hello',
      '-o',
      `description=${description}`,
      'origin',
      'HEAD:refs/for/main',
    );

    expect(await pull(1)).toMatchObject({ title: 'Hello', body: 'one\ntwo' });
  });

  it('update the pull request of the topic, and rewrite its commits only with the force-push option', async () => {
    await push('origin', 'HEAD:refs/for/main/topic');
    const same = await push('origin', 'HEAD:refs/for/main/topic');
    const first = await head();
    await work.commit({ 'b.txt': 'b\n' });
    const second = await push('-o', 'topic=topic', 'origin', 'HEAD:refs/for/main');
    const middle = await head();
    await work.git('commit', '--quiet', '--amend', '-m', 'other');
    const refused = await push('origin', 'HEAD:refs/for/main/topic');
    const before = await pull(1);
    const forced = await push('-o', 'force-push', 'origin', 'HEAD:refs/for/main/topic');

    expect(same).toContain('(new commit is same with old commit)');
    expect(second).toContain(`${first.slice(0, 7)}..${middle.slice(0, 7)}  HEAD -> refs/pull/1/head`);
    expect(refused).toContain('(request `force-push` push option)');
    expect(before.head.sha).toBe(middle);
    expect(forced).toContain('HEAD -> refs/pull/1/head (forced update)');
    expect((await pull(1)).head.sha).toBe(await head());
  });

  it('report why they are refused', async () => {
    const seen = [
      await push('origin', 'HEAD:refs/for/main'),
      await push('origin', ':refs/for/main/topic'),
      await push('origin', 'HEAD:main', 'HEAD:refs/for/main/topic'),
      await push('origin', 'HEAD:refs/draft/main/topic'),
      await push('origin', 'HEAD:refs/for-review/main/topic'),
      await push('origin', 'HEAD:refs/for/nothing/topic'),
    ];

    expect(seen.map((text) => /rejected\].*\((.+)\)$/m.exec(text)?.[1])).toEqual([
      'topic-branch is not set',
      "Can't delete not exist branch",
      ...Array(4).fill('pre-receive hook declined'),
    ]);
    expect(seen[2]).toContain('remote: error: User permission denied for writing.\n');
    expect((await pull(1)).head).toBeUndefined();
    expect(await refs()).toEqual(['HEAD', 'refs/heads/main']);
  });

  it('can be combined with branches in one push, and fail together with them if the push is atomic', async () => {
    work = await cloneAs(owner);
    await work.commit({ 'o.txt': 'o\n' });
    const atomic = await push('--atomic', 'origin', 'HEAD:refs/heads/y', 'HEAD:refs/for/main');
    const both = await push('origin', 'HEAD:refs/heads/x', 'HEAD:refs/for/main/topic');

    expect(atomic).toContain('HEAD -> y (fail to run proc-receive hook)');
    expect(both).toContain('* [new branch]      HEAD -> x\n');
    expect(both).toContain('* [new reference]   HEAD -> refs/pull/1/head');
    expect(both).toContain(
      `remote: Create a new pull request for 'x':\nremote:   ${forge.url}/${repository}/pulls/new/x\n`,
    );
    expect(await refs()).toEqual(['HEAD', 'refs/heads/main', 'refs/heads/x', 'refs/pull/1/head']);
  });

  it('create pull requests that are merged and closed like any other, but cannot be updated with the base', async () => {
    await push('origin', 'HEAD:refs/for/main/one');
    await push('origin', 'HEAD:refs/for/main/two');
    const path = `/repos/${repository}/pulls`;
    const update = await forge.ask('POST', `${path}/1/update`, { as: owner });
    await forge.ask('PATCH', `${path}/2`, { as: owner, body: { state: 'closed' } });
    await expect.poll(async () => (await pull(1)).mergeable).toBe(true);
    const merge = await forge.ask('POST', `${path}/1/merge`, {
      as: owner,
      body: { Do: 'merge', delete_branch_after_merge: true },
    });
    await work.commit({ 'c.txt': 'c\n' });
    const again = await push('origin', 'HEAD:refs/for/main/two');

    expect([update.status, merge.status]).toEqual([403, 200]);
    expect(await pull(1)).toMatchObject({ merged: true, head: { label: '', ref: 'refs/pull/1/head' } });
    expect(again).toContain('refs/pull/3/head');
    const commit = await forge.ask('GET', `/repos/${repository}/commits?limit=1&sha=main`, { as: owner });
    expect(commit.json[0].commit.message).toContain(`from ${reader.name}/one into main`);
  });

  it('need no push permission on a protected branch, but are rejected for blocked accounts', async () => {
    const protection = { rule_name: 'main', enable_push: false };
    await forge.ask('POST', `/repos/${repository}/branch_protections`, { as: owner, body: protection });
    const opened = await push('origin', 'HEAD:refs/for/main/topic');
    await forge.ask('PUT', `/user/blocks/${reader.name}`, { as: owner });
    const refused = await push('origin', 'HEAD:refs/for/main/other');
    await forge.ask('DELETE', `/user/blocks/${reader.name}`, { as: owner });

    expect(opened).toContain('refs/pull/1/head');
    expect(refused).toContain('blocked by the repository owner');
    expect((await pull(2)).head).toBeUndefined();
  });

  it('send pull request events', async () => {
    const receiver = await startReceiver();
    const config = { url: receiver.url, content_type: 'json' };
    const hook = {
      type: 'gitea',
      config,
      events: ['push', 'create', 'pull_request', 'pull_request_sync'],
      active: true,
    };
    await forge.ask('POST', `/repos/${repository}/hooks`, { as: owner, body: hook });
    await push('origin', 'HEAD:refs/for/main/topic');
    await work.commit({ 'b.txt': 'b\n' });
    await push('origin', 'HEAD:refs/for/main/topic');

    await expect.poll(() => receiver.received.length).toBe(2);
    const events = [...receiver.payloads('pull_request'), ...receiver.payloads('pull_request_sync')];
    const told = events.map(({ action, number, pull_request }) => [action, number, pull_request.head.sha]);
    await receiver.close();
    expect(told).toEqual([
      ['opened', 1, (await work.git('rev-parse', 'HEAD~1')).trim()],
      ['synchronized', 1, await head()],
    ]);
  });

  it('are rejected for accounts that cannot read the repository, and in an empty repository', async () => {
    const hidden = await forge.makeRepository(owner, { auto_init: true, private: true });
    const empty = await forge.makeRepository(owner);

    expect(await push(addressOf(reader, hidden), 'HEAD:refs/for/main/topic')).toContain('not found');
    expect(await push(addressOf(owner, empty), 'HEAD:refs/for/main/topic')).toContain(
      "remote: error: Can't create pull request for an empty repository.",
    );
  });

  it('keep their topic after the account is renamed', async () => {
    const person = await forge.makeUser();
    work = await cloneAs(person);
    await work.commit({ 'a.txt': 'a\n' });
    await push('origin', 'HEAD:refs/for/main/topic');
    const name = `${person.name}-new`;
    const answer = await forge.ask('POST', `/admin/users/${person.name}/rename`, {
      as: forge.adminToken,
      body: { new_username: name },
    });
    await work.commit({ 'b.txt': 'b\n' });
    const seen = await push(addressOf({ ...person, name }), 'HEAD:refs/for/main/topic');

    expect(answer.status).toBe(204);
    expect(seen).toContain('HEAD -> refs/pull/1/head');
  });

  it('can make a repository private or a template only with the first push', async () => {
    const empty = await forge.makeRepository(owner);
    const options = ['-o', 'repo.private=true', '-o', 'repo.template=true'];
    await push(...options, addressOf(owner, empty), 'HEAD:main');
    await push('-o', 'repo.private=true', addressOf(owner), 'HEAD:refs/heads/x');
    await forge.share(repository, owner, { with: reader, permission: 'write' });
    const refused = await push('-o', 'repo.private=true', 'origin', 'HEAD:refs/heads/y');

    const flags = async (name: string) => {
      const { json } = await forge.ask('GET', `/repos/${name}`, { as: owner });
      return [json.private, json.template];
    };
    expect([await flags(empty), await flags(repository)]).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(refused).toContain('remote: error: permission denied\n');
  });
});
