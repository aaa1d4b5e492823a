import type { ASTNode } from '@marcbachmann/cel-js';
import type { Name } from '../environment.ts';
import { withHint } from '../expression-problem.ts';
import { foreignActivities, wordOfForge } from '../parse/foreign-words.ts';
import { nearest } from '../parse/nearest.ts';
import { chainOf, literalOf, textOf } from '../parse/tree.ts';
import { alternatives, anyType, boolType, describeType, mayBe, type Type, unionOf } from '../values/types.ts';
import { remedyForList, remedyForMember, remedyMemberOf } from './foreign-expressions.ts';
import { memberNamesOfType, memberOf } from './members.ts';
import { applyOperator, overlaps } from './operator-types.ts';
import { Resolution } from './resolution.ts';
import { resolveCall, resolveMethod } from './resolve-call.ts';
import { presentAfter, type Scope, withPresent } from './scope.ts';

/**
 * Walks a parsed expression once: every name and member chain is looked up in the shapes, every function in the closed
 * list, every operator by the types of its sides. What it finds out is kept for running the expression.
 */
export class Resolver extends Resolution {
  /** Returns the type of the expression; problems are collected on the way. */
  override resolve(node: ASTNode, scope: Scope): Type {
    const type = this.#typeOf(node, scope);
    this.types.set(node, type);
    return type;
  }

  /** Resolves what must be true or false. */
  override bool(node: ASTNode, scope: Scope): Type {
    return this.#expect(node, boolType, this.resolve(node, scope));
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
        this.bool(node.args[1], withPresent(scope, presentAfter(node.args[0], node.op === '&&')));
        return boolType;
      case '!_':
        this.bool(node.args, scope);
        return boolType;
      case '-_':
        return this.#expect(node.args, { kind: 'number' }, this.resolve(node.args, scope));
      case '.?':
      case '[?]': {
        const message = 'optional access is not part of this language; ask with has()';
        return this.refuse(node, 'expression', message);
      }
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
    return this.refuse(node, 'expression', 'bytes and unsigned numbers are not part of this language');
  }

  #foreign(node: ASTNode, word: string): void {
    this.refuse(node, 'value', `the forge does not say "${word}"`, wordOfForge(word));
  }

  #name(node: ASTNode & { readonly op: 'id' }, scope: Scope): Type {
    const name = node.args;
    const variable = scope.variables.get(name);
    if (variable) return variable;
    const known = this.environment.names.get(name);
    if (known === undefined) return this.refuseName(node, name, scope);
    if (known.refusal !== undefined) return this.refuse(node, 'level', known.refusal);
    if (known.fact?.argument !== undefined) {
      return this.refuse(node, 'expression', `${name} needs its ${known.fact.argument}: ${name}("…")`);
    }
    if (known.missingOn.length > 0 && !scope.present.has(name)) {
      const message = `${known.missingOn.join(' and ')} has no ${name}: ask has(${name}) first`;
      this.refuse(node, 'needs-has', message);
    }
    if (known.fact) this.facts.set(name, { name });
    return known.type;
  }

  #member(node: ASTNode, object: ASTNode, member: string, scope: Scope): Type {
    const own =
      object.op === 'id' && !scope.variables.has(object.args) && this.#memberFact(object.args, member);
    if (own) {
      const chain = chainOf(node)?.join('.') ?? '';
      if (own.missingOn.length > 0 && !scope.present.has(chain)) {
        const message = `${own.missingOn.join(' and ')} has no ${chain}: ask has(${chain}) first`;
        this.refuse(node, 'needs-has', message);
      }
      const request = { name: chain };
      this.facts.set(chain, request);
      this.members.set(node, request);
      return own.type;
    }
    const type = this.resolve(object, scope);
    this.warnOfNull(object, scope);
    const found = memberOf(type, member);
    // The library marks where a member begins by `pos`; `start` is where its whole chain does.
    const place = { start: node.pos, end: node.end };
    if (found === undefined) {
      const owner = textOf(object);
      const known = memberNamesOfType(type);
      const message =
        known.length > 0
          ? `${owner} has no member "${member}"`
          : `${owner} is ${describeType(type)}, it has no members`;
      const { hint, suggestion } = remedyForMember(member, owner, type);
      return this.refuse(place, 'unknown-member', withHint(message, hint), suggestion);
    }
    const chain = chainOf(node)?.join('.');
    if (found.missing && !(chain !== undefined && scope.present.has(chain))) {
      const text = textOf(node);
      this.refuse(place, 'needs-has', `not every event of this rule has ${text}: ask has(${text}) first`);
    }
    return found.type;
  }

  /** Returns the fact that a member is; undefined where the owner itself may not be used. */
  #memberFact(owner: string, member: string): Name | undefined {
    const { names } = this.environment;
    return names.get(owner)?.refusal === undefined ? names.get(`${owner}.${member}`) : undefined;
  }

  #index(node: ASTNode, object: ASTNode, index: ASTNode, scope: Scope): Type {
    const type = this.resolve(object, scope);
    const key = this.resolve(index, scope);
    const literal = literalOf(index);
    if (typeof literal === 'string' && object.op === 'id' && this.#memberFact(object.args, literal)) {
      const message = `write ${object.args}.${literal}: it is read on its own`;
      return this.refuse(node, 'expression', message);
    }
    if (typeof literal === 'string' && alternatives(type).some((one) => one.kind === 'object')) {
      const found = memberOf(type, literal);
      if (found) return found.type;
      const message = `there is no member "${literal}"`;
      return this.refuse(index, 'unknown-member', message, nearest(literal, memberNamesOfType(type)));
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
    const held = this.resolve(then, withPresent(scope, presentAfter(condition, true)));
    const missed = this.resolve(otherwise, withPresent(scope, presentAfter(condition, false)));
    if (overlaps(held, missed)) return unionOf([held, missed]);
    const message = `both sides of ":" must be of one type, these are ${describeType(held)} and ${describeType(missed)}`;
    return this.refuse({ start: then.start, end: otherwise.end }, 'expression-type', message);
  }

  #binary(node: ASTNode, args: unknown, scope: Scope): Type {
    if (!Array.isArray(args) || args.length !== 2) {
      return this.refuse(node, 'expression', `"${node.op}" is not part of this language`);
    }
    // Every operator that is left has two sides; the library's types no longer tell them apart here.
    const [left, right] = args as [ASTNode, ASTNode];
    for (const word of foreignActivities(left, right)) this.#foreign(word, String(literalOf(word)));
    const result = applyOperator(node.op, this.resolve(left, scope), this.resolve(right, scope));
    if ('type' in result) return result.type;
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
    const message = `this must be ${describeType(wanted)}, it is ${describeType(type)}`;
    return this.refuse(node, 'expression-type', message);
  }
}
