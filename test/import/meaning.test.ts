import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { isThorough, recordFigure } from '../support/figure.ts';
import { type Compared, compare, type Difference, importText, wordsOf } from './meaning.ts';
import { type FormatRow, rows } from './meaning-rows.ts';

const subjects = isThorough ? 10_000 : 500;

/** Prepares the comparison of a configuration, on each occasion of its format. */
async function prepare(row: FormatRow, text: string, path = row.path): Promise<readonly Compared[]> {
  const { rules, entries } = await importText(row.format, { path, text });
  // Words of a row are few, so that conditions of many parts hold often enough.
  const words = { ...wordsOf(text, row.words === undefined ? {} : { owner: 'acme' }, rules), ...row.words };
  return [{}, ...(row.also ?? [])].map((also) => ({
    comparison: { ...row, ...also },
    text,
    words,
    rules,
    entries,
  }));
}

/** Returns the differences of a configuration: those without a name, and how often each name was used. */
async function judge(
  row: FormatRow,
  compared: Compared,
  count: number,
): Promise<{
  readonly unnamed: readonly string[];
  readonly used: ReadonlyMap<RegExp, number>;
  readonly effects: number;
}> {
  const notes = compared.entries.flatMap(({ outcome, note = '' }) =>
    outcome === 'differs' || outcome === 'left-out' ? [note] : [],
  );
  const known = row.named.filter(({ note }) => notes.some((one) => note.test(one)));
  const unnamed: string[] = [];
  const used = new Map<RegExp, number>();
  const { effects } = await compare(compared, { count }, (difference) => {
    if (isSameStatus(row, difference) || row.beyond?.is(difference)) return;
    const name = known.find(({ is }) => is(difference));
    if (name === undefined) unnamed.push(describeDifference(difference));
    else used.set(name.note, (used.get(name.note) ?? 0) + 1);
  });
  return { unnamed, used, effects };
}

/** A status has another name at the forge, or is not written for closed pull requests, where it has no use. */
function isSameStatus(
  { statuses = [] }: FormatRow,
  { side, effect, source, rules, subject }: Difference,
): boolean {
  const translate = (one: string): string =>
    statuses.reduce((text, [from, to]) => text.replace(from, to), one);
  if (!statuses.some(([from, to]) => from.test(effect) || effect.startsWith(to))) return false;
  if (subject.state === 'closed') return true;
  return side === 'source' ? rules.includes(translate(effect)) : source.map(translate).includes(effect);
}

function describeDifference({ side, effect, source, rules, subject }: Difference): string {
  const { number, title, labels, state, draft, fork, behind, author, base, head, merged } = subject;
  return JSON.stringify({
    side,
    effect,
    source,
    rules,
    number,
    title,
    labels,
    state,
    draft,
    fork,
    behind,
    author,
    base,
    head,
    merged,
  });
}

describe('an imported rule decides as its source', () => {
  test.for(rows)(
    '$format: each difference has a name in the report, and each name occurs',
    async (row, context) => {
      const used = new Set<RegExp>();
      let effects = 0;
      for (const text of row.texts) {
        for (const compared of await prepare(row, text)) {
          const found = await judge(row, compared, subjects * (isThorough ? 1 : (row.times ?? 1)));
          expect(found.unnamed.slice(0, 3), `${found.unnamed.length} without a name`).toEqual([]);
          for (const name of found.used.keys()) used.add(name);
          effects += found.effects;
        }
      }

      expect(effects).toBeGreaterThan(subjects / 40);
      const expected = row.named.filter(({ isRare }) => isThorough || !isRare);
      expect(expected.map(({ note }) => note).filter((note) => !used.has(note))).toEqual([]);
      recordFigure(
        context,
        `0 decisions of ${row.format} that differ without a name, on ${subjects.toLocaleString('en')} subjects for each configuration`,
      );
    },
  );
});

