import type { Problem } from '../problem.ts';
import type { Level, LoadedRule, RuleRegistry, ScopedGrant } from '../rule.ts';
import { FileContext } from './context.ts';
import { type DecodedText, decodeText, foreignEncodingOf } from './decode-text.ts';
import { maxRules, RuleFile } from './grammar.ts';
import { problemsOf } from './issues.ts';
import { loadDefaults, loadRule } from './load-rule.ts';
import { mergeGates } from './merge-gates.ts';
import { opposingRules } from './opposing-rules.ts';
import { mistakesOfForm } from './remedies.ts';
import { readYaml } from './yaml-source.ts';

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
};

/** The rules of a file, or all its problems: a file with a problem has no rules. */
export type LoadedFile = {
  readonly rules: readonly LoadedRule[];
  readonly problems: readonly Problem[];
  /** What a file without problems probably does not mean; absent where there is nothing. */
  readonly warnings?: readonly Problem[];
};

/** Says whether a file's name is one that rules are read from: `.yml`, and no rule test. */
export function isRuleFileName(path: string): boolean {
  return path.endsWith('.yml') && !path.endsWith('.test.yml');
}

/**
 * Returns the rules of a file or every problem it has, in the order of the text, each with its place. Never throws,
 * whatever the text is. Loading is bounded: 64 KiB, 100 rules, no aliases; no expression is run.
 */
export function loadRuleFile(source: RuleFileSource): LoadedFile {
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
  const rules = file.readable ? loadValue(file.value, context) : [];
  if (context.problems.length === 0) {
    const warnings = [...context.warnings, ...opposingRules(rules, file), ...mergeGates(rules, file)];
    return { rules, problems: [], ...(warnings.length > 0 ? { warnings } : {}) };
  }
  const problems = context.problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { rules: [], problems };
}

function loadValue(value: unknown, context: FileContext): readonly LoadedRule[] {
  const mistakes = mistakesOfForm(value);
  for (const { path, atKey, message } of mistakes) {
    if (atKey) context.reportKey(path, 'type', message);
    else context.reportValue(path, 'type', message);
  }
  if (mistakes.length > 0) return [];
  const names = context.registry.actions.map(({ name }) => name);
  for (const problem of problemsOf(value, RuleFile, context.file, [], { actions: names }))
    context.add(problem);
  const defaults = loadDefaults(value, context);
  const written = typeof value === 'object' && value !== null && 'rules' in value ? value.rules : undefined;
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return [];
  const entries = Object.entries(written);
  if (entries.length > maxRules) {
    context.reportKey(
      ['rules'],
      'value',
      `a file has at most ${maxRules} rules, this one has ${entries.length}`,
    );
  }
  return entries.slice(0, maxRules).flatMap(([name, rule]) => loadRule(name, rule, defaults, context) ?? []);
}
