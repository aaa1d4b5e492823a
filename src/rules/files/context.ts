import { createHash } from 'node:crypto';
import { Re2Compiler } from '../../patterns/re2.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { ExpressionProblem } from '../expressions/expression-problem.ts';
import type { ExpressionEnvironment } from '../expressions/knowledge.ts';
import type { ExpressionContext } from '../expressions/resolve/resolve.ts';
import type { Problem, ProblemCode } from '../problem.ts';
import type { Level, RuleRegistry, ScopedGrant } from '../rule.ts';
import { createEnvironment, type Occasion } from './environment.ts';
import { maxProblems, type YamlPath, type YamlSource } from './yaml-source.ts';

/** A problem inside of a text value; `start` and `end` are offsets in the text. */
type InsideProblem = Omit<ExpressionProblem, 'code'> & { readonly code: ProblemCode };

/** What all parts of a file's loading share: its text, its powers, and the list of its problems. */
export class FileContext {
  readonly path: string;
  readonly level: Level;
  readonly commit: string;
  readonly revision: string;
  readonly text: string;
  readonly registry: RuleRegistry;
  /** Names that the operator grants to the file, somewhere. */
  readonly grants: readonly string[];
  readonly scopedGrants: readonly ScopedGrant[];
  readonly file: YamlSource;
  readonly problems: Problem[];
  /** What the file may say and probably does not mean; it is used all the same. */
  readonly warnings: Problem[] = [];
  readonly #patterns = new Re2Compiler();

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

  /** Returns the context of the same file after its parameters were inserted. */
  over(file: YamlSource): FileContext {
    return new FileContext({ ...this, grants: this.scopedGrants }, file);
  }

  reportKey(path: YamlPath, code: ProblemCode, message: string, suggestion?: string): void {
    this.add(this.file.problem(code, message, this.file.keyAt(path), suggestion));
  }

  reportValue(path: YamlPath, code: ProblemCode, message: string, suggestion?: string): void {
    this.add(this.file.problem(code, message, this.file.valueAt(path), suggestion));
  }

  reportInside(path: YamlPath, problem: InsideProblem): void {
    this.add(this.#problemInside(path, problem));
  }

  warnInside(path: YamlPath, problem: ExpressionProblem): void {
    if (this.warnings.length < maxProblems) this.warnings.push(this.#problemInside(path, problem));
  }

  #problemInside(path: YamlPath, { code, message, suggestion, start, end }: InsideProblem): Problem {
    const span = { start: this.file.inside(path, start), end: this.file.inside(path, end) };
    return this.file.problem(code, message, span, suggestion);
  }

  /** Keeps a problem, unless YAML already stumbled on its line: what follows is its consequence. */
  add(problem: Problem): void {
    if (this.problems.length >= maxProblems) return;
    if (this.file.problems.some(({ line }) => line === problem.line)) return;
    this.problems.push(problem);
  }

  /** Returns what expressions of the file are compiled with. */
  expressions(environment: ExpressionEnvironment): ExpressionContext {
    return { environment, patterns: this.#patterns };
  }

  /** Returns the names for a rule that starts on these occasions; rules of a file mostly share them. */
  environment(occasions: readonly Occasion[]): ExpressionEnvironment {
    return environmentFor(this.registry, { occasions, level: this.level, grants: this.grants });
  }
}

const environments = new WeakMap<RuleRegistry, BoundedMap<string, ExpressionEnvironment>>();
/** Combinations of families and schedules are few in practice; a bound all the same. */
const maxEnvironments = 500;

function environmentFor(
  registry: RuleRegistry,
  options: { occasions: readonly Occasion[]; level: Level; grants: readonly string[] },
): ExpressionEnvironment {
  const known = environments.get(registry) ?? new BoundedMap<string, ExpressionEnvironment>(maxEnvironments);
  environments.set(registry, known);
  const { occasions, level, grants } = options;
  const starts = occasions.map(({ family, subject }) => [family ?? null, subject]);
  const key = JSON.stringify([level, grants, ...starts]);
  const before = known.get(key);
  if (before) return before;
  const environment = createEnvironment({ registry, occasions, level, grants });
  known.set(key, environment);
  return environment;
}

/** Returns a digest of a rule file's text, short enough to be recorded with each verdict. */
export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
