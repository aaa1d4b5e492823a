import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { count } from '../src/platform/count.ts';
import { packageRoot } from '../src/platform/package.ts';

const source = join(packageRoot, 'src');

/**
 * A number of things in a text, with a noun that is always in the plural: `${found.length} labels`. Sizes and limits
 * are large numbers. The embedded forge repeats the messages of real ones.
 */
const fixedPlural =
  /\$\{(?:[\w.?]+\.)?(?:length|size|count|number|total|items|changes|requests|attempts|rules|cases|steps|rest|hidden|left\w*|\w*LeftOut|refusals|deliveries|repositories|runs|pulls)(?: - 1)?\} (?:(?:more|later|other|live|open) )?(?!(?:bytes|characters|has|is|leaves|ms)\b)[a-z]+s\b/g;

/** Places where the number is greater than one, by file: the code tests for it. */
const neverOne: Readonly<Record<string, number>> = {
  // Found several where one was expected.
  'actions/label-names.ts': 1,
  'actions/sync-labels.ts': 1,
  'actions/sync-hooks.ts': 1,
  'facts/organization.ts': 1,
  'rules/sources/organization.ts': 1,
  // Above a limit.
  'actions/backport.ts': 2,
  'rules/expressions/text-functions.ts': 1,
  'rules/expressions/values.ts': 2,
  'work/runs/concerned-pulls.ts': 1,
  'facts/write-access.ts': 1,
  'patterns/re2.ts': 1,
  // Beside a text for one.
  'cli/connection/checks/incident-checks.ts': 1,
  'engine/incidents/incident.ts': 1,
  'rules/files/load.ts': 1,
  'rules/rule-tests.ts': 1,
  'work/sweeps/progress.ts': 1,
  // A flip needs two.
  'engine/limits.ts': 1,
};

it('no message has a number before a noun that stays in the plural, or a plural in parentheses', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/^(?:forge|rules\/expressions)\//.test(path),
  );
  const found = files.flatMap((path) => {
    const code = readFileSync(join(source, path), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    const plurals = [...code.matchAll(fixedPlural)]
      .map(([text]) => text)
      .filter((text) => !/[lL]imits\./.test(text));
    const optional = [...code.matchAll(/[a-z]\((?:s|es|ies)\) /g)].map(([text]) => text);
    return plurals.length > (neverOne[path] ?? 0) || optional.length > 0
      ? [{ path, texts: [...plurals, ...optional] }]
      : [];
  });

  expect(files.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});

it('a noun follows its number', () => {
  const said = [
    [1, 'entry'],
    [2, 'entry'],
    [0, 'day'],
    [2, 'process'],
    [2, 'search'],
    [1, 'change'],
  ] as const;

  expect(said.map(([number, noun]) => count(number, noun))).toEqual([
    '1 entry',
    '2 entries',
    '0 days',
    '2 processes',
    '2 searches',
    '1 change',
  ]);
});
