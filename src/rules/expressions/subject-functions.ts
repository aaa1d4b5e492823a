import type { ASTNode } from '@marcbachmann/cel-js';
import { anyStatus } from '../../facts/files.ts';
import { judgeContexts } from '../../facts/statuses.ts';
import type { Matcher } from '../../patterns/automaton.ts';
import { compileGlob, GlobError } from '../../patterns/glob.ts';
import { GlobGroups } from '../../patterns/glob-groups.ts';
import type { Meter } from '../../patterns/meter.ts';
import { costs } from './budget.ts';
import { literalOf } from './parse.ts';
import { Failure } from './values.ts';

/** Returns the result for the value of the function's fact, or a Failure. */
export type RunOnFact = (value: readonly unknown[], meter: Meter) => boolean | Failure;

/**
 * A function about the subject of the rule. It reads a fact, and takes a literal text or list of texts; an entry with
 * `!` excludes, whatever its place.
 */
export type SubjectFunction = {
  readonly name: string;
  /** The fact that the function reads. Its value is a list. */
  readonly fact: 'files' | 'labels' | 'statuses';
  /** The members of the fact's items that evidence shows. */
  readonly shown: readonly string[];
  /** Word for the entries, in messages and in the reference. */
  readonly takes: 'globs' | 'names' | 'contexts';
  readonly meaning: string;
  readonly example: string;
  /** Compiles the entries. Throws GlobError if an entry is invalid. */
  readonly bind: (entries: readonly string[], paths: ChangedPaths) => RunOnFact;
};

/** The path globs of a rule, which are tested together, and the names of the files that they were tested on last. */
export class ChangedPaths {
  /** Created with the first list, because most rules have none. */
  #groups: GlobGroups | undefined;
  readonly #names = new WeakMap<readonly unknown[], readonly string[] | Failure>();

  /** Compiles a list of globs for `touches` or `only_touches`. */
  bind(entries: readonly string[], quantity: 'some' | 'every'): RunOnFact {
    this.#groups ??= new GlobGroups();
    const groups = this.#groups;
    const group = groups.add(entries, quantity);
    return (files, meter) => {
      const names = this.#namesOf(files, meter);
      if (names instanceof Failure) return names;
      return groups.test(names, meter)[group] === true;
    };
  }

  /** Returns the names of the files, and the former names of renamed ones; a Failure if the list is incomplete. */
  #namesOf(files: readonly unknown[], meter: Meter): readonly string[] | Failure {
    const known = this.#names.get(files);
    if (known) return known;
    meter.charge(files.length * costs.member);
    const names: string[] = [];
    for (const file of files) {
      const { filename, previous_filename, status } = Object(file) as Readonly<Record<string, unknown>>;
      if (status === anyStatus) {
        const failure = new Failure('the forge does not list all changed files of this push');
        this.#names.set(files, failure);
        return failure;
      }
      if (typeof filename !== 'string') return new Failure('a changed file has no name');
      names.push(filename);
      if (typeof previous_filename === 'string' && previous_filename !== '') names.push(previous_filename);
    }
    this.#names.set(files, names);
    return names;
  }
}

export const subjectFunctions: readonly SubjectFunction[] = [
  {
    name: 'touches',
    fact: 'files',
    shown: ['filename'],
    takes: 'globs',
    meaning:
      'A changed file of the pull request or push matches, by its name or its former name; deleted files count. Fails if the forge does not list all changed files.',
    example: 'touches(["docs/**", "**/*.md"])',
    bind: (entries, paths) => paths.bind(entries, 'some'),
  },
  {
    name: 'only_touches',
    fact: 'files',
    shown: ['filename'],
    takes: 'globs',
    meaning:
      'There is a changed file, and all of them match, renamed ones by both names. Fails if the forge does not list all changed files.',
    example: 'only_touches(["docs/**", "!docs/api/**"])',
    bind: (entries, paths) => paths.bind(entries, 'every'),
  },
  {
    name: 'labelled',
    fact: 'labels',
    shown: ['name'],
    takes: 'names',
    meaning: 'The issue or pull request has one of these labels, and none of those with `!`.',
    example: 'labelled(["bug", "regression", "!wontfix"])',
    bind: bindLabelled,
  },
  {
    name: 'passed',
    fact: 'statuses',
    shown: ['context', 'status'],
    takes: 'contexts',
    meaning:
      'Each glob matches a context of the newest commit, and the newest status of every match is success or skipped. `*` also matches `/`. As with required checks, `reeve/queue` counts for its own name alone, and a glob for every name needs a status that no rule of Reeve wrote.',
    example: 'passed(["ci/*", "!ci/optional"])',
    bind: (entries) => bindContexts(entries, 'passed'),
  },
  {
    name: 'failed',
    fact: 'statuses',
    shown: ['context', 'status'],
    takes: 'contexts',
    meaning:
      'The newest status of a context that matches one of the globs is failure or error. `*` also matches `/`.',
    example: 'failed("ci/*")',
    bind: (entries) => bindContexts(entries, 'failed'),
  },
];

