import { stringify } from 'yaml';
import { isRecord } from '../../contract/events/payload-members.ts';
import { bracesProblem } from '../arguments.ts';
import { maxConditions, problemOfConditionName } from '../expressions/named-conditions.ts';
import { parseExpression } from '../expressions/parse.ts';
import { type Problem, problemAtLine } from '../problem.ts';
import type { Level, LoadedRule, Pattern, RuleLimits, RuleMode, RuleRegistry, ScopedGrant } from '../rule.ts';
import { FileContext, revisionOf } from './context.ts';
import { ownChanges, silentChanges, unheardChanges } from './event-warnings.ts';
import { expandFile } from './expand.ts';
import { IncludeForm, IncludingFile, maxRules, RuleFile } from './grammar.ts';
import { problemsOf } from './issues.ts';
import {
  type FileDefaults,
  loadDefaults,
  loadMode,
  loadRule,
  loadScope,
  strictestLimits,
} from './load-rule.ts';
import { type Pack, PackBudget, type PackTree, problemOfChain, problemOfRequest } from './packs.ts';
import { type GivenParameters, readParameters } from './parameters.ts';
import { deafGates, mergeGates, opposingRules, renamedOutOfSight, statusClashes } from './warnings.ts';
import {
  type DecodedText,
  decodeText,
  foreignEncodingOf,
  maxProblems,
  readYaml,
  type YamlPath,
} from './yaml-source.ts';

export type RuleFileSource = {
  /** Path of the file, for messages; also part of the identity of the file's rules. */
  readonly path: string;
  /** The content of the file, as text or as bytes. */
  readonly text: string | Uint8Array;
  readonly level: Level;
  /** The commit that the file was read from; empty for files in the operator's folder. */
  readonly commit: string;
  readonly registry: RuleRegistry;
  /** Permissions that the operator grants to this file beyond the default set. */
  readonly grants?: readonly ScopedGrant[];
  /** The packs that the file includes, by include name; if absent, the file must not include packs. */
  readonly packs?: PackTree;
  /** Values for the parameters of the file; if absent, the defaults apply. */
  readonly parameters?: GivenParameters;
};

/** The rules of a file, or all its problems: a file with any problem has no rules. */
export type LoadedFile = {
  readonly rules: readonly LoadedRule[];
  readonly problems: readonly Problem[];
  /** Warnings of a file without problems; absent if there are none. */
  readonly warnings?: readonly Problem[];
  /** Each rule as written in its file, by name, with parameter values inserted. */
  readonly expanded?: ReadonlyMap<string, unknown>;
  /** The named conditions of the file and its packs, as written, by the file's path. */
  readonly conditions?: readonly WrittenConditions[];
};

/** The named conditions of one file, as written, with parameter values inserted. */
type WrittenConditions = { readonly path: string; readonly texts: Readonly<Record<string, unknown>> };

/** Options for loading a file or one of its packs. */
type Loading = RuleFileSource & {
  readonly budget: PackBudget;
  /** Paths of the files that include this file, outermost first. */
  readonly chain: readonly string[];
};

/** Returns whether a file name is that of a rule file: it ends in `.yml`, and is not a rule test. */
export function isRuleFileName(path: string): boolean {
  return path.endsWith('.yml') && !path.endsWith('.test.yml');
}

