import type { ASTNode } from '@marcbachmann/cel-js';
import { factKey } from '../../../facts/fact.ts';
import { limits } from '../budget/limits.ts';
import { withHint } from '../expression-problem.ts';
import { type FunctionRow, kindsTaken, takesCount } from '../functions/function-row.ts';
import { findFunctions, functionNames, loops } from '../functions/functions.ts';
import { chainOf, literalOf, namespacedName, namespaces, textOf } from '../parse/tree.ts';
import { alternatives, anyType, boolType, describeType, mayBe, type Type, unionOf } from '../values/types.ts';
import { remedyForFunction, remedyForList } from './foreign-expressions.ts';
import { readLiteral } from './literals.ts';
import type { Resolution } from './resolution.ts';
import { type Scope, withPresent } from './scope.ts';

type CallNode = ASTNode & { readonly op: 'call' };
type MethodCall = ASTNode & { readonly op: 'rcall' };

/** Returns the type of `has(x)`, of a fact with its argument, or of a function. */
export function resolveCall(resolver: Resolution, node: CallNode, scope: Scope): Type {
  const [name, given] = node.args;
  if (name === 'has') return resolveHas(resolver, node, given, scope);
  const known = resolver.environment.names.get(name);
  if (known?.fact) return resolveFact(resolver, node, scope);
  return resolveFunction(resolver, node, { name, given }, scope);
}

/** Returns the type of a loop, or of a function of what stands before the dot. */
export function resolveMethod(resolver: Resolution, node: MethodCall, scope: Scope): Type {
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
  const { names, absent } = resolver.environment;
  if (chain.length === 1 && !scope.variables.has(root) && !names.has(root)) {
    // Asking for what is never there is no mistake (a rule may be moved); asking for what does not exist is.
    if (!absent.has(root)) resolver.refuseName(chainNode, root, scope);
    return boolType;
  }
  // What is asked for counts as there while its own chain is looked up: has() is how one finds out.
  const all = new Set(chain.map((_, place) => chain.slice(0, place + 1).join('.')));
  resolver.resolve(chainNode, withPresent(scope, all));
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
  if (known.missingOn.length > 0 && !scope.present.has(name)) {
    resolver.refuse(node, 'needs-has', `${known.missingOn.join(' and ')} has no ${name}`);
  }
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
  const isTaken = resolver.environment.names.has(variable.args) || scope.variables.has(variable.args);
  if (isTaken || namespaces.has(variable.args)) {
    const message = `"${variable.args}" already means something: choose another name`;
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
    return `loops must not stand more than ${limits.loopDepth} deep inside of each other`;
  resolver.loops += 1;
  if (resolver.loops <= limits.loops) return undefined;
  return `an expression has at most ${limits.loops} loops: look for several things in one loop (files.exists(f, f.filename.glob(["a/**", "b/**"]))), or move a part to the if of the rule or of a step`;
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
    const hint = remedyForList(name, textOf(receiver ?? node), owner);
    const message = withHint(`there is no ${name}(${written})${before}`, hint ?? formsOf(rows));
    return resolver.refuse(node, 'expression-type', message);
  }
  if (row.outsideLoops && scope.depth > 0) {
    const message = `${name} with these arguments must not stand inside of a loop`;
    resolver.refuse(node, 'expression', message);
  }
  checkLiteral(resolver, node, row, given[0]);
  return row.givesFor?.(owner ? [owner, ...types] : types) ?? row.gives;
}

/** Returns the forms in which a function is called. */
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
  // The function is the mistake that is reported; what it is called on only says which one was meant.
  const before = resolver.problems.length;
  const owner = about && resolver.resolve(about, scope);
  resolver.problems.length = before;
  const { hint, suggestion } = remedyForFunction(name, owner, known);
  const message = withHint(`there is no function "${name}"`, hint);
  return resolver.refuse(node, 'unknown-name', message, suggestion);
}
