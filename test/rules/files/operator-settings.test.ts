import { expect, it } from 'vitest';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import type { Level } from '../../../src/rules/rule.ts';
import { granted } from '../../support/granted.ts';

function problemsOf(given: string, scope: string, level: Level = 'operator'): readonly string[] {
  const text = `version: 1
rules:
  keep:
    in: ${scope}
    on: repository.created
    steps: [{ uses: sync-repository, with: { ${given} } }]
`;
  const grants = granted(['sync-repository']);
  const { problems } = loadRuleFile({ path: 'rules.yml', text, level, commit: '', registry, grants });
  return problems.map(({ code, message }) => `${code}: ${message}`);
}

it.each(['name: docs', 'private: true', 'private: false, publish: true', 'archived: true', 'template: true'])(
  'a file of an organization does not set %s, whatever is granted',
  (given) => {
    const found = problemsOf(given, '[acme/old, acme/docs]', 'organization');

    expect(found.length).toBeGreaterThan(0);
    for (const problem of found)
      expect(problem).toMatch(
        /^level: files of the organization may not use sync-repository like this, whatever the grants: only those of the operator may set \w+$/,
      );
    expect(problemsOf(given, '[acme/old, acme/docs]')).toEqual([]);
  },
);

it('a publication without publish is refused, with what to write', () => {
  expect(problemsOf('private: false', 'acme/*')).toEqual([
    'argument: private: false publishes the repository, which reeve revert cannot take back: add publish: true to the step, or remove private',
  ]);
});

it.each(['acme/*', 'acme/old', '[acme/a, acme/b, acme/docs]'])(
  'a name is refused in a rule with in: %s',
  (scope) => {
    expect(problemsOf('name: docs', scope)).toEqual([
      expect.stringMatching(/^argument: .+: write both names .+, such as in: \[acme\/old, acme\/docs\]$/),
    ]);
  },
);
