import { expect, it } from 'vitest';
import { describeChange } from '../../src/engine/describe-change.ts';

const cases: readonly [string, unknown, unknown, string][] = [
  ['set-labels', false, true, '+ thing'],
  ['set-labels', true, false, '- thing'],
  ['sync-branch-protections', 'absent', 'present', '+ thing'],
  ['sync-branch-protections', null, 1, '+ thing: 1'],
  ['sync-branch-protections', null, ['release'], '+ thing: ["release"]'],
  ['sync-branch-protections', true, false, '~ thing: true → false'],
  ['sync-branch-protections', false, true, '~ thing: false → true'],
  ['sync-branch-protections', { rule_name: 'main' }, null, '- thing'],
  ['sync-organization', 'old', 'new', '~ thing: "old" → "new"'],
  ['report-issue', null, { title: 'x', body: 'y' }, '+ thing'],
  [
    'dismiss-stale-reviews',
    { state: 'APPROVED', by: 'ada', dismissed: false },
    { state: 'APPROVED', by: 'ada', dismissed: true },
    '~ thing: dismissed false → true',
  ],
  ['sync-hooks', { active: true, secret: 'x' }, { active: true }, '~ thing: secret "x" → nothing'],
];

it.each(cases)('%s, %j to %j: %s', (action, before, after, expected) => {
  const { sign, words } = describeChange({ action, target: 'thing', before, after });

  expect(`${sign} ${words}`).toBe(expected);
});

it('cuts long values', () => {
  const { words } = describeChange({
    action: 'comment',
    target: 'c',
    before: null,
    after: 'x'.repeat(5_000),
  });

  expect(words.length).toBeLessThan(200);
});

it('shows long values from the first difference on', () => {
  const [before, after] = ['a', 'b'].map((end) => `${'x'.repeat(5_000)}${end}${'y'.repeat(5_000)}`);
  const { words } = describeChange({ action: 'comment', target: 'c', before, after });

  expect(words).toMatch(/^c: …x{40}ay+… → …x{40}by+…$/);
  expect(words.length).toBeLessThan(400);
});
