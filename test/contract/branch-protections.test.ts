import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

const members = [
  'approvals_whitelist_teams',
  'approvals_whitelist_username',
  'block_admin_merge_override',
  'block_on_official_review_requests',
  'block_on_outdated_branch',
  'block_on_rejected_reviews',
  'branch_name',
  'bypass_allowlist_teams',
  'bypass_allowlist_usernames',
  'created_at',
  'dismiss_stale_approvals',
  'enable_approvals_whitelist',
  'enable_bypass_allowlist',
  'enable_force_push',
  'enable_force_push_allowlist',
  'enable_merge_whitelist',
  'enable_push',
  'enable_push_whitelist',
  'enable_status_check',
  'force_push_allowlist_deploy_keys',
  'force_push_allowlist_teams',
  'force_push_allowlist_usernames',
  'ignore_stale_approvals',
  'merge_whitelist_teams',
  'merge_whitelist_usernames',
  'priority',
  'protected_file_patterns',
  'push_whitelist_deploy_keys',
  'push_whitelist_teams',
  'push_whitelist_usernames',
  'require_signed_commits',
  'required_approvals',
  'rule_name',
  'status_check_contexts',
  'unprotected_file_patterns',
  'updated_at',
];

describeContract('a branch protection', (forge) => {
  let ada: Account;
  let writer: Account;
  let reader: Account;
  let stranger: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, writer, reader, stranger] = [
      await forge.makeUser(),
      await forge.makeUser(),
      await forge.makeUser(),
      await forge.makeUser(),
    ];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: writer, permission: 'write' });
    await forge.share(repository, ada, { with: reader, permission: 'read' });
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, `/repos/${repository}/branch_protections${path}`, { as, body });
  const make = (rule_name: string, more: object = {}): Promise<Answer> =>
    ask('POST', '', { rule_name, ...more });
  const branch = (name: string, as?: Account | string): Promise<Answer> =>
    forge.ask('GET', `/repos/${repository}/branches/${name}`, { as });

  it('has all 36 fields, off or empty by default', async () => {
    const { status, json } = await make('main');

    expect(status).toBe(201);
    expect(Object.keys(json).sort()).toEqual(members);
    expect(json).toMatchObject({
      branch_name: 'main',
      rule_name: 'main',
      priority: 1,
      enable_push: false,
      push_whitelist_usernames: [],
      status_check_contexts: null,
      required_approvals: 0,
      protected_file_patterns: '',
    });
  });

  it('accepts branch_name for rule_name, and returns no branch_name for a pattern', async () => {
    expect((await ask('POST', '', { branch_name: 'main' })).json.rule_name).toBe('main');
    expect((await make('release/*')).json).toMatchObject({ branch_name: '', rule_name: 'release/*' });
    expect((await ask('GET', '/release/*')).json.rule_name).toBe('release/*');
    expect((await ask('GET', `/${encodeURIComponent('release/*')}`)).json.rule_name).toBe('release/*');
  });

  it('refuses a missing name, a name in use, and unknown accounts and rules', async () => {
    await make('main');

    expect((await ask('POST', '', {})).status).toBe(400);
    expect((await make('main')).status).toBe(403);
    expect((await make('x', { push_whitelist_usernames: ['missing-account'] })).status).toBe(422);
    expect((await make('x', { approvals_whitelist_username: ['missing-account'] })).status).toBe(422);
    expect((await ask('GET', '/elsewhere')).status).toBe(404);
    expect((await ask('PATCH', '/elsewhere', {})).status).toBe(404);
    expect((await ask('DELETE', '/elsewhere')).status).toBe(404);
    expect((await ask('PATCH', '/main', { merge_whitelist_usernames: ['missing-account'] })).status).toBe(
      422,
    );
  });

  it('silently drops accounts that could not use the permission', async () => {
    const names = [ada.name, writer.name, reader.name, stranger.name];
    const { json } = await make('main', {
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: names,
      merge_whitelist_usernames: names,
      enable_approvals_whitelist: true,
      approvals_whitelist_username: names,
      bypass_allowlist_usernames: names,
    });

    expect(json.push_whitelist_usernames).toEqual([ada.name, writer.name].sort());
    expect(json.merge_whitelist_usernames).toEqual([ada.name, writer.name].sort());
    expect(json.approvals_whitelist_username).toEqual([ada.name, writer.name].sort());
    expect(json.bypass_allowlist_usernames).toEqual([]);
  });

  it.each([
    ['without enable_push', { enable_push_whitelist: true, enable_force_push: true }],
    [
      'without the flag they depend on',
      { enable_push: true, push_whitelist_deploy_keys: true, enable_force_push_allowlist: true },
    ],
  ])('on creation, ignores dependent flags %s', async (_, given) => {
    const { json } = await make('main', given);

    expect(json).toMatchObject({
      enable_push_whitelist: false,
      push_whitelist_deploy_keys: false,
      enable_force_push: false,
      enable_force_push_allowlist: false,
      force_push_allowlist_deploy_keys: false,
    });
  });

  it('reads the whitelist flags of an edit only together with enable_push', async () => {
    await make('main', { enable_push: true });

    const alone = await ask('PATCH', '/main', { enable_push_whitelist: true });
    const both = await ask('PATCH', '/main', { enable_push: true, enable_push_whitelist: true });
    const again = await ask('PATCH', '/main', { enable_push: true });
    const off = await ask('PATCH', '/main', { enable_push: false });

    expect([alone, both, again, off].map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(
      [alone, both, again, off].map(({ json }) => [json.enable_push, json.enable_push_whitelist]),
    ).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, false],
    ]);
  });

  it('reads the force-push flags of an edit only together with enable_force_push', async () => {
    await make('main', { enable_push: true });

    const alone = await ask('PATCH', '/main', { enable_force_push_allowlist: true });
    const both = await ask('PATCH', '/main', { enable_force_push: true, enable_force_push_allowlist: true });
    const off = await ask('PATCH', '/main', { enable_force_push: false });

    expect(alone.json.enable_force_push_allowlist).toBe(false);
    expect(both.json.enable_force_push_allowlist).toBe(true);
    expect(off.json).toMatchObject({ enable_force_push: false, enable_force_push_allowlist: false });
  });

  it('keeps the fields that an edit omits, replaces lists, and clears the bypass list when its flag is turned off', async () => {
    await make('main', {
      required_approvals: 2,
      status_check_contexts: ['ci/*'],
      enable_bypass_allowlist: true,
      bypass_allowlist_usernames: [writer.name],
    });

    const kept = await ask('PATCH', '/main', { required_approvals: -1, block_on_outdated_branch: true });
    const emptied = await ask('PATCH', '/main', {
      status_check_contexts: [],
      enable_bypass_allowlist: false,
    });

    expect(kept.json).toMatchObject({
      required_approvals: 2,
      status_check_contexts: ['ci/*'],
      block_on_outdated_branch: true,
      bypass_allowlist_usernames: [writer.name],
    });
    expect(emptied.json).toMatchObject({ status_check_contexts: [], bypass_allowlist_usernames: [] });
    expect((await make('other', { required_approvals: -3 })).json.required_approvals).toBe(0);
  });

  it('is listed in order of precedence', async () => {
    await make('*');
    await make('main');
    await make('first', { priority: 1 });
    await make('m*', { priority: 1 });

    const { json } = await ask('GET', '?page=2&limit=1');

    expect(json.map((rule: { rule_name: string }) => rule.rule_name)).toEqual(['first', '*', 'm*', 'main']);
  });

  it('applies to a branch only if it is the first match, and shows its name only to administrators', async () => {
    await make('MAIN', { required_approvals: 2, enable_push: true });
    await make('*', { required_approvals: 7 });

    const [own, theirs, noOnes] = [
      await branch('main', ada),
      await branch('main', writer),
      await branch('main'),
    ];

    expect(own.json).toMatchObject({
      protected: true,
      required_approvals: 2,
      user_can_push: true,
      user_can_merge: true,
      effective_branch_protection_name: 'MAIN',
      status_check_contexts: null,
    });
    expect(theirs.json).toMatchObject({ user_can_push: true, effective_branch_protection_name: '' });
    expect(noOnes.json).toMatchObject({ protected: true, user_can_push: false, user_can_merge: false });
  });

  it('no longer applies after its deletion', async () => {
    await make('main');

    expect((await ask('DELETE', '/main')).status).toBe(204);
    expect((await ask('GET', '')).json).toEqual([]);
    expect((await branch('main', ada)).json).toMatchObject({ protected: false, status_check_contexts: [] });
  });

  it('requires an administrator', async () => {
    await make('main');
    const status = async (as: Account | undefined) => [
      (await forge.ask('GET', `/repos/${repository}/branch_protections`, { as })).status,
      (await forge.ask('POST', `/repos/${repository}/branch_protections`, { as, body: { rule_name: 'x' } }))
        .status,
      (await forge.ask('PATCH', `/repos/${repository}/branch_protections/main`, { as, body: {} })).status,
      (await forge.ask('DELETE', `/repos/${repository}/branch_protections/main`, { as })).status,
      (await forge.ask('POST', `/repos/${repository}/branch_protections/priority`, { as, body: { ids: [] } }))
        .status,
    ];

    expect(await status(writer)).toEqual([403, 403, 403, 403, 403]);
    expect(await status(reader)).toEqual([403, 403, 403, 403, 403]);
    expect(await status(stranger)).toEqual([403, 403, 403, 403, 403]);
    expect(await status(undefined)).toEqual([401, 401, 401, 401, 401]);
    expect((await ask('POST', '/priority', { ids: [] })).status).toBe(204);
  });

  it('is refused on an archived repository after its body has been validated', async () => {
    await make('main');
    await forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { archived: true } });

    expect((await make('x')).status).toBe(423);
    expect((await ask('POST', '', { rule_name: 7 })).status).toBe(422);
    expect((await ask('PATCH', '/main', {})).status).toBe(423);
    expect((await ask('DELETE', '/main')).status).toBe(423);
    expect((await ask('GET', '')).status).toBe(200);
  });
});
