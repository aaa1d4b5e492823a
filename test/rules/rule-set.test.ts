import { describe, expect, it } from 'vitest';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, extendRuleSet, type Level, type LoadedRule } from '../../src/rules/rule.ts';

/** Returns rules of one level that listen to the events, in order. */
function load(level: Level, events: readonly string[]): readonly LoadedRule[] {
  const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];
  const rules = Object.fromEntries(events.map((on, at) => [`${level}-${at}`, { on, steps }]));
  const text = JSON.stringify({ version: 1, rules });
  const loaded = loadRuleFile({ path: `${level}.yml`, text, level, commit: '', registry });
  if (loaded.problems[0]) throw new Error(loaded.problems[0].message);
  return loaded.rules;
}

const operator = load('operator', ['issues.opened', 'pull_request', 'issues.closed']);
const repository = load('repository', ['issues.opened', 'issue_comment']);
const organization = load('organization', ['pull_request', 'issues.opened']);

describe("a rule set that extends the operator's rule set", () => {
  const others = [...repository, ...organization];
  const whole = createRuleSet([...operator, ...others]);
  const extended = extendRuleSet(createRuleSet(operator), others);

  it('has the same rules in the same order as a set created from all rules', () => {
    expect(extended.rules).toEqual(whole.rules);
    expect(extended.rules.map(({ level }) => level)).toEqual(
      ['operator', 'organization', 'repository'].flatMap((level) =>
        whole.rules.filter((rule) => rule.level === level).map(() => level),
      ),
    );
  });

  it.each(['issues', 'pull_request', 'issue_comment', 'release'] as const)(
    'has the same listeners to %s',
    (family) => {
      expect(extended.listeningTo(family)).toEqual(whole.listeningTo(family));
    },
  );

  it('finds each rule at its position, and places unknown rules last', () => {
    for (const { id } of whole.rules) {
      expect(extended.find(id)).toBe(whole.find(id));
      expect(extended.orderOf(id)).toBe(whole.orderOf(id));
    }
    expect(extended.find('none')).toBeUndefined();
    expect(extended.orderOf('none')).toBe(whole.rules.length);
  });
});
