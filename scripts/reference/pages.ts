import { posix } from 'node:path';
import type { Action } from '../../src/actions/action.ts';
import { actions } from '../../src/actions/actions.ts';
import { checks } from '../../src/cli/commands/doctor.ts';
import { eventFamilies, type Family } from '../../src/contract/events/event-families.ts';
import { payloadShapes } from '../../src/contract/events/payloads.ts';
import { codeownersLimits } from '../../src/facts/codeowners.ts';
import { maxCommandBody } from '../../src/facts/command.ts';
import type { Fact } from '../../src/facts/fact.ts';
import { facts } from '../../src/facts/facts.ts';
import type { Way } from '../../src/facts/ways.ts';
import {
  aboutAction,
  aboutEntries,
  aboutEvent,
  aboutFact,
  aboutFunction,
  callOfFact,
  code,
  jsonSchema,
  schemaRows,
  table,
  word,
  words,
} from '../../src/language-server/documentation.ts';
import { automatonCosts } from '../../src/patterns/automaton.ts';
import { maxGlobLength } from '../../src/patterns/glob.ts';
import { re2Limits } from '../../src/patterns/re2.ts';
import { errorCodes } from '../../src/platform/errors.ts';
import { automaticKinds, eventsAbout } from '../../src/rules/automatic-events.ts';
import { costs, limits, unitsPerRun } from '../../src/rules/expressions/budget.ts';
import { functions, loops } from '../../src/rules/expressions/functions.ts';
import { type SubjectFunction, subjectFunctions } from '../../src/rules/expressions/subject-functions.ts';
import { problemCodes } from '../../src/rules/problem.ts';
import { unitsPerOperatorRule, unitsPerOtherRule } from '../../src/rules/rule.ts';
import { metricTable } from '../../src/server/dashboard/metrics.ts';
import { settingsTable } from '../../src/server/settings/config.ts';
import { OperatorFile } from '../../src/server/settings/operator-file.ts';
import { titleOf } from '../site/markdown.ts';
import { eventExample, exampleOf, operatorExample } from './examples.ts';
import { membersOf, page, sharedObjects } from './text.ts';

const argumentHead = ['argument', 'type', 'required', 'meaning'];
/** Returns every page of the reference: path below docs/reference → text. */
export function referencePages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const action of actions) pages.set(`actions/${action.name}.md`, actionPage(action));
  for (const fact of facts) pages.set(`facts/${fact.name}.md`, factPage(fact));
  const families = Object.keys(eventFamilies) as Family[];
  for (const family of families) pages.set(`events/${family}.md`, eventPage(family));
  const names = [...new Set([...functions.map(({ name }) => name), ...Object.keys(loops), 'has'])];
  for (const row of subjectFunctions) pages.set(`functions/${row.name}.md`, subjectFunctionPage(row));
  for (const name of names) pages.set(`functions/${name}.md`, functionPage(name));
  for (const name of Object.keys(sharedObjects)) pages.set(`objects/${name}.md`, objectPage(name));
  pages.set('settings.md', settingsPage());
  pages.set('operator-file.md', operatorPage());
  pages.set('doctor.md', doctorPage());
  pages.set('metrics.md', metricsPage());
  pages.set('limits.md', limitsPage());
  pages.set('error-codes.md', errorPage());
  pages.set('problem-codes.md', problemPage());
  pages.set('README.md', indexPage(pages));
  return pages;
}

function actionPage(action: Action): string {
  return page(
    action.name,
    action.meaning,
    code('yaml', action.example),
    aboutAction(action),
    table(argumentHead, schemaRows(jsonSchema(action.arguments))),
    'A condition is an [expression](../../rules.md#if-conditions), or `true` or `false`. Where the type does not name `${{ }}`, text is taken as it is written.',
  );
}

function factPage(fact: Fact): string {
  return page(
    callOfFact(fact),
    fact.meaning,
    code('cel', fact.example),
    aboutFact(fact),
    ...changesOf(fact),
    membersOf(fact.shape),
  );
}

