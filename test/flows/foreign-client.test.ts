import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type ContractForge, contractForges } from '../support/contract-forge.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

/** A third-party client of this API (npm: gitea-js). FOREIGN_CLIENT names its entry file if it is elsewhere. */
const specifier = process.env.FOREIGN_CLIENT ?? 'gitea-js';
// biome-ignore lint/suspicious/noExplicitAny: the client brings types of its own, which are not there without it
type Calls = Record<string, Record<string, (...given: any[]) => Promise<{ data: any; status: number }>>>;
type Foreign = { giteaApi(url: string, options: { token: string }): Calls };

const foreign: Foreign | undefined = await import(specifier).catch(() => undefined);
const title = foreign ? 'gitea-js' : 'gitea-js (left out: the package is not installed)';

describe.skipIf(!foreign)(title, () => {
  let forge: ContractForge;
  let receiver: HookReceiver;
  let ada: Account;
  let ben: Account;
  let api: Calls;
  let reviewer: Calls;
  const repo = 'driven';
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  beforeAll(async () => {
    // The last contract forge is the real server if the environment names one.
    forge = (await contractForges.at(-1)?.start()) as ContractForge;
    receiver = await startReceiver();
    [ada, ben] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    if (!foreign) return;
    api = foreign.giteaApi(forge.url, { token: ada.token });
    reviewer = foreign.giteaApi(forge.url, { token: ben.token });
  });
  afterAll(async () => {
    await forge.close();
    await receiver.close();
  });

  it('drives the forge from an empty account to a merged pull request', async () => {
    const { repos, user } = api;
    if (!repos || !user) throw new Error('the client has other groups of calls');
    const made = await user.createCurrentUserRepo?.({ name: repo, auto_init: true, default_branch: 'main' });
    expect(made?.data).toMatchObject({ name: repo, owner: { login: ada.name }, default_branch: 'main' });
    await repos.repoAddCollaborator?.(ada.name, repo, ben.name, { permission: 'write' });

    const config = { url: receiver.url, content_type: 'json' };
    const hook = await repos.repoCreateHook?.(ada.name, repo, {
      type: 'gitea',
      config,
      events: ['issues', 'pull_request'],
      active: true,
    });
    await repos.repoEditHook?.(ada.name, repo, hook?.data.id, {
      events: ['issues', 'pull_request', 'push'],
      active: true,
    });
    const hooks = await repos.repoListHooks?.(ada.name, repo);
    expect(hooks?.data[0].events).toEqual(expect.arrayContaining(['push', 'pull_request']));

    const bug = await repos.issueCreateLabel?.(ada.name, repo, { name: 'bug', color: '#ee0701' });
    const done = await repos.issueCreateLabel?.(ada.name, repo, { name: 'done', color: '#00aabb' });
    const issue = await repos.issueCreateIssue?.(ada.name, repo, { title: 'broken', labels: [bug?.data.id] });
    await repos.issueReplaceLabels?.(ada.name, repo, issue?.data.number, { labels: [done?.data.id] });
    await repos.issueCreateComment?.(ada.name, repo, issue?.data.number, { body: 'so it is' });
    const read = await repos.issueGetIssue?.(ada.name, repo, issue?.data.number);
    expect([read?.data.labels.map(({ name }: { name: string }) => name), read?.data.comments]).toEqual([
      ['done'],
      1,
    ]);

    await repos.repoCreateBranch?.(ada.name, repo, { new_branch_name: 'mended', old_branch_name: 'main' });
    await repos.repoCreateFile?.(ada.name, repo, 'mended.txt', {
      content: base64('fixed\n'),
      message: 'mend',
      branch: 'mended',
    });
    const branches = await repos.repoListBranches?.(ada.name, repo);
    expect(branches?.data.map(({ name }: { name: string }) => name).sort()).toEqual(['main', 'mended']);

    const rule = await repos.repoCreateBranchProtection?.(ada.name, repo, {
      rule_name: 'main',
      required_approvals: 1,
    });
    expect(rule?.data).toMatchObject({ rule_name: 'main', required_approvals: 1 });

    const pull = await repos.repoCreatePullRequest?.(ada.name, repo, {
      title: 'mend it',
      head: 'mended',
      base: 'main',
    });
    const number = pull?.data.number;
    const early = await repos
      .repoMergePullRequest?.(ada.name, repo, number, { Do: 'merge' })
      .catch((refused: { status: number }) => refused);
    expect(early?.status).toBe(405);

    const review = await reviewer.repos?.repoCreatePullReview?.(ada.name, repo, number, {
      event: 'APPROVED',
      body: 'fine',
    });
    expect(review?.data).toMatchObject({ state: 'APPROVED', official: true, user: { login: ben.name } });
    const reviews = await repos.repoListPullReviews?.(ada.name, repo, number);
    expect(reviews?.data.length).toBe(1);
    // A server checks for conflicts in the background, and refuses the merge until it knows.
    const isMergeable = async () =>
      (await repos.repoGetPullRequest?.(ada.name, repo, number))?.data.mergeable;
    await expect.poll(isMergeable, { timeout: timeoutMs }).toBe(true);
    await repos.repoMergePullRequest?.(ada.name, repo, number, { Do: 'merge' });
    const merged = await repos.repoGetPullRequest?.(ada.name, repo, number);
    const contents = await repos.repoGetContents?.(ada.name, repo, 'mended.txt');
    expect([merged?.data.merged, merged?.data.state]).toEqual([true, 'closed']);
    expect(Buffer.from(contents?.data.content, 'base64').toString()).toBe('fixed\n');

    await expect
      .poll(() => receiver.types(), { timeout: timeoutMs })
      .toEqual(expect.arrayContaining(['issues', 'pull_request', 'push']));
  });
});
