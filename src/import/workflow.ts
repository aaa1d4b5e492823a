import { compileGlob, GlobError } from '../patterns/glob.ts';
import {
  always,
  and,
  Condition,
  equals,
  isOneOf,
  labelled,
  literal,
  never,
  not,
  or,
  situationOf,
} from './condition.ts';
import { type PlainValue, SourceError, type SourceFile } from './conversion.ts';
import type { Names } from './names.ts';
import { isRecord, readYamlSource, type Source, texts } from './source.ts';

/** One input of an action in a workflow. `value`: as the action reads it, without spaces around it. */
export type ActionInput = { readonly name: string; readonly value: string; readonly line: number };

/** A step of a workflow of GitHub that uses an action. */
export type ActionUse = {
  readonly line: number;
  /** What stands behind `@`. */
  readonly version: string;
  /** By their names in small letters: the case of letters does not matter. */
  readonly inputs: ReadonlyMap<string, ActionInput>;
  /** The conditions of the job and of the step. */
  readonly conditions: readonly { readonly text: string; readonly line: number }[];
  readonly triggers: ReadonlyMap<string, unknown>;
  /** Line of `on`. */
  readonly triggersLine: number;
};

export const workflowPlaces = ['.github/workflows/*.{yml,yaml}'];

/** Whether a workflow uses one of the actions, each as `owner/name`. */
export function usesAction(actions: readonly string[]): (file: SourceFile) => boolean {
  return ({ text }) =>
    actions.some((action) =>
      new RegExp(`^[^#\\n]*uses:\\s*['"]?${action.replaceAll('.', '\\.')}@`, 'mi').test(text),
    );
}

/** Returns the steps of a workflow that use one of the actions, each as `owner/name`. Throws SourceError without one. */
export function readWorkflow(file: SourceFile, actions: readonly string[]): readonly ActionUse[] {
  const source = readYamlSource(file);
  const { value } = source;
  if (!isRecord(value) || !isRecord(value.jobs)) throw new SourceError('a workflow with jobs was expected');
  // In YAML 1.1, the key `on` means true.
  const key = 'on' in value ? 'on' : 'true';
  const triggers = readTriggers(value[key]);
  const found: ActionUse[] = [];
  for (const [jobName, job] of Object.entries(value.jobs)) {
    const steps = isRecord(job) && Array.isArray(job.steps) ? (job.steps as readonly unknown[]) : [];
    for (const [place, step] of steps.entries()) {
      if (!isRecord(step) || typeof step.uses !== 'string') continue;
      const [action = '', version = ''] = step.uses.split('@');
      if (!actions.includes(action.toLowerCase())) continue;
      const path = ['jobs', jobName, 'steps', place];
      found.push({
        line: source.lineOf([...path, 'uses']),
        version,
        inputs: readInputs(source, step.with, [...path, 'with']),
        conditions: [
          ...readCondition(source, isRecord(job) ? job.if : undefined, ['jobs', jobName, 'if']),
          ...readCondition(source, step.if, [...path, 'if']),
        ],
        triggers,
        triggersLine: source.lineOf([key]),
      });
    }
  }
  if (found.length === 0) throw new SourceError(`no step uses ${actions.join(' or ')}`);
  return found;
}

function readInputs(
  source: Source,
  written: unknown,
  path: readonly (string | number)[],
): ReadonlyMap<string, ActionInput> {
  if (!isRecord(written)) return new Map();
  return new Map(
    Object.entries(written).map(([name, value]) => [
      name.toLowerCase(),
      {
        name,
        value: typeof value === 'object' ? '' : String(value).trim(),
        line: source.lineOf([...path, name]),
      },
    ]),
  );
}

function readCondition(
  source: Source,
  written: unknown,
  path: readonly (string | number)[],
): readonly { readonly text: string; readonly line: number }[] {
  return written === undefined || written === null
    ? []
    : [{ text: String(written).trim(), line: source.lineOf(path) }];
}

function readTriggers(written: unknown): ReadonlyMap<string, unknown> {
  if (isRecord(written)) return new Map(Object.entries(written));
  return new Map((texts(written) ?? []).map((name) => [name, undefined]));
}

/** Returns the schedules of a workflow, or why one cannot be used. */
function schedulesOf({ triggers }: ActionUse): readonly PlainValue[] | { readonly problem: string } {
  const written = triggers.get('schedule');
  const found: PlainValue[] = [];
  for (const one of Array.isArray(written) ? (written as readonly unknown[]) : []) {
    if (!isRecord(one) || typeof one.cron !== 'string') return { problem: 'a schedule without `cron`' };
    const { timezone } = one;
    const cron = one.cron.trim().replace(/\s+/g, ' ');
    found.push(typeof timezone === 'string' ? { cron, timezone } : cron);
  }
  return found;
}

