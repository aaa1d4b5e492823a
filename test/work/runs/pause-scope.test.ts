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
] as const)(
  '%s is the name of one scope of a pause, and the scope is printed as the same name',
  (name, scope) => {
    expect(scopeOfName(name)).toEqual(scope);
    expect(nameOfScope(scope)).toBe(name);
  },
);
