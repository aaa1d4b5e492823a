import { isRecord } from '../../contract/events/payload-members.ts';
import { loadIncludes } from '../packs/load-includes.ts';
import { PackBudget, type PackTree } from '../packs/pack.ts';
import { expandFile } from '../parameters/expand-file.ts';
import { type GivenParameters, readParameters } from '../parameters/read-parameters.ts';
import { type Problem, problemAtLine } from '../problem.ts';
import type { Level, LoadedRule, RuleRegistry, ScopedGrant } from '../rule.ts';
import { FileContext } from './context.ts';
import { type DecodedText, decodeText, foreignEncodingOf } from './decode-text.ts';
import { IncludingFile, maxRules, RuleFile } from './grammar.ts';
import { problemsOf } from './issues.ts';
import { type FileDefaults, loadDefaults, loadRule } from './load-rule.ts';
import { mergeGates, renamedOutOfSight } from './merge-gates.ts';
import { opposingRules } from './opposing-rules.ts';
import { mistakesOfForm } from './remedies.ts';
import { deafGates, statusClashes } from './status-rules.ts';
import { maxProblems, readYaml } from './yaml-source.ts';

export type RuleFileSource = {
  /** Path as people know it; it becomes part of the rules' identity. */
  readonly path: string;
  /** The text, or the bytes of the file. */
  readonly text: string | Uint8Array;
  readonly level: Level;
  /** The commit the file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  readonly registry: RuleRegistry;
  /** What the operator grants to this file beyond what every file may use. */
  readonly grants?: readonly ScopedGrant[];
  /** The packs that the file includes, by the name of their include; absent: it may include none. */
  readonly packs?: PackTree;
  /** Values of the parameters of the file; absent: their defaults. */
  readonly parameters?: GivenParameters;
};

/** The rules of a file, or all its problems: a file with a problem has no rules. */
export type LoadedFile = {
  readonly rules: readonly LoadedRule[];
  readonly problems: readonly Problem[];
  /** What a file without problems probably does not mean; absent where there is nothing. */
  readonly warnings?: readonly Problem[];
  /** The text of each rule by name, with the values of parameters in it. */
  readonly expanded?: ReadonlyMap<string, unknown>;
};

/** What the loading of a file with packs shares: the file itself, or the pack that is loaded for it. */
type Loading = RuleFileSource & {
  readonly budget: PackBudget;
  /** Paths of the files that include it, the outermost first. */
  readonly chain: readonly string[];
};

/** Returns whether a file's name is one that rules are read from: `.yml`, and no rule test. */
export function isRuleFileName(path: string): boolean {
  return path.endsWith('.yml') && !path.endsWith('.test.yml');
}

/**
 * Returns the rules of a file or every problem it has, in the order of the text, each with its place. Never throws,
 * whatever the text is. Loading is bounded: 64 KiB, 100 rules, no aliases; no expression is run.
 */
export function loadRuleFile(source: RuleFileSource): LoadedFile {
  return loadWithPacks({ ...source, budget: new PackBudget(), chain: [] });
}

function loadWithPacks(source: Loading): LoadedFile {
  const decoded: DecodedText =
    typeof source.text === 'string' ? { text: source.text, invalidAt: undefined } : decodeText(source.text);
  const { text, invalidAt } = decoded;
  const file = readYaml(source.path, text);
  const context = new FileContext({ ...source, text }, file);
  const encoding = typeof source.text === 'string' ? undefined : foreignEncodingOf(source.text);
  if (encoding !== undefined) {
    const message = `the file is in ${encoding}: save it as UTF-8`;
    // The text of such a file is noise: the problem shows no line of it.
    const problem = {
      ...file.problem('encoding', message, { start: 0, end: 0 }),
      line: 1,
      column: 1,
      source: '',
    };
    return { rules: [], problems: [problem] };
  }
  if (invalidAt !== undefined) {
    const message = 'the file is not UTF-8 from here on: save it as UTF-8';
    return {
      rules: [],
      problems: [file.problem('encoding', message, { start: invalidAt, end: invalidAt + 1 })],
    };
  }
  if (!isRuleFileName(source.path)) {
    const message = source.path.endsWith('.test.yml')
      ? 'this is a rule test: it is never loaded as rules'
      : 'files of rules end in .yml';
    context.add(file.problem('file-name', message, { start: 0, end: 1 }));
  }
  if (!file.readable) return refused(context.problems);
  return loadReadable(context, source);
}

