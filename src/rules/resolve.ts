import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, keyOf } from '../facts/fact.ts';
import type { Environment } from './environment.ts';
import { foreignActivities, wordOfForge } from './foreign-words.ts';
import { type FunctionRow, findFunctions, functionNames, loops } from './functions.ts';
import { literalOf, readLiteral } from './literals.ts';
import { memberNames, memberOf } from './members.ts';
import { nearest } from './nearest.ts';
import { applyOperator } from './operators.ts';
import type { CompiledPattern } from './patterns.ts';
import type { ProblemCode } from './problem.ts';
import { chainOf, presentAfter, type Scope, withPresent } from './scope.ts';
import { alternatives, anyType, boolType, describeType, mayBe, type Type, unionOf } from './types.ts';

/** One thing wrong with an expression; `start` and `end` are offsets in its text. */
export type ExpressionProblem = {
  readonly code: ProblemCode;
  readonly message: string;
  readonly suggestion?: string;
  readonly start: number;
  readonly end: number;
};

const maxLoops = 5;

/**
 * Walks a parsed expression once: every name and member chain is looked up in the shapes, every function in the closed
 * list, every operator by the types of its sides. What it finds out is kept for the program that is made of the expression.
 */
export class Resolver {
  readonly problems: ExpressionProblem[] = [];
  readonly facts = new Map<string, FactRequest>();
  readonly patterns = new Map<ASTNode, CompiledPattern>();
  readonly types = new Map<ASTNode, Type>();
  readonly #environment: Environment;
  #loops = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Returns the type of the expression; problems are collected on the way. */
  resolve(node: ASTNode, scope: Scope): Type {
    const type = this.#typeOf(node, scope);
    this.types.set(node, type);
    return type;
  }

  #typeOf(node: ASTNode, scope: Scope): Type {
    switch (node.op) {
      case 'value':
        return this.#literal(node);
      case 'id':
        return this.#name(node, scope);
      case '.':
        return this.#member(node, node.args[0], node.args[1], scope);
      case '[]':
        return this.#index(node, node.args[0], node.args[1], scope);
      case 'call':
        return this.#call(node, node.args[0], node.args[1], scope);
      case 'rcall':
        return this.#method(node, node.args[0], node.args[1], node.args[2], scope);
      case 'list':
        return { kind: 'list', item: unionOf(node.args.map((item) => this.resolve(item, scope))) };
      case 'map':
        return { kind: 'map', value: unionOf(node.args.map((entry) => this.#entry(entry, scope))) };
      case '?:':
        return this.#choice(node.args, scope);
      case '&&':
      case '||':
        this.#bool(node.args[0], scope);
        this.#bool(node.args[1], withPresent(scope, presentAfter(node.args[0], node.op === '&&')));
        return boolType;
      case '!_':
        this.#bool(node.args, scope);
        return boolType;
      case '-_':
        return this.#expect(node.args, ['number'], this.resolve(node.args, scope));
      case '.?':
      case '[?]':
        return this.#refuse(
          node,
          'expression',
          'optional access is not part of this language; ask with has()',
        );
      default:
        return this.#binary(node, node.args, scope);
    }
  }

  #literal(node: ASTNode): Type {
    const value = node.args;
    if (typeof value === 'string') {
      // No text of the forge is ever this word, so that a comparison with it would silently never hold.
      if (value === 'CHANGES_REQUESTED') this.#foreign(node, value);
      return { kind: 'string' };
    }
    if (typeof value === 'boolean') return boolType;
    if (value === null) return { kind: 'null' };
    if (typeof value === 'bigint' || typeof value === 'number') return { kind: 'number' };
    return this.#refuse(node, 'expression', 'bytes and unsigned numbers are not part of this language');
  }

