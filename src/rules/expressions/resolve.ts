import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey } from '../../facts/fact.ts';
import type { Matcher } from '../../patterns/automaton.ts';
import type { Re2Compiler } from '../../patterns/re2.ts';
import { foreignEventWords } from '../foreign-words.ts';
import { type ExpressionProblem, nearest, type ProblemCode, withHint } from '../problem.ts';
import { limits } from './budget.ts';
import { type FunctionRow, kindsTaken, readLiteral, takesCount } from './function-row.ts';
import { findFunctions, functionNames, loops } from './functions.ts';
import type { NamedCondition, NamedConditions } from './named-conditions.ts';
import { chainOf, literalOf, namespacedName, namespaces, parseExpression, textOf } from './parse.ts';
import {
  foreignActivities,
  remedyForFunction,
  remedyForList,
  remedyForMember,
  remedyForName,
  remedyForText,
  remedyMemberOf,
} from './remedies.ts';
import {
  bindSubjectFunction,
  ChangedPaths,
  type RunOnFact,
  type SubjectFunction,
  subjectFunctionOf,
} from './subject-functions.ts';
import {
  alternatives,
  anyType,
  boolType,
  describeType,
  type ExpressionEnvironment,
  mayBe,
  memberNamesOfType,
  memberOf,
  type Name,
  type Type,
  typeOf,
  unionOf,
} from './types.ts';

/** Context for compiling expressions: the available names, and the pattern compiler for the file. */
export type ExpressionContext = {
  readonly environment: ExpressionEnvironment;
  readonly patterns: Re2Compiler;
  /** The path globs of the rule, which are tested together. Absent: those of the expression. */
  readonly paths?: ChangedPaths;
  /** The named conditions of the file. Absent: none. */
  readonly named?: NamedConditions;
  /** Receives warnings, with offsets in the expression's text. */
  readonly onWarning?: (warning: ExpressionProblem) => void;
};

/** An expression resolved against its environment. */
type ResolvedExpression = {
  readonly node: ASTNode;
  readonly type: Type;
  readonly resolution: Resolution;
};

/**
 * Parses an expression and resolves it against its environment. If that fails, returns the problems, with offsets in
 * the expression's text. Never throws.
 */
export function resolveExpression(
  source: string,
  context: ExpressionContext,
): ResolvedExpression | { readonly problems: readonly ExpressionProblem[] } {
  const node = parseExpression(source);
  if ('message' in node) return { problems: [node] };
  const resolution = new Resolution(context);
  const type = resolution.resolve(node, emptyScope);
  for (const warning of resolution.warnings) context.onWarning?.(warning);
  return resolution.problems.length > 0 ? { problems: resolution.problems } : { node, type, resolution };
}

/**
 * Returns the type of an expression that may have problems, as far as it is known; undefined if its syntax is wrong.
 * Never throws.
 */
export function typeOfExpression(source: string, context: ExpressionContext): Type | undefined {
  const node = parseExpression(source);
  return 'message' in node ? undefined : new Resolution(context).resolve(node, emptyScope);
}

/**
 * Static analysis of an expression. A single walk resolves every name and member chain against the shapes, every
 * function against the closed list, and every operator by its operand types. The results are kept for evaluation.
 */
export class Resolution {
  readonly problems: ExpressionProblem[] = [];
  /** Expressions that are valid but probably a mistake. */
  readonly warnings: ExpressionProblem[] = [];
  readonly facts = new Map<string, FactRequest>();
  /** Compiled patterns, by call node. */
  readonly matchers = new Map<ASTNode, Matcher>();
  /** Compiled functions about the subject, by call node. */
  readonly subjectFunctions = new Map<ASTNode, RunOnFact>();
  readonly types = new Map<ASTNode, Type>();
  /** Members that are separate facts (`pull_request.behind`), with their requests. */
  readonly members = new Map<ASTNode, FactRequest>();
  /** Item type of each loop, by node. */
  readonly items = new Map<ASTNode, Type>();
  readonly environment: ExpressionEnvironment;
  readonly patterns: Re2Compiler;
  readonly paths: ChangedPaths;
  readonly named: NamedConditions;
  /** Types of the named conditions that were resolved. */
  readonly #namedTypes = new Map<string, Type>();
  /** Named conditions that are being resolved, outermost first. */
  readonly #within: string[] = [];
  loops = 0;

  constructor({ environment, patterns, paths, named }: ExpressionContext) {
    this.environment = environment;
    this.patterns = patterns;
    this.paths = paths ?? new ChangedPaths();
    this.named = named ?? new Map();
  }

  /** Resolves a node and returns its type; problems are collected. */
  resolve(node: ASTNode, scope: Scope): Type {
    const type = this.#typeOf(node, scope);
    this.types.set(node, type);
    return type;
  }

