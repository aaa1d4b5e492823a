import type { ASTNode } from '@marcbachmann/cel-js';
import type { FactRequest } from '../../../facts/fact.ts';
import type { Matcher } from '../../../patterns/pattern.ts';
import type { Re2Compiler } from '../../../patterns/re2.ts';
import { type ExpressionProblem, type ExpressionProblemCode, withHint } from '../expression-problem.ts';
import { functionNames } from '../functions/functions.ts';
import type { ExpressionEnvironment } from '../knowledge.ts';
import { chainOf } from '../parse/tree.ts';
import { anyType, type Type } from '../values/types.ts';
import { remedyForName } from './foreign-expressions.ts';
import type { Scope } from './scope.ts';

/** What is found out about an expression before it runs. */
export abstract class Resolution {
  readonly problems: ExpressionProblem[] = [];
  /** What can be meant so and probably is not. */
  readonly warnings: ExpressionProblem[] = [];
  readonly facts = new Map<string, FactRequest>();
  /** What was made of the literal patterns of calls. */
  readonly matchers = new Map<ASTNode, Matcher>();
  readonly types = new Map<ASTNode, Type>();
  /** Members that are facts of their own (`pull_request.behind`), and how they are asked. */
  readonly members = new Map<ASTNode, FactRequest>();
  /** The type of what each loop takes from its list. */
  readonly items = new Map<ASTNode, Type>();
  readonly environment: ExpressionEnvironment;
  readonly patterns: Re2Compiler;
  loops = 0;

  constructor(environment: ExpressionEnvironment, patterns: Re2Compiler) {
    this.environment = environment;
    this.patterns = patterns;
  }

  /** Returns the type of the expression; problems are collected on the way. */
  abstract resolve(node: ASTNode, scope: Scope): Type;

  /** Resolves what must be true or false. */
  abstract bool(node: ASTNode, scope: Scope): Type;

  /** Records a problem and returns the unknown type. */
  refuse(
    place: { readonly start: number; readonly end: number },
    code: ExpressionProblemCode,
    message: string,
    suggestion?: string,
  ): Type {
    const { start, end } = place;
    this.problems.push({ code, message, start, end, ...(suggestion !== undefined && { suggestion }) });
    return anyType;
  }

  /** Warns where a value that is often null stands in a place that cannot use null. */
  warnOfNull(node: ASTNode, scope: Scope): void {
    const isItem = node.op === 'id' && this.environment.names.get(node.args)?.isItem;
    const warning = isItem ? undefined : warningOfNull(node, scope);
    if (warning !== undefined) this.warnings.push(warning);
  }

  /** Reports a name that means nothing here. */
  refuseName(node: ASTNode, name: string, scope: Scope): Type {
    const absent = this.environment.absent.get(name);
    if (absent !== undefined) return this.refuse(node, 'subject', absent);
    if (functionNames.includes(name)) {
      return this.refuse(node, 'unknown-name', `${name} is a function: write ${name}(…)`);
    }
    const names = [...scope.variables.keys(), ...this.environment.names.keys()];
    const typeOfName = (one: string): Type | undefined => this.environment.names.get(one)?.type;
    const { hint, suggestion } = remedyForName(name, names, typeOfName);
    const message = withHint(`there is nothing named "${name}"`, hint);
    return this.refuse(node, 'unknown-name', message, suggestion);
  }
}

/** Members that forges write as null in everyday use, by the end of their chain, and when. */
const nullMembers: Readonly<Record<string, string>> = {
  milestone: 'without a milestone',
  assignee: 'without an assignee',
  closed_at: 'until it is closed',
  due_date: 'without a due date',
  due_on: 'without a due date',
  merged_at: 'until it is merged',
  merged_by: 'until it is merged',
  merge_commit_sha: 'until it is merged',
  'head.repo': 'once the fork was deleted',
};

/**
 * Returns a warning where the value of a node is often null and its place cannot use null: the rule then fails. None where
 * the expression has asked for the value before, by has() or a comparison with null.
 */
function warningOfNull(node: ASTNode, scope: Scope): ExpressionProblem | undefined {
  const chain = chainOf(node);
  if (chain === undefined || scope.variables.has(chain[0] ?? '') || scope.present.has(chain.join('.')))
    return undefined;
  const end = [chain.slice(-2).join('.'), chain.slice(-1).join('.')].find((name) =>
    Object.hasOwn(nullMembers, name),
  );
  if (end === undefined) return undefined;
  const text = chain.join('.');
  const message = `${text} is null ${nullMembers[end]}, and the rule then fails: ask has(${text}) first`;
  return { code: 'null-member', message, start: node.start, end: node.end };
}
