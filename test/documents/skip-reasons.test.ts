import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/platform/package.ts';
import { type SkipReason, wordsOf } from '../../src/rules/verdict.ts';

/** Every skip reason. A reason that is missing here, or exists only here, is a compile error. */
const reasons: Readonly<Record<SkipReason, true>> = {
  kind: true,
  filter: true,
  scope: true,
  state: true,
  grant: true,
  own: true,
  gone: true,
  'too old': true,
  'not recoverable': true,
  polled: true,
};

const page = readFileSync(join(packageRoot, 'docs/troubleshoot.md'), 'utf8');
const [, section = ''] = /^### A rule is skipped$(.*?)^### /ms.exec(page) ?? [];
/** Cells of the table, without its header. */
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

it('docs/troubleshoot.md has each reason for skipping a rule, as it is printed', () => {
  const printed = Object.keys(reasons).map((reason) => wordsOf({ verdict: 'skipped', reason }));

  expect(rows.map(([reason = '']) => reason.replaceAll(/^`+|`+$/g, ''))).toEqual(printed);
});

it('docs/troubleshoot.md explains each reason, and what to do', () => {
  for (const row of rows) {
    expect(row).toHaveLength(3);
    expect(row.every((cell) => cell.length > 5)).toBe(true);
  }
});
