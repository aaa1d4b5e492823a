import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('keeps the floors: imports go down, in no circle, and the CI action stays small', () => {
  const { stdout } = spawnSync(
    process.execPath,
    [
      'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
      '--config',
      '.dependency-cruiser.mjs',
      '--output-type',
      'json',
      'src',
    ],
    { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 },
  );

  const { summary } = JSON.parse(stdout);
  const violations = summary.violations as { rule: { name: string }; from: string; to: string }[];
  expect(violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  expect(summary.totalCruised).toBeGreaterThan(50);
});
