import { count } from '../platform/count.ts';
import type { Conversion, Entry, Format } from './conversion.ts';
import type { UsedName } from './names.ts';

/** The report of one source file, in numbers. */
export type Counts = {
  readonly exact: number;
  readonly differs: number;
  readonly leftOut: number;
  readonly withoutMeaning: number;
};

export function countEntries(entries: readonly Entry[]): Counts {
  const count = (outcome: Entry['outcome']): number =>
    entries.filter((entry) => entry.outcome === outcome && entry.apart === undefined).length;
  return {
    exact: count('exact'),
    differs: count('differs'),
    leftOut: count('left-out'),
    withoutMeaning: count('without-meaning'),
  };
}

const headings: readonly (readonly [outcome: Entry['outcome'], heading: string, words: string])[] = [
  ['left-out', 'Left out', 'These parts are not converted.'],
  [
    'differs',
    'Differs',
    'These parts are converted. Each line names an input for which the rule decides in another way.',
  ],
  ['exact', 'Exact', 'These parts decide as before.'],
  ['without-meaning', 'Without meaning', 'These parts have no effect on a forge, or had none before.'],
];

/** What the report says besides the entries. */
export type ReportExtras = {
  readonly rules: number;
  readonly written: readonly string[];
  /** Actions with consequences that cannot be undone: text for each. */
  readonly dangers: readonly string[];
  /** Grants, access and secrets that the rules need. */
  readonly needs: readonly string[];
  /** What names of the source became. */
  readonly names: readonly UsedName[];
};

/** Returns `NAME.import.md`: what carries over, what differs, and what does not, with lines of the source. */
export function renderReport(
  {
    path,
    format,
    conversion,
  }: { readonly path: string; readonly format: Format; readonly conversion: Conversion },
  { rules, written, dangers, needs, names }: ReportExtras,
): string {
  const { entries, todo = [] } = conversion;
  const counts = countEntries(entries);
  const total = counts.exact + counts.differs + counts.leftOut;
  const lines = [
    `# Import of ${inline(path)}`,
    '',
    `${format.title}: ${total} ${format.counts}, of these ${counts.exact} exact, ${counts.differs} with a difference, ${counts.leftOut} left out. ${count(rules, 'rule')} in ${written.map(inline).join(', ') || 'no file'}.`,
    '',
    ...section('Dangerous', dangers),
    ...section('Needed', needs),
    ...section('To do', todo),
    ...section('Names', names.map(nameLine)),
  ];
  for (const [outcome, heading, words] of headings) {
    const found = entries.filter((entry) => entry.outcome === outcome);
    if (found.length === 0) continue;
    lines.push(`## ${heading}`, '', words, '', '| line | part | note |', '| --- | --- | --- |');
    for (const { line, part, note = '' } of found)
      lines.push(`| ${line} | ${inline(part)} | ${cell(note)} |`);
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function nameLine({ kind, from, to, seen }: UsedName): string {
  const also = seen.length === 0 ? '' : `; the forge has as well ${seen.map(inline).join(', ')}`;
  return `${kind} ${inline(from)} → ${inline(to)}${also}`;
}

function section(heading: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`## ${heading}`, '', ...items.map((item) => `- ${cell(item)}`), ''];
}

/** Foreign text as code: it can neither format the report nor mention anyone. */
function inline(text: string): string {
  const short = printable(text);
  const ticks = '`'.repeat(Math.max(0, ...[...short.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const padded = short.startsWith('`') || short.endsWith('`') || short === '' ? ` ${short} ` : short;
  return `${ticks}${padded.replaceAll('|', '\\|')}${ticks}`;
}

function cell(text: string): string {
  return printable(text, 2_000).replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function printable(text: string, limit = 160): string {
  const one = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return one.length > limit ? `${one.slice(0, limit - 1)}…` : one;
}
