import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('merging into a protected branch', (forge) => {
  let ada: Account;
  let bob: Account;
  let reader: Account;
  let repository: string;
  let head: string;
  beforeAll(async () => {
    [ada, bob, reader] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: bob, permission: 'write' });
    head = await write('docs/a.txt', 'one\n', { new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
    await ask('GET', '/pulls/1');
  });

  const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  async function write(path: string, text: string, more: object = {}): Promise<string> {
    const content = Buffer.from(text).toString('base64');
    return (await ask('POST', `/contents/${path}`, { content, message: path, ...more })).json.commit.sha;
  }
  const protect = (terms: object): Promise<Answer> =>
    ask('POST', '/branch_protections', { rule_name: 'main', ...terms });
  const merge = async (as: Account = bob, more: object = {}): Promise<number> =>
    (await ask('POST', '/pulls/1/merge', { do: 'merge', ...more }, as)).status;
  const approve = (as: Account): Promise<Answer> =>
    ask('POST', '/pulls/1/reviews', { event: 'APPROVED' }, as);
  const report = (state: string, context: string): Promise<Answer> =>
    ask('POST', `/statuses/${head}`, { state, context });

  it('is possible although no account may push', async () => {
    await protect({});

    expect(await merge()).toBe(200);
  });

  it('requires official approvals', async () => {
    await protect({ required_approvals: 1 });
    expect(await merge()).toBe(405);
    await approve(reader);
    expect(await merge()).toBe(405);
    await approve(bob);

    expect(await merge()).toBe(200);
  });

  it('counts stale approvals by default', async () => {
    await protect({ required_approvals: 1, ignore_stale_approvals: true });
    const { id } = (await approve(bob)).json;
    await write('b.txt', 'more', { branch: 'topic' });
    const isStale = async () => (await ask('GET', `/pulls/1/reviews/${id}`)).json.stale;
    await expect.poll(isStale).toBe(true);

    expect(await merge()).toBe(405);
    await ask('PATCH', '/branch_protections/main', { ignore_stale_approvals: false });
    expect(await merge()).toBe(200);
  });

  it('is blocked by a rejection until the rejection is dismissed', async () => {
    await protect({ block_on_rejected_reviews: true });
    const { json } = await ask('POST', '/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'No' }, bob);

    expect(await merge()).toBe(405);
    await ask('POST', `/pulls/1/reviews/${json.id}/dismissals`, { message: 'Well' });
    expect(await merge()).toBe(200);
  });

  it('is blocked by an official review request until it is fulfilled', async () => {
    await protect({ block_on_official_review_requests: true });
    await ask('POST', '/pulls/1/requested_reviewers', { reviewers: [bob.name] });

    expect(await merge()).toBe(405);
    await ask('POST', '/pulls/1/reviews', { event: 'COMMENT', body: 'Fine' }, bob);
    expect(await merge()).toBe(200);
  });

  it('requires a successful status for every pattern', async () => {
    await protect({ enable_status_check: true, status_check_contexts: ['ci/*', 'lint'] });
    expect(await merge()).toBe(405);
    await report('success', 'ci/unit/linux');
    expect(await merge()).toBe(405);
    await report('failure', 'other');
    await report('pending', 'lint');
    expect(await merge()).toBe(405);
    await report('skipped', 'lint');

    expect(await merge()).toBe(200);
  });

  it('requires every status to succeed if there is no pattern', async () => {
    await protect({ enable_status_check: true });
    expect(await merge()).toBe(405);
    await report('success', 'a');
    await report('warning', 'b');
    expect(await merge()).toBe(405);
    await report('success', 'b');

    expect(await merge()).toBe(200);
  });

  it('is blocked while the head is behind its base', async () => {
    await protect({ block_on_outdated_branch: true, enable_push: true });
    await write('elsewhere', 'x', { branch: 'main' });
    // The distance to the base is computed in the background, but immediately for a new pull request.
    await ask('PATCH', '/pulls/1', { state: 'closed' });
    await ask('POST', '/pulls', { title: 'Late', head: 'topic', base: 'main' });
    const mergeLate = async () => (await ask('POST', '/pulls/2/merge', { do: 'merge' }, bob)).status;

    expect(await mergeLate()).toBe(405);
    await ask('POST', '/pulls/2/update?style=merge');
    await expect.poll(mergeLate).toBe(200);
  });

  it('is blocked by a protected file', async () => {
    await protect({ protected_file_patterns: 'LICENSE;docs/*.txt' });

    expect(await merge()).toBe(405);
    await ask('PATCH', '/branch_protections/main', { protected_file_patterns: '*.txt;docs/*' });
    expect(await merge()).toBe(200);
  });

  it('is allowed only for accounts on the allowlist', async () => {
    await protect({ enable_merge_whitelist: true, merge_whitelist_usernames: [bob.name] });

    expect(await merge(ada)).toBe(405);
    expect(await merge(reader)).toBe(405);
    expect(await merge(bob)).toBe(200);
  });

  it('can be forced by administrators and the bypass list, only on request, unless overrides are blocked', async () => {
    await protect({ required_approvals: 9 });
    expect(await merge(ada)).toBe(405);
    expect(await merge(bob, { force_merge: true })).toBe(405);
    await ask('PATCH', '/branch_protections/main', { block_admin_merge_override: true });
    expect(await merge(ada, { force_merge: true })).toBe(405);
    await ask('PATCH', '/branch_protections/main', {
      enable_bypass_allowlist: true,
      bypass_allowlist_usernames: [bob.name],
    });
    expect(await merge(bob)).toBe(405);

    expect(await merge(bob, { force_merge: true })).toBe(200);
  });

  it('can be forced by an administrator if overrides are not blocked', async () => {
    await protect({ required_approvals: 9 });

    expect(await merge(ada, { force_merge: true })).toBe(200);
  });

  it('keeps a protected head branch', async () => {
    await ask('POST', '/branch_protections', { rule_name: 'topic' });

    expect(await merge(ada, { delete_branch_after_merge: true })).toBe(200);
    expect((await ask('GET', '/branches/topic')).status).toBe(200);
  });

  it('refuses file writes, and the creation, move, rename and deletion of protected branches', async () => {
    await protect({});
    await ask('POST', '/branch_protections', { rule_name: 'release/*' });
    const content = Buffer.from('x').toString('base64');
    const status = async (method: string, path: string, body?: object) =>
      (await ask(method, path, body, bob)).status;

    expect(await status('POST', '/contents/x', { content })).toBe(403);
    expect(await status('POST', '/contents/x', { content, branch: 'topic', new_branch: 'release/1' })).toBe(
      403,
    );
    expect(await status('POST', '/contents/x', { content, branch: 'topic' })).toBe(201);
    expect([403, 500]).toContain(
      await status('POST', '/branches', { new_branch_name: 'release/1', old_ref_name: 'main' }),
    );
    expect(await status('PUT', '/branches/main', { new_commit_id: 'topic' })).toBe(403);
    await ask('POST', '/branch_protections', { rule_name: 't*' });
    expect(await status('PATCH', '/branches/topic', { name: 'other' })).toBe(403);
    expect(await status('DELETE', '/branches/topic')).toBe(403);
    await ask('DELETE', '/branch_protections/t*');
    expect(await status('DELETE', '/branches/topic')).toBe(204);
  });

  it('lets accounts without push permission write unprotected files, and no account write protected ones', async () => {
    await protect({ unprotected_file_patterns: '*.md', protected_file_patterns: 'secret.*' });
    const content = Buffer.from('x').toString('base64');

    expect((await ask('POST', '/contents/notes.md', { content }, bob)).status).toBe(201);
    expect((await ask('POST', '/contents/notes.txt', { content }, bob)).status).toBe(403);
    await ask('PATCH', '/branch_protections/main', { enable_push: true });
    expect((await ask('POST', '/contents/notes.txt', { content }, bob)).status).toBe(201);
    expect((await ask('POST', '/contents/Secret.txt', { content })).status).toBe(403);
  });

  it('refuses updates of a protected head, and updates by rebase unless force-push is enabled', async () => {
    await ask('POST', '/branch_protections', { rule_name: 'topic' });
    await write('elsewhere', 'x', { branch: 'main' });
    const update = async (style: string) => (await ask('POST', `/pulls/1/update?style=${style}`)).status;

    expect(await update('merge')).toBe(403);
    await ask('PATCH', '/branch_protections/topic', { enable_push: true });
    expect(await update('rebase')).toBe(403);
    expect(await update('merge')).toBe(200);
  });

  it('protects tags from accounts that are not listed in a matching rule', async () => {
    const protectTag = (name_pattern: string, name: string) =>
      ask('POST', '/tag_protections', { name_pattern, whitelist_usernames: [name] });
    await protectTag('v*', ada.name);
    await protectTag('/-rc\\d+$/', bob.name);
    const tag = async (as: Account, tag_name: string) =>
      (await ask('POST', '/tags', { tag_name }, as)).status;

    expect(await tag(bob, 'nightly')).toBe(201);
    expect(await tag(bob, 'v1/2')).toBe(422);
    expect(await tag(ada, 'v1/2')).toBe(201);
    expect(await tag(bob, 'v2-rc1')).toBe(201);
    expect((await ask('DELETE', '/tags/v1%2F2', undefined, bob)).status).toBe(422);
    expect((await ask('DELETE', '/tags/v1%2F2')).status).toBe(204);
  });
});
