import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Family } from '../../contract/events/event-families.ts';
import type { SubjectKind } from '../../contract/events/subject.ts';
import type { Fact } from '../../facts/fact.ts';
import { Re2Compiler } from '../../patterns/re2.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { NamedCondition } from '../expressions/named-conditions.ts';
import type { ExpressionContext } from '../expressions/resolve.ts';
import { ChangedPaths } from '../expressions/subject-functions.ts';
import {
  anyType,
  type ExpressionEnvironment,
  type Name,
  type Type,
  typeOf,
  unionOf,
} from '../expressions/types.ts';
import type { ExpressionProblem, Fix, Problem, ProblemCode } from '../problem.ts';
import type { Level, RuleRegistry, ScopedGrant } from '../rule.ts';
import { maxProblems, type YamlPath, type YamlSource } from './yaml-source.ts';

/** State shared while one file is loaded: its text, its permissions and its problems. */
export class FileContext {
  readonly path: string;
  readonly level: Level;
  readonly commit: string;
  readonly revision: string;
  readonly text: string;
  readonly registry: RuleRegistry;
  /** Names of actions and facts that the operator grants to the file, for any scope. */
  readonly grants: readonly string[];
  readonly scopedGrants: readonly ScopedGrant[];
  readonly file: YamlSource;
  readonly problems: Problem[];
  /** Warnings; the file can still be used. */
  readonly warnings: Problem[] = [];
  readonly #patterns = new Re2Compiler();
  /** The named conditions of the file. */
  readonly named = new Map<string, NamedCondition>();

  constructor(
    source: {
      readonly path: string;
      readonly level: Level;
      readonly commit: string;
      readonly text: string;
      readonly registry: RuleRegistry;
      readonly grants?: readonly ScopedGrant[];
    },
    file: YamlSource,
  ) {
    this.path = source.path;
    this.level = source.level;
    this.commit = source.commit;
    this.revision = revisionOf(source.text);
    this.text = source.text;
    this.registry = source.registry;
    this.scopedGrants = source.grants ?? [];
    this.grants = [...new Set(this.scopedGrants.flatMap(({ names }) => names))].sort();
    this.file = file;
    this.problems = [...file.problems];
  }

  /** Returns the context of the same file with its parameters inserted. */
  over(file: YamlSource): FileContext {
    return new FileContext({ ...this, grants: this.scopedGrants }, file);
  }

  reportKey(path: YamlPath, code: ProblemCode, message: string, suggestion?: string, fix?: Fix): void {
    this.add(this.file.problem(code, message, this.file.keyAt(path), suggestion, fix));
  }

  reportValue(path: YamlPath, code: ProblemCode, message: string, suggestion?: string): void {
    this.add(this.file.problem(code, message, this.file.valueAt(path), suggestion));
  }

