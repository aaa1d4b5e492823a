import { basename } from 'node:path';
import { loadRuleFile } from '../rules/files/load.ts';
import { factsOfRule } from '../rules/needs.ts';
import { registry } from '../rules/registry.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type {
  Conversion,
  ConversionContext,
  Entry,
  Format,
  RuleDraft,
  SourceFile,
  Target,
} from './conversion.ts';
import { type CaseRunner, makeExampleCases } from './example-cases.ts';
import { checkDraft, DraftError, type RenderedFile, renderRules } from './render.ts';
import { type Counts, countEntries, renderReport } from './report.ts';

/** What the importer makes of one file; nothing is written yet. */
export type ImportedFile = {
  readonly source: SourceFile;
  readonly format: Format;
  /** Rule files, tests, the report, and other files, by their name in the folder of the result. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly rules: readonly LoadedRule[];
  readonly counts: Counts;
  readonly entries: readonly Entry[];
};

/**
 * Converts one file. A draft that the language refuses is left out, together with the parts of the source that it
 * carries, with the problem as the reason. Throws `SourceError` if the file is not of the format.
 */
export async function importFile(
  source: SourceFile,
  {
    format,
    context,
    name,
    scopes,
    run,
  }: {
    readonly format: Format;
    readonly context: ConversionContext;
    /** Name of the files without their ending, unique in the folder of the result. */
    readonly name: string;
    /** `in` of the files; absent: all served repositories. */
    readonly scopes?: readonly string[] | undefined;
    readonly run: CaseRunner;
  },
): Promise<ImportedFile> {
  const converted = format.convert(source, context);
  const { drafts, refused } = refuseUnwritable(converted.rules);
  const options = { from: basename(source.path), scopes, conditions: converted.conditions };
  let kept = drafts;
  let rendered = renderRules(kept, options);
  // A file with a problem has no rules: each round takes the drafts with problems out, so that the rest can be used.
  for (let round = 0; ; round += 1) {
    const before = refused.size;
    for (const file of rendered) {
      const { problems } = load(file.text, `${name}.yml`);
      for (const { line, code, message } of problems) {
        const concerned = draftsAt(file, line);
        // A problem outside of all rules is a fault of the importer, and would return in every round.
        if (concerned.length === 0 || round > drafts.length)
          throw new Error(`${code}: ${message}\n${file.text}`);
        for (const draft of concerned)
          if (!refused.has(draft.name)) refused.set(draft.name, `${code}: ${message}`);
      }
    }
    if (refused.size === before) break;
    kept = kept.filter((draft) => !refused.has(draft.name));
    rendered = renderRules(kept, options);
  }
  const entries = converted.entries.map((entry) => withRefusal(entry, refused));
  const conversion: Conversion = { ...converted, rules: kept, entries };
  const files: { name: string; text: string }[] = [];
  const rules: LoadedRule[] = [];
  const untested: string[] = [];
  const nameOf = (place: number): string => (place === 0 ? name : `${name}-${place + 1}`);
  for (const [place, file] of rendered.entries()) {
    const path = `${nameOf(place)}.yml`;
    const loaded = load(file.text, path).rules;
    const { text, unmatched } = await makeExampleCases(file.drafts, { path, rules: loaded, run });
    files.push({ name: path, text: file.text });
    if (text !== undefined) files.push({ name: `${nameOf(place)}.test.yml`, text });
    rules.push(...loaded);
    untested.push(...unmatched);
  }
  for (const { path, text } of conversion.files ?? [])
    files.push({ name: `${name}.${basename(path)}`, text });
  const todo = [
    ...(conversion.todo ?? []),
    ...(conversion.files ?? []).map(({ path }) => `Commit \`${name}.${basename(path)}\` as \`${path}\`.`),
    ...(untested.length === 0
      ? []
      : [`Write a test in which these rules apply: ${untested.map((rule) => `\`${rule}\``).join(', ')}.`]),
  ];
  const report = renderReport(
    { path: source.path, format, conversion: { ...conversion, todo } },
    {
      rules: rules.length,
      written: files.map((file) => file.name),
      dangers: dangersOf(kept),
      needs: needsOf(rules, { texts: rendered.map(({ text }) => text), target: context.target }),
    },
  );
  files.push({ name: `${name}.import.md`, text: report });
  return { source, format, files, rules, counts: countEntries(entries), entries };
}

/** The language refuses grants only below the operator, and the report lists them: so all files are loaded as the operator's. */
function load(text: string, path: string) {
  return loadRuleFile({ path, text, level: 'operator', commit: '', registry });
}

function refuseUnwritable(all: readonly RuleDraft[]): {
  readonly drafts: readonly RuleDraft[];
  readonly refused: Map<string, string>;
} {
  const refused = new Map<string, string>();
  for (const draft of all) {
    try {
      checkDraft(draft);
    } catch (error) {
      if (!(error instanceof DraftError)) throw error;
      refused.set(draft.name, error.message);
    }
  }
  return { drafts: all.filter(({ name }) => !refused.has(name)), refused };
}

/** Returns the draft at a line, or those that use the named condition at the line. */
function draftsAt({ text, drafts, needed }: RenderedFile, line: number): readonly RuleDraft[] {
  const lines = text.split('\n').slice(0, line);
  for (const written of lines.reverse()) {
    const [, name = ''] = /^ {2}"?([A-Za-z0-9][A-Za-z0-9._-]*)"?:/.exec(written) ?? [];
    const users = drafts.filter((draft) => needed.get(draft.name)?.includes(name));
    if (users.length > 0) return users;
    const draft = drafts.find((one) => one.name === name);
    if (draft) return [draft];
  }
  return [];
}

function withRefusal(entry: Entry, refused: ReadonlyMap<string, string>): Entry {
  const name = entry.rules?.find((rule) => refused.has(rule));
  if (name === undefined || entry.outcome === 'left-out') return entry;
  return { ...entry, outcome: 'left-out', note: `Reeve refuses the rule: ${refused.get(name)}` };
}

/** What a step does that cannot be undone, or gives rights. */
const dangerous: Readonly<Record<string, string>> = {
  merge: 'merges pull requests',
  'queue-merge': 'merges pull requests',
  'delete-branch': 'deletes branches',
  'sync-collaborators': 'gives and takes permissions in repositories',
  'sync-teams': 'gives and takes permissions of teams',
  'run-workflow': 'starts workflows, which have secrets',
};

function dangersOf(drafts: readonly RuleDraft[]): readonly string[] {
  return drafts.flatMap(({ name, steps }) =>
    steps.flatMap(({ uses, with: given = {} }) => {
      const found: string[] = [];
      const words = dangerous[uses];
      if (words !== undefined) found.push(`\`${name}\` ${words} (\`${uses}\`)`);
      if (given.prune === true)
        found.push(`\`${name}\` deletes what is not listed (\`prune\` of \`${uses}\`)`);
      if (uses === 'review' && given.state !== undefined)
        found.push(`\`${name}\` reviews pull requests (\`review\`)`);
      if (given['delete-branch'] !== undefined)
        found.push(`\`${name}\` deletes branches (\`delete-branch\`)`);
      if (given.private === false) found.push(`\`${name}\` makes repositories public (\`private: false\`)`);
      return found;
    }),
  );
}

/** Returns the access that the account needs, and the grants of the operator that a file below the operator needs. */
function needsOf(
  rules: readonly LoadedRule[],
  { texts, target }: { readonly texts: readonly string[]; readonly target: Target },
): readonly string[] {
  const access = new Map<string, Set<string>>();
  const note = (needed: string, what: string): unknown =>
    access.set(needed, (access.get(needed) ?? new Set()).add(what));
  for (const rule of rules) {
    for (const { action } of rule.steps) note(action.needs.access, `\`${action.name}\``);
    for (const { name, needs } of factsOfRule(rule)) note(needs.access, `\`${name}\``);
  }
  const wanted = [...access]
    .filter(([needed]) => needed !== 'reader')
    .map(([needed, what]) => `${needed} access for ${[...what].join(', ')}`);
  if (target === 'operator') return wanted;
  const refused = texts
    .flatMap(
      (text) => loadRuleFile({ path: 'probe.yml', text, level: target, commit: '', registry }).problems,
    )
    .filter(({ code }) => code === 'level');
  return [...wanted, ...new Set(refused.map(({ message }) => message))];
}
