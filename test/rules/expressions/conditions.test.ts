import { describe, expect, it } from 'vitest';
import type { Family } from '../../../src/contract/events/event-families.ts';
import type { SubjectKind } from '../../../src/contract/events/subject.ts';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { type ConditionResult, compileCondition } from '../../../src/rules/expressions/conditions.ts';
import type { ExpressionEnvironment, Known } from '../../../src/rules/expressions/types.ts';
import { createEnvironment, type Occasion } from '../../../src/rules/files/context.ts';
import { registry } from '../support/registry.ts';
import { contextOf } from './support/context.ts';

const onPull: Occasion = { family: 'pull_request', subject: 'pull_request' };

function makeEnvironment(
  ...occasions: readonly { family?: Family; subject: SubjectKind }[]
): ExpressionEnvironment {
  return createEnvironment({
    registry,
    level: 'operator',
    occasions: occasions.length > 0 ? occasions : [onPull],
  });
}

function answer(
  source: string,
  given: Readonly<Record<string, unknown>>,
  environment = makeEnvironment(),
): ConditionResult {
  const place = { file: 'f.yml', at: (offset: number) => ({ line: 1, column: offset + 1 }) };
  const compiled = compileCondition(source, contextOf(environment), place);
  if ('problems' in compiled) throw new Error(compiled.problems.map(({ message }) => message).join('\n'));
  return compiled.condition.evaluate(
    {
      find: ({ name, argument }): Known | undefined => {
        if (!Object.hasOwn(given, name)) return undefined;
        const value = argument === undefined ? given[name] : Reflect.get(Object(given[name]), argument);
        return value instanceof Error ? { error: value } : { value };
      },
    },
    createUnlimitedMeter(),
  );
}

function problems(source: string, ...occasions: readonly { family?: Family; subject: SubjectKind }[]) {
  const place = { file: 'f.yml', at: () => ({ line: 1, column: 1 }) };
  const compiled = compileCondition(source, contextOf(makeEnvironment(...occasions)), place);
  if ('condition' in compiled) return [];
  return compiled.problems.map(({ code, start, suggestion }) =>
    suggestion === undefined ? `${start} ${code}` : `${start} ${code} ${suggestion}`,
  );
}

const pull = {
  number: 7,
  title: 'fix: a thing',
  draft: false,
  additions: 400,
  deletions: 200,
  state: 'open',
  created_at: '2026-01-01T00:00:00Z',
  milestone: null,
  base: { ref: 'main' },
};
const given = {
  pull_request: pull,
  labels: [
    { id: 1, name: 'bug' },
    { id: 2, name: 'docs' },
  ],
  files: [{ filename: 'docs/a.md' }, { filename: 'src/b.ts', previous_filename: 'src/a.ts' }],
  contents: { 'README.md': { content: 'hello', size: 5 } },
  now: new Date('2026-01-03T12:00:00Z'),
  event: { action: 'opened', number: 7, pull_request: pull },
  sender: { id: 3, login: 'ada' },
};