/** Returns a table of how a fact of an item changes, and by which event each forge tells it. */
function changesOf({ name, changes, of }: Fact): readonly string[] {
  const isOfItem = of.some((kind) => automaticKinds.some((one) => one === kind));
  if (changes === undefined)
    return isOfItem ? ['An event brings it along: rules with `on: auto` do not have it.'] : [];
  const isList = Array.isArray(changes);
  const byMember = isList ? [[name, changes] as const] : Object.entries(changes);
  const ofWay = Map.groupBy(
    byMember.flatMap(([member, some]) => some.map((way: Way) => ({ member, way }))),
    ({ way }) => way,
  );
  if (ofWay.size === 0) return ['It never changes.'];
  const rows = [...ofWay].map(([{ what, events, silentOn }, members]) => {
    const told = events.filter((event: Way['events'][number]) =>
      of.some((kind) => eventsAbout({ what, events: [event] }, kind).length > 0),
    );
    const silent = silentOn === undefined ? '' : ` (${silentOn}: none)`;
    const changed = isList ? [] : [members.map(({ member }) => word(member)).join(', ')];
    return `| ${[what, ...changed, told.length === 0 ? 'none' : `${words(told)}${silent}`].join(' | ')} |`;
  });
  const head = isList ? ['it changes when', 'event'] : ['it changes when', 'members', 'event'];
  return [`| ${head.join(' | ')} |\n| ${head.map(() => '---').join(' | ')} |\n${rows.join('\n')}`];
}

function eventPage(family: Family): string {
  return page(
    family,
    aboutEvent(family),
    code('yaml', eventExample(family)),
    membersOf(payloadShapes[family]) && `Members of \`event\`:\n\n${membersOf(payloadShapes[family])}`,
  );
}

function objectPage(name: string): string {
  const shape = sharedObjects[name];
  return page(
    name,
    name === 'runner'
      ? 'The item of a rule with `each: runner`, under the name `runner`. Forges do not say when a runner was last seen: the times are those that Reeve observed. An account sees the runners of organizations that it owns, its own, those of served repositories that it administers, and, as a site administrator with `read:admin`, those of the instance.'
      : 'An object of the forge’s API, as facts and events contain it. Older forges leave out members that they do not know.',
    shape && membersOf(shape),
  );
}

function functionPage(name: string): string {
  return page(name, ...aboutFunction(name), code('cel', exampleOf(name)));
}

function subjectFunctionPage({ name, fact, takes, meaning, example }: SubjectFunction): string {
  return page(
    `${name}(${takes})`,
    meaning,
    code('cel', example),
    `Reads the fact [${word(fact)}](../facts/${fact}.md), and is available where it is. ${aboutEntries(takes)}`,
  );
}