  /** Resolves a node that must be a bool, and returns its type. */
  bool(node: ASTNode, scope: Scope): Type {
    return this.#expect(node, boolType, this.resolve(node, scope));
  }

  #typeOf(node: ASTNode, scope: Scope): Type {
    switch (node.op) {
      case 'value':
        return this.#literal(node);
      case 'id':
        return this.nameType(node, node.args, scope);
      case '.':
        return this.#member(node, node.args[0], node.args[1], scope);
      case '[]':
        return this.#index(node, node.args[0], node.args[1], scope);
      case 'call':
        return resolveCall(this, node, scope);
      case 'rcall':
        return resolveMethod(this, node, scope);
      case 'list':
        return { kind: 'list', item: unionOf(node.args.map((item) => this.resolve(item, scope))) };
      case 'map':
        return { kind: 'map', value: unionOf(node.args.map((entry) => this.#entry(entry, scope))) };
      case '?:':
        return this.#choice(node.args, scope);
      case '&&':
      case '||':
        this.bool(node.args[0], scope);
        this.bool(node.args[1], withPresent(scope, this.#presentAfter(node.args[0], node.op === '&&')));
        return boolType;
      case '!_':
        this.bool(node.args, scope);
        return boolType;
      case '-_':
        return this.#expect(node.args, { kind: 'number' }, this.resolve(node.args, scope));
      case '.?':
      case '[?]': {
        const message = 'optional access is not part of this language; test with has()';
        return this.refuse(node, 'expression', message);
      }
      default:
        return this.#binary(node, node.args, scope);
    }
  }

  #literal(node: ASTNode): Type {
    const value = node.args;
    if (typeof value === 'string') {
      // The forge never sends this text, so a comparison with it would silently never match.
      if (value === 'CHANGES_REQUESTED') this.#foreign(node, value);
      return { kind: 'string' };
    }
    if (typeof value === 'boolean') return boolType;
    if (value === null) return { kind: 'null' };
    if (typeof value === 'bigint' || typeof value === 'number') return { kind: 'number' };
    return this.refuse(node, 'expression', 'bytes and unsigned numbers are not part of this language');
  }

  #foreign(node: ASTNode, word: string): void {
    const suggestion = foreignEventWords.get(word);
    const reason = `the forge never sends "${word}"`;
    this.refuse(node, 'value', reason, suggestion, rewriteText(node, suggestion));
  }

  /** Returns the type of a name that a node uses. */
  nameType(node: ASTNode, name: string, scope: Scope): Type {
    const variable = scope.variables.get(name);
    if (variable) return variable;
    const condition = this.named.get(name);
    if (condition) return this.#conditionType(node, condition);
    const known = this.environment.names.get(name);
    if (known === undefined) return this.refuseName(node, name, scope);
    if (known.refusal !== undefined) return this.refuse(node, 'level', known.refusal);
    if (known.fact?.argument !== undefined) {
      return this.refuse(node, 'expression', `${name} needs its ${known.fact.argument}: ${name}("…")`);
    }
    this.needPresence(node, name, scope);
    if (known.fact) this.facts.set(name, { name });
    return known.type;
  }

  /**
   * Reports a name that is absent on some occasions, unless the expression has tested it, or another fact that is absent
   * on the same ones: `has(pull_request)` is enough for `files`.
   */
  needPresence(node: ASTNode, name: string, scope: Scope): void {
    const { names } = this.environment;
    const known = names.get(name);
    if (known === undefined || known.missingOn.length === 0 || scope.present.has(name)) return;
    const implies = (tested: Name | undefined): boolean =>
      known.fact !== undefined &&
      tested?.fact !== undefined &&
      known.missingOn.every((occasion) => tested.missingOn.includes(occasion));
    if ([...scope.present].some((one) => implies(names.get(one)))) return;
    const owner = ['pull_request', 'issue'].find(
      (kind) => implies(names.get(kind)) && names.get(kind)?.missingOn.length === known.missingOn.length,
    );
    const isKind = owner === name && names.get('item')?.missingOn.length === 0;
    const hint = isKind ? '; item has the members that issues and pull requests share' : '';
    // A fact with an argument cannot be tested itself.
    const remedy = owner ?? (known.fact?.argument === undefined ? name : undefined);
    const ask = remedy === undefined ? '' : `: ask has(${remedy}) first${hint}`;
    const reason = `${known.missingOn.join(' and ')} has no ${name}${ask}`;
    this.refuse(
      node,
      'needs-has',
      reason,
      undefined,
      remedy === undefined ? undefined : askFirst(node, remedy),
    );
  }

  /** Resolves a named condition once for the whole expression. Its problems stand at the use, and name it. */
  #conditionType(node: ASTNode, { name, node: inner }: NamedCondition): Type {
    const known = this.#namedTypes.get(name);
    if (known) return known;
    if (this.#within.includes(name)) {
      const chain = [...this.#within.slice(this.#within.indexOf(name)), name].join(', which uses ');
      return this.refuse(node, 'expression', `a condition must not use itself: ${chain}`);
    }
    const [problems, warnings, loops] = [this.problems.length, this.warnings.length, this.loops];
    this.loops = 0;
    this.#within.push(name);
    const type = this.resolve(inner, emptyScope);
    this.#within.pop();
    this.loops = loops;
    const { start, end } = node;
    const [first] = this.problems.splice(problems);
    // The remedy would have to be written at the condition.
    const atUse = ({ code, message, suggestion }: ExpressionProblem): ExpressionProblem => {
      const hint = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
      return { code, message: `condition ${name}: ${message}${hint}`, start, end };
    };
    this.warnings.push(...this.warnings.splice(warnings).map(atUse));
    // One problem is enough: the others often follow from it.
    if (first) this.problems.push(atUse(first));
    this.#namedTypes.set(name, type);
    return type;
  }

  #member(node: ASTNode, object: ASTNode, member: string, scope: Scope): Type {
    const own =
      object.op === 'id' && !scope.variables.has(object.args) && this.#memberFact(object.args, member);
    if (own) {
      const chain = chainOf(node)?.join('.') ?? '';
      this.needPresence(node, chain, scope);
      const request = { name: chain };
      this.facts.set(chain, request);
      this.members.set(node, request);
      return own.type;
    }
    const type = this.resolve(object, scope);
    this.warnOfNull(object, scope);
    const found = memberOf(type, member);
    // In nodes of the library, `pos` is the start of the member, and `start` is the start of the whole chain.
    const place = { start: node.pos, end: node.end };
    if (found === undefined) {
      const owner = textOf(object);
      const known = memberNamesOfType(type);
      const message =
        known.length > 0
          ? `${owner} has no member "${member}"`
          : `${owner} is ${describeType(type)}, it has no members`;
      const { hint, suggestion, isWhole } = remedyForMember(member, owner, type);
      const fix = isWhole && suggestion !== undefined ? rewrite(node, node, suggestion) : undefined;
      return this.refuse(place, 'unknown-member', withHint(message, hint), suggestion, fix);
    }
    const chain = chainOf(node)?.join('.');
    if (found.missing && !(chain !== undefined && scope.present.has(chain))) {
      const text = textOf(node);
      const asked = chain === undefined ? undefined : askFirst(node, chain);
      const reason = `not every event of this rule has ${text}: ask has(${text}) first`;
      this.refuse(place, 'needs-has', reason, undefined, asked);
    }
    return found.type;
  }

  /** Returns the fact for a member of a name; undefined if there is none, or if the name itself must not be used. */
  #memberFact(owner: string, member: string): Name | undefined {
    const { names } = this.environment;
    return names.get(owner)?.refusal === undefined ? names.get(`${owner}.${member}`) : undefined;
  }

