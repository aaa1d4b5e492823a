import { expect, it } from 'vitest';
import { nameOfScope } from '../../../src/engine/bounds/pauses.ts';
import { scopeOfName } from '../../../src/work/runs/pause-scope.ts';

it.each([
  ['all', { kind: 'all' }],
  ['acme/shop', { kind: 'repository', name: 'acme/shop' }],
  ['warn', { kind: 'rule', name: 'warn' }],
  ['#stale/warn', { kind: 'rule', name: 'stale/warn' }],
  ['a.yml#stale/warn', { kind: 'rule', name: 'a.yml#stale/warn' }],
  ['outer/stale/warn', { kind: 'rule', name: 'outer/stale/warn' }],
] as const)('%s names one thing to pause, and is printed the same way', (name, scope) => {
  expect(scopeOfName(name)).toEqual(scope);
  expect(nameOfScope(scope)).toBe(name);
});
