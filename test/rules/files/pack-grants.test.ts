import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import type { PackTree } from '../../../src/rules/files/packs.ts';
import { registry } from '../../../src/rules/registry.ts';
import type { Level } from '../../../src/rules/rule.ts';
import { granted } from '../../support/granted.ts';

/** Actions with arguments that an operator file may use, and conditions, some of which read facts that need a grant. */
const uses = [
  ['set-labels', { add: ['x'] }],
  ['set-labels', { add: ['x'], create: { color: 'ff0000' } }],
  ['comment', { text: 'hi' }],
  ['set-issue', { state: 'closed' }],
  ['set-issue', { pinned: true }],
  ['merge', { method: 'squash' }],
  ['update-branch', { how: 'merge' }],
  ['delete-branch', {}],
  ['set-status', { state: 'success', context: 'ci/build' }],
  ['sync-teams', { teams: [] }],
  ['run-workflow', { workflow: 'a.yml', ref: 'main' }],
] as const;
const conditions = [
  'true',
  'team("acme/release").size() > 0',
  'collaborators.size() > 0',
  '!pull_request.draft',
];

/** Generates the value only sometimes: a rule that is always refused for one reason proves nothing about the others. */
const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const step = fc.record({ uses: fc.constantFrom(...uses), condition: rarely(fc.constantFrom(...conditions)) });
const packRule = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 2 }),
  condition: rarely(fc.constantFrom(...conditions)),
  in: rarely(fc.constantFrom('acme/*', '*/*')),
});
const names = fc.subarray([...new Set(uses.map(([name]) => name)), 'team', 'collaborators']);

type Shape = typeof packRule extends fc.Arbitrary<infer Value> ? Value : never;

const written = (rule: Shape): object => ({
  on: 'pull_request.opened',
  ...(rule.in === undefined ? {} : { in: rule.in }),
  ...(rule.condition === undefined ? {} : { if: rule.condition }),
  steps: rule.steps.map(({ uses: [name, args], condition }) => ({
    uses: name,
    with: args,
    ...(condition === undefined ? {} : { if: condition }),
  })),
});

it('a pack can do exactly what the including file could do itself', () => {
  let accepted = 0;
  let refused = 0;

  fc.assert(
    fc.property(
      packRule,
      fc.constantFrom<Level>('repository', 'organization'),
      names,
      fc.integer({ min: 1, max: 3 }),
      (rule, level, given, depth) => {
        const source = { level, commit: '', registry, grants: granted(given) };
        const text = stringify({ version: 1, rules: { one: written(rule) } });
        const direct = loadRuleFile({ ...source, path: 'own.yml', text });
        const include = (name: string): string =>
          stringify({ version: 1, include: [{ name, pack: 'p', mode: 'enforce' }] });
        let packs: PackTree = new Map([
          ['i1', { path: 'p1.yml', text, isReadable: false, packs: new Map() }],
        ]);
        for (let level = 2; level <= depth; level += 1) {
          packs = new Map([
            [
              `i${level}`,
              { path: `p${level}.yml`, text: include(`i${level - 1}`), isReadable: false, packs },
            ],
          ]);
        }

        const included = loadRuleFile({ ...source, path: 'own.yml', text: include(`i${depth}`), packs });

        expect(included.rules.length).toBe(direct.rules.length);
        const powers = ({ rules }: typeof direct) =>
          rules.map((one) => [
            one.level,
            one.byGrant,
            one.grants,
            one.home,
            one.steps.map(({ action }) => action.name),
          ]);
        expect(powers(included)).toEqual(powers(direct));
        if (direct.problems.length === 0) accepted += 1;
        else refused += 1;
      },
    ),
    { numRuns: 400 },
  );
  // A property that sees only one of the two outcomes proves nothing.
  expect(Math.min(accepted, refused)).toBeGreaterThan(20);
});