  #index(node: ASTNode, object: ASTNode, index: ASTNode, scope: Scope): Type {
    const type = this.resolve(object, scope);
    const key = this.resolve(index, scope);
    const literal = literalOf(index);
    if (typeof literal === 'string' && object.op === 'id' && this.#memberFact(object.args, literal)) {
      const message = `write ${object.args}.${literal}: it is a separate fact`;
      return this.refuse(node, 'expression', message);
    }
    if (typeof literal === 'string' && alternatives(type).some((one) => one.kind === 'object')) {
      const found = memberOf(type, literal);
      if (found) return found.type;
      const message = `there is no member "${literal}"`;
      const near = nearest(literal, memberNamesOfType(type));
      return this.refuse(index, 'unknown-member', message, near, rewriteText(index, near));
    }
    const inside = alternatives(type).flatMap((one) => {
      if (one.kind === 'any' || one.kind === 'object') return [anyType];
      if (one.kind === 'list' && mayBe(key, ['number'])) return [one.item];
      return one.kind === 'map' && mayBe(key, ['string']) ? [one.value] : [];
    });
    if (inside.length > 0) return unionOf(inside);
    return this.refuse(node, 'expression-type', `${describeType(type)} has nothing at ${describeType(key)}`);
  }

  #entry([key, value]: readonly [ASTNode, ASTNode], scope: Scope): Type {
    this.#expect(key, { kind: 'string' }, this.resolve(key, scope));
    return this.resolve(value, scope);
  }

  #choice([condition, then, otherwise]: readonly [ASTNode, ASTNode, ASTNode], scope: Scope): Type {
    this.bool(condition, scope);
    const held = this.resolve(then, withPresent(scope, this.#presentAfter(condition, true)));
    const missed = this.resolve(otherwise, withPresent(scope, this.#presentAfter(condition, false)));
    if (overlaps(held, missed)) return unionOf([held, missed]);
    const message = `both sides of ":" must have the same type, but are ${describeType(held)} and ${describeType(missed)}`;
    return this.refuse({ start: then.start, end: otherwise.end }, 'expression-type', message);
  }

  /**
   * Returns the names and member chains that are certainly present if a condition has this result: `has(a.b)` implies
   * `a` and `a.b`, also through `&&`, `||` and `!`. In a rule about issues and pull requests, what is no issue is a pull
   * request.
   */
  #presentAfter(node: ASTNode, truth: boolean): ReadonlySet<string> {
    switch (node.op) {
      case '&&':
      case '||': {
        const [left, right] = node.args;
        const both = (node.op === '&&') === truth;
        const first = this.#presentAfter(left, truth);
        const second = this.#presentAfter(right, truth);
        return new Set(both ? [...first, ...second] : [...first].filter((chain) => second.has(chain)));
      }
      case '!_':
        return this.#presentAfter(node.args, !truth);
      case 'call': {
        const [argument] = node.args[1];
        const chain = node.args[0] === 'has' ? argument && chainOf(argument) : undefined;
        if (truth) return prefixes(chain);
        const other =
          this.environment.ofBoth && chain?.length === 1 ? otherKinds.get(chain[0] ?? '') : undefined;
        return prefixes(other);
      }
      case '!=':
      case '==': {
        const [left, right] = node.args;
        const compared = isNull(right) ? left : isNull(left) ? right : undefined;
        const isThere = (node.op === '!=') === truth;
        return compared && isThere ? prefixes(chainOf(compared)) : new Set();
      }
      default:
        return new Set();
    }
  }

  #binary(node: ASTNode, args: unknown, scope: Scope): Type {
    if (!Array.isArray(args) || args.length !== 2) {
      return this.refuse(node, 'expression', `"${node.op}" is not part of this language`);
    }
    // The cast is safe: all remaining operators are binary, which the library's types do not express.
    const [left, right] = args as [ASTNode, ASTNode];
    for (const word of foreignActivities(left, right)) this.#foreign(word, String(literalOf(word)));
    const [leftType, rightType] = [this.resolve(left, scope), this.resolve(right, scope)];
    const result = applyOperator(node.op, leftType, rightType);
    if ('type' in result) {
      const impossible = impossibleText(node.op, [left, leftType], [right, rightType]);
      if (impossible === undefined) return result.type;
      const { node: written, text, of, values } = impossible;
      const message = `${textOf(of)} is never "${text}": it is one of ${values.map((one) => `"${one}"`).join(', ')}`;
      const near = nearest(text, values);
      return this.refuse(written, 'expression-type', message, near, rewriteText(written, near));
    }
    const place = { left, right, both: node }[result.side];
    const message = withHint(result.reason, this.#remedyFor(node.op, left, right));
    return this.refuse(place, 'expression-type', message);
  }

  #remedyFor(operator: string, left: ASTNode, right: ASTNode): string | undefined {
    if (operator === 'in') return remedyForList('contains', textOf(right), this.types.get(right));
    const object = [left, right].find(
      (side) => memberNamesOfType(this.types.get(side) ?? anyType).length > 0,
    );
    const member = object && remedyMemberOf(this.types.get(object) ?? anyType);
    return member === undefined || object === undefined ? undefined : `compare ${textOf(object)}.${member}`;
  }

  #expect(node: ASTNode, wanted: Type, type: Type): Type {
    if (mayBe(type, [wanted.kind])) return type;
    const member = alternatives(type).find(({ kind }) => kind === 'object');
    const found = member?.kind === 'object' ? member.members.found : undefined;
    const isFlag = wanted.kind === 'bool' && found !== undefined && mayBe(typeOf(found), ['bool']);
    const hint = isFlag ? `; write ${textOf(node)}.found` : '';
    const message = `this must be ${describeType(wanted)}, it is ${describeType(type)}${hint}`;
    return this.refuse(node, 'expression-type', message);
  }

  /** Records a problem and returns the `any` type. */
  refuse(
    place: { readonly start: number; readonly end: number },
    code: ProblemCode,
    message: string,
    suggestion?: string,
    fix?: ExpressionProblem['fix'],
  ): Type {
    const { start, end } = place;
    this.problems.push({
      ...{ code, message, start, end },
      ...(suggestion !== undefined && { suggestion }),
      ...(fix && { fix }),
    });
    return anyType;
  }

  /** Warns if a value that is often null is used where null is not allowed. */
  warnOfNull(node: ASTNode, scope: Scope): void {
    const isItem = node.op === 'id' && this.environment.names.get(node.args)?.isItem;
    const warning = isItem ? undefined : warningOfNull(node, scope);
    if (warning !== undefined) this.warnings.push(warning);
  }

  /** Reports an unknown name. */
  refuseName(node: ASTNode, name: string, scope: Scope): Type {
    const absent = this.environment.absent.get(name);
    if (absent !== undefined) return this.refuse(node, 'subject', absent);
    if (functionNames.includes(name)) {
      return this.refuse(node, 'unknown-name', `${name} is a function: write ${name}(…)`);
    }
    const names = [...scope.variables.keys(), ...this.named.keys(), ...this.environment.names.keys()];
    const typeOfName = (one: string): Type | undefined => this.environment.names.get(one)?.type;
    const { hint, suggestion } = remedyForName(name, names, typeOfName);
    const message = withHint(`there is nothing named "${name}"`, hint);
    return this.refuse(node, 'unknown-name', message, suggestion);
  }
}

