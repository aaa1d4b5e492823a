import type { ASTNode } from '@marcbachmann/cel-js';
import { nearest } from '../parse/nearest.ts';
import { chainOf, literalOf } from '../parse/tree.ts';
import { alternatives, mayBe, type Type } from '../values/types.ts';
import { memberNamesOfType } from './members.ts';

/** A remedy for a word of another language: what to write, and the word itself where it is one word. */
export type Remedy = { readonly hint?: string; readonly suggestion?: string | undefined };

const search = { text: 'contains', list: 'exists' } as const;
const pattern = { text: 'matches' } as const;
const count = { text: 'size', list: 'size' } as const;

/** Functions of JavaScript, Python, Jinja and Go templates, and what serves instead for text and for lists. */
const foreignFunctions: Readonly<Record<string, { readonly text?: string; readonly list?: string }>> = {
  includes: search,
  contain: search,
  has: search,
  some: { list: 'exists' },
  any: { list: 'exists' },
  every: { list: 'all' },
  each: { list: 'all' },
  find: { list: 'filter' },
  where: { list: 'filter' },
  select: { list: 'filter' },
  forEach: { list: 'map' },
  flatMap: { list: 'flatten' },
  reduce: { list: 'sum' },
  unique: { list: 'distinct' },
  uniq: { list: 'distinct' },
  match: pattern,
  test: pattern,
  regex: pattern,
  regexMatch: pattern,
  search: pattern,
  fnmatch: { text: 'glob' },
  like: { text: 'glob' },
  toLowerCase: { text: 'lower' },
  lowercase: { text: 'lower' },
  upper: { text: 'upperAscii' },
  toUpperCase: { text: 'upperAscii' },
  strip: { text: 'trim' },
  substr: { text: 'substring' },
  slice: { text: 'substring' },
  replaceAll: { text: 'replace' },
  length: count,
  len: count,
  count,
  str: { text: 'string' },
  toString: { text: 'string' },
  parseInt: { text: 'int' },
  number: { text: 'int' },
  date: { text: 'timestamp' },
};

/** How a function is written whose name alone does not show it. */
const usages: Readonly<Record<string, string>> = {
  exists: 'list.exists(x, x.name == "…")',
  all: 'list.all(x, x.name != "…")',
  filter: 'list.filter(x, x.name == "…")',
  map: 'list.map(x, x.name)',
  contains: 'text.contains("…")',
  matches: 'text.matches("…") with an RE2 pattern',
};

const statusFunctions =
  'a rule has no job before it: leave this out, or read the fact statuses for the state of checks';
/** Functions of workflow files that have no counterpart. */
const workflowFunctions: Readonly<Record<string, string>> = {
  always: statusFunctions,
  success: statusFunctions,
  failure: statusFunctions,
  cancelled: statusFunctions,
  fromJSON: 'values are data already',
  toJSON: 'values are data already',
  now: 'now is a value: write now',
};

/** Names of other systems, and what they are here. */
const foreignNames: Readonly<Record<string, string>> = {
  undefined: 'null',
  None: 'null',
  nil: 'null',
  True: 'true',
  False: 'false',
  pr: 'pull_request',
  mr: 'pull_request',
  merge_request: 'pull_request',
  repo: 'repository',
  github: 'event',
  gitea: 'event',
  forgejo: 'event',
  payload: 'event',
  context: 'event',
  actor: 'sender.login',
  user: 'sender.login',
  author: 'pull_request.user.login',
  permission: 'sender_permission',
  changed_paths: 'files',
  checks: 'statuses',
};

/** Contexts of workflow files without a counterpart: a rule has none of these values. */
const workflowContexts = new Set(['env', 'vars', 'secrets', 'inputs', 'steps', 'jobs', 'needs', 'matrix']);

/** Members of other APIs, and what they are here. */
const foreignMembers: Readonly<Record<string, string>> = {
  author: 'user.login',
  sender: 'user.login',
  branch: 'head.ref',
  head_ref: 'head.ref',
  base_ref: 'base.ref',
  sha: 'head.sha',
  description: 'body',
  name: 'title',
  username: 'login',
  path: 'filename',
  isDraft: 'draft',
};

/** Returns the remedy for a function that does not exist; `owner` is the type of what stands before the dot. */
export function remedyForFunction(name: string, owner: Type | undefined, known: readonly string[]): Remedy {
  const reason = Object.hasOwn(workflowFunctions, name) ? workflowFunctions[name] : undefined;
  if (reason !== undefined) return { hint: reason };
  const other = Object.hasOwn(foreignFunctions, name) ? foreignFunctions[name] : undefined;
  const isList = owner !== undefined && !mayBe(owner, ['string']) && mayBe(owner, ['list']);
  const suggestion =
    (isList ? (other?.list ?? other?.text) : (other?.text ?? other?.list)) ?? nearest(name, known);
  if (suggestion === undefined) return { hint: `functions are ${listed(known)}` };
  const usage = usages[suggestion];
  return { suggestion, ...(usage !== undefined && { hint: `write ${usage}` }) };
}