  reportInside(path: YamlPath, problem: ExpressionProblem): void {
    this.add(this.#problemInside(path, problem));
  }

  warnInside(path: YamlPath, problem: ExpressionProblem): void {
    if (this.warnings.length < maxProblems) this.warnings.push(this.#problemInside(path, problem));
  }

  #problemInside(path: YamlPath, { code, message, suggestion, fix, start, end }: ExpressionProblem): Problem {
    const spanOf = (one: { readonly start: number; readonly end: number }) => ({
      start: this.file.inside(path, one.start),
      end: this.file.inside(path, one.end),
    });
    const edited = fix && spanOf(fix);
    // Quotes, folding and the values of parameters make the text of the file differ from that of the expression.
    const isSame = edited && this.text.slice(edited.start, edited.end) === fix.written;
    const quote = this.text[this.file.valueAt(path).start];
    const made = isSame ? { ...edited, text: escapeFor(quote, fix.text) } : undefined;
    return this.file.problem(code, message, spanOf({ start, end }), suggestion, made);
  }

  /**
   * Adds a problem, unless YAML already reports a problem on the same line, because the new problem would be a
   * consequence of it.
   */
  add(problem: Problem): void {
    if (this.problems.length >= maxProblems) return;
    if (this.file.problems.some(({ line }) => line === problem.line)) return;
    this.problems.push(problem);
  }

  /** Returns the context for compiling the expressions of a rule. */
  expressions(environment: ExpressionEnvironment): ExpressionContext {
    return { environment, patterns: this.#patterns, paths: new ChangedPaths(), named: this.named };
  }

  /**
   * Returns the names available to a rule with these occasions. Cached, because most rules of a file have the same
   * names.
   */
  environment(occasions: readonly Occasion[]): ExpressionEnvironment {
    return environmentFor(this.registry, { occasions, level: this.level, grants: this.grants });
  }
}

/** Returns a text as it is written inside of a YAML value that begins with this character. */
function escapeFor(quote: string | undefined, text: string): string {
  if (quote === '"') return JSON.stringify(text).slice(1, -1);
  return quote === "'" ? text.replaceAll("'", "''") : text;
}

const environments = new WeakMap<RuleRegistry, BoundedMap<string, ExpressionEnvironment>>();
/** Maximum size of the cache; in practice, there are few combinations of event families and schedules. */
const maxEnvironments = 500;

function environmentFor(
  registry: RuleRegistry,
  options: { occasions: readonly Occasion[]; level: Level; grants: readonly string[] },
): ExpressionEnvironment {
  const known = environments.get(registry) ?? new BoundedMap<string, ExpressionEnvironment>(maxEnvironments);
  environments.set(registry, known);
  const { occasions, level, grants } = options;
  const starts = occasions.map(({ family, isAutomatic, subject, ofBoth = false }) => [
    family ?? isAutomatic ?? null,
    subject,
    ofBoth,
  ]);
  const key = JSON.stringify([level, grants, ...starts]);
  const before = known.get(key);
  if (before) return before;
  const environment = createEnvironment({ registry, occasions, level, grants });
  known.set(key, environment);
  return environment;
}

/** Returns a digest of a rule file's text that is short enough to be stored with each verdict. */
export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** One way of starting a rule: an event of a family, a schedule, or the events of `on: auto`. */
export type Occasion = {
  readonly family?: Family;
  readonly isAutomatic?: true;
  readonly subject: SubjectKind;
  /** Set if the rule has `each: [issue, pull_request]`. */
  readonly ofBoth?: true;
};

/** A name on one occasion. A row without a type means that the name is absent on this occasion. */
type NameRow = { readonly fact?: Fact; readonly type: Type | undefined };

/**
 * Returns the names available to a rule's expressions. `event` has the payload members of the rule's families; facts
 * exist for the subjects of these families; items of `each` that are not facts come from the sweep.
 */
export function createEnvironment(options: {
  registry: RuleRegistry;
  occasions: readonly Occasion[];
  level: Level;
  /** Names of facts that the operator grants to the file; the rules may then use them, whatever their visibility. */
  grants?: readonly string[];
}): ExpressionEnvironment {
  const { registry, occasions, level, grants = [] } = options;
  const names = new Map<string, Name>();
  const absent = new Map<string, string>();
  const add = (name: string, rowOf: (occasion: Occasion) => NameRow): void => {
    const rows = occasions.map(rowOf);
    const there = rows.filter((row) => row.type !== undefined);
    const missingOn = occasions.filter((_, place) => rows[place]?.type === undefined).map(describeOccasion);
    const fact = there.find((row) => row.fact)?.fact;
    if (there.length === 0) {
      absent.set(name, `${[...new Set(missingOn)].join(' and ')} has no ${name}`);
      return;
    }
    const type = unionOf(there.map((row) => row.type ?? anyType));
    const needsGrant = fact && level !== 'operator' && (fact.onlyFor || !grants.includes(fact.name));
    const refusal = needsGrant ? factRefusal(fact, level) : undefined;
    names.set(name, {
      type,
      missingOn: [...new Set(missingOn)],
      ...(fact && { fact }),
      ...(occasions.every(({ subject }) => subject === name) && { isItem: true as const }),
      ...(refusal !== undefined && { refusal }),
      ...(fact && level !== 'operator' && { refuseArgument: argumentRefusal(fact, level) }),
    });
  };
  const factsByName = new Map(registry.facts.map((fact) => [fact.name, fact]));
  for (const fact of registry.facts) {
    add(fact.name, (occasion) => rowOfFact(fact, occasion, registry, occasions));
  }
  for (const [name, shape] of Object.entries(registry.variables)) {
    if (factsByName.has(name)) continue;
    add(name, (occasion) => (variableApplies(name, occasion) ? rowOf(shape) : { type: undefined }));
  }
  add('event', ({ family }) => (family ? rowOfPayload(registry, family) : { type: undefined }));
  add('now', () => ({ type: { kind: 'timestamp' } }));
  // Only reached in files without declared parameters; in other files, the values have already replaced these names.
  absent.set(
    'params',
    'the file does not declare parameters: write params: { NAME: { type: int, default: 3 } } at the top',
  );
  return { names, absent, ...(occasions.some(({ ofBoth }) => ofBoth) && { ofBoth: true as const }) };
}

/**
 * Returns a fact's row for one occasion. If the fact is not available for this kind of subject, but has the name of the
 * sweep's item, the name means the item.
 */
function rowOfFact(
  fact: Fact,
  occasion: Occasion,
  registry: RuleRegistry,
  occasions: readonly Occasion[],
): NameRow {
  const { subject, ofBoth } = occasion;
  const { families } = fact;
  if (ofBoth && fact.name === 'issue' && subject !== 'issue') return { type: undefined };
  const isHeard = ({ family }: Occasion): boolean =>
    family !== undefined && (families?.includes(family) ?? true);
  if (families && !(fact.elsewhere ? occasions.some(isHeard) : isHeard(occasion))) return { type: undefined };
  // What only an event brings along does not say when a rule has to run.
  if (occasion.isAutomatic && fact.changes === undefined) return { type: undefined };
  if (fact.of.includes(subject)) return { fact, ...rowOf(fact.shape) };
  const item = fact.name === subject ? registry.variables[fact.name] : undefined;
  return item ? rowOf(item) : { type: undefined };
}

/** Returns whether a variable exists on an occasion: `sender` only for events, an item only in sweeps over its kind. */
function variableApplies(name: string, occasion: Occasion): boolean {
  if (name === 'sender') return occasion.family !== undefined;
  return occasion.family === undefined && occasion.subject === name;
}

function rowOf(shape: z.ZodType): NameRow {
  return { type: typeOf(shape) };
}

function rowOfPayload(registry: RuleRegistry, family: Family): NameRow {
  const shape = registry.payloads[family];
  return shape ? rowOf(shape) : { type: anyType };
}

function describeOccasion({ family, isAutomatic, subject }: Occasion): string {
  if (isAutomatic) return 'a rule with `on: auto`';
  return family === undefined ? `a schedule over each ${subject}` : `${family}`;
}

function factRefusal(fact: Fact, level: Level): string | undefined {
  if (fact.onlyFor !== undefined)
    return `files of the ${level} may not use ${fact.name}, whatever the grants: only those of the ${fact.onlyFor} may`;
  if (fact.shows === 'repository') return undefined;
  const seenBy = fact.shows === 'admin' ? "the repository's administrators" : 'people beyond the repository';
  return `files of the ${level} may not use ${fact.name} without the operator's grant: it shows what only ${seenBy} may see`;
}

function argumentRefusal(fact: Fact, level: Level) {
  return (argument: string): string | undefined => {
    const why = fact.examineBelowOperator?.(argument);
    if (why === undefined) return undefined;
    return `files of the ${level} may not use ${fact.name}(${JSON.stringify(argument.slice(0, 64))}), whatever the grants: ${why}`;
  };
}