type Rewriting = NonNullable<ExpressionProblem['fix']>;

/** Returns the edit that writes `text` instead of a range of the expression to which the node belongs. */
function rewrite(
  { input }: ASTNode,
  { start, end }: { readonly start: number; readonly end: number },
  text: string,
): Rewriting {
  return { start, end, text, written: input.slice(start, end) };
}

/** Returns the edit of a literal text, which leaves its quotes as they are. */
function rewriteText(node: ASTNode, text: string | undefined): Rewriting | undefined {
  if (text === undefined || !/^["'][^"'\\]*["']$/.test(textOf(node))) return undefined;
  return rewrite(node, { start: node.start + 1, end: node.end - 1 }, text);
}

/** Returns the edit that asks whether a chain is present before the rest of the expression. */
function askFirst(node: ASTNode, chain: string): Rewriting {
  const { input } = node;
  const rest = /\|\||\?/.test(input) ? `(${input})` : input;
  return rewrite(node, { start: 0, end: input.length }, `has(${chain}) && ${rest}`);
}

type CallNode = ASTNode & { readonly op: 'call' };
type MethodCall = ASTNode & { readonly op: 'rcall' };

/** Returns the type of `has(x)`, of a fact with an argument, or of a function call. */
function resolveCall(resolver: Resolution, node: CallNode, scope: Scope): Type {
  const [name, given] = node.args;
  if (name === 'has') return resolveHas(resolver, node, given, scope);
  const about = subjectFunctionOf(node);
  if (about) return resolveSubjectFunction(resolver, node, about, scope);
  const known = resolver.environment.names.get(name);
  if (known?.fact) return resolveFact(resolver, node, scope);
  return resolveFunction(resolver, node, { name, given }, scope);
}

