import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { actions } from '../../src/actions/actions.ts';
import { eventFamilies, type Family } from '../../src/contract/events/event-families.ts';
import type { SubjectKind } from '../../src/contract/events/subject.ts';
import { facts } from '../../src/facts/facts.ts';
import { resolveExpression } from '../../src/rules/expressions/resolve.ts';
import { createEnvironment } from '../../src/rules/files/context.ts';
import { schemaOfRules } from '../../src/rules/files/grammar.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { contextOf } from './expressions/support/context.ts';

const familyOf = (subject: SubjectKind): Family | undefined =>
  (Object.keys(eventFamilies) as Family[]).find((family) => eventFamilies[family].subject === subject);

function messages(text: string): readonly string[] {
  const { problems } = loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry });
  return problems.map(({ message, line }) => `${line}: ${message}`);
}

describe('the examples of all actions and facts', () => {
  it.each(actions.map((action) => [action.name, action] as const))('load: uses %s', (_, action) => {
    // An example may use facts that only one of its action's subjects has.
    const found = action.of.map((subject) => {
      const family = familyOf(subject);
      const on = family ? { on: family } : { on: { schedule: '7 3 * * *' }, each: subject };
      return messages(
        JSON.stringify({ version: 1, rules: { example: { ...on, steps: [parse(action.example)] } } }),
      );
    });

    expect(found.toSorted((a, b) => a.length - b.length)[0]).toEqual([]);
  });

  it.each(facts.map((fact) => [fact.name, fact] as const))('resolve: %s', (_, fact) => {
    const subject = fact.of[0] ?? 'repository';
    const family = fact.families?.find((one) => eventFamilies[one].subject === subject) ?? familyOf(subject);
    const occasions = [family ? { family, subject } : { subject }];
    const environment = createEnvironment({ registry, level: 'operator', occasions });

    expect(resolveExpression(fact.example, contextOf(environment))).not.toHaveProperty('problems');
  });
});

describe('a first rule', () => {
  it('loads with the real actions and facts', () => {
    const text = `
version: 1
rules:
  label-by-path:
    description: Labels follow the paths that a pull request changes.
    in: ["acme/*", "!acme/attic"]
    on:
      pull_request: [opened, reopened, synchronized]
    if: "!pull_request.draft"
    steps:
      - uses: set-labels
        with:
          sync:
            area/docs: files.exists(f, f.filename.glob("docs/**"))
            size/L: pull_request.additions + pull_request.deletions > 500
`;

    expect(messages(text)).toEqual([]);
  });
});

describe('the JSON Schema', () => {
  it('is draft-07, allows no additional properties, and contains every action', () => {
    const schema = schemaOfRules(actions);
    const text = JSON.stringify(schema);

    expect(schema).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      additionalProperties: false,
      required: ['version'],
      anyOf: [{ required: ['rules'] }, { required: ['include'] }],
    });
    for (const { name } of actions) expect(text).toContain(`{"const":"${name}"`);
    expect(text).not.toContain('"holds"');
  });
});
