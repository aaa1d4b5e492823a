import { expect, it } from 'vitest';
import { parseTrailers } from '../../src/facts/commits.ts';

const signed = { name: 'Signed-off-by', value: 'Ada <a@b.c>' };

it.each([
  ['a message without a body', 'Fix: it', []],
  ['a title that looks like a trailer', 'Signed-off-by: Ada <a@b.c>', []],
  ['a message with one trailer', 'Fix it\n\nSigned-off-by: Ada <a@b.c>', [signed]],
  ['a message with Windows line endings', 'Fix it\r\n\r\nSigned-off-by: Ada <a@b.c>\r\n', [signed]],
  [
    'a message with several trailers',
    'Fix\n\nBody\n\nSigned-off-by: Ada <a@b.c>\nReviewed-by: Eve',
    [signed, { name: 'Reviewed-by', value: 'Eve' }],
  ],
  [
    'a folded value',
    'Fix\n\nNote: a\n  b\nSigned-off-by: Ada <a@b.c>',
    [{ name: 'Note', value: 'a b' }, signed],
  ],
  ['prose', 'Fix\n\nThis is why: it was wrong.\nAnd more.', []],
  ['a quoted line in prose', 'Fix\n\nOne\ntwo\nthree\nfour\nSigned-off-by: Ada <a@b.c>', []],
  ['prose with a trailer that git writes', 'Fix\n\nSee below.\nSigned-off-by: Ada <a@b.c>', [signed]],
  ['a cherry-pick', 'Fix\n\nSigned-off-by: Ada <a@b.c>\n(cherry picked from commit abc)', [signed]],
  ['trailers before the last paragraph', 'Fix\n\nSigned-off-by: Ada <a@b.c>\n\nBut no.', []],
  ['a line of three hyphens', 'Fix\n\nSigned-off-by: Ada <a@b.c>\n---\nx', [signed]],
])('in %s, trailers are found as git finds them', (_, message, expected) => {
  expect(parseTrailers(message)).toEqual(expected);
});

it('trailers are found in linear time', () => {
  const message = `Fix\n\n${'a: b\n'.repeat(100_000)}${' '.repeat(100_000)}${'-'.repeat(100_000)}`;

  expect(parseTrailers(message)).toHaveLength(100_000);
});