/** Activities of pull requests at GitHub, by those of the forge. */
const activities: Readonly<Record<string, readonly string[]>> = {
  opened: ['opened'],
  reopened: ['reopened'],
  closed: ['closed'],
  edited: ['edited'],
  synchronize: ['synchronized'],
  labeled: ['label_updated'],
  unlabeled: ['label_updated', 'label_cleared'],
  assigned: ['assigned'],
  unassigned: ['unassigned'],
  milestoned: ['milestoned'],
  demilestoned: ['demilestoned'],
  review_requested: ['review_requested'],
  review_request_removed: ['review_request_removed'],
  // The forge marks drafts in the title.
  ready_for_review: ['edited'],
  converted_to_draft: ['edited'],
};

const defaultTypes = ['opened', 'synchronize', 'reopened'];

/** What starts a rule about pull requests: the value of `on`, or why a workflow's triggers cannot be used. */
export type PullTrigger =
  | { readonly on: { readonly [name: string]: PlainValue }; readonly types: readonly string[] }
  | { readonly problem: string };

/** Returns the trigger that a workflow's `pull_request` or `pull_request_target` stands for; undefined without both. */
export function pullTriggerOf({ triggers }: ActionUse): PullTrigger | undefined {
  const name = ['pull_request_target', 'pull_request'].find((one) => triggers.has(one));
  if (name === undefined) return undefined;
  const written = triggers.get(name);
  const filter = isRecord(written) ? written : {};
  const types = filter.types === undefined ? defaultTypes : (texts(filter.types) ?? []);
  const known = types.flatMap((type) => activities[type] ?? []);
  if (known.length === 0) return { problem: `no event of the forge stands for ${types.join(', ')}` };
  const filters: Record<string, PlainValue> = {};
  for (const key of ['branches', 'branches-ignore', 'paths', 'paths-ignore']) {
    if (filter[key] === undefined) continue;
    const globs = texts(filter[key]) ?? [];
    try {
      if (globs.some((glob) => /[+?@*!]\(|(?<!\\)\+|[^*/]\?/.test(glob)))
        throw new GlobError('', 'has + or ?');
      compileGlob(globs);
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      return { problem: `the filter \`${key}\` of \`${name}\`: ${error.reason}` };
    }
    filters[key] = globs;
  }
  return { on: { pull_request: { types: [...new Set(known)], ...filters } }, types };
}

/** The trigger of a workflow that names no types. */
export const defaultPullTrigger = { pull_request: ['opened', 'synchronized', 'reopened'] };

/**
 * Returns the condition under which the jobs and steps of a use run; or the text that is not understood. `event`: the
 * event that starts the rule instead of the workflow.
 */
export function conditionOf(
  { conditions, triggers }: ActionUse,
  names: Names,
  event: string = ['pull_request_target', 'pull_request', 'issues'].find((name) => triggers.has(name)) ?? '',
): { readonly condition: Condition; readonly notes: readonly string[] } | { readonly problem: string } {
  const parts: Condition[] = [];
  const notes: string[] = [];
  for (const { text } of conditions) {
    const body = text.replace(/^\$\{\{([\s\S]*)\}\}$/, '$1');
    const found = conditionOfText(body, { names, event });
    if (found === undefined)
      return { problem: `the condition \`if: ${text}\` of the workflow is not understood` };
    if (found.condition === never)
      return { problem: `the condition \`if: ${text}\` of the workflow never holds` };
    parts.push(found.condition);
    if (found.note !== undefined) notes.push(found.note);
  }
  return { condition: and(...parts), notes };
}

/**
 * Returns the schedules of a use that looks at items without an event, or why it cannot be converted. `inputs`: those
 * that count; the value of none of them but a token may be an expression of GitHub.
 */
export function scheduledUse(
  use: ActionUse,
  names: Names,
  inputs: ActionUse['inputs'] = use.inputs,
): { readonly schedules: readonly PlainValue[] } | { readonly problem: string } {
  const condition = conditionOf(use, names, 'schedule');
  if ('problem' in condition) return condition;
  const schedules = schedulesOf(use);
  if ('problem' in schedules) return schedules;
  if (condition.condition.text !== 'true')
    return { problem: 'the condition of the workflow is about events, and the rules have a schedule' };
  const problem = expressionInputOf(inputs.values(), (name) => !/token/i.test(name));
  return problem === undefined ? { schedules } : { problem };
}

/** Returns why an input that counts cannot be converted: its value is an expression of GitHub. */
export function expressionInputOf(
  inputs: Iterable<{ readonly name: string; readonly value: string }>,
  counts: (name: string) => boolean,
): string | undefined {
  const unclear = [...inputs].find(({ name, value }) => value.includes('${{') && counts(name));
  return unclear && `the value of \`${unclear.name}\` is an expression of GitHub`;
}

type Scope = { readonly names: Names; readonly event: string };

function conditionOfText(text: string, scope: Scope): Term | undefined {
  for (const [sign, join] of [
    ['||', or],
    ['&&', and],
  ] as const) {
    const terms = splitOutside(text, sign);
    if (terms.length === 1) continue;
    const found = terms.map((term) => conditionOfText(term, scope));
    const known = found.filter((one) => one !== undefined);
    // One part may decide, whatever the others mean.
    const decides = sign === '||' ? always : never;
    if (known.some((one) => one.condition === decides)) return { condition: decides };
    if (known.length < found.length) return undefined;
    const notes = known.flatMap(({ note }) => note ?? []);
    const condition = join(...known.map((one) => one.condition));
    return notes.length === 0 ? { condition } : { condition, note: notes.join('; ') };
  }
  const term = text.replace(/\s+/g, ' ').trim();
  if (term.startsWith('(') && term.endsWith(')') && splitOutside(`${term} `, ' ').length === 2)
    return conditionOfText(term.slice(1, -1), scope);
  const [, sign, event] = /^github\.event_name ([!=])= '(\w+)'$/.exec(term) ?? [];
  if (event !== undefined && scope.event !== '')
    return { condition: (event === scope.event) === (sign === '=') ? always : never };
  return conditionOfTerm(term, scope.names);
}

/** Splits a text at a sign outside of parentheses and quotes. */
function splitOutside(text: string, sign: string): readonly string[] {
  const parts: string[] = [''];
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === "'") isQuoted = !isQuoted;
    if (!isQuoted && character === '(') depth += 1;
    if (!isQuoted && character === ')') depth -= 1;
    if (!isQuoted && depth === 0 && text.startsWith(sign, at)) {
      parts.push('');
      at += sign.length - 1;
    } else parts[parts.length - 1] += character;
  }
  return parts;
}

