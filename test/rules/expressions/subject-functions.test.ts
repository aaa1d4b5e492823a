import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { type ConditionResult, compileCondition } from '../../../src/rules/expressions/conditions.ts';
import type { Known } from '../../../src/rules/expressions/types.ts';
import { createEnvironment, type Occasion } from '../../../src/rules/files/context.ts';
import { registry } from '../../../src/rules/registry.ts';
import { contextOf } from './support/context.ts';

const onPull: Occasion = { family: 'pull_request', subject: 'pull_request' };
const onPush: Occasion = { family: 'push', subject: 'branch' };
const onIssue: Occasion = { family: 'issues', subject: 'issue' };

function compile(source: string, ...occasions: readonly Occasion[]) {
  const environment = createEnvironment({
    registry,
    level: 'operator',
    occasions: occasions.length > 0 ? occasions : [onPull],
  });
  return compileCondition(source, contextOf(environment), {
    file: 'f.yml',
    at: () => ({ line: 1, column: 1 }),
  });
}

function answer(source: string, given: Readonly<Record<string, unknown>>, ...occasions: readonly Occasion[]) {
  const compiled = compile(source, ...occasions);
  if ('problems' in compiled) throw new Error(compiled.problems.map(({ message }) => message).join('\n'));
  const find = ({ name }: { readonly name: string }): Known | undefined => {
    if (!Object.hasOwn(given, name)) return undefined;
    const value = given[name];
    return value instanceof Error ? { error: value } : { value };
  };
  return compiled.condition.evaluate({ find }, createUnlimitedMeter());
}

function resultOf(source: string, given: Readonly<Record<string, unknown>>): ConditionResult['result'] {
  return answer(source, given).result;
}

function problemsOf(source: string, ...occasions: readonly Occasion[]): readonly string[] {
  const compiled = compile(source, ...occasions);
  return 'problems' in compiled ? compiled.problems.map(({ message }) => message) : [];
}

const changed = (...names: readonly (string | readonly [string, string])[]) => ({
  files: names.map((name) =>
    typeof name === 'string'
      ? { filename: name, status: 'changed' }
      : { filename: name[1], previous_filename: name[0], status: 'renamed' },
  ),
});
const deleted = { files: [{ filename: 'docs/old.md', status: 'deleted' }] };
const moved = changed(['src/a.ts', 'lib/a.ts']);

describe('touches and only_touches', () => {
  it.each([
    ['touches("docs/**")', changed('docs/a.md', 'src/b.ts'), 'held'],
    ['touches("docs/**")', changed('src/b.ts'), 'not'],
    ['touches(["docs/**", "**/*.ts"])', changed('src/b.ts'), 'held'],
    ['touches("docs/**")', deleted, 'held'],
    ['touches("src/**")', moved, 'held'],
    ['touches("lib/**")', moved, 'held'],
    ['touches(["!src/gen/**", "src/**"])', changed('src/gen/a.ts'), 'not'],
    ['touches(["src/**", "!src/gen/**"])', changed('src/gen/a.ts', 'src/b.ts'), 'held'],
    ['touches(["src/**", "!src/**/*.md"])', changed('src/x/y.md'), 'not'],
    ['touches("**")', changed(), 'not'],
    ['only_touches("docs/**")', changed('docs/a.md', 'docs/b/c.md'), 'held'],
    ['only_touches("docs/**")', changed('docs/a.md', 'src/b.ts'), 'not'],
    ['only_touches("docs/**")', changed(), 'not'],
    ['only_touches("lib/**")', moved, 'not'],
    ['only_touches(["lib/**", "src/**"])', moved, 'held'],
    ['only_touches(["docs/**", "!docs/api/**"])', changed('docs/a.md', 'docs/api/b.md'), 'not'],
  ] as const)('%s, %j: %s', (source, given, expected) => {
    expect(resultOf(source, given)).toBe(expected);
  });

  it.each(['touches("docs/**")', '!touches("docs/**")', 'only_touches("**")', '!only_touches("**")'])(
    '%s is an error, not an answer, if the list of files is incomplete',
    (source) => {
      const incomplete = { files: [{ filename: 'docs/a.md', status: 'unknown' }] };

      expect(resultOf(source, incomplete)).toBe('error');
      expect(answer(source, incomplete).reason).toContain('does not list all changed files');
      const tooMany = Array.from({ length: 10_001 }, (_, n) => ({ filename: `docs/${n}`, status: 'added' }));
      expect(answer(source, { files: tooMany }).reason).toContain('too large to judge');
      expect(resultOf(source, { files: new ReeveError('forge-unreachable', 'no answer') })).toBe('error');
    },
  );

  it('is available for pushes, and a problem for issues', () => {
    expect(answer('touches("docs/**")', changed('docs/a.md'), onPush).result).toBe('held');
    expect(problemsOf('touches("docs/**")', onIssue)).toEqual(['issues has no files']);
  });

  it('shows the names of the files as evidence', () => {
    expect(answer('touches("docs/**")', changed('docs/a.md', 'src/b.ts')).findings).toMatchObject([
      { expression: 'touches("docs/**")', result: 'held', values: { files: ['docs/a.md', 'src/b.ts'] } },
    ]);
  });
});