  #foreign(node: ASTNode, word: string): void {
    this.#refuse(node, 'value', `the forge does not say "${word}"`, wordOfForge(word));
  }

  #name(node: ASTNode & { readonly op: 'id' }, scope: Scope): Type {
    const name = node.args;
    const variable = scope.variables.get(name);
    if (variable) return variable;
    const known = this.#environment.names.get(name);
    if (known === undefined) return this.#unknownName(node, name, scope);
    if (known.refusal !== undefined) return this.#refuse(node, 'level', known.refusal);
    if (known.fact?.argument !== undefined) {
      return this.#refuse(node, 'expression', `${name} needs its ${known.fact.argument}: ${name}("…")`);
    }
    if (known.missingOn.length > 0 && !scope.present.has(name)) {
      this.#refuse(
        node,
        'needs-has',
        `${known.missingOn.join(' and ')} has no ${name}: ask has(${name}) first`,
      );
    }
    if (known.fact) this.facts.set(name, { name });
    return known.type;
  }

  #unknownName(node: ASTNode, name: string, scope: Scope): Type {
    const absent = this.#environment.absent.get(name);
    if (absent !== undefined) return this.#refuse(node, 'subject', absent);
    const names = [...scope.variables.keys(), ...this.#environment.names.keys()];
    const isFunction = functionNames.includes(name);
    const message = isFunction
      ? `${name} is a function: write ${name}(…)`
      : `there is nothing named "${name}"`;
    return this.#refuse(node, 'unknown-name', message, isFunction ? undefined : nearest(name, names));
  }

  #member(node: ASTNode, object: ASTNode, member: string, scope: Scope): Type {
    const type = this.resolve(object, scope);
    const found = memberOf(type, member);
    // The library marks where a member begins by `pos`; `start` is where its whole chain does.
    const place = { start: node.pos, end: node.end };
    if (found === undefined) {
      const owner = node.input.slice(object.start, object.end);
      const kinds = describeType(type);
      const known = memberNames(type);
      const message =
        known.length > 0 ? `${owner} has no member "${member}"` : `${owner} is ${kinds}, it has no members`;
      return this.#refuse(place, 'unknown-member', message, nearest(member, known));
    }
    const chain = chainOf(node)?.join('.');
    if (found.missing && !(chain !== undefined && scope.present.has(chain))) {
      const text = node.input.slice(node.start, node.end);
      this.#refuse(place, 'needs-has', `not every event of this rule has ${text}: ask has(${text}) first`);
    }
    return found.type;
  }

  #index(node: ASTNode, object: ASTNode, index: ASTNode, scope: Scope): Type {
    const type = this.resolve(object, scope);
    const key = this.resolve(index, scope);
    const literal = literalOf(index);
    if (typeof literal === 'string' && alternatives(type).some((one) => one.kind === 'object')) {
      const found = memberOf(type, literal);
      if (found) return found.type;
      const message = `there is no member "${literal}"`;
      return this.#refuse(index, 'unknown-member', message, nearest(literal, memberNames(type)));
    }
    const inside = alternatives(type).flatMap((one) => {
      if (one.kind === 'any' || one.kind === 'object') return [anyType];
      if (one.kind === 'list' && mayBe(key, ['number'])) return [one.item];
      return one.kind === 'map' && mayBe(key, ['string']) ? [one.value] : [];
    });
    if (inside.length > 0) return unionOf(inside);
    return this.#refuse(node, 'expression-type', `${describeType(type)} has nothing at ${describeType(key)}`);
  }

  #call(node: ASTNode, name: string, given: readonly ASTNode[], scope: Scope): Type {
    if (name === 'has') return this.#has(node, given, scope);
    const known = this.#environment.names.get(name);
    if (known?.fact) return this.#factCall(node, name, given, scope);
    return this.#apply(node, name, undefined, given, scope);
  }

  #has(node: ASTNode, given: readonly ASTNode[], scope: Scope): Type {
    const [chainNode] = given;
    const chain = chainNode && chainOf(chainNode);
    if (given.length !== 1 || chainNode === undefined || chain === undefined) {
      return this.#refuse(
        node,
        'expression',
        'has() takes one name or member, such as has(event.pull_request)',
      );
    }
    const [root = ''] = chain;
    if (chain.length === 1 && !scope.variables.has(root) && !this.#environment.names.has(root)) {
      const absent = this.#environment.absent.has(root);
      // Asking for what is never there is no mistake (a rule may be moved); asking for what does not exist is.
      if (!absent) this.#unknownName(chainNode, root, scope);
      return boolType;
    }
    // What is asked for counts as there while its own chain is looked up: has() is how one finds out.
    const all = new Set(chain.map((_, place) => chain.slice(0, place + 1).join('.')));
    this.resolve(chainNode, withPresent(scope, all));
    return boolType;
  }

  #factCall(node: ASTNode, name: string, given: readonly ASTNode[], scope: Scope): Type {
    const known = this.#environment.names.get(name);
    const [argument] = given;
    if (known === undefined) return anyType;
    if (known.refusal !== undefined) return this.#refuse(node, 'level', known.refusal);
    if (known.fact?.argument === undefined) {
      return this.#refuse(node, 'expression', `${name} takes no argument: write ${name}`);
    }
    const literal = argument && literalOf(argument);
    if (given.length !== 1 || typeof literal !== 'string') {
      const message = `${name} takes its ${known.fact.argument} as a literal text: ${name}("…")`;
      return this.#refuse(argument ?? node, 'expression', message);
    }
    if (known.missingOn.length > 0 && !scope.present.has(name)) {
      this.#refuse(node, 'needs-has', `${known.missingOn.join(' and ')} has no ${name}`);
    }
    const request = { name, argument: literal };
    this.facts.set(keyOf(request), request);
    return known.type;
  }

  #method(node: ASTNode, name: string, receiver: ASTNode, given: readonly ASTNode[], scope: Scope): Type {
    if (Object.hasOwn(loops, name)) return this.#loop(node, name, receiver, given, scope);
    return this.#apply(node, name, receiver, given, scope);
  }

  #loop(node: ASTNode, name: string, receiver: ASTNode, given: readonly ASTNode[], scope: Scope): Type {
    const list = this.resolve(receiver, scope);
    const [variable, ...bodies] = given;
    const takesFilter = name === 'map' && bodies.length === 2;
    if (variable?.op !== 'id' || (bodies.length !== 1 && !takesFilter)) {
      return this.#refuse(node, 'expression', `${name} takes a name and an expression: list.${name}(x, …)`);
    }
    if (scope.inLoop) return this.#refuse(node, 'expression', 'a loop must not stand inside of a loop');
    this.#loops += 1;
    if (this.#loops > maxLoops) return this.#refuse(node, 'expression', `more than ${maxLoops} loops`);
    if (this.#environment.names.has(variable.args)) {
      this.#refuse(variable, 'expression', `"${variable.args}" already means something: choose another name`);
    }
    const items = alternatives(list).flatMap((one) => {
      if (one.kind === 'any') return [anyType];
      return one.kind === 'list' ? [one.item] : [];
    });
    if (items.length === 0) {
      return this.#refuse(receiver, 'expression-type', `${name} needs a list, this is ${describeType(list)}`);
    }
    const item = unionOf(items);
    const inner: Scope = {
      variables: new Map([...scope.variables, [variable.args, item]]),
      present: scope.present,
      inLoop: true,
    };
    const [first, second] = bodies;
    if (first === undefined) return anyType;
    if (second) this.#bool(first, inner);
    const last = second ?? first;
    const body = name === 'map' ? this.resolve(last, inner) : this.#bool(last, inner);
    return loops[name]?.gives(item, body) ?? anyType;
  }

  #apply(
    node: ASTNode,
    name: string,
    receiver: ASTNode | undefined,
    given: readonly ASTNode[],
    scope: Scope,
  ): Type {
    const rows = findFunctions(name, receiver !== undefined);
    if (rows.length === 0) return this.#unknownFunction(node, name, receiver !== undefined);
    const owner = receiver && this.resolve(receiver, scope);
    const types = given.map((argument) => this.resolve(argument, scope));
    const row = rows.find((candidate) => accepts(candidate, owner, types));
    if (row === undefined) {
      const written = types.map(describeType).join(', ');
      const before = owner ? ` of ${describeType(owner)}` : '';
      return this.#refuse(node, 'expression-type', `there is no ${name}(${written})${before}`);
    }
    if (row.outsideLoops && scope.inLoop) {
      this.#refuse(node, 'expression', `${name} with these arguments must not stand inside of a loop`);
    }
    this.#checkLiteral(node, row, given[0]);
    return row.gives;
  }

  #checkLiteral(node: ASTNode, row: FunctionRow, argument: ASTNode | undefined): void {
    if (row.literal === undefined || argument === undefined) return;
    const read = readLiteral(row.literal, row.name, argument);
    if ('reason' in read) this.#refuse(argument, read.code, read.reason);
    else if (read.pattern) this.patterns.set(node, read.pattern);
  }

  #unknownFunction(node: ASTNode, name: string, isMethod: boolean): Type {
    const other = findFunctions(name, !isMethod);
    if (other.length > 0 || (!isMethod && Object.hasOwn(loops, name))) {
      const usage = isMethod ? `${name}(x)` : `x.${name}(…)`;
      return this.#refuse(node, 'expression', `${name} is written ${usage}`);
    }
    const factArgument = this.#environment.absent.get(name);
    if (factArgument !== undefined) return this.#refuse(node, 'subject', factArgument);
    const names = [...functionNames, ...(isMethod ? [] : this.#environment.names.keys())];
    return this.#refuse(node, 'unknown-name', `there is no function "${name}"`, nearest(name, names));
  }

  #entry([key, value]: readonly [ASTNode, ASTNode], scope: Scope): Type {
    this.#expect(key, ['string'], this.resolve(key, scope));
    return this.resolve(value, scope);
  }

  #choice([condition, then, otherwise]: readonly [ASTNode, ASTNode, ASTNode], scope: Scope): Type {
    this.#bool(condition, scope);
    return unionOf([
      this.resolve(then, withPresent(scope, presentAfter(condition, true))),
      this.resolve(otherwise, withPresent(scope, presentAfter(condition, false))),
    ]);
  }

  #binary(node: ASTNode, args: unknown, scope: Scope): Type {
    if (!Array.isArray(args) || args.length !== 2) {
      return this.#refuse(node, 'expression', `"${node.op}" is not part of this language`);
    }
    // Every operator that is left has two sides; the library's types no longer tell them apart here.
    const [left, right] = args as [ASTNode, ASTNode];
    for (const word of foreignActivities(left, right)) this.#foreign(word, String(literalOf(word)));
    const result = applyOperator(node.op, this.resolve(left, scope), this.resolve(right, scope));
    if ('type' in result) return result.type;
    const place = { left, right, both: node }[result.side];
    return this.#refuse(place, 'expression-type', result.reason);
  }

  #bool(node: ASTNode, scope: Scope): Type {
    return this.#expect(node, ['bool'], this.resolve(node, scope));
  }

  #expect(node: ASTNode, kinds: readonly Type['kind'][], type: Type): Type {
    if (mayBe(type, kinds)) return type;
    const wanted = kinds.map((kind) => describeType(kind === 'bool' ? boolType : asType(kind))).join(' or ');
    return this.#refuse(node, 'expression-type', `this must be ${wanted}, it is ${describeType(type)}`);
  }

  #refuse(
    place: { readonly start: number; readonly end: number },
    code: ProblemCode,
    message: string,
    suggestion?: string,
  ): Type {
    this.problems.push({
      code,
      message,
      start: place.start,
      end: place.end,
      ...(suggestion !== undefined && { suggestion }),
    });
    return anyType;
  }
}

function accepts(row: FunctionRow, owner: Type | undefined, given: readonly Type[]): boolean {
  if (row.takes.length !== given.length) return false;
  if (row.of && owner && !mayBe(owner, row.of)) return false;
  return row.takes.every((kinds, place) => mayBe(given[place] ?? anyType, kinds));
}

function asType(kind: Type['kind']): Type {
  return kind === 'number' || kind === 'string' ? { kind } : anyType;
}
