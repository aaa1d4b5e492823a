import { describe, expect, it } from 'vitest';
import { syncRepository } from '../../src/actions/sync-repository.ts';
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
