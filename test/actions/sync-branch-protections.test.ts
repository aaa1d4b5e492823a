import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { syncBranchProtections } from '../../src/actions/sync-branch-protections.ts';
import { EditBranchProtection } from '../../src/contract/resources/protections.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const factsOf = (live: readonly unknown[]) =>
  makeFacts({ branch_protections: live }, { subject: { kind: 'repository' } });
const parse = (protections: readonly object[], prune = false) =>
  syncBranchProtections.arguments.parse({ protections, prune });
const plan = (
  protections: readonly object[],
  live: readonly unknown[],
  context = makeContext(),
  prune = false,
) => syncBranchProtections.plan(parse(protections, prune), factsOf(live), context);
const open = (changes: readonly Change[]) =>
  changes.filter(({ already }) => !already).map(({ target, value }) => [target, value]);
/** Returns what is sent: operation, name and body of each request. */
async function sent(protections: readonly object[], live: readonly unknown[]) {
  const changes = (await plan(protections, live)).filter(({ already }) => !already);
  const keys = [...new Set(changes.map(({ operation, joins }) => `${operation} ${joins}`))];
  return Promise.all(
    keys.map(async (key) => {
      const group = changes.filter(({ operation, joins }) => `${operation} ${joins}` === key);
      const input = await syncBranchProtections.join?.(group, factsOf(live));
      return [group[0]?.operation, input?.params?.name ?? null, input?.body];
    }),
  );
}

describe('the plan', () => {
  it('contains each field that differs, and nothing that is not given', async () => {
    const live = {
      rule_name: 'main',
      required_approvals: 2,
      enable_push: true,
      block_on_rejected_reviews: true,
    };

    expect(
      open(await plan([{ rule_name: 'main', required_approvals: 1, enable_push: true }], [live])),
    ).toEqual([['protection:main.required_approvals', 1]]);
  });

  it('contains one request for a protection, whatever its fields', async () => {
    expect(await sent([{ rule_name: 'main', required_approvals: 1, enable_status_check: true }], [])).toEqual(
      [
        [
          'branch-protection.create',
          null,
          { rule_name: 'main', required_approvals: 1, enable_status_check: true },
        ],
      ],
    );
  });

  it('compares names as a set, ignoring case', async () => {
    const live = { rule_name: 'main', merge_whitelist_usernames: ['bob', 'ada'] };

    expect(
      open(await plan([{ rule_name: 'main', merge_whitelist_usernames: ['Ada', 'bob'] }], [live])),
    ).toEqual([]);
  });

  it('covers every field of the resource', async () => {
    const sample = (name: string) =>
      name === 'priority' || name === 'required_approvals'
        ? 3
        : name.endsWith('_patterns')
          ? '*.md'
          : /usernames?$|teams$|contexts$/.test(name)
            ? ['x']
            : true;
    const wanted = Object.fromEntries(
      Object.keys(EditBranchProtection.shape).map((name) => [name, sample(name)]),
    );
    const changes = await plan([{ rule_name: 'main', ...wanted }], []);

    expect(Object.keys(wanted)).toHaveLength(32);
    expect(open(changes)).toHaveLength(33);
    expect(open(await plan([{ rule_name: 'main', ...wanted }], [{ rule_name: 'main', ...wanted }]))).toEqual(
      [],
    );
  });

  it('removes unnamed protections only with prune, and reports how many exist', async () => {
    const live = [{ rule_name: 'main' }, { rule_name: 'old' }];

    expect(open(await plan([{ rule_name: 'main' }], live))).toEqual([]);
    const [removal] = (await plan([{ rule_name: 'main' }], live, makeContext(), true)).filter(
      ({ already }) => !already,
    );
    expect(removal).toMatchObject({
      operation: 'branch-protection.delete',
      target: 'protection:old',
      value: 'absent',
      removes: { there: 2 },
    });
  });

  it('declares what only some forges support', async () => {
    const changes = await plan([{ rule_name: 'main', priority: 1, enable_bypass_allowlist: true }], []);

    expect(changes.flatMap(({ requires = [] }) => requires)).toEqual([
      'branch_protection_priority',
      'bypass_allowlist',
    ]);
  });
});

