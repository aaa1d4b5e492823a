import { and, type Condition, not, or, regularExpression, touches } from '../condition.ts';
import { type Conversion, createRuleNames, type Entry, type Format, SourceError } from '../conversion.ts';
import { convertMinimatch } from '../minimatch-glob.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';

/** Conversion of a part, with the notes that belong to it; undefined if it cannot be converted. */
type Part = { readonly condition: Condition; readonly notes: readonly string[] } | { readonly why: string };

/** The configuration of the labeler action, of version 4 (globs) and from version 5 on (match objects). */
export const labeler: Format = {
  name: 'labeler',
  title: 'actions/labeler',
  counts: 'labels',
  places: ['.github/labeler.{yml,yaml}'],
  convert(file) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map of labels was expected');
    const nameOf = createRuleNames();
    const entries: Entry[] = [];
    const rules: Conversion['rules'][number][] = [];
    for (const [label, written] of Object.entries(source.value)) {
      const line = source.lineOf([label]);
      const part = `label ${label}`;
      const found = entryOf(written);
      if ('why' in found) {
        entries.push({ line, part, outcome: 'left-out', note: found.why });
        continue;
      }
      const name = nameOf(`label ${label}`);
      const comment = source.commentOf([label]);
      rules.push({
        name,
        ...(comment === undefined ? {} : { comment }),
        on: 'auto',
        each: 'pull_request',
        if: found.condition,
        steps: [{ uses: 'set-labels', with: { add: [label] } }],
      });
      const [note] = found.notes;
      entries.push({
        line,
        part,
        outcome: note === undefined ? 'exact' : 'differs',
        ...(note === undefined ? {} : { note }),
        rules: [name],
      });
    }
    return { rules, entries };
  },
};

function entryOf(written: unknown): Part {
  const list = Array.isArray(written) ? written : [written];
  const parts: Condition[] = [];
  for (const one of list) {
    const found = typeof one === 'string' ? globs([one]) : matchObject(one);
    if ('why' in found) return found;
    parts.push(found.condition);
  }
  return { condition: or(...parts), notes: [] };
}

function globs(written: readonly string[]): Part {
  const parts: Condition[] = [];
  for (const pattern of written) {
    const glob = convertMinimatch(pattern);
    if ('problem' in glob) return { why: `the glob \`${pattern}\`: ${glob.problem}` };
    if ('never' in glob) continue;
    parts.push(glob.isNegated ? not(touches([glob.glob])) : touches([glob.glob]));
  }
  return { condition: or(...parts), notes: [] };
}

function matchObject(written: unknown): Part {
  if (!isRecord(written)) return { why: 'an entry is neither a glob nor a map' };
  const parts: Condition[] = [];
  for (const [key, value] of Object.entries(written)) {
    if (key !== 'head-branch' && key !== 'base-branch') return { why: `\`${key}\` is not known` };
    for (const pattern of texts(value) ?? []) {
      const test = regularExpression(pattern, { dialect: 'js' });
      if ('problem' in test) return { why: test.problem };
      parts.push(test.on(key === 'head-branch' ? 'pull_request.head.ref' : 'pull_request.base.ref'));
    }
  }
  return { condition: and(or(...parts)), notes: [] };
}