/** Returns the type of a loop, or of a method call. */
function resolveMethod(resolver: Resolution, node: MethodCall, scope: Scope): Type {
  const [name, receiver, given] = node.args;
  if (Object.hasOwn(loops, name)) return resolveLoop(resolver, node, scope);
  const plain = namespacedName(node);
  if (plain !== undefined) return resolveFunction(resolver, node, { name: plain, given }, scope);
  return resolveFunction(resolver, node, { name, receiver, given }, scope);
}

function resolveHas(resolver: Resolution, node: ASTNode, given: readonly ASTNode[], scope: Scope): Type {
  const [chainNode] = given;
  const chain = chainNode && chainOf(chainNode);
  if (given.length !== 1 || chainNode === undefined || chain === undefined) {
    const message = 'has() takes one name or member, such as has(event.pull_request)';
    return resolver.refuse(node, 'expression', message);
  }
  const [root = ''] = chain;
  if (resolver.named.has(root) && !scope.variables.has(root)) {
    const message = `has() takes data of the forge: write has() into the condition ${root}`;
    return resolver.refuse(node, 'expression', message);
  }
  const { names, absent } = resolver.environment;
  if (chain.length === 1 && !scope.variables.has(root) && !names.has(root)) {
    // A name that is absent on these occasions may be tested, because rules may be moved to other occasions; testing an
    // unknown name is a mistake.
    if (!absent.has(root)) resolver.refuseName(chainNode, root, scope);
    return boolType;
  }
  // Inside its own has(), a chain counts as present, because has() tests exactly this.
  const all = new Set(chain.map((_, place) => chain.slice(0, place + 1).join('.')));
  resolver.resolve(chainNode, withPresent(scope, all));
  return boolType;
}

function resolveSubjectFunction(
  resolver: Resolution,
  node: CallNode,
  row: SubjectFunction,
  scope: Scope,
): Type {
  const [, given] = node.args;
  const bound = bindSubjectFunction(row, given.length === 1 ? given[0] : undefined, resolver.paths);
  if ('reason' in bound) resolver.refuse(given[0] ?? node, bound.code, bound.reason);
  else resolver.subjectFunctions.set(node, bound.run);
  const outer: Scope = { ...scope, variables: new Map() };
  resolver.nameType(node, row.fact, outer);
  return boolType;
}

