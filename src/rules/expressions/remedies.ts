import type { ASTNode } from '@marcbachmann/cel-js';
import {
  foreignEventWords,
  foreignFunctions,
  foreignMembers,
  foreignNames,
  workflowContexts,
  workflowFunctions,
} from '../foreign-words.ts';
import { nearest } from '../problem.ts';
import { chainOf, literalOf } from './parse.ts';
import { alternatives, mayBe, memberNamesOfType, type Type } from './types.ts';

/**
 * Remedy for a word of another language: a hint, or a single word as a replacement. `isWhole`: it replaces the whole
 * chain, not only the last member.
 */
export type Remedy = {
  readonly hint?: string;
  readonly suggestion?: string | undefined;
  readonly isWhole?: true;
};

/** Usage examples of functions that are not clear from their names. */
const usages: Readonly<Record<string, string>> = {
  exists: 'list.exists(x, x.name == "…")',
  all: 'list.all(x, x.name != "…")',
  filter: 'list.filter(x, x.name == "…")',
  map: 'list.map(x, x.name)',
  contains: 'text.contains("…")',
  matches: 'text.matches("…") with an RE2 pattern',
};

/** Returns the remedy for an unknown function. `owner` is the type of the receiver. */
export function remedyForFunction(name: string, owner: Type | undefined, known: readonly string[]): Remedy {
  const reason = workflowFunctions.get(name);
  if (reason !== undefined) return { hint: reason };
  const other = foreignFunctions.get(name);
  const isList = owner !== undefined && !mayBe(owner, ['string']) && mayBe(owner, ['list']);
  const suggestion =
    (isList ? (other?.list ?? other?.text) : (other?.text ?? other?.list)) ?? nearest(name, known);
  if (suggestion === undefined) return { hint: `functions are ${listed(known)}` };
  const usage = usages[suggestion];
  return { suggestion, ...(usage !== undefined && { hint: `write ${usage}` }) };
}

/** Returns the remedy for an unknown name: a known name, or a member of the subject. */
export function remedyForName(
  name: string,
  names: readonly string[],
  typeOfName: (name: string) => Type | undefined,
): Remedy {
  if (workflowContexts.has(name)) return { hint: 'rules have no such context' };
  const translated = foreignNames.get(name);
  if (translated !== undefined) {
    const [root = ''] = translated.split('.');
    if (names.includes(root) || ['null', 'true', 'false'].includes(root)) return { suggestion: translated };
  }
  const near = nearest(name, names);
  if (near !== undefined) return { suggestion: near };
  const kin = kindred(name, names);
  const owner = ['pull_request', 'issue', 'comment', 'review', 'repository', 'event'].find((candidate) => {
    const type = names.includes(candidate) ? typeOfName(candidate) : undefined;
    return type !== undefined && memberNamesOfType(type).includes(name);
  });
  if (owner !== undefined) return { suggestion: `${owner}.${name}` };
  return kin === undefined ? { hint: `there are ${listed(names)}` } : { suggestion: kin };
}

/**
 * Returns the name that shares the most of its words with an unknown one (`all_reviews`: `reviews`), in singular or
 * plural; undefined if none does.
 */
function kindred(name: string, names: readonly string[]): string | undefined {
  const wordsIn = (one: string): readonly string[] =>
    one
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[._-]/)
      .filter((word) => word.length > 3);
  const singular = (word: string): string => word.replace(/s$/, '');
  const written = new Set(wordsIn(name));
  const stems = new Set([...written].map(singular));
  let best: string | undefined;
  let most = 0;
  for (const one of names) {
    const words = wordsIn(one);
    const same = words.filter((word) => written.has(word)).length;
    const alike = words.filter((word) => stems.has(singular(word))).length;
    const share = (same + 2 * alike) / Math.max(1, 3 * words.length);
    if (share <= most) continue;
    most = share;
    best = one;
  }
  return best;
}

/** Returns the remedy for an unknown member. `owner` is the source text of the object. */
export function remedyForMember(member: string, owner: string, type: Type): Remedy {
  const lists = alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  if (foreignFunctions.get(member)?.text === 'size') return { suggestion: `${owner}.size()`, isWhole: true };
  if (owner === 'sender' && member === 'permission')
    return { suggestion: 'sender_permission', isWhole: true };
  const [item] = lists;
  if (item !== undefined && memberNamesOfType(item).includes(member)) {
    return { hint: `its items have ${member}: write ${owner}.exists(x, x.${member} == "…")` };
  }
  const known = memberNamesOfType(type);
  if (known.length === 0) return {};
  const translated = foreignMembers.get(member);
  if (translated !== undefined && known.includes(translated.split('.')[0] ?? ''))
    return { suggestion: translated };
  const suggestion = nearest(member, known);
  return suggestion === undefined ? { hint: `it has ${listed(known)}` } : { suggestion };
}

/**
 * Returns how to search a list of objects, for example instead of `labels.contains("bug")`; undefined for other types.
 */
export function remedyForList(name: string, owner: string, type: Type | undefined): string | undefined {
  if (type === undefined || name !== 'contains') return undefined;
  const items = alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  return items.length === 0 ? undefined : searchOf(owner, items);
}

/** Returns where the text of an object or a list of objects is, for a function of texts; undefined for other types. */
export function remedyForText(name: string, owner: string, type: Type): string | undefined {
  const own = remedyMemberOf(type);
  if (own !== undefined) return `write ${owner}.${own}.${name}(…)`;
  const items = alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  if (items.length === 0) return undefined;
  const key = items.map(remedyMemberOf).find((one) => one !== undefined);
  return `write ${owner}.exists(x, x.${key === undefined ? '' : `${key}.`}${name}(…))`;
}

function searchOf(list: string, items: readonly Type[]): string {
  const key = items.map(remedyMemberOf).find((one) => one !== undefined);
  return key === undefined ? `write "…" in ${list}` : `write ${list}.exists(x, x.${key} == "…")`;
}

/** Returns the member that identifies an object of this type; undefined if there is none. */
export function remedyMemberOf(type: Type): string | undefined {
  const members = memberNamesOfType(type);
  return ['login', 'name', 'filename', 'title', 'context'].find((one) => members.includes(one));
}

/** Maximum number of names in a message; the reference lists all names. */
const maxListed = 60;

function listed(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown}, …` : shown;
}

/** Returns the literals compared with `event.action` that the forge never sends (`synchronize`). */
export function foreignActivities(left: ASTNode, right: ASTNode): readonly ASTNode[] {
  const chains = [left, right].map((side) => chainOf(side)?.join('.'));
  if (!chains.includes('event.action')) return [];
  const words = [left, right].flatMap((side) => (side.op === 'list' ? side.args : [side]));
  return words.filter((word) => {
    const text = literalOf(word);
    return typeof text === 'string' && foreignEventWords.has(text);
  });
}
