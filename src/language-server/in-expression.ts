import { facts } from '../facts/facts.ts';
import { findFunctions, functions, loops } from '../rules/expressions/functions.ts';
import { type ExpressionContext, typeOfExpression } from '../rules/expressions/resolve.ts';
import { subjectFunctions } from '../rules/expressions/subject-functions.ts';
import {
  alternatives,
  describeType,
  mayBe,
  memberOf,
  type Type,
  typeOf,
} from '../rules/expressions/types.ts';
import { aboutEntries, aboutFact, aboutFunction, callOfFact, code, word } from './documentation.ts';

/** A word that can be written at the cursor. */
export type Offer = {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'name' | 'fact' | 'member' | 'function' | 'event' | 'action';
  readonly detail?: string | undefined;
  readonly documentation?: string | undefined;
  /** Text to insert instead of the label; `$0` is where the cursor stands afterwards. */
  readonly insert?: string;
};

/** Kinds of objects on the forge whose names can be offered. */
export type ForgeKind = 'label' | 'team' | 'branch';

/** What can be written at an offset of an expression: known words, or names of a kind of objects on the forge. */
type Offered = { readonly offers: readonly Offer[]; readonly names?: ForgeKind };

/** Returns what can be written at an offset of an expression, for the names that are available there. */
export function offersInExpression(source: string, at: number, context: ExpressionContext): Offered {
  const scope = scopeAt(source.slice(0, at));
  if (scope.text !== undefined) return offersInText(scope, context);
  const owner = /\.\s*\w*$/.exec(scope.before);
  if (owner === null) return { offers: freeNames(scope, context) };
  const receiver = chainBefore(scope.before, owner.index);
  return { offers: receiver === '' ? [] : membersOf(receiver, scope, context) };
}

/** Returns the literal text that the beginning of an expression leaves open; undefined if there is none. */
export function textBefore(before: string): string | undefined {
  return scopeAt(before).text;
}

/** A loop around the cursor: `LIST.exists(VARIABLE, …`. */
type Loop = { readonly list: string; readonly variable: string };

/** What surrounds the end of the beginning of an expression. */
type Scope = {
  /** The beginning, up to the text that is being written. */
  readonly before: string;
  readonly loops: readonly Loop[];
  /** The part of a literal text that is written, if the cursor is in one. */
  readonly text?: string;
  /** Name of the innermost function around the cursor. */
  readonly call?: string | undefined;
};

function scopeAt(before: string): Scope {
  const open: number[] = [];
  let quote = -1;
  for (let at = 0; at < before.length; at += 1) {
    const sign = before[at] ?? '';
    if (quote >= 0) {
      if (sign === '\\') at += 1;
      else if (sign === before[quote]) quote = -1;
    } else if (sign === '"' || sign === "'") quote = at;
    else if (sign === '(') open.push(at);
    else if (sign === ')') open.pop();
  }
  const around = open.flatMap((at): readonly Loop[] => {
    const head = /\.\s*(\w+)\s*$/.exec(before.slice(0, at));
    const variable = /^\s*([A-Za-z_]\w*)\s*,/.exec(before.slice(at + 1))?.[1];
    if (head === null || variable === undefined || !Object.hasOwn(loops, head[1] ?? '')) return [];
    return [{ list: chainBefore(before, head.index), variable }];
  });
  const call = /(\w+)\s*$/.exec(before.slice(0, open.at(-1) ?? 0))?.[1];
  if (quote < 0) return { before, loops: around, call };
  return { before: before.slice(0, quote), loops: around, text: before.slice(quote + 1), call };
}

/** Returns the chain of members, calls and indexes that ends at an offset. */
function chainBefore(source: string, end: number): string {
  let at = end;
  for (;;) {
    const sign = source[at - 1] ?? '';
    if (sign === ')' || sign === ']') at = startOfBracket(source, at - 1);
    else if (/\w/.test(sign)) while (/\w/.test(source[at - 1] ?? '')) at -= 1;
    else break;
    const before = source.slice(0, at);
    const isCall = /[)\]]/.test(sign) && /\w$/.test(before);
    const dot = /\.\s*$/.exec(before);
    if (dot) at = dot.index;
    else if (!isCall) break;
  }
  return source.slice(at, end);
}

