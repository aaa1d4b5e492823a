import { nearest } from '../expressions/parse/nearest.ts';
import type { YamlPath } from './yaml-source.ts';

/** What is wrong with the form of a file in words of its author, where the mistake is a known one. */
export type FormMistake = { readonly path: YamlPath; readonly atKey: boolean; readonly message: string };

/** A part of a file, recognized by a key that only it has. */
const parts = { file: 'rules', rule: 'steps', step: 'uses', case: 'expect', event: 'payload' } as const;
type FilePart = keyof typeof parts;

const ruleInFile = 'rules have names: write "rules:", below it the name of the rule, and this below the name';
const ofWorkflow = 'this is a key of workflow files; a rule file has "version: 1" and "rules:"';
const inStep = 'this belongs to a step: write "steps:" and "- uses: …" with its "with:" below';
const underOn = 'write it below "on", as in on: { schedule: "17 3 * * *" }';
const itemOfSweep = 'the item of a sweep is given as item: { pull_request: { number: 1, … } }';

/** Keys of other systems, and of the right system in the wrong place, with what to do. */
const keysElsewhere: Readonly<Record<FilePart, Readonly<Record<string, string>>>> = {
  file: {
    on: ruleInFile,
    if: ruleInFile,
    each: ruleInFile,
    steps: ruleInFile,
    rule: 'the key is "rules", a map of names to rules',
    name: 'a file has no name; each rule has one, as its key below "rules"',
    jobs: ofWorkflow,
    env: ofWorkflow,
    permissions: ofWorkflow,
    pull_request_rules: 'the key is "rules", a map of names to rules with "on", "if" and "steps"',
    queue_rules: 'the key is "rules", a map of names to rules with "on", "if" and "steps"',
    schedule: 'a schedule belongs to the "on" of a rule',
    grants: 'grants are settings of the operator file',
    cases: 'this is a rule test: its file ends in .test.yml',
  },
  rule: {
    name: 'the name of a rule is its key below "rules"',
    conditions: 'conditions are one expression under "if", joined with && and ||',
    condition: 'the condition is written under "if"',
    when: 'the condition is written under "if"; "when" is an argument of some actions',
    unless: 'write the opposite under "if", as in if: "!pull_request.draft"',
    actions: 'actions are a list under "steps": "- uses: set-labels" with its "with:" below',
    action: 'actions are a list under "steps": "- uses: set-labels" with its "with:" below',
    uses: inStep,
    with: inStep,
    run: 'a rule runs no commands; run-workflow starts a workflow that does',
    schedule: underOn,
    cron: underOn,
    branches: 'filters belong to an event, as in on: { push: { branches: [main] } }',
    paths: 'filters belong to an event, as in on: { pull_request: { paths: ["src/**"] } }',
    types: 'activities belong to an event, as in on: { pull_request: [opened] }',
    enabled: 'to stop a rule from writing, say mode: observe',
    disabled: 'to stop a rule from writing, say mode: observe',
    dry_run: 'to stop a rule from writing, say mode: observe',
    'dry-run': 'to stop a rule from writing, say mode: observe',
    permissions: 'access comes from the token of Reeve; grants are settings of the operator file',
    'runs-on': ofWorkflow,
  },
  step: {
    run: 'a step runs no commands: it names an action under "uses"',
    when: 'the condition of a step is "if"; "when" is an argument of some actions and belongs below "with"',
    args: 'arguments are written under "with"',
    id: 'a step has a "name", and no outputs',
    env: 'arguments are written under "with"',
    each: '"each" belongs to the rule',
    on: '"on" belongs to the rule',
  },
  case: {
    each: itemOfSweep,
    on: 'the event is given as event: { kind: pull_request, activity: opened, payload: { … } }',
    given: 'values of facts are given under "facts"',
    changes: 'this belongs below "expect"',
    verdicts: 'this belongs below "expect"',
    payload: 'this belongs below "event"',
    pull_request: itemOfSweep,
    issue: itemOfSweep,
  },
  event: {
    each: `${itemOfSweep}, instead of an event`,
    action: 'the activity is given as "activity"',
    type: 'the family is given as "kind", as in kind: pull_request',
    types: 'the activity is given as "activity"',
    pull_request: 'the event is { kind: pull_request, activity: opened, payload: { … } }',
  },
};

/** Returns what to do about a key that does not exist where these keys do, or undefined if it is no known mistake. */
export function remedyForKey(
  key: string,
  known: readonly string[],
  actions: readonly string[],
): string | undefined {
  const part = (Object.keys(parts) as FilePart[]).find((one) => known.includes(parts[one]));
  if (part === undefined) return undefined;
  if (part === 'step' && actions.includes(key)) {
    return `write "uses: ${key}", and its arguments below "with"`;
  }
  return Object.hasOwn(keysElsewhere[part], key) ? keysElsewhere[part][key] : undefined;
}