/**
 * Loads the rules of a file. If there are problems, returns all of them with their positions, in text order. Never
 * throws. The work is bounded: 64 KiB, 100 rules, no aliases; no expression is evaluated.
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
    // The text cannot be decoded, so the problem does not show a source line.
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
      : 'rule files end in .yml';
    context.add(file.problem('file-name', message, { start: 0, end: 1 }));
  }
  if (!file.readable) return refused(context.problems);
  return loadReadable(context, source);
}

function refused(problems: readonly Problem[], ofPacks: readonly Problem[] = []): LoadedFile {
  const own = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { rules: [], problems: [...own, ...ofPacks].slice(0, maxProblems) };
}

/** Loads a file that is valid YAML: first its parameters, then its own rules, then those of its packs. */
function loadReadable(written: FileContext, source: Loading): LoadedFile {
  const context = withParameters(written, source.parameters);
  if (context === undefined) return refused(written.problems);
  const { value } = context.file;
  const checked = checkForm(value, context);
  if (!checked) return refused(context.problems);
  const defaults = loadDefaults(value, context);
  if (isRecord(value) && isRecord(value.conditions)) loadConditions(value.conditions, context);
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
  // Checked only for the outermost file, because the rules of a pack have different names in the including file.
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
  // Most files have no packs, and their rules are used unchanged.
  const rules = revision === undefined ? all : all.map((rule) => ({ ...rule, revision }));
  const warnings = [
    ...noted,
    ...opposingRules(own, file),
    ...mergeGates(own, file),
    ...deafGates(own, file),
    ...silentChanges(own, file),
    ...ownChanges(own).map(({ rule, message }) =>
      file.problem('own-change', message, file.keyAt(['rules', rule.name])),
    ),
    ...unheardChanges(own, file),
    ...renamedOutOfSight(own, file),
    ...included.warnings,
  ];
  const expanded = new Map([...entries, ...included.expanded]);
  const texts = isRecord(value) && isRecord(value.conditions) ? value.conditions : {};
  const conditions = [{ path: source.path, texts }, ...included.conditions].filter(
    (one) => Object.keys(one.texts).length > 0,
  );
  return { rules, problems: [], expanded, conditions, ...(warnings.length > 0 ? { warnings } : {}) };
}

/** Parses the named conditions of the file. Each rule that uses one checks it. */
function loadConditions(written: Readonly<Record<string, unknown>>, context: FileContext): void {
  const entries = Object.entries(written);
  if (entries.length > maxConditions)
    context.reportKey(['conditions'], 'value', `a file may have at most ${maxConditions} conditions`);
  const { facts, variables } = context.registry;
  const known = new Set([...Object.keys(variables), ...facts.map((fact) => fact.name.split('.')[0] ?? '')]);
  for (const [name, text] of entries.slice(0, maxConditions)) {
    const wrong = problemOfConditionName(name, known);
    if (wrong !== undefined) context.reportKey(['conditions', name], 'value', wrong);
    if (typeof text !== 'string' && typeof text !== 'boolean') continue;
    const node = bracesProblem(String(text)) ?? parseExpression(String(text));
    if ('message' in node) context.reportInside(['conditions', name], node);
    // Rules that use a condition with a syntax error have no further problem because of it.
    const usable = 'message' in node ? parseExpression('true') : node;
    if (wrong === undefined && !('message' in usable)) context.named.set(name, { name, node: usable });
  }
}

/** Returns the context of the file with its parameters inserted; undefined if there are problems. */
function withParameters(context: FileContext, given: GivenParameters | undefined): FileContext | undefined {
  const { file, text, registry } = context;
  const declared = isRecord(file.value) ? file.value.params : undefined;
  const isGiven = Object.keys(given?.with ?? {}).length > 0;
  // Most files have no parameters and need no expansion.
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

/**
 * Returns whether the value has the basic structure of a rule file, so that its parts can be checked. Reports
 * structural problems.
 */
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
      `a file may have at most ${maxRules} rules, but this file has ${entries.length}`,
    );
  }
  return entries.slice(0, maxRules).flatMap(([name, rule]) => loadRule(name, rule, defaults, context) ?? []);
}

/** Result of loading a pack that a file includes. */
type LoadedPack = {
  readonly rules: readonly LoadedRule[];
  readonly problems: readonly Problem[];
  readonly warnings?: readonly Problem[];
  readonly expanded?: ReadonlyMap<string, unknown>;
  readonly conditions?: readonly WrittenConditions[];
};

