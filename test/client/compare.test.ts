import { expect, it } from 'vitest';
import { normalizeAnswer, normalizeCompare } from '../../src/client/normalize.ts';
import { operations } from '../../src/contract/operations.ts';

const commit = (...files: { filename: string; status: string }[]) => ({ sha: 'a', files });

it('the files of a comparison are taken from its commits if the forge lists them only there', () => {
  const answer = {
    total_commits: 2,
    commits: [
      commit({ filename: 'a.ts', status: 'modified' }),
      commit({ filename: 'a.ts', status: 'added' }, { filename: 'b.md', status: 'added' }),
      { sha: 'c', files: null },
    ],
  };

  expect(normalizeCompare(answer)).toEqual({
    ...answer,
    files: [
      { filename: 'a.ts', status: 'modified' },
      { filename: 'b.md', status: 'added' },
    ],
  });
});

it('files listed by the forge, and all other responses, are unchanged', () => {
  const whole = { commits: [commit({ filename: 'a', status: 'added' })], files: [] };

  expect(normalizeCompare(whole)).toBe(whole);
  expect(normalizeAnswer(operations.getVersion, { commits: [] })).toEqual({ commits: [] });
});
