import { describe, expect, it } from 'vitest';
import { renameIn, syncRepository } from '../../src/actions/sync-repository.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const repository = {
  id: 1,
  name: 'site',
  full_name: 'acme/site',
  description: 'Old',
  website: '',
  has_wiki: true,
  has_pull_requests: true,
  allow_squash_merge: true,
  default_merge_style: 'merge',
};
const subject = { kind: 'repository' } as const;
const factsOf = (more: object = {}) =>
  makeFacts({ repository: { ...repository, ...more }, topics: ['b', 'a'] }, { subject });
type Given = Parameters<typeof syncRepository.plan>[0];

async function planned(given: Given, more: object = {}): Promise<readonly string[]> {
  const changes = await syncRepository.plan(given, factsOf(more), makeContext());
  return changes.map(
    ({ target, value, already }) => `${target}=${JSON.stringify(value)}${already ? ' (already)' : ''}`,
  );
}

describe('the plan', () => {
  it.each([
    ['another description', { description: 'New' }, {}, ['repository:description="New"']],
    [
      'existing settings, as already set',
      { website: '', has_wiki: true },
      {},
      ['repository:website="" (already)', 'repository:has_wiki=true (already)'],
    ],
    ['other topics', { topics: ['c', 'a'] }, {}, ['repository:topics=["a","c"]']],
    ['no topics', { topics: [] }, {}, ['repository:topics=[]']],
    [
      'existing topics in any order, as already set',
      { topics: ['a', 'b'] },
      {},
      ['repository:topics=["a","b"] (already)'],
    ],
    ['a merge style', { allow_squash_merge: false }, {}, ['repository:allow_squash_merge=false']],
    [
      'a merge style together with its unit',
      { has_pull_requests: true, allow_squash_merge: false },
      { has_pull_requests: false },
      ['repository:has_pull_requests=true', 'repository:allow_squash_merge=false'],
    ],
  ] as const)('contains %s', async (_title, given, more, expected) => {
    expect(await planned(given as Given, more)).toEqual(expected);
  });

  it('fails for a merge style in a repository without pull requests', async () => {
    await expect(planned({ allow_squash_merge: false }, { has_pull_requests: false })).rejects.toThrow(
      'allow_squash_merge requires pull requests',
    );
  });

  it('requires a forge that can disable code, if code is to be disabled', async () => {
    const [change] = await syncRepository.plan(
      { has_code: false },
      factsOf({ has_code: true }),
      makeContext(),
    );

    expect(change?.requires).toEqual(['code_unit']);
  });
});

it('sync-repository sends the pull request unit with its settings, which forges ignore without the unit', async () => {
  const given = { description: 'New', allow_squash_merge: false, default_merge_style: 'squash' } as const;
  const changes = await syncRepository.plan(given, factsOf(), makeContext());

  expect((await syncRepository.join?.(changes, factsOf()))?.body).toEqual({
    has_pull_requests: true,
    ...given,
  });
  expect((await syncRepository.join?.(changes.slice(0, 1), factsOf()))?.body).toEqual({ description: 'New' });
});

it('sync-repository detects what the forge did not set', async () => {
  const [change] = await syncRepository.plan({ description: 'New' }, factsOf(), makeContext());
  if (change === undefined) throw new Error('no change');

  const answer = { ...repository, owner: { id: 1, login: 'acme' } };
  expect(syncRepository.confirm?.(change, { ...answer, description: 'New' })).toBeUndefined();
  expect(syncRepository.confirm?.(change, answer)).toContain('did not set description');
});