function resolveFact(resolver: Resolution, node: CallNode, scope: Scope): Type {
  const [name, given] = node.args;
  const known = resolver.environment.names.get(name);
  const [argument] = given;
  if (known === undefined) return anyType;
  if (known.refusal !== undefined) return resolver.refuse(node, 'level', known.refusal);
  if (known.fact?.argument === undefined) {
    return resolver.refuse(node, 'expression', `${name} takes no argument: write ${name}`);
  }
  const literal = argument && literalOf(argument);
  if (given.length !== 1 || typeof literal !== 'string') {
    const message = `${name} takes its ${known.fact.argument} as a literal text: ${name}("…")`;
    return resolver.refuse(argument ?? node, 'expression', message);
  }
  resolver.needPresence(node, name, scope);
  const wrong = known.fact.examineArgument?.(literal);
  if (wrong !== undefined)
    return resolver.refuse(argument ?? node, 'value', `${name}("${literal.slice(0, 64)}"): ${wrong}`);
  const refusal = known.refuseArgument?.(literal);
  if (refusal !== undefined) return resolver.refuse(argument ?? node, 'level', refusal);
  const request = { name, argument: literal };
  resolver.facts.set(factKey(request), request);
  return known.type;
}

function resolveLoop(resolver: Resolution, node: MethodCall, scope: Scope): Type {
  const [name, receiver, [variable, ...bodies]] = node.args;
  const list = resolver.resolve(receiver, scope);
  const takesFilter = name === 'map' && bodies.length === 2;
  if (variable?.op !== 'id' || (bodies.length !== 1 && !takesFilter)) {
    const message = `${name} takes a name and an expression: list.${name}(x, …)`;
    return resolver.refuse(node, 'expression', message);
  }
  const refusal = whyNoLoop(resolver, scope);
  if (refusal !== undefined) return resolver.refuse(node, 'expression', refusal);
  // Files of earlier versions have variables of this name, which hide the fact inside the loop.
  const isFact = variable.args !== 'item' && resolver.environment.names.has(variable.args);
  const isTaken = isFact || resolver.named.has(variable.args) || scope.variables.has(variable.args);
  if (isTaken || namespaces.has(variable.args)) {
    const message = `"${variable.args}" is already in use: choose another name`;
    resolver.refuse(variable, 'expression', message);
  }
  const items = alternatives(list).flatMap((one) => {
    if (one.kind === 'any') return [anyType];
    return one.kind === 'list' ? [one.item] : [];
  });
  if (items.length === 0) {
    const message = `${name} needs a list, this is ${describeType(list)}`;
    return resolver.refuse(receiver, 'expression-type', message);
  }
  const item = unionOf(items);
  resolver.items.set(node, item);
  const inner: Scope = {
    variables: new Map([...scope.variables, [variable.args, item]]),
    present: scope.present,
    depth: scope.depth + 1,
  };
  const [first, second] = bodies;
  if (first === undefined) return anyType;
  if (second) resolver.bool(first, inner);
  const last = second ?? first;
  const body = name === 'map' ? resolver.resolve(last, inner) : resolver.bool(last, inner);
  return loops[name]?.gives(item, body) ?? anyType;
}

function whyNoLoop(resolver: Resolution, scope: Scope): string | undefined {
  if (scope.depth >= limits.loopDepth)
    return `loops must not be nested more than ${limits.loopDepth} levels deep`;
  resolver.loops += 1;
  if (resolver.loops <= limits.loops) return undefined;
  return `an expression has at most ${limits.loops} loops: search for several things at once (touches(["a/**", "b/**"])), or move a part to the if of the rule or of a step`;
}

type WrittenCall = { readonly name: string; readonly receiver?: ASTNode; readonly given: readonly ASTNode[] };

function resolveFunction(
  resolver: Resolution,
  node: ASTNode,
  { name, receiver, given }: WrittenCall,
  scope: Scope,
): Type {
  const rows = findFunctions(name, receiver !== undefined);
  if (rows.length === 0)
    return refuseFunction(resolver, node, { name, given, ...(receiver && { receiver }) }, scope);
  const owner = receiver && resolver.resolve(receiver, scope);
  const types = given.map((argument) => resolver.resolve(argument, scope));
  if (receiver) resolver.warnOfNull(receiver, scope);
  if (name === 'timestamp' && given[0]) resolver.warnOfNull(given[0], scope);
  const row = rows.find((candidate) => accepts(candidate, owner, types));
  if (row === undefined) {
    const written = types.map(describeType).join(', ');
    const before = owner ? ` of ${describeType(owner)}` : '';
    const ofText = rows.every(({ of = [] }) => of.includes('string') && of.length === 1);
    const text = textOf(receiver ?? node);
    const hint =
      remedyForList(name, text, owner) ?? (owner && ofText ? remedyForText(name, text, owner) : undefined);
    const message = withHint(`there is no ${name}(${written})${before}`, hint ?? formsOf(rows));
    return resolver.refuse(node, 'expression-type', message);
  }
  if (row.outsideLoops && scope.depth > 0) {
    const message = `${name} with these arguments must not be used inside a loop`;
    resolver.refuse(node, 'expression', message);
  }
  checkLiteral(resolver, node, row, given[0]);
  return row.givesFor?.(owner ? [owner, ...types] : types) ?? row.gives;
}