/** Returns the remedy for a name that means nothing: a name of ours, or a member of what the rule is about. */
export function remedyForName(
  name: string,
  names: readonly string[],
  typeOfName: (name: string) => Type | undefined,
): Remedy {
  if (workflowContexts.has(name)) return { hint: 'rules have no such context' };
  const translated = Object.hasOwn(foreignNames, name) ? foreignNames[name] : undefined;
  if (translated !== undefined) {
    const [root = ''] = translated.split('.');
    if (names.includes(root) || ['null', 'true', 'false'].includes(root)) return { suggestion: translated };
  }
  const near = nearest(name, names);
  if (near !== undefined) return { suggestion: near };
  const owner = ['pull_request', 'issue', 'comment', 'review', 'repository', 'event'].find((candidate) => {
    const type = names.includes(candidate) ? typeOfName(candidate) : undefined;
    return type !== undefined && memberNamesOfType(type).includes(name);
  });
  return owner === undefined ? { hint: `there are ${listed(names)}` } : { suggestion: `${owner}.${name}` };
}

/** Returns the remedy for a member that a value does not have; `owner` is the text of the value. */
export function remedyForMember(member: string, owner: string, type: Type): Remedy {
  const lists = alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  if (foreignFunctions[member] === count) return { suggestion: `${owner}.size()` };
  if (owner === 'sender' && member === 'permission') return { suggestion: 'sender_permission' };
  const [item] = lists;
  if (item !== undefined && memberNamesOfType(item).includes(member)) {
    return { hint: `its items have ${member}: write ${owner}.exists(x, x.${member} == "…")` };
  }
  const known = memberNamesOfType(type);
  if (known.length === 0) return {};
  const translated = Object.hasOwn(foreignMembers, member) ? foreignMembers[member] : undefined;
  if (translated !== undefined && known.includes(translated.split('.')[0] ?? ''))
    return { suggestion: translated };
  const suggestion = nearest(member, known);
  return suggestion === undefined ? { hint: `it has ${listed(known)}` } : { suggestion };
}

/** Returns how to search a list of objects, for `labels.contains("bug")`, or undefined where the list is of another kind. */
export function remedyForList(name: string, owner: string, type: Type | undefined): string | undefined {
  if (type === undefined || name !== 'contains') return undefined;
  const items = alternatives(type).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  return items.length === 0 ? undefined : searchOf(owner, items);
}

function searchOf(list: string, items: readonly Type[]): string {
  const key = items.map(remedyMemberOf).find((one) => one !== undefined);
  return key === undefined ? `write "…" in ${list}` : `write ${list}.exists(x, x.${key} == "…")`;
}

/** Returns the member that names an object, or undefined where it has none. */
export function remedyMemberOf(type: Type): string | undefined {
  const members = memberNamesOfType(type);
  return ['login', 'name', 'filename', 'title', 'context'].find((one) => members.includes(one));
}

/** Names that a message lists; the rest is in the reference. */
const maxListed = 60;

function listed(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown}, …` : shown;
}

/** Words that other systems use, and what they are here. */
const foreign: Readonly<Record<string, string>> = {
  synchronize: 'synchronized',
  labeled: 'label_updated',
  unlabeled: 'label_updated',
  milestone: 'milestoned',
  ready_for_review: 'edited',
  converted_to_draft: 'edited',
  submitted: 'approved',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  DISMISSED: 'REQUEST_CHANGES',
  pull_request_target: 'pull_request',
  issue: 'issues',
  merge_request: 'pull_request',
  cron: 'schedule',
  comment: 'issue_comment',
  review: 'pull_request_review',
  check_run: 'status',
  check_suite: 'status',
  tag: 'create',
};

/** Returns the word of the forge for a word of GitHub's, or undefined. */
export function wordOfForge(word: string): string | undefined {
  return Object.hasOwn(foreign, word) ? foreign[word] : undefined;
}

/** Returns the literals that `event.action` is compared with although the forge never says them (`synchronize`). */
export function foreignActivities(left: ASTNode, right: ASTNode): readonly ASTNode[] {
  const chains = [left, right].map((side) => chainOf(side)?.join('.'));
  if (!chains.includes('event.action')) return [];
  const words = [left, right].flatMap((side) => (side.op === 'list' ? side.args : [side]));
  return words.filter((word) => {
    const text = literalOf(word);
    return typeof text === 'string' && wordOfForge(text) !== undefined;
  });
}