/** Conversions that are wrong in one place: what a mistake in the importer would write. */
const wrong: readonly {
  readonly mistake: string;
  readonly format: string;
  readonly text?: number;
  readonly from: string | RegExp;
  readonly to: string;
}[] = [
  {
    mistake: 'and for or',
    format: 'mergify',
    from: 'pull_request.title.startsWith("feat") || labelled("feature")',
    to: 'pull_request.title.startsWith("feat") && labelled("feature")',
  },
  { mistake: 'a lost negation', format: 'kodiak', from: '!labelled("hold")', to: 'labelled("hold")' },
  { mistake: 'another glob', format: 'labeler', from: '"lib/**"', to: '"lib/*.ts"' },
  {
    mistake: 'greater for greater or equal',
    format: 'mergify',
    text: 1,
    from: 'files.size() >= 3',
    to: 'files.size() > 3',
  },
  {
    mistake: 'the label of another rule',
    format: 'mergify',
    from: /add:\n\s+- documentation/,
    to: 'add: [conflict]',
  },
  {
    mistake: 'no condition about drafts',
    format: 'auto-request-review',
    from: '!pull_request.draft',
    to: 'true',
  },
  { mistake: 'another method', format: 'bulldozer', from: 'method: squash', to: 'method: merge' },
  {
    mistake: 'no check',
    format: 'mergify',
    from: 'passed("* / build (pull_request)")',
    to: 'true',
  },
  {
    mistake: 'the start for any part',
    format: 'bulldozer',
    from: /pull_request\.body\.contains\(/g,
    to: 'pull_request.body.startsWith(',
  },
  {
    mistake: 'the other direction of time',
    format: 'probot-stale',
    from: /< now - duration\("1440h"\)/,
    to: '> now - duration("1440h")',
  },
  {
    mistake: 'all checks for the named one',
    format: 'mergify',
    text: 1,
    from: 'pull_request.number > 5',
    to: 'pull_request.number > 500',
  },
  {
    mistake: 'an approval for a rejection',
    format: 'policy-bot',
    from: 'd.state == "REQUEST_CHANGES"',
    to: 'd.state == "APPROVED"',
  },
];

describe('a wrong conversion is found', () => {
  test.for(wrong)('$mistake ($format)', async ({ format, text = 0, from, to }) => {
    const row = rows.find((one) => one.format === format);
    const source = row?.texts[text];
    if (row === undefined || source === undefined)
      throw new Error(`there is no configuration ${format} ${text}`);
    const { files } = await importText(format, { path: row.path, text: source });
    const written = files.find(({ name }) => name === 'imported.yml')?.text ?? '';
    const changed = written.replace(from, to);
    expect(changed, written).not.toBe(written);
    const loaded = loadRuleFile({
      path: 'imported.yml',
      text: changed,
      level: 'operator',
      commit: '',
      registry,
    });
    expect(loaded.problems).toEqual([]);
    const [right] = await prepare(row, source);
    if (right === undefined) throw new Error('there is nothing to compare');

    const { unnamed } = await judge(row, { ...right, rules: loaded.rules }, 1_500);

    expect(unnamed.length).toBeGreaterThan(0);
  });
});

function withoutWords({ words: _, ...row }: FormatRow): FormatRow {
  return row;
}

const folder = process.env.IMPORT_FILES;

describe.skipIf(folder === undefined)('public files (IMPORT_FILES names their folder)', () => {
  test.for(rows)('$format', async (row) => {
    const figures = {
      files: 0,
      exact: 0,
      differs: 0,
      leftOut: 0,
      withoutMeaning: 0,
      subjects: 0,
      named: 0,
      unnamed: 0,
    };
    const found: string[] = [];
    const place = `${folder}/${row.folder}`;
    for (const name of readdirSync(place).filter((one) => !/licen[cs]e/i.test(one))) {
      const text = readFileSync(`${place}/${name}`, 'utf8');
      try {
        const { counts } = await importText(row.format, { path: name, text });
        figures.files += 1;
        for (const key of ['exact', 'differs', 'leftOut', 'withoutMeaning'] as const)
          figures[key] += counts[key];
        for (const compared of await prepare(withoutWords(row), text, name)) {
          const { unnamed, used } = await judge(row, compared, subjects);
          figures.subjects += subjects;
          figures.named += [...used.values()].reduce((sum, times) => sum + times, 0);
          figures.unnamed += unnamed.length;
          if (unnamed.length > 0) found.push(`${name}: ${unnamed.length}, such as ${unnamed[0]}`);
        }
      } catch (error) {
        found.push(`${name}: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
      }
    }
    process.stdout.write(
      `${row.format} ${JSON.stringify(figures)}\n${found.map((line) => `  ${line}\n`).join('')}`,
    );
  });
});