/** Names that other systems give to actions, and ours. */
const actionsElsewhere: Readonly<Record<string, string>> = {
  label: 'set-labels',
  labels: 'set-labels',
  'add-label': 'set-labels',
  'add-labels': 'set-labels',
  'remove-label': 'set-labels',
  'actions/labeler': 'set-labels',
  assign: 'set-issue',
  close: 'set-issue',
  'close-issue': 'set-issue',
  'actions/stale': 'set-issue',
  lock: 'set-issue',
  milestone: 'set-issue',
  request_reviews: 'request-reviewers',
  'request-review': 'request-reviewers',
  assign_reviewers: 'request-reviewers',
  dismiss_reviews: 'dismiss-stale-reviews',
  status: 'set-status',
  post_check: 'set-status',
  queue: 'queue-merge',
  automerge: 'merge',
  update: 'update-branch',
  rebase: 'update-branch',
  delete_head_branch: 'delete-branch',
  copy: 'backport',
  'cherry-pick': 'backport',
  'create-pull-request': 'open-pull-request',
  'create-issue': 'report-issue',
  reaction: 'react',
  webhook: 'notify',
  slack: 'notify',
  'dispatch-workflow': 'run-workflow',
};

/** Returns the action that was probably meant, or undefined. */
export function suggestAction(name: string, known: readonly string[]): string | undefined {
  const plain = name.replace(/@.*$/, '');
  const translated = Object.hasOwn(actionsElsewhere, plain) ? actionsElsewhere[plain] : undefined;
  return translated !== undefined && known.includes(translated) ? translated : nearest(plain, known);
}

const ruleKeys = new Set(['on', 'if', 'each', 'steps', 'description', 'mode', 'limits']);

/**
 * Returns the mistakes in the form of a file of rules whose consequences the grammar would report one by one: lines that
 * are not indented below their rule, a list of rules, an empty file. The parts at these paths are not looked at again.
 */
export function mistakesOfForm(value: unknown): readonly FormMistake[] {
  const whole = (message: string): readonly FormMistake[] => [{ path: [], atKey: false, message }];
  if (value === null || value === undefined)
    return whole('the file is empty: it begins with "version: 1" and "rules:"');
  if (Array.isArray(value))
    return whole('a file is a map, not a list: it begins with "version: 1" and "rules:"');
  if (typeof value !== 'object')
    return whole('this is no file of rules: it begins with "version: 1" and "rules:"');
  const rules: unknown = Reflect.get(value, 'rules');
  if (Array.isArray(rules) && rules.length > 0) {
    const message = 'rules are a map, not a list: write the name of each rule as a key, without "- name:"';
    return [{ path: ['rules'], atKey: false, message }];
  }
  if (rules === null) {
    const below = Object.keys(value).find((key) => {
      const member: unknown = Reflect.get(value, key);
      return typeof member === 'object' && member !== null && ('steps' in member || 'on' in member);
    });
    if (below === undefined) return [];
    return [{ path: [below], atKey: true, message: `the rule "${below}" must be indented below "rules"` }];
  }
  return typeof rules === 'object' && rules !== undefined ? keysBesideTheirRule(rules) : [];
}

function keysBesideTheirRule(rules: object): readonly FormMistake[] {
  const names = Object.keys(rules);
  const isEmpty = (name: string | undefined): boolean =>
    name !== undefined && Reflect.get(rules, name) === null && !ruleKeys.has(name);
  const first = names.findIndex((name, place) => ruleKeys.has(name) && isEmpty(names[place - 1]));
  const [rule, key] = [names[first - 1], names[first]];
  if (rule === undefined || key === undefined) return [];
  const message = `"${key}" must be indented below the name of its rule, "${rule}"`;
  return [{ path: ['rules', key], atKey: true, message }];
}

const missingKeys: Readonly<Record<string, string>> = {
  version: 'begin the file with "version: 1"',
  rules: 'rules are written below "rules:", each below its name',
  on: 'it names the events, as in on: pull_request.opened',
  steps: 'it lists the actions, as in steps: [{ uses: set-labels, with: { add: [bug] } }]',
  uses: 'it names the action, as in "- uses: set-labels"',
  expect: 'it says what the rules do, as in expect: { changes: [] }',
};

/** Returns how a missing key is written, or undefined where its name says enough. */
export function remedyForMissing(key: string): string | undefined {
  return Object.hasOwn(missingKeys, key) ? missingKeys[key] : undefined;
}

