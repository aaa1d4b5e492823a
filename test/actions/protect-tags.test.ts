import { describe, expect, it } from 'vitest';
import { protectTags } from '../../src/actions/protect-tags.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type Given = Parameters<typeof protectTags.plan>[0];
const live = { id: 3, name_pattern: 'v*', whitelist_usernames: ['ada'], whitelist_teams: ['release'] };
const plan = async (tags: Given['tags'], all: readonly unknown[], prune = false) => {
  const facts = makeFacts({ tag_protections: all }, { subject: { kind: 'repository' } });
  const changes = (await protectTags.plan({ tags, prune }, facts, makeContext())).filter(
    ({ already }) => !already,
  );
  const input = changes[0]?.joins ? await protectTags.join?.(changes, facts) : changes[0]?.input;
  return { operations: [...new Set(changes.map(({ operation }) => operation))], input };
};
const at = { owner: 'acme', repo: 'site' };

describe('the plan', () => {
  it.each([
    [
      'creates a missing protection',
      [{ name_pattern: 'v*', whitelist_teams: ['release'] }],
      [],
      ['tag-protection.create'],
      { params: at, body: { name_pattern: 'v*', whitelist_teams: ['release'] } },
    ],
    [
      'leaves a protection in the desired state unchanged, in any order',
      [{ name_pattern: 'v*', whitelist_teams: ['Release'] }],
      [live],
      [],
      undefined,
    ],
    ['leaves lists that are not given unchanged', [{ name_pattern: 'v*' }], [live], [], undefined],
    [
      'edits only the list that differs',
      [{ name_pattern: 'v*', whitelist_usernames: ['bob'], whitelist_teams: ['release'] }],
      [live],
      ['tag-protection.edit'],
      { params: { ...at, id: 3 }, body: { whitelist_usernames: ['bob'] } },
    ],
    [
      'clears a list that is given empty',
      [{ name_pattern: 'v*', whitelist_usernames: [] }],
      [live],
      ['tag-protection.edit'],
      { params: { ...at, id: 3 }, body: { whitelist_usernames: [] } },
    ],
  ])('%s', async (_title, tags, all, operations, input) => {
    const planned = await plan(tags, all);

    expect(planned.operations).toEqual(operations);
    expect(planned.input).toEqual(input);
  });

  it('removes unnamed protections only with prune', async () => {
    expect((await plan([], [live])).operations).toEqual([]);
    expect(await plan([], [live], true)).toEqual({
      operations: ['tag-protection.delete'],
      input: { params: { ...at, id: 3 } },
    });
  });

  it('fails for a new protection that allows no account, because forges refuse it', async () => {
    await expect(plan([{ name_pattern: 'v*' }], [])).rejects.toThrow('requires at least one user or team');
  });
});

it('protect-tags refuses a pattern that is given twice', () => {
  const tags = [{ name_pattern: 'v*' }, { name_pattern: 'v*' }];

  expect(protectTags.examine?.({ tags, prune: false })).toMatchObject([
    { path: ['tags', 1, 'name_pattern'] },
  ]);
});