function refused(problems: readonly Problem[], ofPacks: readonly Problem[] = []): LoadedFile {
  const own = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { rules: [], problems: [...own, ...ofPacks].slice(0, maxProblems) };
}

/** Loads a file whose YAML was understood: its parameters first, then its own rules, then those of its packs. */
function loadReadable(written: FileContext, source: Loading): LoadedFile {
  const context = withParameters(written, source.parameters);
  if (context === undefined) return refused(written.problems);
  const { value } = context.file;
  const checked = checkForm(value, context);
  if (!checked) return refused(context.problems);
  const defaults = loadDefaults(value, context);
  const entries = isRecord(value) && isRecord(value.rules) ? Object.entries(value.rules) : [];
  const own = loadOwn(entries, defaults, context);
  source.budget.countRules(entries.length);
  const included = loadIncludes(isRecord(value) ? value.include : undefined, {
    context,
    defaults,
    packs: source.packs,
    budget: source.budget,
    chain: [...source.chain, source.path],
    load: (pack, parameters) =>
      loadWithPacks({
        ...source,
        ...pack,
        parameters: { ...parameters, useExamples: false },
        chain: [...source.chain, source.path],
      }),
  });
  // The rules of a pack have other names in the file that includes it.
  const together = source.chain.length === 0 ? [...own, ...included.rules] : [];
  for (const { step, message } of statusClashes(together))
    context.add(
      problemAtLine(
        { code: 'status-name', message, path: context.path, line: step.line },
        () => context.text,
      ),
    );
  if (context.problems.length + included.problems.length > 0)
    return refused(context.problems, included.problems);
  const { file, warnings: noted } = context;
  const { revision } = included;
  const all = [...own, ...included.rules];
  // Most files have no packs: their rules are as they are.
  const rules = revision === undefined ? all : all.map((rule) => ({ ...rule, revision }));
  const warnings = [
    ...noted,
    ...opposingRules(own, file),
    ...mergeGates(own, file),
    ...deafGates(own, file),
    ...renamedOutOfSight(own, file),
    ...included.warnings,
  ];
  const expanded = new Map([...entries, ...included.expanded]);
  return { rules, problems: [], expanded, ...(warnings.length > 0 ? { warnings } : {}) };
}

/** Returns the context of the file with its parameters inserted, or undefined where they cannot be. */
function withParameters(context: FileContext, given: GivenParameters | undefined): FileContext | undefined {
  const { file, text, registry } = context;
  const declared = isRecord(file.value) ? file.value.params : undefined;
  const isGiven = Object.keys(given?.with ?? {}).length > 0;
  // Most files have none: these are not walked through.
  if (declared === undefined && !isGiven && !text.includes('params')) return context;
  if (declared !== undefined) {
    const alone = { version: 1, rules: {}, params: declared };
    for (const problem of problemsOf(alone, RuleFile, file, [])) context.add(problem);
  }
  const values = readParameters(context, given);
  const names = isRecord(declared) ? Object.keys(declared) : [];
  if (context.problems.length > 0 || names.some((name) => !values.has(name))) return undefined;
  const expanded = expandFile(file, {
    values,
    isDeclared: declared !== undefined,
    actions: registry.actions,
    length: text.length,
    report: (path, message, inside) => {
      if (inside === undefined) context.reportValue(path, 'parameter', message);
      else context.reportInside(path, { code: 'parameter', message, ...inside });
    },
  });
  return context.problems.length > 0 ? undefined : context.over(expanded);
}

/** Returns whether the file has the form of a file of rules, so far that its parts can be looked at. */
function checkForm(value: unknown, context: FileContext): boolean {
  const mistakes = mistakesOfForm(value);
  for (const { path, atKey, message } of mistakes) {
    if (atKey) context.reportKey(path, 'type', message);
    else context.reportValue(path, 'type', message);
  }
  if (mistakes.length > 0) return false;
  const names = context.registry.actions.map(({ name }) => name);
  const form = isRecord(value) && value.include !== undefined ? IncludingFile : RuleFile;
  for (const problem of problemsOf(value, form, context.file, [], { actions: names })) context.add(problem);
  return true;
}

function loadOwn(
  entries: readonly (readonly [string, unknown])[],
  defaults: FileDefaults,
  context: FileContext,
): readonly LoadedRule[] {
  if (entries.length > maxRules) {
    context.reportKey(
      ['rules'],
      'value',
      `a file has at most ${maxRules} rules, this one has ${entries.length}`,
    );
  }
  return entries.slice(0, maxRules).flatMap(([name, rule]) => loadRule(name, rule, defaults, context) ?? []);
}