/** Returns what to do about a value of the wrong type, or undefined if it is no known mistake. */
export function remedyForType(expected: string, seen: unknown, full: YamlPath): string | undefined {
  const key = full.at(-1);
  const isItem = typeof key === 'number';
  if (key === 'rules' && full.length === 1) return 'write the name of each rule as a key below it';
  if (full[0] === 'include' && full.length <= 2) return includeExample(seen);
  if (full[0] === 'params' && full.length === 2) return parameterExample(String(key), seen);
  if (full[0] === 'cases') return remedyInTest(full, seen);
  if (key === 'steps' && !Array.isArray(seen)) return 'put "- " before "uses" of each step';
  if (full.at(-2) === 'steps' && isItem && typeof seen === 'string') return `write "- uses: ${seen}"`;
  if (key === 'schedule') return 'write schedule: "17 3 * * *", without a list';
  if (key === 'with' && seen === null) return 'indent the arguments below "with"';
  if (key === 'if' && Array.isArray(seen)) return 'join the conditions with && or ||';
  if (expected === 'string' && (typeof seen === 'number' || typeof seen === 'boolean')) {
    return `put it in quotes: "${String(seen)}"`;
  }
  if (expected === 'array' && typeof seen === 'string') return `write a list: [${JSON.stringify(seen)}]`;
  if (expected === 'object' && full.length === 2 && full[0] === 'rules' && seen === null) {
    return 'a rule has "on" and "steps", indented below its name';
  }
  return undefined;
}

const examples: Readonly<Record<string, string>> = {
  item: 'write the kind of item as its key: item: { pull_request: { number: 1 } }',
  event: 'write event: { kind: pull_request, activity: opened, payload: { … } }',
  expect: 'write expect: { changes: [{ action: set-labels, target: "label:bug", value: true }] }',
  changes: 'write changes: [{ action: set-labels, target: "label:bug", value: true }], or [] for none',
  facts: 'write facts: { files: [README.md] }',
};

function remedyInTest(full: YamlPath, seen: unknown): string | undefined {
  const key = full.at(-1);
  if (key === 'item' && typeof seen === 'string') return `write item: { ${seen}: { number: 1 } }`;
  return typeof key === 'string' && Object.hasOwn(examples, key) ? examples[key] : undefined;
}

/** Returns the remedy for a value that is none of the allowed words, or undefined if it is no known mistake. */
export function remedyForValue(
  seen: unknown,
  allowed: readonly string[],
  full: YamlPath,
): { readonly message: string; readonly suggestion?: string } | undefined {
  const key = full.at(-1);
  if (key === 'version' && full.length === 1) {
    const written = JSON.stringify(seen);
    if (String(seen) === '1')
      return { message: 'the version is a number, not text: write version: 1, without quotes' };
    return {
      message: `version ${written} does not exist: the only version of rule files is 1, write version: 1`,
    };
  }
  if (key === 'mode') {
    return typeof seen === 'string' && /dry|plan|off|disabled|audit|warn/.test(seen)
      ? { message: `there is no mode "${seen}" (${allowed.join(', ')})`, suggestion: 'observe' }
      : undefined;
  }
  if (full[0] === 'params' && key === 'type' && typeof seen === 'string')
    return remedyForParameterType(seen, allowed);
  if (full[0] !== 'cases' || key !== 'kind' || typeof seen !== 'string') return undefined;
  if (seen === 'schedule') {
    return {
      message:
        'a schedule is no event: the item of a sweep is given as item: { pull_request: { number: 1 } }',
    };
  }
  const [kind = '', activity] = seen.split('.');
  if (activity === undefined || !allowed.includes(kind)) return undefined;
  return { message: `kind and activity are separate: kind: ${kind}, activity: ${activity}` };
}

/** Returns how an include is written, with the path or the name that was written. */
function includeExample(seen: unknown): string {
  const list = Array.isArray(seen) ? seen[0] : seen;
  const written = typeof list === 'string' ? list : 'packs/stale.yml';
  const name = written.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
  const entry = written.includes('/') ? `{ name: ${name}, file: ${written} }` : `{ name: ${name} }`;
  return `write include: [${entry}]`;
}

const typesOf: Readonly<Record<string, string>> = { number: 'int', boolean: 'bool' };

/** Returns how a parameter is declared, with what was written as its default. */
function parameterExample(name: string, seen: unknown): string {
  const type = Array.isArray(seen) ? 'list' : (typesOf[typeof seen] ?? 'string');
  return `write ${name}: { type: ${type}, default: ${JSON.stringify(seen ?? '')} }`;
}

/** Types of parameters as others call them. */
const typesElsewhere: Readonly<Record<string, string>> = {
  integer: 'int',
  number: 'int',
  text: 'string',
  str: 'string',
  boolean: 'bool',
  array: 'list',
  strings: 'list',
  choice: 'string',
};

/** Returns what to do about a type that parameters do not have, or undefined if it is no known mistake. */
function remedyForParameterType(
  seen: string,
  allowed: readonly string[],
): { readonly message: string; readonly suggestion: string } | undefined {
  const suggestion = Object.hasOwn(typesElsewhere, seen) ? typesElsewhere[seen] : undefined;
  if (suggestion === undefined) return undefined;
  return { message: `there is no type "${seen}" (${allowed.join(', ')})`, suggestion };
}