describe('the loops of a condition', () => {
  const loops = (count: number) =>
    Array.from({ length: count }, (_, n) => `files.exists(f, f.filename.glob("area-${n}/**"))`).join(' || ');

  it('are limited to twenty, and the message suggests an alternative', () => {
    expect(problems(loops(20))).toEqual([]);
    const place = { file: 'f.yml', at: () => ({ line: 1, column: 1 }) };
    const compiled = compileCondition(loops(21), contextOf(makeEnvironment()), place);
    expect(compiled).toMatchObject({
      problems: [
        {
          message: expect.stringMatching(
            /at most 20 loops: search for several things at once \(touches\(\["a/,
          ),
        },
      ],
    });
    expect(problems('touches(["a/**", "b/**"])')).toEqual([]);
  });
});

describe('a condition', () => {
  it.each([
    ['pull_request.number == 7', 'held'],
    ['pull_request.additions + pull_request.deletions > 500', 'held'],
    ['pull_request.additions * 1.5 == 600.0', 'held'],
    ['!pull_request.draft', 'held'],
    ['labels.exists(l, l.name == "bug")', 'held'],
    ['labels.all(l, l.name.size() == 3)', 'not'],
    ['labels.exists_one(l, l.name.startsWith("b"))', 'held'],
    ['labels.all(l, files.exists(f, f.filename.contains("a") && l.id > 0))', 'held'],
    ['labels.map(l, l.name) == ["bug", "docs"]', 'held'],
    ['labels.map(l, l.id > 1, l.name).size() == 1', 'held'],
    ['labels.filter(l, l.id > 1).map(l, l.name).join(",") == "docs"', 'held'],
    ['files.exists(f, f.filename.glob("docs/**"))', 'held'],
    ['files.all(f, f.filename.glob(["docs/**", "src/**"]))', 'held'],
    ['files.exists(f, has(f.previous_filename) && f.previous_filename == "src/a.ts")', 'held'],
    ['pull_request.title.matches("^(fix|feat)(\\\\(.+\\\\))?: ")', 'held'],
    ['pull_request.title.matches(r"\\d")', 'not'],
    ['pull_request.title.lower().contains("thing")', 'held'],
    ['pull_request.state in ["open", "closed"]', 'held'],
    ['has(pull_request.milestone)', 'not'],
    ['has(pull_request.milestone.title)', 'not'],
    ['has(event.pull_request) && event.pull_request.draft', 'not'],
    ['now - timestamp(pull_request.created_at) > duration("48h")', 'held'],
    ['now.getDayOfWeek() == 6', 'held'],
    ['now.getHours("Europe/Berlin") == 13', 'held'],
    ['contents("README.md").content == "hello"', 'held'],
    ['pull_request.base["ref"] == "main"', 'held'],
    ['labels[0].name == "bug"', 'held'],
    ['(pull_request.draft ? "a" : "b") == "b"', 'held'],
    ['pull_request.milestone == null', 'held'],
    ['"ä".size() == 1 && string(pull_request.number) == "7" && int("4") == 4', 'held'],
    ['true', 'held'],
  ])('%s', (source, expected) => {
    const { result, reason } = answer(source, given);

    expect(reason ?? result).toBe(expected);
  });

  it('lists the facts that it reads', () => {
    const place = { file: '', at: () => ({ line: 1, column: 1 }) };
    const compiled = compileCondition(
      'contents("a").size > 1 && contents("b").size > 1 && labels.size() > 0 && event.number > 0',
      contextOf(makeEnvironment()),
      place,
    );

    expect('condition' in compiled && compiled.condition.facts).toEqual([
      { name: 'contents', argument: 'a' },
      { name: 'contents', argument: 'b' },
      { name: 'labels' },
    ]);
  });

  it('compares durations of sweep items', () => {
    const environment = makeEnvironment({ subject: 'runner' });
    const runner = { name: 'r', status: 'offline', offline_for: 16 * 60_000 };
    const source = 'runner.status == "offline" && runner.offline_for > duration("15m")';

    expect(answer(source, { runner }, environment).result).toBe('held');
    expect(answer(source, { runner: { ...runner, offline_for: '14m30s' } }, environment).result).toBe('not');
  });
});

describe('findings', () => {
  it('contain each leaf with its values and its position', () => {
    const { findings } = answer(
      '!pull_request.draft && (labels.exists(l, l.name == "x") || files.size() > 1)',
      given,
    );

    expect(findings).toEqual([
      {
        expression: 'pull_request.draft',
        result: 'not',
        values: { 'pull_request.draft': false },
        file: 'f.yml',
        line: 1,
        column: 2,
      },
      {
        expression: 'labels.exists(l, l.name == "x")',
        result: 'not',
        values: { labels: ['bug', 'docs'] },
        file: 'f.yml',
        line: 1,
        column: 25,
      },
      {
        expression: 'files.size() > 1',
        result: 'held',
        values: {
          files: [{ filename: 'docs/a.md' }, { filename: 'src/b.ts', previous_filename: 'src/a.ts' }],
        },
        file: 'f.yml',
        line: 1,
        column: 60,
      },
    ]);
  });

  it('show which leaves were not evaluated', () => {
    const { findings } = answer('pull_request.draft && labels.size() > 0', given);

    expect(findings.map(({ result }) => result)).toEqual(['not', 'unevaluated']);
    expect(findings[1]?.values).toEqual({});
  });

  it('shorten long values for display', () => {
    const many = { ...given, files: Array.from({ length: 500 }, (_, place) => ({ filename: `f${place}` })) };
    const [finding] = answer('files.size() > 1', many).findings;

    expect(String(finding?.values.files)).toHaveLength(200);
  });

  it.each([
    ['a missing member', 'pull_request.mergeable', 'pull_request.mergeable is missing'],
    ['null where a value is needed', 'pull_request.milestone.title == "x"', 'pull_request.milestone is null'],
    ['null as the answer', 'pull_request.merged', 'pull_request.merged is null'],
    ['a fact that cannot be asked', 'issue.title == "x"', 'no access'],
    ['what is not here', 'repository.private', 'there is no repository here'],
    ['a number that is too large', 'pull_request.number * 9223372036854775807 > 1', 'integer overflow'],
    ['a long list', 'labels.exists(l, l.id == 0)', 'too large to judge: labels is a list of 10001 items'],
    ['a long text', 'pull_request.body.contains("x")', 'too large to judge'],
  ])('have the result error for %s', (_, source, expected) => {
    const { result, findings } = answer(source, {
      ...given,
      pull_request: { ...pull, merged: null, body: 'x'.repeat(256 * 1024 + 1) },
      issue: new ReeveError('forge-forbidden', 'no access'),
      ...(source.startsWith('labels') && {
        labels: Array.from({ length: 10_001 }, (_unused, id) => ({ id })),
      }),
    });

    expect(result).toBe('error');
    expect(String(findings[0]?.values.error)).toContain(expected);
  });

  it('keep an error for which a retry may help', () => {
    const cause = new ReeveError('forge-timeout', 'no answer');
    const facts = { ...given, issue: new ReeveError('forge-forbidden', 'no access'), labels: cause };

    expect(answer('issue.title == "x" && labels.size() > 0', facts).cause).toBe(cause);
  });

  it('with an error are ignored if another operand decides', () => {
    expect(answer('pull_request.mergeable || true', given).result).toBe('held');
    expect(answer('pull_request.mergeable && false', given).result).toBe('not');
    expect(answer('pull_request.mergeable && true', given).result).toBe('error');
    expect(answer('!pull_request.mergeable', given).result).toBe('error');
  });
});

describe('a condition is refused for', () => {
  const push = { family: 'push', subject: 'branch' } as const;
  const clock = { subject: 'repository' } as const;
  it.each<[string, string, readonly string[], ...Occasion[]]>([
    ['an unknown name', 'pull_requst.draft', ['0 unknown-name pull_request']],
    ['an unknown member', 'pull_request.drafft', ['13 unknown-member draft']],
    ['an unknown member deep down', 'pull_request.base.reff == "x"', ['18 unknown-member ref']],
    ['an unknown member in a loop', 'files.exists(f, f.filname == "x")', ['18 unknown-member filename']],
    ['a member of text', 'pull_request.title.text == "x"', ['19 unknown-member']],
    ['an unknown function', 'labels.any(l, l.id == 1)', ['0 unknown-name exists']],
    ['a function that is none here', 'pull_request.title.reverse() == "x"', ['0 unknown-name']],
    ['cel.bind', 'cel.bind(x, 1, true)', ['0 unknown-name']],
    ['another type', 'pull_request.title', ['0 expression-type']],
    ['types that cannot be equal', 'pull_request.number == "7"', ['0 expression-type']],
    ['a text that a value never has', 'pull_request.state == "opened"', ['22 expression-type open']],
    ['the same on the other side', '"Open" != pull_request.state', ['0 expression-type open']],
    ['the same in a list', 'pull_request.state in ["open", "draft"]', ['31 expression-type']],
    ['types that cannot be compared', 'pull_request.created_at < now', ['0 expression-type']],
    ['adding text and number', 'pull_request.title + 1 == "x"', ['0 expression-type']],
    ['loops three deep', 'labels.exists(l, files.all(f, labels.exists(k, true)))', ['30 expression']],
    ['a variable of the loop around', 'labels.exists(l, files.exists(l, true))', ['30 expression']],
    ['twenty-one loops', Array(21).fill('labels.exists(l, true)').join(' && '), ['520 expression']],
    ['splitting in a loop', 'labels.exists(l, l.name.split("a").size() > 1)', ['17 expression']],
    ['a loop over text', 'pull_request.title.exists(c, true)', ['0 expression-type']],
    ['a variable that hides a name', 'files.exists(labels, true)', ['13 expression']],
    ['a pattern that is no RE2', 'pull_request.title.matches("(?=a)")', ['27 pattern']],
    ['a long pattern', `pull_request.title.matches("${'a'.repeat(201)}")`, ['27 pattern']],
    ['a pattern that is no literal', 'pull_request.title.matches(sender.login)', ['27 expression']],
    ['a broken glob', 'files.exists(f, f.filename.glob("["))', ['32 pattern']],
    ['a fact’s argument that is no literal', 'contents(pull_request.title).size > 1', ['9 expression']],
    ['a fact without its argument', 'contents.size > 1', ['0 expression']],
    ['an argument too many', 'labels("x").size() > 1', ['0 expression']],
    ['a broken duration', 'now - now > duration("15 minutes")', ['21 value']],
    ['a broken timezone', 'now.getHours("Mars") > 1', ['13 value']],
    ['a long source', `true || ${' '.repeat(2_000)}true`, ['0 expression']],
    ['nesting', `${'('.repeat(40)}true${')'.repeat(40)}`, ['24 expression']],
    ['bytes', 'b"a" == b"b"', ['0 expression', '8 expression']],
    ['a fact of another subject', 'pull_request.draft', ['0 subject'], push],
    [
      'event under a schedule',
      'event.ref == "x"',
      ['0 needs-has'],
      { family: 'repository', subject: 'repository' },
      clock,
    ],
    ['event of a schedule alone', 'event.action == "x"', ['0 subject'], clock],
    [
      'a member that only some kinds have',
      'event.pull_request.draft',
      ['6 needs-has'],
      onPull,
      { family: 'issues', subject: 'issue' },
    ],
    [
      'a name that only some kinds have',
      'pull_request.draft',
      ['0 needs-has'],
      onPull,
      { family: 'issues', subject: 'issue' },
    ],
  ])('%s', (_, source, expected, ...occasions) => {
    const found = problems(source, ...occasions);

    expect(source === 'event.ref == "x"' ? found.slice(0, 1) : found).toEqual(expected);
  });

  it.each<[string, ...Occasion[]]>([
    ['has(event) && event.action == "created"', { family: 'repository', subject: 'repository' }, clock],
    ['!has(event) || event.action == "created"', { family: 'repository', subject: 'repository' }, clock],
    ['has(event) ? event.action == "created" : true', { family: 'repository', subject: 'repository' }, clock],
    ['has(event.pull_request) && event.pull_request.draft', onPull, { family: 'issues', subject: 'issue' }],
    ['has(pull_request) && pull_request.draft', onPull, { family: 'issues', subject: 'issue' }],
  ])('no part of %s', (source, ...occasions) => {
    expect(problems(source, ...occasions)).toEqual([]);
  });

  it('has() in an operand that does not guard the other operand', () => {
    const occasions = [onPull, { family: 'issues', subject: 'issue' } as const];

    expect(problems('has(pull_request) || pull_request.draft', ...occasions)).toEqual(['21 needs-has']);
  });
});

describe('has() of a name', () => {
  const both = makeEnvironment(onPull, { family: 'issues', subject: 'issue' });

  it('is false if the subject has no such fact', () => {
    const absent = new ReeveError('forge-not-found', 'an issue has no pull_request');

    expect(answer('has(pull_request) && pull_request.draft', { pull_request: absent }, both).result).toBe(
      'not',
    );
  });

  it('fails if the forge did not respond', () => {
    const silent = new ReeveError('forge-timeout', 'no answer');

    expect(answer('has(pull_request) && pull_request.draft', { pull_request: silent }, both)).toMatchObject({
      result: 'error',
      cause: silent,
    });
  });
});
