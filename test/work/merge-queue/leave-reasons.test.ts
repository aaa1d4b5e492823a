import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../src/platform/package.ts';
import { leaveReasons } from '../../../src/work/merge-queue/state.ts';

it('docs/merge-queue.md lists every reason for leaving, with its meaning', () => {
  const text = readFileSync(join(packageRoot, 'docs/merge-queue.md'), 'utf8');
  const [, section = ''] = /## Reasons for leaving\n([\s\S]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| ([^|]+) \|/gm)].map(([, ...cells]) => cells);

  const { merged: _merged, ...others } = leaveReasons;
  expect(Object.fromEntries(rows)).toEqual(others);
  expect(rows).toHaveLength(Object.keys(others).length);
});
