import type { ASTNode } from '@marcbachmann/cel-js';

/** What stands before the dot of functions that belong to no value: `sets.contains(a, b)`. */
export const namespaces: ReadonlySet<string> = new Set(['sets', 'lists', 'math']);

/** Returns the name of a function in a namespace (`sets.contains`), or undefined where the node calls none. */
export function namespacedName(node: ASTNode): string | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, owner] = node.args;
  return owner.op === 'id' && namespaces.has(owner.args) ? `${owner.args}.${name}` : undefined;
}

/** Returns the nodes directly inside of a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return namespacedName(node) === undefined ? [node.args[1], ...node.args[2]] : node.args[2];
    case 'list':
      return node.args;
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** Returns the value of a literal, or undefined where the node is none. */
export function literalOf(node: ASTNode): unknown {
  return node.op === 'value' ? node.args : undefined;
}

/** Returns the names of a member chain (`a.b.c` → a, b, c), or undefined where it is none. */
export function chainOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const before = chainOf(node.args[0]);
  return before && [...before, node.args[1]];
}

/** Returns the text of a node, as written. */
export function textOf(node: ASTNode): string {
  return node.input.slice(node.start, node.end);
}