type Including = {
  readonly context: FileContext;
  readonly defaults: FileDefaults;
  readonly packs: PackTree | undefined;
  readonly budget: PackBudget;
  /** Paths from the outermost including file to the file itself. */
  readonly chain: readonly string[];
  readonly load: (pack: Pack, given: GivenParameters) => LoadedPack;
};

/** The rules of all packs of a file, as rules of the file itself. */
type IncludedRules = {
  readonly rules: readonly LoadedRule[];
  /**
   * Problems in packs that everyone who can read the file can read as well. Problems of the file itself are reported in
   * its context.
   */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly expanded: readonly (readonly [string, unknown])[];
  readonly conditions: readonly WrittenConditions[];
  /** Digest of a file and its packs, which changes when any of them changes; undefined for a file without packs. */
  readonly revision: string | undefined;
};

/**
 * Returns the rules of the included packs. The rules have the level and the grants of the including file, and are named
 * `include/rule`. The `in`, limits and mode of both the file and the include restrict them. They only observe, unless
 * the include sets another mode.
 */
function loadIncludes(written: unknown, including: Including): IncludedRules {
  const { context, budget } = including;
  const found: LoadedPack[] = [];
  const revisions: string[] = [context.revision];
  const seen = new Set<string>();
  for (const [place, form] of (Array.isArray(written) ? written : []).entries()) {
    const entry = IncludeForm.safeParse(form);
    // The grammar reports mistakes in this entry.
    if (!entry.success) continue;
    const at = ['include', place];
    if (seen.has(entry.data.name)) {
      const message = `two includes have the name "${entry.data.name}": the names of their rules begin with it`;
      context.reportValue([...at, 'name'], 'include', message);
      continue;
    }
    seen.add(entry.data.name);
    const loaded = loadInclude(entry.data, at, including);
    if (loaded === undefined) continue;
    found.push(loaded);
    revisions.push(entry.data.name, loaded.revision);
  }
  const tooMany = found.length > 0 ? budget.problemOfRules() : undefined;
  if (tooMany !== undefined) context.reportKey(['include'], 'include', tooMany);
  return {
    rules: found.flatMap(({ rules }) => rules),
    problems: found.flatMap(({ problems }) => problems),
    warnings: found.flatMap(({ warnings = [] }) => warnings),
    expanded: found.flatMap(({ expanded = new Map() }) => [...expanded]),
    conditions: found.flatMap(({ conditions = [] }) => conditions),
    revision: found.length > 0 ? revisionOf(revisions.join('\n')) : undefined,
  };
}

function loadInclude(
  entry: IncludeForm,
  at: YamlPath,
  including: Including,
): (LoadedPack & { readonly revision: string }) | undefined {
  const { context, defaults, packs, budget, chain, load } = including;
  const place = [...at, 'name'];
  const scope = loadScope(entry.in, [...at, 'in'], context);
  const mode = loadMode(entry.mode ?? 'observe', defaults.mode, [...at, 'mode'], context);
  // A pack includes packs in its own folder by path, even if the including file includes packs by name.
  const isOfPack = chain.length > 1 && context.level === 'repository';
  const wrong = problemOfRequest(entry, isOfPack ? 'organization' : context.level);
  if (wrong !== undefined) {
    context.reportKey([...at, wrong.key], wrong.code, wrong.message);
    return undefined;
  }
  const pack = packs?.get(entry.name) ?? { missing: 'no packs can be included here' };
  const missing =
    'missing' in pack ? pack.missing : (problemOfChain(chain, pack.path) ?? budget.countPack(pack.text));
  if ('missing' in pack || missing !== undefined) {
    const near = 'missing' in pack ? pack.near : undefined;
    const message = `the pack ${titleOf(entry)} cannot be included: ${missing}`;
    const wrong = [...at, entry.file !== undefined ? 'file' : entry.pack !== undefined ? 'pack' : 'name'];
    const fix = near === undefined ? undefined : { ...context.file.valueAt(wrong), text: near };
    context.reportKey(entry.pack === undefined ? place : [...at, 'pack'], 'include', message, near, fix);
    return undefined;
  }
  const before = context.problems.length;
  const loaded = load(pack, {
    with: entry.with ?? {},
    onProblem: (name, message) =>
      context.reportKey(name === undefined ? place : [...at, 'with', name], 'parameter', message),
  });
  if (loaded.problems.length > 0) reportPack(entry, { pack, place, loaded, context });
  if (loaded.problems.length > 0 || context.problems.length > before) {
    return { rules: [], problems: pack.isReadable ? loaded.problems : [], revision: '' };
  }
  const { line } = context.file.lineOf(context.file.keyAt(place).start);
  const scopes = [defaults.scope, scope].filter((one) => one !== undefined);
  const { commit } = context;
  const part = {
    include: entry.name,
    path: context.path,
    line,
    mode,
    scopes,
    commit,
    limits: defaults.limits,
  };
  return {
    rules: loaded.rules.map((rule) => asIncluded(rule, part)),
    problems: [],
    warnings: pack.isReadable ? (loaded.warnings ?? []) : [],
    conditions: loaded.conditions ?? [],
    expanded: new Map([...(loaded.expanded ?? [])].map(([name, value]) => [`${entry.name}/${name}`, value])),
    revision: loaded.rules[0]?.revision ?? '',
  };
}

