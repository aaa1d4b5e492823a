import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Account, type ContractForge, describeContract } from '../support/contract-forge.ts';
import { cloneRepository, type GitClone, tryGit } from '../support/git-client.ts';

describeContract('pushes through allow_maintainer_edit', (forge: ContractForge) => {
  let victim: Account;
  let stranger: Account;
  let repository: string;
  /** Fork that belongs to the stranger. */
  let fork: string;
  const clones: GitClone[] = [];
  beforeEach(async () => {
    [victim, stranger] = [await forge.makeUser(), await forge.makeUser()];
    repository = await forge.makeRepository(victim, { auto_init: true });
    await must('POST', `/repos/${repository}/branches`, victim, { new_branch_name: 'topic' });
    const made = await must('POST', `/repos/${repository}/forks`, stranger, {});
    fork = made.json.full_name;
    await commitTo(repository, victim, 'topic');
  });
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  async function must(method: string, path: string, as: Account, body?: object) {
    const answer = await forge.ask(method, path, { as, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
  let files = 0;
  function commitTo(place: string, as: Account, branch: string) {
    files += 1;
    const body = { content: 'eA==', message: 'x', branch };
    return must('POST', `/repos/${place}/contents/f${files}.txt`, as, body);
  }
  const tipOf = async (place: string, as: Account, branch: string): Promise<string | undefined> =>
    (await forge.ask('GET', `/repos/${place}/branches/${branch}`, { as })).json?.commit?.id;

  /** Clones a repository and pushes a new commit to a branch, or the given refspec. Returns whether git accepted it. */
  async function pushes(
    as: Account,
    place: string,
    target: string,
    { isRemoval = false } = {},
  ): Promise<boolean> {
    const url = new URL(`${forge.url}/${place}.git`);
    const clone = await cloneRepository(Object.assign(url, { username: as.name, password: as.token }).href);
    clones.push(clone);
    const tip = await tryGit(clone.folder, [
      'checkout',
      '--quiet',
      `origin/${target.replace('refs/heads/', '')}`,
    ]);
    if (!isRemoval) await clone.commit({ [`pushed-${clones.length}.txt`]: 'x\n' });
    const { code } = await tryGit(clone.folder, ['push', 'origin', `${isRemoval ? '' : 'HEAD'}:${target}`]);
    expect([tip.code, isRemoval]).not.toEqual([1, true]);
    return code === 0;
  }

  /** Opens a pull request into the fork of the stranger, with the branch `topic` of the victim as its head. */
  const openInFork = (as: Account) =>
    must('POST', `/repos/${fork}/pulls`, as, {
      title: 'mine',
      head: `${victim.name}:topic`,
      base: 'main',
      allow_maintainer_edit: true,
    });

  it('are refused if the author of the pull request can only read the head', async () => {
    await openInFork(stranger);
    const before = await tipOf(repository, victim, 'topic');

    const taken = [
      await pushes(stranger, repository, 'refs/heads/topic'),
      await pushes(stranger, repository, 'refs/heads/topic', { isRemoval: true }),
      await pushes(stranger, repository, 'refs/heads/main'),
      await pushes(stranger, repository, 'refs/heads/new'),
      await pushes(stranger, repository, 'refs/tags/new'),
    ];

    expect(taken).toEqual([false, false, false, false, false]);
    expect(await tipOf(repository, victim, 'topic')).toBe(before);
  });

  it('are refused by the API operation that updates the head with the base', async () => {
    await openInFork(stranger);
    await commitTo(fork, stranger, 'main');
    const before = await tipOf(repository, victim, 'topic');

    const answers = await Promise.all(
      ['merge', 'rebase'].map((style) =>
        forge.ask('POST', `/repos/${fork}/pulls/1/update?style=${style}`, { as: stranger }),
      ),
    );

    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(await tipOf(repository, victim, 'topic')).toBe(before);
  });

  it('are accepted from accounts with write access to the base while the author can write to the head', async () => {
    await forge.share(fork, stranger, { with: victim, permission: 'write' });
    await openInFork(victim);

    expect(await pushes(stranger, repository, 'refs/heads/topic')).toBe(true);
    expect(await pushes(stranger, repository, 'refs/heads/main')).toBe(false);
  });

  it('are refused once the author can no longer write to the head', async () => {
    const helper = await forge.makeUser();
    await forge.share(repository, victim, { with: helper, permission: 'write' });
    await openInFork(helper);
    const first = await pushes(stranger, repository, 'refs/heads/topic');
    await must('DELETE', `/repos/${repository}/collaborators/${helper.name}`, victim);

    const second = await pushes(stranger, repository, 'refs/heads/topic');
    await commitTo(fork, stranger, 'main');
    const update = await forge.ask('POST', `/repos/${fork}/pulls/1/update`, { as: stranger });

    expect([first, second, update.status]).toEqual([true, false, 403]);
  });

  it('are refused to accounts that have lost write access to the base, and once the pull request is closed', async () => {
    const maintainer = await forge.makeUser();
    await forge.share(fork, stranger, { with: maintainer, permission: 'write' });
    await openInFork(victim);
    const first = await pushes(maintainer, repository, 'refs/heads/topic');
    await must('DELETE', `/repos/${fork}/collaborators/${maintainer.name}`, stranger);
    const second = await pushes(maintainer, repository, 'refs/heads/topic');
    await must('PATCH', `/repos/${fork}/pulls/1`, victim, { state: 'closed' });
    const third = await pushes(stranger, repository, 'refs/heads/topic');

    expect([first, second, third]).toEqual([true, false, false]);
  });

  it('can be allowed only by an author with write access to the head', async () => {
    await openInFork(stranger);
    const reader = await forge.makeUser();
    const allow = (as: Account, place: string, number: number) =>
      forge.ask('PATCH', `/repos/${place}/pulls/${number}`, { as, body: { allow_maintainer_edit: true } });
    const own = await must('POST', `/repos/${repository}/pulls`, stranger, {
      title: 'from the fork',
      head: `${stranger.name}:main`,
      base: 'topic',
      allow_maintainer_edit: false,
    });
    const number = own.json.number;

    const statuses = [
      (await allow(stranger, fork, 1)).status,
      (await allow(victim, repository, number)).status,
      (await allow(reader, repository, number)).status,
    ];
    const shown = await must('GET', `/repos/${repository}/pulls/${number}`, victim);
    const byAuthor = await allow(stranger, repository, number);

    expect(statuses).toEqual([403, 403, 403]);
    expect(shown.json.allow_maintainer_edit).toBe(false);
    expect([byAuthor.status, byAuthor.json.allow_maintainer_edit]).toEqual([201, true]);
  });
});
