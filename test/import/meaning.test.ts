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
  const words = { ...wordsOf(text, { owner: 'acme' }, rules), ...row.words };
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
          const found = await judge(row, compared, subjects);
          expect(found.unnamed.slice(0, 3), `${found.unnamed.length} without a name`).toEqual([]);
          for (const name of found.used.keys()) used.add(name);
          effects += found.effects;
        }
      }

      expect(effects).toBeGreaterThan(subjects / 40);
      expect(row.named.map(({ note }) => note).filter((note) => !used.has(note))).toEqual([]);
      recordFigure(
        context,
        `0 decisions of ${row.format} that differ without a name, on ${subjects.toLocaleString('en')} subjects for each configuration`,
      );
    },
  );
});