/** Returns the offset of the bracket that belongs to a closing one; 0 if there is none. */
function startOfBracket(source: string, end: number): number {
  let depth = 0;
  for (let at = end; at >= 0; at -= 1) {
    const sign = source[at] ?? '';
    if (sign === '"' || sign === "'") at = Math.max(0, source.lastIndexOf(sign, at - 1));
    else if (sign === ')' || sign === ']') depth += 1;
    else if (sign === '(' || sign === '[') depth -= 1;
    if (depth === 0) return at;
  }
  return 0;
}

/** Returns the type of an expression inside of these loops. */
function typeIn(source: string, around: readonly Loop[], context: ExpressionContext): Type | undefined {
  const whole = around.reduceRight(
    (inner, { list, variable }) => `${list}.map(${variable}, ${inner})`,
    source,
  );
  let type = typeOfExpression(whole, context);
  for (const _ of around)
    type = type && alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []))[0];
  return type;
}

const afterCall = '($0)';

function freeNames(
  { loops: around, before }: Scope,
  { environment, named = new Map() }: ExpressionContext,
): readonly Offer[] {
  const variables = around.map(
    ({ variable }) => ({ label: variable, kind: 'name', detail: 'item of the list' }) as const,
  );
  const isInLoop = around.length > 0;
  const conditions = [...named.keys()].map(
    (label) => ({ label, kind: 'name', detail: 'condition of this file' }) as const,
  );
  const known = [...environment.names].flatMap(([label, { type, fact, refusal }]): readonly Offer[] => {
    if (refusal !== undefined || label.includes('.')) return [];
    const insert = fact?.argument === undefined ? {} : { insert: `${label}("$0")` };
    return [
      {
        label,
        kind: 'fact',
        detail: describeType(type),
        documentation: documentationOfName(label),
        ...insert,
      },
    ];
  });
  const about = subjectFunctions.map(
    ({ name, meaning }) =>
      ({ label: name, kind: 'function', documentation: meaning, insert: `${name}("$0")` }) as const,
  );
  const free = functions.filter(
    ({ of, outsideLoops, name }) => of === undefined && !name.includes('.') && !(isInLoop && outsideLoops),
  );
  const words = ['true', 'false', 'null', 'params'].map((label) => ({ label, kind: 'value' }) as const);
  const isAfterIn = /\bin\s+\w*$/.test(before);
  return [
    ...variables,
    ...conditions,
    ...known,
    ...about,
    ...functionOffers(free.map(({ name }) => name)),
    ...(isAfterIn ? [] : functionOffers(['has'])),
    ...words,
  ];
}

function functionOffers(names: readonly string[]): readonly Offer[] {
  return [...new Set(names)].map((label) => ({
    label,
    kind: 'function',
    documentation: aboutFunction(label).join('\n\n').trim(),
    insert: `${label}${afterCall}`,
  }));
}

function membersOf(receiver: string, scope: Scope, context: ExpressionContext): readonly Offer[] {
  const spaced = functions.flatMap(({ name }) =>
    name.startsWith(`${receiver}.`) ? [name.slice(receiver.length + 1)] : [],
  );
  if (spaced.length > 0) return functionOffers(spaced);
  const type = typeIn(receiver, scope.loops, context);
  if (type === undefined) return [];
  const members = alternatives(type).flatMap((one) =>
    one.kind === 'object' ? Object.entries(one.members) : [],
  );
  const own = members.map(
    ([label, shape]): Offer => ({
      label,
      kind: 'member',
      detail: describeType(typeOf(shape)),
      documentation: shape.description,
    }),
  );
  const isVariable = scope.loops.some(({ variable }) => variable === receiver);
  const separate = isVariable
    ? []
    : [...context.environment.names].flatMap(([name, { type: inner, refusal }]): readonly Offer[] => {
        if (!name.startsWith(`${receiver}.`) || refusal !== undefined) return [];
        const label = name.slice(receiver.length + 1);
        return [
          { label, kind: 'fact', detail: describeType(inner), documentation: documentationOfName(name) },
        ];
      });
  const methods = functions.filter(({ of }) => of !== undefined && mayBe(type, of)).map(({ name }) => name);
  const overList = mayBe(type, ['list'])
    ? Object.entries(loops).map(
        ([label, { meaning }]): Offer => ({
          label,
          kind: 'function',
          documentation: meaning,
          insert: `${label}(x, x$0)`,
        }),
      )
    : [];
  return [
    ...new Map(
      [...own, ...separate, ...overList, ...functionOffers(methods)].map((one) => [one.label, one]),
    ).values(),
  ];
}

