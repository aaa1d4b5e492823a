import type { ASTNode } from '@marcbachmann/cel-js';
import type { FactRequest } from '../../facts/fact.ts';
import type { Meter } from '../../patterns/meter.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { ExpressionProblem } from '../problem.ts';
import type { NamedCondition, NamedConditions } from './named-conditions.ts';
import { childrenOf, literalOf } from './parse.ts';
import { createPart, type Part, type Read, runPart, Values, valuesRead } from './part.ts';
import { type ExpressionContext, resolveExpression } from './resolve.ts';
import { boolType, describeType, type Evidence, type Knowledge, mayBe } from './types.ts';

/** A compiled condition, which can be evaluated repeatedly. */
export type Condition = {
  readonly source: string;
  /** The facts that the condition names; they must be fetched before `evaluate`. */
  readonly facts: readonly FactRequest[];
  /** The member chains that the condition reads. */
  readonly reads: readonly Read[];
  /** String literals of the condition. */
  readonly texts: readonly string[];
  /** Returns the result with its evidence, charged to the meter. Never throws. */
  readonly evaluate: (knowledge: Knowledge, meter: Meter) => ConditionResult;
  /**
   * Returns whether the condition holds, or would hold if only checks of the commit or `mergeable` had different
   * values. Never throws.
   */
  readonly prospect: (knowledge: Knowledge, meter: Meter) => Prospect;
};

/** `held`; `awaits` if only checks or `mergeable` are missing; `not` for any other reason, including errors. */
export type Prospect = 'held' | 'awaits' | 'not';

/** Returns the prospect of several conditions that must all hold. */
export function jointProspect(prospects: readonly Prospect[]): Prospect {
  if (prospects.includes('not')) return 'not';
  return prospects.includes('awaits') ? 'awaits' : 'held';
}

/**
 * The result is `error` if the condition cannot be evaluated. In that case, `cause` contains the error, which states
 * whether a later attempt may succeed.
 */
export type ConditionResult = {
  readonly result: 'held' | 'not' | 'error';
  readonly findings: readonly Evidence[];
  readonly reason?: string;
  readonly cause?: Error;
};

/**
 * Location of an expression: its file, and a function that returns the position in the file for an offset in the
 * expression's text.
 */
export type ExpressionPlace = {
  readonly file: string;
  readonly at: (offset: number) => { readonly line: number; readonly column: number };
};

/**
 * Compiles a CEL expression of type bool and checks it against its environment. If that fails, returns all problems,
 * with offsets in the text.
 *
 * Evidence is collected per leaf: the parts between `&&`, `||`, `!` and `?:`, each with its result and the values it
 * read. As CEL specifies, an error in one part is ignored if the others decide the result (`error || true`).
 */
export function compileCondition(
  source: string,
  context: ExpressionContext,
  place: ExpressionPlace,
): { readonly condition: Condition } | { readonly problems: readonly ExpressionProblem[] } {
  const { environment } = context;
  const resolved = resolveExpression(source, context);
  if ('problems' in resolved) return resolved;
  const { node, type, resolution } = resolved;
  if (!mayBe(type, ['bool'])) {
    const message = `a condition must be ${describeType(boolType)}, this is ${describeType(type)}`;
    return { problems: [{ code: 'expression-type', message, start: 0, end: source.length }] };
  }
  // The position is resolved now, because a loaded rule does not keep its file.
  const plant = (leaf: ASTNode): Leaf => {
    const part = createPart(leaf, resolution);
    const isPolled = part.roots.some(({ name }) => environment.names.get(name)?.fact?.isPolled);
    return { kind: 'leaf', part, isPolled, where: { file: place.file, ...place.at(leaf.start) } };
  };
  const tree = treeOf(node, plant);
  const leaves = leavesOf(tree);
  const facts = [...resolution.facts.values()];
  const reads = leaves.flatMap(({ part }) => part.reads.reads);
  const evaluate = (knowledge: Knowledge, meter: Meter): ConditionResult =>
    ask(tree, leaves, new Values(knowledge, environment, meter));
  const prospect = (knowledge: Knowledge, meter: Meter): Prospect => {
    const values = new Values(knowledge, environment, meter);
    const truth = (said?: boolean): Truth =>
      truthOf(tree, (leaf) =>
        leaf.isPolled && said !== undefined ? said : answerOf(leaf.part, values).truth,
      );
    const now = truth();
    if (now !== false) return now === true ? 'held' : 'not';
    const isAwaiting =
      leaves.some(({ isPolled }) => isPolled) && (truth(true) === true || truth(false) === true);
    return isAwaiting ? 'awaits' : 'not';
  };
  return { condition: { source, facts, texts: textsIn(node, resolution.named), reads, evaluate, prospect } };
}

