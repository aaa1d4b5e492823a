import { setTimeout } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { waitFor } from '../support/shared-repository.ts';

describeContract('scheduled merges', (forge, name) => {
  let ada: Account;
  let bob: Account;
  let cy: Account;
  let repository: string;
  let head: string;
  beforeAll(async () => {
    [ada, bob, cy] = await Promise.all([forge.makeUser(), forge.makeUser(), forge.makeUser()]);
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    for (const writer of [bob, cy]) await forge.share(repository, ada, { with: writer, permission: 'write' });
    head = await write('a.txt', { new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
    const terms = { enable_status_check: true, status_check_contexts: ['ci'] };
    await ask('POST', '/branch_protections', { rule_name: 'main', enable_push: true, ...terms });
    // A server computes mergeability in the background.
    await waitFor(
      () => ask('GET', '/pulls/1'),
      ({ json }) => json.mergeable === true,
    );
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, `/repos/${repository}${path}`, { as, body });
  async function write(path: string, more: object = {}): Promise<string> {
    const content = Buffer.from(path).toString('base64');
    return (await ask('POST', `/contents/${path}`, { content, message: path, ...more })).json.commit.sha;
  }
  const schedule = (more: object = {}, as = bob): Promise<Answer> =>
    ask('POST', '/pulls/1/merge', { do: 'squash', merge_when_checks_succeed: true, ...more }, as);
  const report = (state: string, context = 'ci'): Promise<Answer> =>
    ask('POST', `/statuses/${head}`, { state, context });
  const isMerged = async () => (await ask('GET', '/pulls/1/merge')).status === 204;
  /**
   * Returns whether the pull request becomes merged. A busy Forgejo skips a scheduled merge while it checks the pull
   * request, and the next status triggers the merge again.
   */
  async function becomesMerged(): Promise<boolean> {
    for (let tries = 0; name.startsWith('http') && tries < 30; tries++) {
      if (await isMerged()) return true;
      if (tries > 0) await report('success');
      await setTimeout(1000);
    }
    return waitFor(isMerged, Boolean);
  }
  const eventsOf = async (): Promise<string[]> =>
    (await ask('GET', '/issues/1/timeline')).json.map(({ type }: { type: string }) => type);

  it('happen as soon as the checks have passed, with the requested options', async () => {
    const message = { MergeTitleField: 'Title', MergeMessageField: 'Text' };
    const wish = { do: 'merge', ...message, delete_branch_after_merge: true };
    const scheduled = await schedule(wish);
    await report('pending');
    await report('success', 'other');
    const before = await isMerged();
    await report('success');
    const merged = await waitFor(isMerged, Boolean);
    const pull = (await ask('GET', '/pulls/1')).json;
    const commit = (await ask('GET', `/git/commits/${pull.merge_commit_sha}`)).json;
    const branch = await waitFor(
      () => ask('GET', '/branches/topic'),
      ({ status }) => status === 404,
    );

    expect([scheduled.status, scheduled.text, before, merged]).toEqual([201, '', false, true]);
    expect([pull.merged_by.login, commit.commit.message.trim()]).toEqual([bob.name, 'Title\n\nText']);
    expect(branch.status).toBe(404);
    expect(await eventsOf()).toEqual(expect.arrayContaining(['pull_scheduled_merge', 'merge_pull']));
  });

  it('happen immediately if the checks have already passed', async () => {
    await report('success');
    const { status } = await schedule();

    expect([status, await becomesMerged()]).toEqual([201, true]);
  });

  it('wait for approvals as well', async () => {
    await ask('PATCH', '/branch_protections/main', { required_approvals: 1 });
    // An administrator may force a merge, which a scheduled merge never does.
    await schedule({}, ada);
    await report('success');
    const before = await isMerged();
    await ask('POST', '/pulls/1/reviews', { event: 'APPROVED', commit_id: head }, cy);

    expect([before, await waitFor(isMerged, Boolean)]).toEqual([false, true]);
  });

  it('can be cancelled', async () => {
    await schedule();
    const cancelled = await ask('DELETE', '/pulls/1/merge', undefined, bob);
    await report('success');
    const again = await ask('DELETE', '/pulls/1/merge', undefined, bob);

    expect([cancelled.status, cancelled.text, again.status]).toEqual([204, '', 404]);
    expect(await isMerged()).toBe(false);
    expect(await eventsOf()).toEqual(
      expect.arrayContaining(['pull_scheduled_merge', 'pull_cancel_scheduled_merge']),
    );
    expect((await schedule()).status).toBe(201);
    expect(await becomesMerged()).toBe(true);
  });

  it('can be cancelled by accounts that may merge, and end with the merge', async () => {
    const reader = await forge.makeUser();
    await schedule();
    const byReader = await ask('DELETE', '/pulls/1/merge', undefined, reader);
    const anonymous = await forge.ask('DELETE', `/repos/${repository}/pulls/1/merge`);
    const byOther = await ask('DELETE', '/pulls/1/merge', undefined, cy);
    await schedule();
    await report('success');
    await waitFor(isMerged, Boolean);

    expect([byReader.status, anonymous.status, byOther.status]).toEqual([403, 401, 204]);
    expect((await ask('DELETE', '/pulls/1/merge', undefined, bob)).status).toBe(404);
  });

  it('are refused if one is already scheduled or if the merge would be refused', async () => {
    const reader = await forge.makeUser();
    const byReader = await schedule({}, reader);
    const first = await schedule();
    const second = await schedule();
    await ask('DELETE', '/pulls/1/merge', undefined, bob);
    await ask('PATCH', '/pulls/1', { title: 'WIP: A change' });
    const draft = await schedule();
    await ask('PATCH', '/pulls/1', { title: 'A change', state: 'closed' });
    const closed = await schedule();

    expect([byReader.status, first.status, second.status, draft.status, closed.status]).toEqual([
      405, 201, 409, 405, 404,
    ]);
    expect((await ask('DELETE', '/pulls/9/merge')).status).toBe(404);
  });
});