describe('name, visibility, archived and template', () => {
  const words = async (given: Given, more: object = {}, bar?: string) => {
    const changes = await syncRepository.plan(
      given,
      factsOf({ private: true, archived: false, template: false, ...more }),
      makeContext({ barToRename: async () => bar }),
    );
    return changes.map(({ target, value, stage, waits, already, joins }) => {
      const state = already ? 'already' : waits ? `waits: ${waits.why}` : `stage ${stage ?? 1}`;
      return `${target.slice('repository:'.length)}=${value} ${state}${joins === undefined ? ' alone' : ''}`;
    });
  };
  const isArchived = 'waits: the repository is archived, and only archived: false is written there';

  it.each<[string, Given, object, readonly string[]]>([
    [
      'the archived state last and alone, and a publication before it',
      { archived: true, private: false, publish: true, description: 'New' },
      {},
      ['private=false stage 3 alone', 'description=New stage 1', 'archived=true stage 4 alone'],
    ],
    [
      'visibility and template with the other settings',
      { private: true, template: true },
      { private: false },
      ['private=true stage 1', 'template=true stage 1'],
    ],
    [
      'a public repository, as already public',
      { private: false, publish: true },
      { private: false },
      ['private=false already alone'],
    ],
    [
      'the visibility of a fork to wait',
      { private: false, publish: true },
      { fork: true },
      ['private=false waits: a fork has the visibility of its parent alone'],
    ],
    [
      'a mirror to stay as it is',
      { archived: true },
      { mirror: true },
      ['archived=true waits: forges do not archive mirrors alone'],
    ],
    [
      'the new name before the archived state, which the next run writes',
      { name: 'docs', archived: true },
      {},
      ['name=docs stage 3 alone', 'archived=true waits: the repository does not have its new name yet alone'],
    ],
    [
      'a name that it has',
      { name: 'site', archived: true },
      {},
      ['name=site already alone', 'archived=true stage 4 alone'],
    ],
    [
      'only archived: false in an archived repository',
      { archived: false, description: 'New', topics: ['x'], name: 'docs', allow_squash_merge: false },
      { archived: true, has_pull_requests: false },
      [
        `description=New ${isArchived} first`,
        `allow_squash_merge=false ${isArchived} first`,
        `topics=x ${isArchived} first alone`,
        `name=docs ${isArchived} first alone`,
        'archived=false stage 0 alone',
      ],
    ],
    [
      'nothing in a repository that is to stay archived',
      { archived: true, description: 'New' },
      { archived: true },
      [`description=New ${isArchived}`, 'archived=true already alone'],
    ],
  ])('plans %s', async (_title, given, more, expected) => {
    expect((await words(given, more)).toSorted()).toEqual(expected.toSorted());
  });

  it('ends the archived state before everything else', async () => {
    const [change] = await syncRepository.plan(
      { archived: false },
      factsOf({ archived: true }),
      makeContext(),
    );

    expect(change).toMatchObject({ stage: 0, unarchives: true, input: { body: { archived: false } } });
    expect(change?.waits).toBeUndefined();
  });

  it('waits with a new name for as long as there is a reason against it', async () => {
    expect(await words({ name: 'docs' }, {}, 'there is a repository acme/docs')).toEqual([
      'name=docs waits: there is a repository acme/docs alone',
    ]);
  });

  it('publishes only with publish, and publish confirms nothing else', () => {
    const problems = (given: Given) => syncRepository.examine?.(given).map(({ path }) => path.join());

    expect(problems({ private: false })).toEqual(['private']);
    expect(problems({ private: true, publish: true })).toEqual(['publish']);
    expect(problems({ private: false, publish: true })).toEqual([]);
    expect(problems({ private: true })).toEqual([]);
  });

  it.each([
    ['name', 'x'],
    ['private', true],
    ['archived', true],
    ['template', false],
  ])('%s is refused below the operator', (name, value) => {
    expect(syncRepository.examineBelowOperator?.({ [name]: value })).toMatchObject([{ path: [name] }]);
  });

  it.each(['a/b', '..', '.', '-', 'a b', 'x.git', 'x.wiki', '${{ repository.name }}', ''])(
    'the name "%s" is refused',
    (name) => {
      expect(syncRepository.arguments.safeParse({ name }).success).toBe(false);
    },
  );

  it.each<[string, readonly (readonly string[])[], object]>([
    ['both names', [['acme/old', 'acme/docs']], { from: 'acme/old', to: 'acme/docs' }],
    ['both names below those of the file', [['acme/*'], ['acme/docs', 'acme/old']], { from: 'acme/old' }],
    ['one name that differs in case', [['acme/DOCS']], { from: 'acme/DOCS', to: 'acme/DOCS' }],
    ['no name', [], { why: expect.stringContaining('for one repository') }],
    ['a pattern', [['acme/*']], { why: expect.stringContaining('for one repository') }],
    ['the former name alone', [['acme/old']], { why: expect.stringContaining('would lose the repository') }],
    ['three names', [['acme/old', 'acme/older', 'acme/docs']], { why: expect.stringContaining('several') }],
    ['two owners', [['acme/old', 'evil/docs']], { why: expect.stringContaining('several') }],
    ['two owners of the new name', [['acme/docs', 'evil/docs']], { why: expect.stringContaining('several') }],
  ])('an in with %s', (_title, scopes, expected) => {
    expect(renameIn(scopes, 'docs')).toMatchObject(expected);
  });
});