type IncludedPart = {
  readonly include: string;
  readonly path: string;
  readonly line: number;
  readonly mode: RuleMode;
  readonly scopes: readonly Pattern[];
  readonly commit: string;
  readonly limits: RuleLimits;
};

/** Returns a rule of a pack as a rule of the including file, with the stricter value of each setting. */
function asIncluded(rule: LoadedRule, part: IncludedPart): LoadedRule {
  const name = `${part.include}/${rule.name}`;
  return {
    ...rule,
    id: `${part.path}#${name}`,
    name,
    source: part.path,
    commit: part.commit,
    line: part.line,
    mode: rule.mode === 'observe' ? 'observe' : part.mode,
    limits: strictestLimits(rule.limits, part.limits),
    scopes: [...part.scopes, ...rule.scopes],
    steps: rule.steps.map((step) => ({ ...step, line: part.line })),
  };
}

/**
 * Reports the problems of a pack at the include. If not everyone who can read the including file may read the pack, no
 * text of the pack is shown.
 */
function reportPack(
  entry: IncludeForm,
  {
    pack,
    place,
    loaded: { problems },
    context,
  }: {
    readonly pack: Pack;
    readonly place: YamlPath;
    readonly loaded: LoadedPack;
    readonly context: FileContext;
  },
): void {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  if (pack.isReadable) {
    const message = `the pack ${titleOf(entry)} cannot be included: ${pack.path} has ${count}`;
    context.reportKey(place, 'include', message);
    return;
  }
  // A missing permission is a problem of the including file, so it is reported there.
  const levels = [...new Set(problems.filter(({ code }) => code === 'level').map(({ message }) => message))];
  for (const message of levels)
    context.reportKey(place, 'level', `the pack ${titleOf(entry)} cannot be included: ${message}`);
  const others = [...new Set(problems.map(({ code }) => code).filter((code) => code !== 'level'))];
  if (others.length === 0) return;
  const message = `the pack ${titleOf(entry)} cannot be included: it has ${count} (${others.join(', ')}), which the owner of the pack sees with reeve check`;
  context.reportKey(place, 'include', message);
}

function titleOf({ name, pack = name }: IncludeForm): string {
  return pack === name ? `"${name}"` : `"${pack}" (include "${name}")`;
}

/**
 * Returns the effective rules of a file as YAML: parameter values are inserted, the rules of packs are included, and
 * the modes, limits and scopes of the file and its includes are applied. Control characters are escaped.
 */
