import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, keyOf } from '../facts/fact.ts';
import { loops } from './functions.ts';
import { literalOf } from './literals.ts';
import { childrenOf } from './printer.ts';
import { chainOf } from './scope.ts';

/** One member chain of an expression, as written, and how its value is found again for people. */
export type Read = {
  readonly text: string;
  readonly root: FactRequest;
  readonly path: readonly (string | number)[];
  /** Members that a loop looks at in each item; empty where the items are shown as they are. */
  readonly shown: readonly string[];
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
export function readsOf(node: ASTNode): Reads {
  const collector = new Collector();
  collector.visit(node, new Set());
  return {
    reads: [...collector.reads.values()],
    needs: [...collector.needs.values()],
    asks: [...collector.asks.values()],
  };
}

class Collector {
  readonly reads = new Map<string, Read>();
  readonly needs = new Map<string, FactRequest>();
  readonly asks = new Map<string, FactRequest>();

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
    while (inner.op === '.' || inner.op === '[]') {
      const key = inner.op === '.' ? inner.args[1] : literalOf(inner.args[1]);
      if (typeof key !== 'string' && typeof key !== 'bigint') return false;
      path.unshift(typeof key === 'bigint' ? Number(key) : key);
      inner = inner.args[0];
    }
    const root = rootOf(inner);
    if (root === undefined) return false;
    if (root.argument === undefined && variables.has(root.name)) return true;
    const text = node.input.slice(node.start, node.end);
    this.reads.set(text, { text, root, path, shown });
    this.needs.set(keyOf(root), root);
    return true;
  }

  #has(argument: ASTNode | undefined, variables: ReadonlySet<string>): void {
    const [name, ...path] = (argument && chainOf(argument)) ?? [];
    if (argument === undefined || name === undefined || variables.has(name)) return;
    const text = argument.input.slice(argument.start, argument.end);
    const root = { name };
    if (!this.reads.has(text)) this.reads.set(text, { text, root, path, shown: [] });
    this.asks.set(name, root);
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

/** A name, or a fact called with its literal argument. */
function rootOf(node: ASTNode): FactRequest | undefined {
  if (node.op === 'id') return { name: node.args };
  if (node.op !== 'call' || node.args[0] === 'has' || node.args[1].length !== 1) return undefined;
  const [argument] = node.args[1];
  const literal = argument && literalOf(argument);
  const name = node.args[0];
  const isFunction = ['size', 'string', 'int', 'double', 'bool', 'timestamp', 'duration'].includes(name);
  return typeof literal === 'string' && !isFunction ? { name, argument: literal } : undefined;
}

function membersOf(node: ASTNode, variable: string, into: Set<string>): void {
  if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === variable) into.add(node.args[1]);
  for (const child of childrenOf(node)) membersOf(child, variable, into);
}

/** Returns the value of a read, and how far the chain could be followed: the first name that is missing or null. */
export function follow(read: Read, root: unknown): { readonly value: unknown; readonly broken?: string } {
  let value = root;
  let text = read.root.name;
  for (const [place, key] of read.path.entries()) {
    if (value === null || value === undefined) return { value: null, broken: `${text} is null` };
    const inner: unknown = Reflect.get(Object(value), key);
    text = place === read.path.length - 1 ? read.text : `${text}.${key}`;
    if (inner === undefined) return { value: null, broken: `${text} is missing` };
    value = inner;
  }
  if (value === null) return { value, broken: `${text} is null` };
  return { value: Array.isArray(value) ? value.slice(0, 200).map((item) => show(item, read.shown)) : value };
}

function show(item: unknown, members: readonly string[]): unknown {
  if (members.length === 0 || typeof item !== 'object' || item === null) return item;
  const object = item as Readonly<Record<string, unknown>>;
  const [only] = members;
  if (members.length === 1 && only !== undefined) return object[only] ?? null;
  return Object.fromEntries(members.map((name) => [name, object[name] ?? null]));
}