describe('flags that forges read only together', () => {
  const live = {
    rule_name: 'main',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_deploy_keys: false,
    enable_force_push: false,
  };

  it.each([
    [
      'a flag is sent with those it depends on',
      { push_whitelist_deploy_keys: true },
      { enable_push: true, enable_push_whitelist: true, push_whitelist_deploy_keys: true },
    ],
    [
      'a flag that is turned on is sent with the flags that depend on it',
      { enable_force_push: true },
      { enable_force_push: true, enable_force_push_allowlist: false },
    ],
    ['a flag that is turned off is sent alone', { enable_push: false }, { enable_push: false }],
    ['other fields are sent alone', { required_approvals: 1 }, { required_approvals: 1 }],
  ])('%s', async (_title, wanted, body) => {
    expect(await sent([{ rule_name: 'main', ...wanted }], [live])).toEqual([
      ['branch-protection.edit', 'main', body],
    ]);
  });

  it.each([
    ['enable_push_whitelist', { enable_push: false, enable_push_whitelist: true }],
    ['push_whitelist_deploy_keys', { enable_push_whitelist: false, push_whitelist_deploy_keys: true }],
    ['enable_force_push_allowlist', { enable_force_push: false, enable_force_push_allowlist: true }],
    ['bypass_allowlist_teams', { enable_bypass_allowlist: false, bypass_allowlist_teams: ['x'] }],
  ])('%s is refused while the flag it depends on is off in the rule', (member, wanted) => {
    expect(syncBranchProtections.examine?.(parse([{ rule_name: 'main', ...wanted }]))).toMatchObject([
      { path: ['protections', 0, member] },
    ]);
  });

  it('fail if the flag they depend on is off and not in the rule', async () => {
    await expect(plan([{ rule_name: 'main', enable_push_whitelist: true }], [])).rejects.toThrow(
      'main: enable_push_whitelist takes effect only with enable_push: true, which is off',
    );
  });
});

describe('names that the forge drops', () => {
  const wanted = [{ rule_name: 'main', merge_whitelist_usernames: ['ada', 'ghost'] }];
  const live = [{ rule_name: 'main', merge_whitelist_usernames: ['ada'] }];
  const answer = { rule_name: 'main', merge_whitelist_usernames: ['ada'] };

  it('are reported by name, and not written again for a week', async () => {
    const memory = createActionMemory();
    const context = makeContext({ memory });
    const [change] = (await plan(wanted, live, context)).filter(({ already }) => !already);
    if (!change) throw new Error('no change');

    expect(syncBranchProtections.confirm?.(change, answer)).toContain('dropped ghost');
    expect(await syncBranchProtections.learn?.(change, answer, context)).toBe(true);

    expect(open(await plan(wanted, live, context))).toEqual([]);
    const later = makeContext({ memory, now: new Date(context.now.getTime() + 8 * 24 * 3_600_000) });
    expect(open(await plan(wanted, live, later))).toHaveLength(1);
  });

  it('are tried again when the rule or the forge changes', async () => {
    const context = makeContext();
    const [change] = (await plan(wanted, live, context)).filter(({ already }) => !already);
    if (change) await syncBranchProtections.learn?.(change, answer, context);

    const more = [{ rule_name: 'main', merge_whitelist_usernames: ['ada', 'ghost', 'bob'] }];
    expect(open(await plan(more, live, context))).toHaveLength(1);
    expect(
      open(await plan(wanted, [{ rule_name: 'main', merge_whitelist_usernames: [] }], context)),
    ).toHaveLength(1);
  });

  it('do not prevent later attempts to set other fields', async () => {
    const context = makeContext();
    const [change] = (await plan([{ rule_name: 'main', required_approvals: 1 }], live, context)).filter(
      ({ already }) => !already,
    );
    if (!change) throw new Error('no change');

    expect(syncBranchProtections.confirm?.(change, { ...answer, required_approvals: 0 })).toContain(
      'did not accept',
    );
    expect(await syncBranchProtections.learn?.(change, answer, context)).toBe(false);
  });
});

it('sync-branch-protections refuses a protection that is named twice, and invalid fields', () => {
  expect(syncBranchProtections.examine?.(parse([{ rule_name: 'a' }, { rule_name: 'a' }]))).toMatchObject([
    { path: ['protections', 1, 'rule_name'] },
  ]);
  for (const wrong of [
    { priority: 0 },
    { required_approvals: -1 },
    { branch_name: 'x' },
    { created_at: 'x' },
  ]) {
    const written = { protections: [{ rule_name: 'a', ...wrong }] };
    expect(syncBranchProtections.arguments.safeParse(written).success).toBe(false);
  }
});