export function formatExpanded(file: {
  readonly path: string;
  readonly rules: readonly LoadedRule[];
  readonly expanded?: ReadonlyMap<string, unknown>;
  readonly conditions?: readonly WrittenConditions[];
}): string {
  const rules = file.rules.map((rule) => [rule.name, expandedRule(rule, file.expanded?.get(rule.name))]);
  const written = file.conditions ?? [];
  const conditions: Readonly<Record<string, unknown>> = Object.assign(
    {},
    ...written.toReversed().map(({ texts }) => texts),
  );
  const others = written.flatMap(({ path, texts }) =>
    Object.entries(texts)
      .filter(([name, one]) => conditions[name] !== one)
      .map(([name, one]) => `# In the rules of ${path}, ${name} is ${JSON.stringify(one)}.\n`),
  );
  const text = stringify(
    {
      version: 1,
      ...(Object.keys(conditions).length > 0 ? { conditions } : {}),
      rules: Object.fromEntries(rules),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
  // In plain and block scalars, YAML does not escape most control characters.
  const safe = text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `# ${file.path}\n${others.join('')}${safe}`;
}

function expandedRule(rule: LoadedRule, written: unknown): unknown {
  const { in: _scope, mode: _mode, limits: _limits, ...rest } = isRecord(written) ? written : {};
  const { description, ...others } = rest;
  return {
    ...(description === undefined ? {} : { description }),
    ...scopesOf(rule.scopes),
    mode: rule.mode,
    ...(Object.keys(rule.limits).length === 0 ? {} : { limits: rule.limits }),
    ...others,
  };
}

/** All scopes of a rule must match, so several scopes are written as a list of lists. */
function scopesOf(scopes: readonly Pattern[]): { readonly in?: unknown } {
  const lists = scopes.map(({ written }) => written);
  if (lists.length === 0) return {};
  return { in: lists.length === 1 ? lists[0] : lists };
}

const ruleKeys = new Set(['on', 'if', 'each', 'steps', 'description', 'mode', 'limits']);

/**
 * Returns structural mistakes for which the grammar would report many problems: lines that are not indented below their
 * rule, a list of rules, an empty file. If there are any, the file is not checked further.
 */
function mistakesOfForm(value: unknown): readonly FormMistake[] {
  const whole = (message: string): readonly FormMistake[] => [{ path: [], atKey: false, message }];
  if (value === null || value === undefined)
    return whole('the file is empty: it begins with "version: 1" and "rules:"');
  if (Array.isArray(value))
    return whole('a file is a map, not a list: it begins with "version: 1" and "rules:"');
  if (typeof value !== 'object')
    return whole('this is not a rule file: a rule file begins with "version: 1" and "rules:"');
  const rules: unknown = Reflect.get(value, 'rules');
  if (Array.isArray(rules) && rules.length > 0) {
    const message = 'rules are a map, not a list: write the name of each rule as a key, without "- name:"';
    return [{ path: ['rules'], atKey: false, message }];
  }
  if (rules === null) {
    const below = Object.keys(value).find((key) => {
      const member: unknown = Reflect.get(value, key);
      return typeof member === 'object' && member !== null && ('steps' in member || 'on' in member);
    });
    if (below === undefined) return [];
    return [{ path: [below], atKey: true, message: `the rule "${below}" must be indented below "rules"` }];
  }
  return typeof rules === 'object' && rules !== undefined ? keysBesideTheirRule(rules) : [];
}

function keysBesideTheirRule(rules: object): readonly FormMistake[] {
  const names = Object.keys(rules);
  const isEmpty = (name: string | undefined): boolean =>
    name !== undefined && Reflect.get(rules, name) === null && !ruleKeys.has(name);
  const first = names.findIndex((name, place) => ruleKeys.has(name) && isEmpty(names[place - 1]));
  const [rule, key] = [names[first - 1], names[first]];
  if (rule === undefined || key === undefined) return [];
  const message = `"${key}" must be indented below the name of its rule, "${rule}"`;
  return [{ path: ['rules', key], atKey: true, message }];
}

/** A known structural mistake of a file, with a message for its author. */
type FormMistake = { readonly path: YamlPath; readonly atKey: boolean; readonly message: string };