type Term = { readonly condition: Condition; readonly note?: string };

const quoted = `'((?:[^']|'')*)'`;

/** Forms of conditions in workflows. Others are not understood. */
const termForms: readonly (readonly [RegExp, (match: readonly string[], names: Names) => Term])[] = [
  [/^(always|success)\(\)$|^true$/, () => ({ condition: always })],
  // The rules stand where they are meant to run.
  [new RegExp(`^github\\.repository(_owner)? == ${quoted}$`), () => ({ condition: always })],
  [
    /^github\.event\.action == '(\w+)'$/,
    ([, type = '']) => ({ condition: isOneOf('event.action', activities[type] ?? []) }),
  ],
  [/^github\.event\.pull_request\.draft == false$/, () => ({ condition: notDraft })],
  [/^!\s?github\.event\.pull_request\.draft$/, () => ({ condition: notDraft })],
  [/^github\.event\.pull_request\.merged( == true)?$/, () => ({ condition: merged })],
  [
    new RegExp(`^github\\.event\\.pull_request\\.user\\.login ([!=])= ${quoted}$`),
    ([, sign, login = ''], names) => byLogin('pull_request.user.login', sign, login, names),
  ],
  [
    new RegExp(`^github\\.actor ([!=])= ${quoted}$`),
    ([, sign, login = ''], names) => byLogin('sender.login', sign, login, names),
  ],
  [
    new RegExp(`^contains\\(github\\.event\\.label\\.name, ${quoted}\\)$`),
    ([, part = '']) => ({
      condition: and(isOneOf('event.action', activities.labeled ?? []), labelWith(unquoted(part))),
      note: `a label without \`${unquoted(part)}\` is added to a pull request that has one with it: the workflow does not run, the rule does`,
    }),
  ],
  [
    /^contains\(join\(github\.event\.pull_request\.labels\.\*\.name, ','\), '([^',]+)'\)$/,
    ([, part = '']) => ({ condition: labelWith(part) }),
  ],
  [
    new RegExp(
      `^(!)?\\s?\\(?contains\\(github\\.event\\.pull_request\\.labels\\.\\*\\.name, ${quoted}\\)\\)?$`,
    ),
    ([, isNot, label = '']) => {
      const found = labelled([unquoted(label)]);
      return { condition: isNot === undefined ? found : not(found) };
    },
  ],
];

/** `contains` of GitHub takes no notice of case. */
function labelWith(part: string): Condition {
  return new Condition(`labels.exists(l, l.name.lower().contains(${literal(part.toLowerCase())}))`, 'unary', {
    yes: { labels: [part] },
    no: { labels: [] },
  });
}

function conditionOfTerm(text: string, names: Names): Term | undefined {
  for (const [form, make] of termForms) {
    const match = form.exec(text);
    if (match) return make(match, names);
  }
  return undefined;
}

const notDraft = new Condition('!pull_request.draft', 'unary', {
  yes: situationOf('pull_request.draft', false),
  no: situationOf('pull_request.draft', true),
});

const merged = new Condition('pull_request.merged', 'unary', {
  yes: situationOf('pull_request.merged', true),
  no: situationOf('pull_request.merged', false),
});

function byLogin(path: string, sign: string | undefined, login: string, names: Names): Term {
  const { name, note } = names.user(unquoted(login));
  const condition =
    sign === '=' ? equals(path, name) : new Condition(`${path} != ${literal(name)}`, 'relation');
  return note === undefined ? { condition } : { condition, note };
}

function unquoted(text: string): string {
  return text.replaceAll("''", "'");
}