describe('labelled', () => {
  const labels = (...names: readonly string[]) => ({ labels: names.map((name, id) => ({ id, name })) });

  it.each([
    ['labelled("bug")', labels('docs', 'bug'), 'held'],
    ['labelled("bug")', labels('docs'), 'not'],
    ['labelled("bug")', labels('Bug'), 'not'],
    ['labelled("b*")', labels('bug'), 'not'],
    ['labelled(["a", "b"])', labels('b'), 'held'],
    ['labelled(["!wip", "ready"])', labels('ready', 'wip'), 'not'],
    ['labelled(["ready", "!wip"])', labels('ready'), 'held'],
    ['labelled("bug")', { labels: null }, 'not'],
  ] as const)('%s, %j: %s', (source, given, expected) => {
    expect(resultOf(source, given)).toBe(expected);
  });

  it('is available for issues', () => {
    expect(answer('labelled("bug")', labels('bug'), onIssue).result).toBe('held');
  });
});

describe('passed and failed', () => {
  const statuses = (states: Readonly<Record<string, string>>) => ({
    statuses: Object.entries(states).map(([context, status], id) => ({ id, context, status })),
  });
  const green = statuses({ 'ci/build': 'success', 'ci/test': 'skipped', lint: 'pending' });

  it.each([
    ['passed("ci/*")', green, 'held'],
    ['passed(["ci/*", "lint"])', green, 'not'],
    ['passed(["ci/*", "deploy"])', green, 'not'],
    ['passed(["*", "!lint"])', green, 'held'],
    ['passed("ci*")', statuses({ 'ci/a/b (push)': 'success' }), 'held'],
    ['passed("ci/*")', statuses({ 'ci/a': 'success', 'ci/b': 'warning' }), 'not'],
    ['passed("ci/*")', statuses({}), 'not'],
    ['passed("*")', statuses({ 'reeve/gate': 'success' }), 'not'],
    ['passed("reeve/gate")', statuses({ 'reeve/gate': 'success' }), 'held'],
    ['passed("*")', statuses({ 'reeve/queue': 'success', ci: 'success' }), 'held'],
    ['passed("reeve/*")', statuses({ 'reeve/queue': 'success' }), 'not'],
    ['failed("ci/*")', green, 'not'],
    ['failed("ci/*")', statuses({ 'ci/a': 'failure' }), 'held'],
    ['failed(["ci/*", "!ci/optional"])', statuses({ 'ci/optional': 'error' }), 'not'],
    ['failed("ci/*")', statuses({ 'ci/a': 'error' }), 'held'],
    ['failed("ci/*")', statuses({ 'ci/a': 'pending', 'ci/b': 'warning' }), 'not'],
  ] as const)('%s, %j: %s', (source, given, expected) => {
    expect(resultOf(source, given)).toBe(expected);
  });

  it('awaits checks that have no result yet', () => {
    const compiled = compile('passed("ci/*") && pull_request.draft == false');
    if ('problems' in compiled) throw new Error('refused');
    const find = ({ name }: { readonly name: string }) => ({
      value: name === 'statuses' ? [] : { draft: false },
    });

    expect(compiled.condition.prospect({ find }, createUnlimitedMeter())).toBe('awaits');
  });
});

describe('a function about the subject', () => {
  it.each([
    ['touches()', 'touches takes its globs as a literal text or list: touches(["docs/**", "**/*.md"])'],
    ['touches([])', 'touches takes its globs as a literal text or list: touches(["docs/**", "**/*.md"])'],
    [
      'touches(pull_request.title)',
      'touches takes its globs as a literal text or list: touches(["docs/**", "**/*.md"])',
    ],
    [
      'labelled(["a", pull_request.title])',
      'labelled takes its names as a literal text or list: labelled(["bug", "regression", "!wontfix"])',
    ],
    [
      'touches("a", "b")',
      'touches takes its globs as a literal text or list: touches(["docs/**", "**/*.md"])',
    ],
    ['touches("!docs/**")', 'the pattern "!docs/**" only excludes: first list what should match'],
    ['labelled("!bug")', 'the pattern "!bug" only excludes: first list what should match'],
    ['passed(["!ci/*"])', 'the pattern "!ci/*" only excludes: first list what should match'],
    ['passed("")', 'the pattern "" is empty'],
    ['touches("/docs")', 'the pattern "/docs" cannot match: paths do not start with a slash'],
  ])('%s is a problem', (source, message) => {
    expect(problemsOf(source)).toEqual([message]);
  });

  it('needs its fact, and asks for a grant like it', () => {
    const compiled = compile('touches("a") || labelled("b") || failed("c")');

    expect('condition' in compiled && compiled.condition.facts.map(({ name }) => name)).toEqual([
      'files',
      'labels',
      'statuses',
    ]);
  });

  it('must not be used where a rule also hears an event without its fact, unless has() asks first', () => {
    expect(problemsOf('touches("a")', onPull, onIssue)).toEqual([
      'issues has no files: ask has(pull_request) first',
    ]);
    expect(problemsOf('has(files) && touches("a")', onPull, onIssue)).toEqual([]);
    expect(problemsOf('has(pull_request) && touches("a")', onPull, onIssue)).toEqual([]);
  });

  it('is suggested for a misspelt name', () => {
    const compiled = compile('touchs("a")');

    expect('problems' in compiled && compiled.problems[0]?.suggestion).toBe('touches');
  });

  it('does not depend on a loop variable with the name of its fact', () => {
    expect(problemsOf('labels.exists(files, touches("a"))')).toEqual([
      '"files" is already in use: choose another name',
    ]);
  });
});
