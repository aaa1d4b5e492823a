import { type FileContext, revisionOf } from '../files/context.ts';
import { IncludeForm } from '../files/grammar.ts';
import { type FileDefaults, loadMode, loadScope, strictestLimits } from '../files/load-rule.ts';
import type { YamlPath } from '../files/yaml-source.ts';
import type { GivenParameters } from '../parameters/read-parameters.ts';
import type { Problem } from '../problem.ts';
import type { LoadedRule, Pattern, RuleLimits, RuleMode } from '../rule.ts';
import { type Pack, type PackBudget, type PackTree, problemOfChain, problemOfRequest } from './pack.ts';

/** What loading a pack as part of a file came to. */
type LoadedPack = {
  readonly rules: readonly LoadedRule[];
  readonly problems: readonly Problem[];
  readonly warnings?: readonly Problem[];
  readonly expanded?: ReadonlyMap<string, unknown>;
};

type Including = {
  readonly context: FileContext;
  readonly defaults: FileDefaults;
  readonly packs: PackTree | undefined;
  readonly budget: PackBudget;
  /** Paths of the including files, the outermost first, the file itself last. */
  readonly chain: readonly string[];
  readonly load: (pack: Pack, given: GivenParameters) => LoadedPack;
};

/** The rules of all packs of a file, as rules of that file. */
type IncludedRules = {
  readonly rules: readonly LoadedRule[];
  /** Problems in packs that the readers of the file may read; those of the file itself are reported in its context. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly expanded: readonly (readonly [string, unknown])[];
  /** Revision of the rules of a file with packs: it changes with each of them. Undefined for a file without. */
  readonly revision: string | undefined;
};

/**
 * Returns the rules of the packs that a file includes. They are loaded with the level and the grants of the including file,
 * named `include/rule`, limited by the `in`, the limits and the mode of file and include, and observe until the include
 * says otherwise.
 */
export function loadIncludes(written: unknown, including: Including): IncludedRules {
  const { context, budget } = including;
  const found: LoadedPack[] = [];
  const revisions: string[] = [context.revision];
  const seen = new Set<string>();
  for (const [place, form] of (Array.isArray(written) ? written : []).entries()) {
    const entry = IncludeForm.safeParse(form);
    // Its mistakes are reported with the rest of the grammar.
    if (!entry.success) continue;
    const at = ['include', place];
    if (seen.has(entry.data.name)) {
      const message = `two includes have the name "${entry.data.name}": it begins the names of their rules`;
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
  // A pack includes packs beside it by their path, no matter which file includes it.
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
    context.reportKey(entry.pack === undefined ? place : [...at, 'pack'], 'include', message, near);
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

/** Returns a rule of a pack as a rule of the including file: of what both say, the stricter holds. */
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

/** Reports at the include that its pack has problems. Of a pack that its readers may not read, no line and no word is shown. */
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
  // What the including file may not use concerns the file, whatever the pack says around it.
  const levels = [...new Set(problems.filter(({ code }) => code === 'level').map(({ message }) => message))];
  for (const message of levels)
    context.reportKey(place, 'level', `the pack ${titleOf(entry)} cannot be included: ${message}`);
  const others = [...new Set(problems.map(({ code }) => code).filter((code) => code !== 'level'))];
  if (others.length === 0) return;
  const message = `the pack ${titleOf(entry)} cannot be included: it has ${count} (${others.join(', ')}), which its owner sees with reeve check`;
  context.reportKey(place, 'include', message);
}

function titleOf({ name, pack = name }: IncludeForm): string {
  return pack === name ? `"${name}"` : `"${pack}" (include "${name}")`;
}