/** Returns what a literal text may be: values of what it is compared with, or names on the forge. */
function offersInText({ before, loops: around, call }: Scope, context: ExpressionContext): Offered {
  const compared = /(?:==|!=|\bin)\s*\[?(?:\s*(?:"[^"]*"|'[^']*')\s*,)*\s*$/.exec(before);
  if (compared) {
    const chain = chainBefore(before, before.slice(0, compared.index).trimEnd().length);
    const type = chain === '' ? undefined : typeIn(chain, around, context);
    const values =
      type === undefined
        ? []
        : alternatives(type).flatMap((one) => ('values' in one ? (one.values ?? []) : []));
    if (values.length > 0) return { offers: values.map((label) => ({ label, kind: 'value' })) };
    const names = comparedNames.find(([pattern]) => pattern.test(chain))?.[1];
    return { offers: [], ...(names && { names }) };
  }
  const names = call === undefined ? undefined : callNames[call];
  return { offers: [], ...(names && { names }) };
}

/** Chains whose values are names on the forge. */
const comparedNames: readonly (readonly [RegExp, ForgeKind])[] = [
  [/\b(base|head)\.ref$|\bdefault_branch$|\bbranch\.name$/, 'branch'],
  [/\blabels?\b.*\.name$/, 'label'],
];

/** Functions and facts whose argument is a name on the forge. */
const callNames: Readonly<Record<string, ForgeKind>> = {
  labelled: 'label',
  team: 'team',
  named_branch: 'branch',
};

/** Returns the documentation of a name of expressions that is a fact. */
function documentationOfName(name: string): string | undefined {
  return facts.find((one) => one.name === name)?.meaning;
}

/** What stands under the cursor in an expression. */
export type Word = {
  readonly text: string;
  /** The chain before it, without the last dot; empty if there is none. */
  readonly owner: string;
};

/** Returns the word at an offset of an expression; undefined in literal texts and between words. */
export function wordAt(source: string, at: number): (Word & { readonly scope: Scope }) | undefined {
  const start = at - (/\w*$/.exec(source.slice(0, at))?.[0].length ?? 0);
  const text = /^\w+/.exec(source.slice(start))?.[0];
  const scope = scopeAt(source.slice(0, start));
  if (text === undefined || scope.text !== undefined) return undefined;
  const dot = /\.\s*$/.exec(scope.before);
  return { text, owner: dot ? chainBefore(scope.before, dot.index) : '', scope };
}

/** Returns the documentation of the word at an offset of an expression, in Markdown; undefined if there is none. */
export function documentationAt(source: string, at: number, context: ExpressionContext): string | undefined {
  const found = wordAt(source, at);
  if (found === undefined) return undefined;
  const { text, owner, scope } = found;
  const full = owner === '' ? text : `${owner}.${text}`;
  const condition = owner === '' ? context.named?.get(text) : undefined;
  if (condition) return `A condition of this file:\n\n${code('cel', condition.node.input)}`;
  const variable = scope.loops.find((one) => one.variable === text);
  if (owner === '' && variable) return `An item of ${word(variable.list)}.`;
  const fact = facts.find(({ name }) => name === full);
  if (fact)
    return [`**${callOfFact(fact)}**`, fact.meaning, code('cel', fact.example), aboutFact(fact)].join('\n\n');
  const about = owner === '' ? subjectFunctions.find(({ name }) => name === text) : undefined;
  if (about) return [about.meaning, code('cel', about.example), aboutEntries(about.takes)].join('\n\n');
  const type = owner === '' ? undefined : typeIn(owner, scope.loops, context);
  const shape =
    type &&
    alternatives(type).flatMap((one) =>
      one.kind === 'object' && Object.hasOwn(one.members, text) ? [one.members[text]] : [],
    )[0];
  const member = type && shape && memberOf(type, text);
  if (member)
    return [`${word(full)}: ${describeType(member.type)}`, shape.description ?? ''].join('\n\n').trim();
  const isFunction =
    ['has', ...Object.keys(loops)].includes(text) ||
    [true, false].some((of) => findFunctions(text, of).length > 0 || findFunctions(full, of).length > 0);
  if (isFunction)
    return aboutFunction(findFunctions(full, false).length > 0 ? full : text)
      .join('\n\n')
      .trim();
  return undefined;
}
