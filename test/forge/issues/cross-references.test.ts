import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReferences, withoutCode } from '../../../src/forge/issues/cross-references.ts';
import { type ContractForge, startEmbedded } from '../../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../../support/shared-repository.ts';

describe('issue references in a text', () => {
  const cases: readonly [string, readonly [string | undefined, number, string | undefined][]][] = [
    ['Mend it\n\nCloses #1', [[undefined, 1, 'close']]],
    [
      'fixes: #2, resolved !3.',
      [
        [undefined, 2, 'close'],
        [undefined, 3, 'close'],
      ],
    ],
    ['reopens Acme/Demo#4', [['acme/demo', 4, 'reopen']]],
    [
      'see #5 (closed #6)',
      [
        [undefined, 5, undefined],
        [undefined, 6, 'close'],
      ],
    ],
    [
      'fix #7 #8',
      [
        [undefined, 7, 'close'],
        [undefined, 8, undefined],
      ],
    ],
    ['closes#9, a#10, #11x and #12th', []],
    ['encloses #13', [[undefined, 13, undefined]]],
  ];

  it.each(cases)('are found: %j', (text, expected) => {
    const found = parseReferences(text).map(({ repository, number, asks }) => [repository, number, asks]);

    expect(found).toEqual(expected);
  });

  it('are ignored in code', () => {
    expect(parseReferences(withoutCode('`closes #1` and\n```\nfixes #2\n```\nfixes #3'))).toMatchObject([
      { number: 3 },
    ]);
  });
});

describe('an action that a commit or pull request text requests', () => {
  let forge: ContractForge;
  let shared: SharedRepository;
  beforeAll(async () => {
    forge = await startEmbedded();
    shared = await makeSharedRepository(forge, { auto_init: true, default_branch: 'main' });
    for (const title of ['one', 'two', 'three']) await shared.ask('POST', '/issues', { body: { title } });
  });
  afterAll(() => forge.close());

  const write = (path: string, message: string, more: object = {}) =>
    shared.ask('POST', `/contents/${path}`, { body: { content: 'YQ==', message, branch: 'main', ...more } });
  const stateOf = async (index: number): Promise<string> =>
    (await shared.ask('GET', `/issues/${index}`)).json.state;

  it('is performed only on the default branch', async () => {
    await write('a', 'Closes #1', { new_branch: 'side' });
    const before = await stateOf(1);
    await write('b', 'Closes #1');

    expect([before, await stateOf(1)]).toEqual(['open', 'closed']);
  });

  it('can reopen an issue', async () => {
    await write('c', 'Reopens #1');

    expect(await stateOf(1)).toBe('open');
  });

  it('is performed when the pull request is merged', async () => {
    await write('d', 'More', { new_branch: 'work' });
    const body = { title: 'Fix #2', body: 'Resolves #3', head: 'work', base: 'main' };
    const { number } = (await shared.ask('POST', '/pulls', { body })).json;
    const before = [await stateOf(2), await stateOf(3)];
    await shared.ask('POST', `/pulls/${number}/merge`, { body: { Do: 'squash' } });

    expect(before).toEqual(['open', 'open']);
    expect([await stateOf(2), await stateOf(3)]).toEqual(['closed', 'closed']);
  });
});