const byName = new Map(subjectFunctions.map((one) => [one.name, one]));

/** Returns the function about the subject that a node calls; undefined if it calls none. */
export function subjectFunctionOf(node: ASTNode): SubjectFunction | undefined {
  return node.op === 'call' ? byName.get(node.args[0]) : undefined;
}

/** Returns the compiled function of a call, or the problem of its argument. */
export function bindSubjectFunction(
  row: SubjectFunction,
  argument: ASTNode | undefined,
  paths: ChangedPaths,
): { readonly run: RunOnFact } | { readonly code: 'expression' | 'pattern'; readonly reason: string } {
  const entries = entriesOf(argument);
  const count = argument?.op === 'list' ? argument.args.length : 1;
  if (entries.length !== count || entries.length === 0) {
    const reason = `${row.name} takes its ${row.takes} as a literal text or list: ${row.example}`;
    return { code: 'expression', reason };
  }
  try {
    return { run: row.bind(entries, paths) };
  } catch (error) {
    if (error instanceof GlobError) return { code: 'pattern', reason: error.message };
    throw error;
  }
}

/** Returns the literal texts of the argument of such a function. */
export function entriesOf(argument: ASTNode | undefined): readonly string[] {
  const nodes = argument?.op === 'list' ? argument.args : argument ? [argument] : [];
  return nodes.map(literalOf).filter((entry) => typeof entry === 'string');
}

type Entries = { readonly included: readonly string[]; readonly excluded: readonly string[] };

/** Separates the entries with `!`. Throws GlobError if no entry includes. */
function separate(entries: readonly string[]): Entries {
  const excluded = entries.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  const included = entries.filter((entry) => !entry.startsWith('!'));
  const empty = [...included, ...excluded].find((entry) => entry === '');
  if (empty !== undefined) throw new GlobError(empty, 'is empty');
  if (included.length === 0)
    throw new GlobError(entries[0] ?? '', 'only excludes: first list what should match');
  return { included, excluded };
}

function bindLabelled(entries: readonly string[]): RunOnFact {
  const { included, excluded } = separate(entries);
  const [wanted, unwanted] = [new Set(included), new Set(excluded)];
  return (labels, meter) => {
    meter.charge(labels.length * costs.step);
    let isFound = false;
    for (const label of labels) {
      const name = textMember(label, 'name');
      if (name === undefined) return new Failure('a label has no name');
      if (unwanted.has(name)) return false;
      if (wanted.has(name)) isFound = true;
    }
    return isFound;
  };
}

function bindContexts(entries: readonly string[], asked: 'passed' | 'failed'): RunOnFact {
  const { included, excluded } = separate(entries);
  const compile = (glob: string): { readonly glob: string; readonly matches: Matcher } => ({
    glob,
    matches: compileGlob(glob, { separator: '', segments: false }),
  });
  const [wanted, unwanted] = [included.map(compile), excluded.map(compile)];
  return (statuses, meter) => {
    meter.charge(statuses.length * costs.step);
    const kept: { context: string; status: string }[] = [];
    for (const one of statuses) {
      const [context, status] = [textMember(one, 'context'), textMember(one, 'status')];
      if (context === undefined || status === undefined)
        return new Failure('a status has no context or no state');
      if (!unwanted.some(({ matches }) => matches(context, meter))) kept.push({ context, status });
    }
    const judged = judgeContexts(wanted, kept, meter);
    return asked === 'passed'
      ? judged.every(({ state }) => state === 'success')
      : judged.some(({ unpassed }) =>
          unpassed.some(({ status }) => status === 'failure' || status === 'error'),
        );
  };
}

function textMember(value: unknown, name: string): string | undefined {
  const member: unknown =
    typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? Reflect.get(value, name)
      : undefined;
  return typeof member === 'string' ? member : undefined;
}
