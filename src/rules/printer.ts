import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, keyOf } from '../facts/fact.ts';
import { functions, loops } from './functions.ts';
import { literalOf } from './literals.ts';
import type { CompiledPattern } from './patterns.ts';
import type { Resolver } from './resolve.ts';
import { chainOf } from './scope.ts';
import { mayBe, type Type } from './types.ts';

const freeKinds: readonly Type['kind'][] = ['string', 'list', 'map', 'object'];
/** Parts of a loop's body that an `&&` or `||` counts for: each may fail for every item, and an error costs that much. */
const partsOfLogic = 8;

/** Prints an expression that was resolved without problems, with the guard's calls (`p_`, `n_`, `l_`, `f_`, `h_`, `k_`, `m_`) in it. */
export class Printer {
  readonly calls: FactRequest[] = [];
  readonly patterns: CompiledPattern[] = [];
  readonly #resolved: Resolver;
  readonly #variables: string[] = [];

  constructor(resolved: Resolver) {
    this.#resolved = resolved;
  }

  print(node: ASTNode): string {
    switch (node.op) {
      case 'value':
        return node.input.slice(node.start, node.end);
      case 'id':
        return node.args;
      case '.':
        return `${this.print(node.args[0])}.${node.args[1]}`;
      case '[]':
        return `${this.print(node.args[0])}[${this.print(node.args[1])}]`;
      case 'call':
        return this.#call(node.args[0], node.args[1]);
      case 'rcall':
        return this.#method(node, node.args[0], node.args[1], node.args[2]);
      case 'list':
        return `[${node.args.map((item) => this.print(item)).join(', ')}]`;
      case 'map':
        return `{${node.args.map(([key, value]) => `${this.print(key)}: ${this.print(value)}`).join(', ')}}`;
      case '?:': {
        const [condition, then, otherwise] = node.args.map((part) => this.print(part));
        return `(${condition} ? ${then} : ${otherwise})`;
      }
      case '!_':
        return `!${this.print(node.args)}`;
      case '-_':
        return `-${this.print(node.args)}`;
      case '&&':
      case '||':
        return `(${this.print(node.args[0])} ${node.op} ${this.print(node.args[1])})`;
      case '.?':
      case '[?]':
        throw new TypeError(`"${node.op}" was not refused`);
      default:
        return `(${this.#paid(node.args[0])} ${node.op} ${this.#paid(node.args[1])})`;
    }
  }

  #call(name: string, given: readonly ASTNode[]): string {
    const [first] = given;
    if (first === undefined) throw new TypeError(`${name}() was not refused`);
    if (name === 'has') return this.#has(first);
    const argument = literalOf(first);
    if (!functions.some((row) => row.name === name && row.of === undefined)) {
      return this.#fact({ name, argument: String(argument) });
    }
    const isLiteral = argument !== undefined;
    if (name === 'size') return `size(${this.#paid(first)})`;
    return `${name}(${isLiteral ? this.print(first) : `n_(${this.print(first)})`})`;
  }

  #fact(request: FactRequest): string {
    const place = this.calls.findIndex((call) => keyOf(call) === keyOf(request));
    if (place >= 0) return `f_(${place})`;
    this.calls.push(request);
    return `f_(${this.calls.length - 1})`;
  }

  #has(node: ASTNode): string {
    const [root = '', ...chain] = chainOf(node) ?? [];
    const names = JSON.stringify(chain);
    return this.#variables.includes(root) ? `h_(${root}, ${names})` : `k_("${root}", ${names})`;
  }

  #method(node: ASTNode, name: string, receiver: ASTNode, given: readonly ASTNode[]): string {
    if (Object.hasOwn(loops, name)) return this.#loop(name, receiver, given);
    const pattern = this.#resolved.patterns.get(node);
    if (pattern) {
      this.patterns.push(pattern);
      return `m_(${this.print(receiver)}, ${this.patterns.length - 1})`;
    }
    const printedArguments = given.map((argument) =>
      literalOf(argument) === undefined ? `n_(${this.print(argument)})` : this.print(argument),
    );
    return `${this.#paid(receiver)}.${name}(${printedArguments.join(', ')})`;
  }

  #loop(name: string, receiver: ASTNode, [variable, ...bodies]: readonly ASTNode[]): string {
    if (variable?.op !== 'id') throw new TypeError(`${name} without a name was not refused`);
    const parts = bodies.reduce((sum, body) => sum + countParts(body), 1);
    const list = this.print(receiver);
    this.#variables.push(variable.args);
    const inner = bodies.map((body) => this.print(body));
    this.#variables.pop();
    return `l_(${list}, ${parts}).${name}(${[variable.args, ...inner].join(', ')})`;
  }

  #paid(node: ASTNode): string {
    const text = this.print(node);
    if (node.op === 'value') return text;
    const type = this.#resolved.types.get(node);
    return type === undefined || mayBe(type, freeKinds) ? `p_(${text})` : text;
  }
}

/** Returns how many parts an expression has, by what they cost. */
function countParts(node: ASTNode): number {
  const own = node.op === '&&' || node.op === '||' || node.op === '?:' ? partsOfLogic : 1;
  let sum = own;
  for (const child of childrenOf(node)) sum += countParts(child);
  return sum;
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
      return [node.args[1], ...node.args[2]];
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