function settingsPage(): string {
  const rows = settingsTable.map(({ name, meaning, default: standard, secret }) => [
    word(name),
    `${meaning}${secret ? ` Also as \`${name}_FILE\`.` : ''}`,
    standard === undefined ? '' : word(standard),
  ]);
  return page('Settings', 'Environment variables.', table(['variable', 'meaning', 'default'], rows));
}

function operatorPage(): string {
  return page(
    'The operator file',
    'The operator file contains settings that do not fit into an environment variable; `REEVE_CONFIG` names it. Parsing is strict: Reeve reports every error with its position and does not start. Relative paths in it start at the folder of the file.',
    code('yaml', operatorExample),
    table(['key', 'type', 'required', 'meaning'], schemaRows(jsonSchema(OperatorFile))),
  );
}

function metricsPage(): string {
  const rows = Object.entries(metricTable).map(([name, { type, labels, help, ...of }]) => [
    word(name),
    type,
    'ofInstallation' in of ? 'installation' : 'process',
    words(labels),
    help,
  ]);
  return page(
    'Metrics',
    '`GET /metrics` of `reeve serve`, in the Prometheus format. It requires HTTP Basic authentication: any user name, and the password of the dashboard, which `reeve password` shows; write it to a file for Prometheus. Counters start at zero with the process; gauges show the current state. Scrape each process: what is about the installation is exported by the leader alone, and counters by the process that counted, so that a sum over processes is right.',
    code(
      'yaml',
      `scrape_configs:
  - job_name: reeve
    basic_auth: { username: prometheus, password_file: /etc/prometheus/reeve.password }
    static_configs: [{ targets: ["127.0.0.1:8080"] }]
`,
    ),
    table(['metric', 'type', 'of', 'labels', 'meaning'], rows),
    'The default metrics of a Node process are included: `process_*` and `nodejs_*`.',
  );
}

function doctorPage(): string {
  const rows = checks.map(({ id, looks, fails, remedy, after = [] }) => [
    word(id),
    looks,
    fails,
    remedy,
    words(after),
  ]);
  return page(
    'Checks of the doctor',
    '`reeve doctor` runs these checks in this order. It exits with 1 if a check fails, 2 if the settings are invalid, and 3 if the forge is unreachable. A check is skipped if a check that it depends on fails. Problems are printed first; the checks without one are counted, and `--all` lists them.',
    table(['check', 'examines', 'fails when', 'remedy', 'depends on'], rows),
  );
}

function errorPage(): string {
  const rows = Object.entries(errorCodes).map(([name, { http, exit, retryable }]) => [
    word(name),
    String(http),
    String(exit),
    retryable ? 'yes' : '',
  ]);
  return page(
    'Error codes',
    'All error codes of Reeve. `retryable`: the same operation may succeed later without any change.',
    table(['code', 'HTTP status', 'exit status', 'retryable'], rows),
  );
}

function problemPage(): string {
  const rows = Object.entries(problemCodes).map(([name, meaning]) => [word(name), meaning]);
  return page(
    'Problems of rule files',
    'Problems that `reeve check` reports.',
    table(['code', 'meaning'], rows),
  );
}

/** Returns the beginning of a text: up to the end of its first sentence or clause, and at most 120 characters. */
function fewWords(text: string): string {
  const [words = ''] = /^.*?(?=[.;:](?:\s|$)| \(|$)/.exec(text) ?? [];
  return words.length <= 120 ? words : `${words.slice(0, 119).replace(/\s+\S*$/, '')} …`;
}

/** Returns a few words about an entry of the index, from its page. */
function aboutPage(path: string, text: string): string {
  const [beginning = ''] = text.split('\n```', 1);
  const [, first = '', ...others] = beginning.split('\n').filter((line) => line !== '');
  const cells = [first, ...others]
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /));
  if (path.startsWith('events/'))
    return fewWords(cells.map(([, activities]) => activities).join(', ')).replace('–', 'no activities');
  // All pages of objects begin with the same sentence.
  if (first.startsWith('An object of the forge'))
    return `with ${words(cells.slice(0, 4).map(([name = '']) => name.replaceAll('`', '')))}, …`;
  return fewWords(first.startsWith('|') ? (cells[0]?.at(-1) ?? '') : first);
}

function indexPage(pages: ReadonlyMap<string, string>): string {
  const links = (folder: string, heads: readonly string[]): string =>
    table(
      heads,
      [...pages]
        .filter(([path]) => posix.dirname(path) === folder)
        .map(([path, text]) => [`[${titleOf(text)}](${path})`, aboutPage(path, text)]),
    );
  return page(
    'Reference',
    'Generated by `node scripts/reference.ts` from the tables that the program itself uses; a test fails when a page is stale.',
    links('.', ['page', 'contents']),
    `## Actions\n\n${links('actions', ['action', 'effect'])}`,
    `## Facts\n\n${links('facts', ['fact', 'value'])}`,
    `## Events\n\n${links('events', ['event', 'activities'])}`,
    `## Objects\n\n${links('objects', ['object', 'members'])}`,
    `## Functions\n\n${links('functions', ['function', 'meaning'])}`,
  );
}

const number = (value: number): string => value.toLocaleString('en');

/** Returns the page about size limits and costs of expressions and patterns. */
function limitsPage(): string {
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
