import { unitsPerRun } from '../../src/expressions/budget/budget.ts';
import { costs } from '../../src/expressions/budget/costs.ts';
import { limits } from '../../src/expressions/budget/limits.ts';
import { automatonCosts } from '../../src/patterns/automaton.ts';
import { maxGlobLength } from '../../src/patterns/glob.ts';
import { re2Limits } from '../../src/patterns/re2.ts';
import { unitsPerOperatorRule, unitsPerOtherRule } from '../../src/rules/budget-source.ts';
import { page, table } from './text.ts';

const number = (value: number): string => value.toLocaleString('en');

/** Returns the page about what expressions and patterns may be and cost. */
export function limitsPage(): string {
  const written = [
    ['characters of an expression', limits.expression],
    ['names, literals, operators and calls of an expression', limits.parts],
    ['expressions inside of each other', limits.depth],
    ['items of a list that is written out', limits.listItems],
    ['entries of a map that is written out', limits.mapEntries],
    ['loops of an expression', limits.loops],
    ['loops inside of each other', limits.loopDepth],
    ['characters of an RE2 pattern', re2Limits.length],
    ['steps of an RE2 pattern, its repetitions written out (`a{30}` has 30)', re2Limits.size],
    ['steps of all RE2 patterns of a file together', re2Limits.totalSize],
    ['characters of a glob', maxGlobLength],
  ] as const;
  const judged = [
    ['items of a list', limits.items],
    ['members of an object', limits.members],
    ['characters of a text (UTF-16 units)', limits.text],
    ['characters of a text that `contains`, `indexOf` or `lastIndexOf` looks for', limits.needle],
    ['bytes that `${{ }}` inserts; the rest is left out, which `…` shows', limits.inserted],
  ] as const;
  const paid = [
    ['an operator, a member, an index', costs.step],
    ['a function', costs.call],
    ['an item that a loop takes', costs.item],
    ['an item or member that is compared or copied', costs.member],
    ['a part of a condition (between `&&`, `||`, `!`, `?:`)', costs.part],
    [
      'a value that a finding shows',
      `${number(costs.reading)}, lists and objects ${number(costs.longReading)}`,
    ],
    ['100 characters that are compared or joined', costs.copiedCharacter * 100],
    ['100 characters that are searched, split or counted', costs.searchedCharacter * 100],
    ['100 characters that `${{ }}` inserts', costs.insertedCharacter * 100],
    [
      'a pattern that a rule uses for the first time in a run',
      `${number(automatonCosts.pattern)} and ${automatonCosts.compiledInstruction} for each step`,
    ],
    ['a text that is held against a pattern', costs.match + automatonCosts.match],
    [
      '100 characters of it',
      `${number(automatonCosts.character * 100)}; beyond U+00FF ${number(automatonCosts.farCharacter * 100)} more where the pattern tells such characters apart`,
    ],
    [
      'each situation in which a pattern meets a kind of character for the first time in a run',
      `${number(automatonCosts.transition)}, ${automatonCosts.instruction} for each step it could be at, and ${automatonCosts.column} for each kind of character that it tells apart`,
    ],
  ] as const;
  const rows = (list: readonly (readonly [string, number | string])[]) =>
    list.map(([what, value]) => [what, typeof value === 'number' ? number(value) : value]);
  return page(
    'Limits of expressions and patterns',
    'What a rule file may say, what its expressions may look at, and what they may cost. Beyond a limit of the first table a file is refused; beyond the others the finding is `error` and says which limit was met, the rule has failed, and nothing is changed.',
    '## What is written',
    table(['at most', 'limit'], rows(written)),
    '## What is looked at',
    'Nothing is cut in silence: a value that is larger is `too large to judge`.',
    table(['at most', 'limit'], rows(judged)),
    '## What it costs',
    `Expressions and patterns are paid for in units of about a nanosecond, before each step. What is counted depends on the expression and the data alone, never on the machine. One run, which is one event or one item of a sweep, has ${number(unitsPerRun)} units. They are divided equally among the sources whose rules may concern it: the operator, the organization, the repository. No source can spend the share of another. Patterns in \`on\`, \`in\` and \`ignore-paths\` are paid for in the same way.`,
    `Each rule has ${number(unitsPerOtherRule)} units of its own beyond that, a rule of the operator ${number(unitsPerOperatorRule)}. They are spent when the share is used up, so that a costly rule cannot stop the cheap ones of its source, and an operator with a thousand rules has room for all of them.`,
    table(['what', 'units'], rows(paid)),
    'For scale: a million units suffice for about 3,000 changed files held against one glob, or for one ordinary pattern over a text of 200,000 characters. A pattern in which many repetitions overlap, such as `(([abc]{1,30})a){30}$`, may have thousands of situations on a text that is made for it.',
    '## When the budget is used up',
    'The reason of the verdict names whose budget it was. Look at the rules of that source: the costly ones loop over long lists, hold patterns with overlapping repetitions against long texts, or compare long lists for every item of a list. Anchor patterns with `^`, put the cheap part of a condition first (`&&` does not look at the second where the first is false), replace a pattern without wildcards by `contains`, `startsWith` or `==`, and filter with `on` before asking.',
  );
}