/** Returns the signatures of a function. */
function formsOf(rows: readonly FunctionRow[]): string {
  const forms = rows.map(({ name, of, takes, repeats }) => {
    const given = takes
      .map((kinds) => kinds.map((kind) => describeType({ kind } as Type)).join(' or '))
      .join(', ');
    return `${of ? 'x.' : ''}${name}(${given}${repeats ? ', …' : ''})`;
  });
  return `it is called as ${[...new Set(forms)].join(' or ')}`;
}

function accepts(row: FunctionRow, owner: Type | undefined, given: readonly Type[]): boolean {
  if (!takesCount(row, given.length)) return false;
  if (row.of && owner && !mayBe(owner, row.of)) return false;
  return kindsTaken(row, given.length).every((kinds, place) => mayBe(given[place] ?? anyType, kinds));
}

function checkLiteral(
  resolver: Resolution,
  node: ASTNode,
  row: FunctionRow,
  argument: ASTNode | undefined,
): void {
  if (row.literal === undefined || argument === undefined) return;
  const read = readLiteral(row.literal, row.name, argument, resolver.patterns);
  if ('reason' in read) resolver.refuse(argument, read.code, read.reason);
  else if (read.matches) resolver.matchers.set(node, read.matches);
}

function refuseFunction(
  resolver: Resolution,
  node: ASTNode,
  { name, receiver, given }: WrittenCall,
  scope: Scope,
): Type {
  const isMethod = receiver !== undefined;
  const other = findFunctions(name, !isMethod);
  if (other.length > 0 || (!isMethod && Object.hasOwn(loops, name))) {
    const usage = isMethod ? `${name}(x)` : `x.${name}(…)`;
    return resolver.refuse(node, 'expression', `${name} is written ${usage}`);
  }
  const { names, absent } = resolver.environment;
  const factArgument = absent.get(name);
  if (factArgument !== undefined) return resolver.refuse(node, 'subject', factArgument);
  const known = [...functionNames, ...(isMethod ? [] : names.keys())];
  const about = receiver ?? given[0];
  // Only the unknown function is reported, not the problems of its receiver.
  const before = resolver.problems.length;
  const owner = about && resolver.resolve(about, scope);
  resolver.problems.length = before;
  const { hint, suggestion } = remedyForFunction(name, owner, known);
  const message = withHint(`there is no function "${name}"`, hint);
  const start = node.input.indexOf(name, receiver?.end ?? node.start);
  const fix =
    suggestion === undefined ? undefined : rewrite(node, { start, end: start + name.length }, suggestion);
  return resolver.refuse(node, 'unknown-name', message, suggestion, fix);
}

const number: Type = { kind: 'number' };
const string: Type = { kind: 'string' };
const timestamp: Type = { kind: 'timestamp' };
const duration: Type = { kind: 'duration' };

/**
 * Returns a text in a comparison that a side of it never has: its values are a closed list. `in` compares with each text
 * of a list.
 */
function impossibleText(
  operator: string,
  [left, leftType]: readonly [ASTNode, Type],
  [right, rightType]: readonly [ASTNode, Type],
):
  | {
      readonly node: ASTNode;
      readonly text: string;
      readonly of: ASTNode;
      readonly values: readonly string[];
    }
  | undefined {
  const find = (of: ASTNode, type: Type, written: readonly ASTNode[]) => {
    const values = type.kind === 'string' ? type.values : undefined;
    if (values === undefined) return undefined;
    for (const node of written) {
      const text = literalOf(node);
      if (typeof text === 'string' && !values.includes(text)) return { node, text, of, values };
    }
    return undefined;
  };
  if (operator === '==' || operator === '!=')
    return find(left, leftType, [right]) ?? find(right, rightType, [left]);
  return operator === 'in' && right.op === 'list' ? find(left, leftType, right.args) : undefined;
}

/** Result type of an operator; or the error, with the operand to report it at. */
type OperatorResult =
  | { readonly type: Type }
  | { readonly reason: string; readonly side: 'left' | 'right' | 'both' };