/** Returns the text literals of an expression, and those of the named conditions that it uses. */
function textsIn(node: ASTNode, named: NamedConditions): readonly string[] {
  const used = new Set<NamedCondition>();
  const visit = (one: ASTNode): readonly string[] => {
    const literal = literalOf(one);
    if (typeof literal === 'string') return [literal];
    const condition = one.op === 'id' ? named.get(one.args) : undefined;
    if (condition === undefined || used.has(condition)) return childrenOf(one).flatMap(visit);
    used.add(condition);
    return visit(condition.node);
  };
  return visit(node);
}

type Leaf = {
  readonly kind: 'leaf';
  readonly part: Part;
  /** Whether the leaf reads a fact that changes without an event on some forges. */
  readonly isPolled: boolean;
  readonly where: { readonly file: string; readonly line: number; readonly column: number };
};
type Tree =
  | Leaf
  | { readonly kind: '&&' | '||'; readonly left: Tree; readonly right: Tree }
  | { readonly kind: '!'; readonly inner: Tree }
  | { readonly kind: '?:'; readonly condition: Tree; readonly held: Tree; readonly missed: Tree };

function treeOf(node: ASTNode, plant: (leaf: ASTNode) => Leaf): Tree {
  switch (node.op) {
    case '&&':
    case '||':
      return { kind: node.op, left: treeOf(node.args[0], plant), right: treeOf(node.args[1], plant) };
    case '!_':
      return { kind: '!', inner: treeOf(node.args, plant) };
    case '?:': {
      const [condition, held, missed] = node.args;
      return {
        kind: '?:',
        condition: treeOf(condition, plant),
        held: treeOf(held, plant),
        missed: treeOf(missed, plant),
      };
    }
    default:
      return plant(node);
  }
}

function leavesOf(tree: Tree): readonly Leaf[] {
  switch (tree.kind) {
    case 'leaf':
      return [tree];
    case '!':
      return leavesOf(tree.inner);
    case '?:':
      return [...leavesOf(tree.condition), ...leavesOf(tree.held), ...leavesOf(tree.missed)];
    default:
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
  }
}

type Truth = boolean | 'error';
type LeafAnswer = { readonly truth: Truth; readonly error?: string; readonly cause?: Error };

function ask(tree: Tree, leaves: readonly Leaf[], values: Values): ConditionResult {
  const answers = new Map<Leaf, LeafAnswer>();
  const truth = truthOf(tree, (leaf) => {
    const answer = answerOf(leaf.part, values);
    answers.set(leaf, answer);
    return answer.truth;
  });
  const findings = leaves.map((leaf) => findingOf(leaf, answers.get(leaf), values));
  if (truth !== 'error') return { result: truth ? 'held' : 'not', findings };
  const failed = [...answers.entries()].filter(([, answer]) => answer.truth === 'error');
  const [first] = failed;
  const reason = first ? `${first[0].part.text}: ${first[1].error}` : 'it could not be evaluated';
  const causes = failed.flatMap(([, { cause }]) => (cause ? [cause] : []));
  const cause = causes.find((one) => one instanceof ReeveError && one.keepsWork) ?? causes[0];
  return { result: 'error', findings, reason, ...(cause && { cause }) };
}

function truthOf(tree: Tree, answer: (leaf: Leaf) => Truth): Truth {
  switch (tree.kind) {
    case 'leaf':
      return answer(tree);
    case '!': {
      const inner = truthOf(tree.inner, answer);
      return inner === 'error' ? 'error' : !inner;
    }
    case '?:': {
      const condition = truthOf(tree.condition, answer);
      if (condition === 'error') return 'error';
      return truthOf(condition ? tree.held : tree.missed, answer);
    }
    default: {
      const decides = tree.kind === '||';
      const left = truthOf(tree.left, answer);
      if (left === decides) return decides;
      const right = truthOf(tree.right, answer);
      if (right === decides) return decides;
      return left === 'error' || right === 'error' ? 'error' : !decides;
    }
  }
}

function answerOf(part: Part, values: Values): LeafAnswer {
  const result = runPart(part, values);
  if ('error' in result) return { truth: 'error', ...result };
  if (typeof result.value === 'boolean') return { truth: result.value };
  return { truth: 'error', error: `${part.text} is ${result.value === null ? 'null' : 'not true or false'}` };
}

function findingOf({ part, where: place }: Leaf, answer: LeafAnswer | undefined, values: Values): Evidence {
  const where = { expression: part.text, ...place };
  if (answer === undefined) return { ...where, result: 'unevaluated', values: {} };
  const seen = valuesRead(part, values);
  if (answer.truth === 'error')
    return { ...where, result: 'error', values: { ...seen, error: answer.error } };
  return { ...where, result: answer.truth ? 'held' : 'not', values: seen };
}
