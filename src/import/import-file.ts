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
import { type CaseRunner, labelsOfDraft, makeExampleCases } from './example-cases.ts';
import { checkDraft, DraftError, type RenderedFile, renderRules } from './render.ts';
import { type Counts, countEntries, renderReport } from './report.ts';

/** What the importer makes of one file; nothing is written yet. */
export type ImportedFile = {
  readonly source: SourceFile;
  readonly format: Format;
  /** Rule files, tests, the report, and other files, by their name in the folder of the result. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly rules: readonly LoadedRule[];
  /** What a person has to do, and what the rules do that cannot be undone: Markdown of the report. */
  readonly todo: readonly string[];
  readonly dangers: readonly string[];
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
  const options = { from: source.place ?? basename(source.path), scopes, conditions: converted.conditions };
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
  const entries = withConcerns(converted.entries.map((entry) => withRefusal(entry, refused)));
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
    ...labelsToCreate(kept, context),
    ...(context.target === 'operator' &&
    scopes === undefined &&
    rules.some(({ scopes: own }) => own.length === 0)
      ? [
          'Without `in`, these rules apply to all repositories that Reeve serves: `--repository OWNER/NAME` writes it.',
        ]
      : []),
    ...(context.target === 'repository'
      ? ['A repository has one rule file, `.reeve.yml`: bring the rules of all files together there.']
      : []),
    ...oldWorkflows(source).map(
      (path) =>
        `Delete \`${path}\` on the forge, or disable it: Gitea and Forgejo run the workflows of \`.github/workflows\`, too.`,
    ),
    ...(conversion.files ?? []).map(({ path }) => `Commit \`${name}.${basename(path)}\` as \`${path}\`.`),
    ...(untested.length === 0
      ? []
      : [
          `Write a test in which these rules change something: ${untested.map((rule) => `\`${rule}\``).join(', ')}.`,
        ]),
  ];
  const dangers = dangersOf(kept);
  const report = renderReport(
    { path: source.path, format, conversion: { ...conversion, todo } },
    {
      rules: rules.length,
      written: files.map((file) => file.name),
      dangers,
      needs: needsOf(rules, { texts: rendered.map(({ text }) => text), target: context.target }),
      names: context.names.used(),
    },
  );
  files.push({ name: `${name}.import.md`, text: report });
  return { source, format, files, rules, todo, dangers, counts: countEntries(entries), entries };
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

/** Returns the entries; a part that a difference of the file concerns is not exact. */
function withConcerns(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) => {
    if (entry.outcome !== 'exact' || entry.apart) return entry;
    const parts = entries.filter(({ concerns }) => concerns?.includes(entry.line)).map(({ part }) => part);
    if (parts.length === 0) return entry;
    return { ...entry, outcome: 'differs', note: `as these say: ${[...new Set(parts)].join(', ')}` };
  });
}

/** Returns what to do about labels that the rules set and the forge does not have. */
function labelsToCreate(drafts: readonly RuleDraft[], { names }: ConversionContext): readonly string[] {
  const missing = [...new Set(drafts.flatMap((draft) => labelsOfDraft(draft, ['add', 'sync'])))].filter(
    (label) => names.forge.labels?.includes(label) !== true,
  );
  if (missing.length === 0) return [];
  const list = missing.map((label) => `\`${label}\``).join(', ');
  return [
    `Create the labels that do not exist: ${list}. GitHub creates a label when it is first set; a rule fails without it. \`reeve setup --create-labels\` creates those of the rules in force.`,
  ];
}

/** Returns the workflows that did on GitHub what the rules do now. */
function oldWorkflows({ path, workflows = [] }: SourceFile): readonly string[] {
  const isWorkflow = /(^|\/)\.github\/workflows\/[^/]+$/;
  if (isWorkflow.test(path)) return [path];
  const name = basename(path).replace(/\.ya?ml$/, '');
  return workflows
    .filter(({ text }) => new RegExp(`uses:\\s*["']?[\\w.-]+/${escapeRegex(name)}@`).test(text))
    .map((one) => one.path);
}

function escapeRegex(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, '\\$&');
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
    for (const { name, needs } of factsOfRule(rule)) note(needs.sometimes ?? needs.access, `\`${name}\``);
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
