import { expect, it } from 'vitest';
import { tableOf } from '../../../src/cli/output/terminal.ts';

it('a table is cut to the width of the terminal, and not at all without one', () => {
  const rows = [
    ['1', 'a long value \u{1f600}\u{1f600}'],
    ['2', 'b'],
  ];

  expect(tableOf(['ID', 'VALUE'], rows, 12).split('\n')).toEqual(['ID  VALUE', '1   a long …', '2   b']);
  expect(tableOf(['ID', 'VALUE'], rows).split('\n')[1]).toBe('1   a long value \u{1f600}\u{1f600}');
});
