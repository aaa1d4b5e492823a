import { codeownersLimits } from '../../src/facts/codeowners.ts';
import { maxCommandBody } from '../../src/facts/command.ts';
import { automatonCosts } from '../../src/patterns/automaton.ts';
import { maxGlobLength } from '../../src/patterns/glob.ts';
import { re2Limits } from '../../src/patterns/re2.ts';
import { costs, limits, unitsPerRun } from '../../src/rules/expressions/budget.ts';
import { unitsPerOperatorRule, unitsPerOtherRule } from '../../src/rules/rule.ts';
import { page, table } from './text.ts';

const number = (value: number): string => value.toLocaleString('en');

/** Returns the page about size limits and costs of expressions and patterns. */
export function limitsPage(): string {
  const written = [
    ['characters of an expression', limits.expression],
    ['names, literals, operators and calls of an expression', limits.parts],
    ['nested expressions', limits.depth],
    ['items of a list literal', limits.listItems],
    ['entries of a map literal', limits.mapEntries],
    ['loops of an expression', limits.loops],
    ['nested loops', limits.loopDepth],
    ['characters of an RE2 pattern', re2Limits.length],
    ['steps of an RE2 pattern with expanded repetitions (`a{30}` has 30)', re2Limits.size],
    ['steps of all RE2 patterns of a file together', re2Limits.totalSize],
    ['characters of a glob', maxGlobLength],
  ] as const;
  const judged = [
    ['items of a list', limits.items],
    ['members of an object', limits.members],
    ['characters of a text (UTF-16 units)', limits.text],
    ['characters of a search text of `contains`, `indexOf` or `lastIndexOf`', limits.needle],
    ['characters of a CODEOWNERS file', codeownersLimits.length],
    ['owners of the changed files of a pull request', codeownersLimits.owners],
    ['characters of a comment with commands', maxCommandBody],
    ['bytes that `${{ }}` inserts; the rest is cut off and marked with `…`', limits.inserted],
    ['the same in a text of lines, such as a comment or the message of a commit', limits.insertedLines],
  ] as const;
  const paid = [
    ['an operator, a member, an index', costs.step],
    ['a function', costs.call],
    ['an item of a loop', costs.item],
    ['an item or member that is compared or copied', costs.member],
    ['a part of a condition (between `&&`, `||`, `!`, `?:`)', costs.part],
    [
      'a value that is recorded with a verdict',
      `${number(costs.reading)}, lists and objects ${number(costs.longReading)}`,
    ],
    ['100 characters that are compared or joined', costs.copiedCharacter * 100],
    ['100 characters that are searched, split or counted', costs.searchedCharacter * 100],
    ['100 characters that `${{ }}` inserts', costs.insertedCharacter * 100],
    [
      'a pattern that a rule uses for the first time in a run',
      `${number(automatonCosts.pattern)} and ${automatonCosts.compiledInstruction} for each step`,
    ],
    ['a text that is matched against a pattern', costs.match + automatonCosts.match],
    [
      '100 characters of it',
      `${number(automatonCosts.character * 100)}; beyond U+00FF ${number(automatonCosts.farCharacter * 100)} more if the pattern distinguishes such characters`,
    ],
    [
      'each new transition of a pattern’s automaton in a run (a state and a character class)',
      `${number(automatonCosts.transition)}, ${automatonCosts.instruction} for each step in the state, and ${automatonCosts.column} for each character class of the pattern`,
    ],
  ] as const;
  const rows = (list: readonly (readonly [string, number | string])[]) =>
    list.map(([what, value]) => [what, typeof value === 'number' ? number(value) : value]);
  return page(
    'Limits of expressions and patterns',
    'This page lists the limits of rule files, of the values that their expressions read, and of evaluation costs. A file beyond a limit of the first table is refused. Beyond another limit, the condition is `error` and names the limit, the rule fails, and nothing is changed.',
    '## Size of expressions',
    table(['at most', 'limit'], rows(written)),
    '## Size of values',
    'Values are never truncated silently: a larger value is `too large to judge`.',
    table(['at most', 'limit'], rows(judged)),
    '## Costs',
    `Expressions and patterns are charged in units of about a nanosecond, before each step. The charge depends only on the expression and the data, never on the machine. One run (one event, or one item of a sweep) has ${number(unitsPerRun)} units. They are divided equally among the sources whose rules may apply: the operator, the organization, the repository. No source can spend the share of another. Patterns in \`on\`, \`in\` and \`ignore-paths\` are charged in the same way.`,
    `In addition, each rule has a reserve of ${number(unitsPerOtherRule)} units, and a rule of the operator one of ${number(unitsPerOperatorRule)}. The reserve is spent when the share is used up, so that a costly rule cannot stop the cheap ones of its source, and an operator can have a thousand rules.`,
    table(['operation', 'units'], rows(paid)),
    'For comparison: a million units are enough for matching about 3,000 changed files against one glob, or one ordinary pattern against a text of 200,000 characters. A pattern with many overlapping repetitions, such as `(([abc]{1,30})a){30}$`, can need thousands of transitions on a text made for it.',
    '## When the budget is used up',
    'The reason of the verdict names the source whose budget was used up, and the condition, label or step that used most of it. Costly conditions loop over long lists, match patterns with overlapping repetitions against long texts, or compare long lists for every item of a list. Anchor patterns with `^`, put the cheap part of a condition first (`&&` skips the second part if the first is false), replace a pattern without wildcards by `contains`, `startsWith` or `==`, and filter with `on` before reading facts.',
  );
}
