import type { ASTNode } from '@marcbachmann/cel-js';
import { conditionsIn } from './arguments.ts';
import { parseExpression } from './expressions/parse/parse.ts';
import { childrenOf, literalOf, namespacedName } from './expressions/parse/tree.ts';
import type { LoadedRule, LoadedStep } from './rule.ts';

/** One member of the items of some facts: `filename` of `files`. */
type ComparedMember = {
  readonly member: string;
  /** Facts whose items have it; absent: it is asked for whatever has it. */
  readonly lists?: readonly string[];
  /** Names of objects that have it themselves. */
  readonly objects?: readonly string[];
  /** Members that are lists of its values: `status_check_contexts`. */
  readonly valueLists?: readonly string[];
};

/** A comparison of the member with texts that are written there. `by`: the operator or the function. */
export type Comparison = {
  readonly by: string;
  readonly texts: readonly string[];
  /** The fact, object or list of values that the member is of. */
  readonly of: string;
};

/** What a name or an expression stands for: an item, the member of one, or a list of either; and the fact that they are of. */
type Meaning = { readonly kind: 'item' | 'value' | 'items' | 'values'; readonly of: string };

/** Functions over a list that give each item a name: in the last of their arguments it is what the name says. */
const loops: ReadonlySet<string> = new Set(['exists', 'exists_one', 'all', 'filter', 'map']);
/** Functions whose list has items of the list before. */
const selections: ReadonlySet<string> = new Set(['filter', 'distinct', 'sort', 'reverse']);

/** Returns every comparison of a member with written texts, wherever a loop gives the items another name. Words in texts are none. */
export function comparisonsIn(tree: ASTNode, wanted: ComparedMember): readonly Comparison[] {
  const walk = (node: ASTNode, names: ReadonlyMap<string, Meaning>): readonly Comparison[] => {
    const meaningOf = (one: ASTNode): Meaning | undefined => meaning(one, names, wanted);
    const here = comparison(node, meaningOf);
    if (node.op !== 'rcall' || !loops.has(node.args[0]) || node.args[2].length < 2)
      return [...here, ...childrenOf(node).flatMap((child) => walk(child, names))];
    const [, list, [variable, ...bodies]] = node.args;
    const inner = variable?.op === 'id' ? withName(names, variable.args, itemOf(meaningOf(list))) : names;
    return [...here, ...walk(list, names), ...bodies.flatMap((body) => walk(body, inner))];
  };
  return walk(tree, new Map());
}

function meaning(
  node: ASTNode,
  names: ReadonlyMap<string, Meaning>,
  wanted: ComparedMember,
): Meaning | undefined {
  const { member, lists, objects = [], valueLists = [] } = wanted;
  switch (node.op) {
    case 'id':
      if (lists?.includes(node.args)) return { kind: 'items', of: node.args };
      return objects.includes(node.args) ? { kind: 'item', of: node.args } : names.get(node.args);
    case '.':
    case '[]': {
      const owner = meaning(node.args[0], names, wanted);
      const name = node.op === '.' ? node.args[1] : literalOf(node.args[1]);
      if (typeof name === 'string') {
        if (valueLists.includes(name)) return { kind: 'values', of: name };
        if (name !== member) return undefined;
        if (lists === undefined) return { kind: 'value', of: name };
        return owner?.kind === 'item' ? { ...owner, kind: 'value' } : undefined;
      }
      return itemOf(owner);
    }
    case 'rcall': {
      const [name, list, [variable, body]] = node.args;
      const before = meaning(list, names, wanted);
      if (selections.has(name)) return before;
      if (name !== 'map' || variable?.op !== 'id' || body === undefined) return undefined;
      const mapped = meaning(body, withName(names, variable.args, itemOf(before)), wanted);
      if (mapped?.kind === 'value') return { ...mapped, kind: 'values' };
      return mapped?.kind === 'item' ? { ...mapped, kind: 'items' } : undefined;
    }
    default:
      return undefined;
  }
}

function withName(
  names: ReadonlyMap<string, Meaning>,
  name: string,
  means: Meaning | undefined,
): ReadonlyMap<string, Meaning> {
  const inner = new Map(names);
  inner.delete(name);
  return means === undefined ? inner : inner.set(name, means);
}

function itemOf(list: Meaning | undefined): Meaning | undefined {
  if (list?.kind === 'items') return { ...list, kind: 'item' };
  return list?.kind === 'values' ? { ...list, kind: 'value' } : undefined;
}

function comparison(node: ASTNode, meaningOf: (node: ASTNode) => Meaning | undefined): readonly Comparison[] {
  // Each side is asked for: `s.context == "ci"`, `"ci" == s.context`, `"ci" in contexts`, `sets.contains(["ci"], contexts)`.
  const sides: readonly ASTNode[] =
    node.op === 'rcall'
      ? namespacedName(node) === undefined
        ? [node.args[1], ...node.args[2]]
        : node.args[2]
      : node.op === '==' || node.op === '!=' || node.op === 'in'
        ? node.args
        : [];
  const by = node.op === 'rcall' ? (namespacedName(node) ?? node.args[0]) : node.op;
  const subject = sides.map(meaningOf).find((one) => one !== undefined);
  if (subject === undefined || subject.kind === 'item' || subject.kind === 'items' || loops.has(by))
    return [];
  const texts = sides.filter((side) => meaningOf(side) === undefined).flatMap(writtenIn);
  return texts.length === 0 ? [] : [{ by, texts, of: subject.of }];
}

function writtenIn(node: ASTNode): readonly string[] {
  if (node.op === 'list') return node.args.flatMap(writtenIn);
  const literal = literalOf(node);
  return typeof literal === 'string' ? [literal] : [];
}

/** Returns the trees of the conditions of a step: its `if`, and those of its arguments. */
export function conditionTreesOf({
  condition,
  action,
  arguments: { written },
}: LoadedStep): readonly ASTNode[] {
  const given = conditionsIn(written, action.arguments).map((path) =>
    path.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      written,
    ),
  );
  return [condition?.source, ...given].flatMap(treesOf);
}

/** Returns the tree of the `if` of a rule, if it has one. */
export function ruleTreesOf({ condition }: LoadedRule): readonly ASTNode[] {
  return treesOf(condition?.source);
}

/** Returns the tree of a condition, which the loader has checked. */
function treesOf(text: unknown): readonly ASTNode[] {
  const tree = typeof text === 'string' ? parseExpression(text) : undefined;
  return tree === undefined || 'code' in tree ? [] : [tree];
}