/** Returns the result type of a binary operator for the types of its operands, or an error. */
function applyOperator(operator: string, left: Type, right: Type): OperatorResult {
  switch (operator) {
    case '==':
    case '!=':
      return overlaps(left, right) ? { type: boolType } : typeMismatch(operator, left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered.some((kind) => mayBe(left, [kind]) && mayBe(right, [kind]))
        ? { type: boolType }
        : typeMismatch(operator, left, right);
    case 'in':
      return membership(left, right);
    default: {
      const type = resultOf(operator, alternatives(left), alternatives(right));
      return type ? { type } : typeMismatch(operator, left, right);
    }
  }
}

const ordered: readonly Type['kind'][] = ['number', 'string', 'timestamp', 'duration', 'bool'];

function membership(value: Type, list: Type): OperatorResult {
  if (!mayBe(list, ['list', 'map', 'object'])) {
    const hint = mayBe(list, ['string']) ? '; text has .contains()' : '';
    return { reason: `in needs a list or a map, this is ${describeType(list)}${hint}`, side: 'right' };
  }
  const items = alternatives(list).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  const isListAlone = items.length === alternatives(list).length;
  if (!isListAlone || items.some((item) => overlaps(value, item))) return { type: boolType };
  const item = describeType(unionOf(items));
  return { reason: `${describeType(value)} cannot be in a list of ${item}`, side: 'left' };
}

function typeMismatch(operator: string, left: Type, right: Type): OperatorResult {
  const isTimeAndText =
    mayBe(left, ['timestamp']) !== mayBe(right, ['timestamp']) && mayBe(unionOf([left, right]), ['string']);
  const isTimeAndNumber = operator !== '==' && mayBe(left, ['timestamp']) && mayBe(right, ['number']);
  const span = isTimeAndNumber ? '; spans of time are durations: now - duration("72h")' : '';
  const hint = isTimeAndText ? '; times of the forge are text: timestamp(…) reads them' : span;
  const reason = `"${operator}" cannot have ${describeType(left)} and ${describeType(right)}${hint}`;
  return { reason, side: 'both' };
}

/** Returns whether values of two types may be equal. Null and `any` may equal everything. */
function overlaps(left: Type, right: Type): boolean {
  const isOpen = (type: Type): boolean => type.kind === 'any' || type.kind === 'null';
  return alternatives(left).some((one) =>
    alternatives(right).some((two) => isOpen(one) || isOpen(two) || kindName(one) === kindName(two)),
  );
}

function kindName(type: Type): string {
  return type.kind === 'map' ? 'object' : type.kind;
}

/** Supported operand pairs of each operator: left, right, result. */
const arithmetic: Readonly<Record<string, readonly (readonly [Type['kind'], Type['kind'], Type])[]>> = {
  '+': [
    ['number', 'number', number],
    ['string', 'string', string],
    ['list', 'list', { kind: 'list', item: anyType }],
    ['timestamp', 'duration', timestamp],
    ['duration', 'timestamp', timestamp],
    ['duration', 'duration', duration],
  ],
  '-': [
    ['number', 'number', number],
    ['timestamp', 'timestamp', duration],
    ['timestamp', 'duration', timestamp],
    ['duration', 'duration', duration],
  ],
  '*': [['number', 'number', number]],
  '/': [['number', 'number', number]],
  '%': [['number', 'number', number]],
};

/** Returns the result type of an operator for two types; undefined if no pair of alternatives is supported. */
function resultOf(operator: string, left: readonly Type[], right: readonly Type[]): Type | undefined {
  const fits = (type: Type, kind: Type['kind']): boolean => type.kind === kind || type.kind === 'any';
  const results = (arithmetic[operator] ?? [])
    .filter(([a, b]) => left.some((type) => fits(type, a)) && right.some((type) => fits(type, b)))
    .map(([, , result]) => result);
  return results.length === 0 ? undefined : unionOf(results);
}

/** Members that forges often write as null, by the end of their chain, with a description of the cases. */
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
 * Returns a warning if the value of a node is often null and null is not allowed there, because the rule would then
 * fail. There is no warning if the expression first tests the value with has() or compares it with null.
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
  return { code: 'null-member', message, start: node.start, end: node.end, fix: askFirst(node, text) };
}

/** Scope at one position of an expression: loop variables, and the names and members known to be present. */
type Scope = {
  readonly variables: ReadonlyMap<string, Type>;
  readonly present: ReadonlySet<string>;
  /** Nesting depth of loops. */
  readonly depth: number;
};

const emptyScope: Scope = { variables: new Map(), present: new Set(), depth: 0 };

/** Returns the scope with these names and members also marked as present. */
function withPresent(scope: Scope, present: ReadonlySet<string>): Scope {
  return present.size === 0 ? scope : { ...scope, present: new Set([...scope.present, ...present]) };
}

/** For each kind of a rule about both, the name that is present where this one is absent. */
const otherKinds: ReadonlyMap<string, readonly string[]> = new Map([
  ['issue', ['pull_request']],
  ['pull_request', ['issue']],
]);

function isNull(node: ASTNode): boolean {
  return node.op === 'value' && node.args === null;
}

function prefixes(chain: readonly string[] | undefined): ReadonlySet<string> {
  return new Set((chain ?? []).map((_, place) => (chain ?? []).slice(0, place + 1).join('.')));
}
