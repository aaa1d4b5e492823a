import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey } from '../../../facts/fact.ts';
import { findFunctions, loops } from '../functions/functions.ts';
import { chainOf, childrenOf, literalOf, textOf } from '../parse/tree.ts';

/** One member chain of an expression, as written, and how its value is found again for people. */
export type Read = {
  readonly node: ASTNode;
  readonly text: string;
  readonly root: FactRequest;
  readonly path: readonly (string | number)[];
  /** Members that a loop looks at in each item; empty where the items are shown as they are. */
  readonly shown: readonly string[];
  /** Only has() asks whether it is there. */
  readonly isAsked?: true;
};

/** The names an expression reads, for what it needs to know and for what its finding shows. */
export type Reads = {
  readonly reads: readonly Read[];
  /** What must be known before the expression can run. */
  readonly needs: readonly FactRequest[];
  /** Names that it only asks has() of. */
  readonly asks: readonly FactRequest[];
};

/** Returns what an expression reads, each chain once, in the order of the text. */
export function collectReads(node: ASTNode, members: ReadonlyMap<ASTNode, FactRequest>): Reads {
  const collector = new Collector(members);
  collector.visit(node, new Set());
  return {
    reads: [...collector.reads.values()],
    needs: [...collector.needs.values()],
    asks: [...collector.asks.values()],
  };
}

/** Returns the fact that a call with a literal argument asks, or undefined where it is a function. */
export function factOfCall(node: ASTNode): FactRequest | undefined {
  if (node.op !== 'call') return undefined;
  const [name, given] = node.args;
  if (name === 'has' || given.length !== 1 || findFunctions(name, false).length > 0) return undefined;
  const literal = given[0] && literalOf(given[0]);
  return typeof literal === 'string' ? { name, argument: literal } : undefined;
}

class Collector {
  readonly reads = new Map<string, Read>();
  readonly needs = new Map<string, FactRequest>();
  readonly asks = new Map<string, FactRequest>();
  readonly #members: ReadonlyMap<ASTNode, FactRequest>;

  constructor(members: ReadonlyMap<ASTNode, FactRequest>) {
    this.#members = members;
  }

  visit(node: ASTNode, variables: ReadonlySet<string>): void {
    if (this.#chain(node, variables, [])) return;
    if (node.op === 'call' && node.args[0] === 'has') {
      this.#has(node.args[1][0], variables);
      return;
    }
    if (node.op === 'rcall' && Object.hasOwn(loops, node.args[0])) {
      this.#loop(node.args[1], node.args[2], variables);
      return;
    }
    for (const child of childrenOf(node)) this.visit(child, variables);
  }

  /** Takes a whole chain; says whether the node was one. */
  #chain(node: ASTNode, variables: ReadonlySet<string>, shown: readonly string[]): boolean {
    const path: (string | number)[] = [];
    let inner: ASTNode = node;
    while (!this.#members.has(inner) && (inner.op === '.' || inner.op === '[]')) {
      const key = inner.op === '.' ? inner.args[1] : literalOf(inner.args[1]);
      if (typeof key !== 'string' && typeof key !== 'bigint') return false;
      path.unshift(typeof key === 'bigint' ? Number(key) : key);
      inner = inner.args[0];
    }
    const root = this.#members.get(inner) ?? (inner.op === 'id' ? { name: inner.args } : factOfCall(inner));
    if (root === undefined) return false;
    if (root.argument === undefined && variables.has(root.name)) return true;
    const text = textOf(node);
    this.reads.set(text, { node, text, root, path, shown });
    this.needs.set(factKey(root), root);
    return true;
  }

  #has(argument: ASTNode | undefined, variables: ReadonlySet<string>): void {
    const [name, ...path] = (argument && chainOf(argument)) ?? [];
    if (argument === undefined || name === undefined || variables.has(name)) return;
    const text = textOf(argument);
    const member = this.#members.get(argument);
    const root = member ?? { name };
    const inside = member ? [] : path;
    const read: Read = { node: argument, text, root, path: inside, shown: [], isAsked: true };
    if (!this.reads.has(text)) this.reads.set(text, read);
    this.asks.set(root.name, root);
  }

  #loop(list: ASTNode, [variable, ...bodies]: readonly ASTNode[], variables: ReadonlySet<string>): void {
    const name = variable?.op === 'id' ? variable.args : '';
    const shown = new Set<string>();
    for (const body of bodies) membersOf(body, name, shown);
    if (!this.#chain(list, variables, [...shown])) this.visit(list, variables);
    const inner = new Set([...variables, name]);
    for (const body of bodies) this.visit(body, inner);
  }
}

function membersOf(node: ASTNode, variable: string, into: Set<string>): void {
  if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === variable) into.add(node.args[1]);
  for (const child of childrenOf(node)) membersOf(child, variable, into);
}
