import { basename } from 'node:path';
import { ConversionBuilder } from '../builder.ts';
import {
  always,
  and,
  Condition,
  everyFile,
  listLiteral,
  literal,
  never,
  not,
  or,
  regularExpression,
  samplePath,
  someFile,
} from '../condition.ts';
import { type Format, type PlainValue, SourceError, type SourceFile } from '../conversion.ts';
import { convertMinimatch } from '../minimatch-glob.ts';
import type { Names } from '../names.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import {
  type ActionUse,
  conditionOf,
  defaultPullTrigger,
  pullTriggerOf,
  readWorkflow,
  usesAction,
} from '../workflow.ts';

// Source: actions/labeler, src/labeler.ts, src/changedFiles.ts, src/branch.ts and src/api/get-label-configs.ts of v7.0.0
// (commit bf12e9b00b37), src/labeler.ts of v4.3.0 for the older form.

/** Condition of a part; or why it cannot be converted. `changed`: it looks at the changed files. */
type Part = { readonly condition: Condition; readonly changed: boolean } | { readonly why: string };

/** The configuration of the action labeler, of version 4 (globs) and from version 5 on (match objects). */
export const labeler: Format = {
  name: 'labeler',
  title: 'actions/labeler',
  counts: 'labels',
  places: ['.github/labeler.{yml,yaml}'],
  isFormat({ text, path }) {
    try {
      const { value } = readYamlSource({ path, text });
      const labels = isRecord(value) ? Object.values(value) : [];
      return labels.some((one) => typeof one === 'string' || isLabelList(one)) && !isSrvaroa(value);
    } catch (error) {
      if (error instanceof SourceError) return true;
      throw error;
    }
  },
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map of labels was expected');
    const labels = Object.entries(source.value);
    const built = new ConversionBuilder();
    const isOld = labels.some(([, written]) => isOldForm(written));
    const use = workflowOf(file);
    const options = readOptions(use, { built, isOld, names: context.names });
    if (options === undefined) {
      for (const [label] of labels)
        built.leftOut(source.lineOf([label]), `label ${label}`, 'the workflow cannot be converted');
      return built.done();
    }
    const { on, sync, dot, condition: ofWorkflow } = options;
    const ofForm = formNote(use?.version, isOld);
    const maxFiles = limitOf(source.value['max-files-changed']);
    for (const [label, written] of labels) {
      const line = source.lineOf([label]);
      if (limitOf(written) !== undefined && topLevelOptions.includes(label)) {
        if (label === 'max-files-changed') built.carried(line, `${label}: ${String(written)}`, []);
        else
          built.leftOut(
            line,
            `${label}: ${String(written)}`,
            'a rule decides about each label by itself, and does not count how many the others add',
          );
        continue;
      }
      const part = `label ${label}`;
      const read = isOld ? oldForm : newForm;
      let found = read(written, dot);
      let note: string | undefined;
      if (!dot && !('why' in found) && found.condition.text.length > maxExpression) {
        found = read(written, true);
        note =
          'a pull request that changes only a file whose name or folder begins with a dot, such as `.x` in one of these folders: the action without `dot` does not let a wildcard match it, the rule does, because all exclusions together are too long for an expression';
      }
      if ('why' in found) {
        built.leftOut(line, part, found.why);
        continue;
      }
      if (found.condition.text === 'false') {
        built.withoutMeaning(line, part, 'no pull request ever gets this label');
        if (!sync) continue;
      }
      const few =
        maxFiles !== undefined && found.changed
          ? new Condition(`files.size() <= ${maxFiles}`, 'relation')
          : undefined;
      const guard = and(ofWorkflow, ...(few ? [few] : []));
      const name = built.nameOf(`label ${label}`);
      built.rule({
        name,
        comment: source.commentOf([label]),
        on,
        each: 'pull_request',
        ...(sync
          ? {
              if: guard,
              steps: [{ uses: 'set-labels', with: { sync: { [label]: found.condition } } }],
            }
          : {
              if: and(guard, found.condition),
              steps: [{ uses: 'set-labels', with: { add: [label] } }],
            }),
      });
      if (found.condition.text !== 'false') built.carried(line, part, [name], note, ofForm);
    }
    return built.done();
  },
};

/** Returns what the version of the action makes of a file in the form of another version; undefined if it reads it. */
function formNote(version: string | undefined, isOld: boolean): string | undefined {
  const [, number] = /^v?(\d+)(\.|$)/.exec(version ?? '') ?? [];
  const major = /^(main|master)$/.test(version ?? '') ? 5 : Number(number);
  if (isOld && major >= 5)
    return `a pull request with such a file: actions/labeler@${version} cannot read the form of version 4 and never sets this label, the rule does`;
  if (!isOld && major <= 4)
    return `a pull request without such a file: actions/labeler@${version} does not know the keys of version 5 and gives every pull request this label, the rule does not`;
  return undefined;
}

/** Characters of an expression, with some room for what the workflow adds. */
const maxExpression = 1_800;

const topLevelOptions = ['changed-files-labels-limit', 'max-files-changed'];

function limitOf(written: unknown): number | undefined {
  const text = typeof written === 'number' || typeof written === 'string' ? String(written).trim() : '';
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Whether a value is the list of a label, of either form. */
function isLabelList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (one) =>
        typeof one === 'string' ||
        (isRecord(one) &&
          Object.keys(one).some((key) =>
            ['any', 'all', 'changed-files', 'head-branch', 'base-branch'].includes(key),
          )),
    )
  );
}

/** The configuration of srvaroa/labeler stands at the same place. */
function isSrvaroa(value: unknown): boolean {
  return (
    isRecord(value) &&
    Array.isArray(value.labels) &&
    value.labels.some((one) => isRecord(one) && 'label' in one)
  );
}

/** Whether an entry has globs directly: the form up to version 4. */
function isOldForm(written: unknown): boolean {
  if (typeof written === 'string') return true;
  if (!Array.isArray(written)) return false;
  return written.some(
    (one) =>
      typeof one === 'string' ||
      (isRecord(one) &&
        [one.any, one.all].some(
          (globs) => Array.isArray(globs) && globs.some((glob) => typeof glob === 'string'),
        )),
  );
}

/** Returns the step of a workflow that reads this configuration. */
function workflowOf(file: SourceFile): ActionUse | undefined {
  for (const workflow of file.workflows ?? []) {
    if (!usesAction(['actions/labeler'])(workflow)) continue;
    try {
      const found = readWorkflow(workflow, ['actions/labeler']).find(
        ({ inputs }) =>
          basename(inputs.get('configuration-path')?.value ?? '.github/labeler.yml') === basename(file.path),
      );
      if (found) return found;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
  }
  return undefined;
}

type Options = {
  readonly on: PlainValue;
  readonly sync: boolean;
  readonly dot: boolean;
  /** The condition of the workflow. */
  readonly condition: Condition;
};

/** Reads the options of the workflow; undefined if it cannot be converted. */
function readOptions(
  use: ActionUse | undefined,
  {
    built,
    isOld,
    names,
  }: { readonly built: ConversionBuilder; readonly isOld: boolean; readonly names: Names },
): Options | undefined {
  if (use === undefined) {
    built.todo(
      'No workflow with `actions/labeler` was found beside the file. The rules assume `sync-labels: false`, the default of `dot`, and the events opened, synchronize and reopened. Import the folder of the repository if the workflow says something else.',
    );
    return { on: defaultPullTrigger, sync: false, dot: !isOld, condition: always };
  }
  const trigger = pullTriggerOf(use);
  const condition = conditionOf(use, names);
  const problem =
    trigger === undefined
      ? 'the workflow does not run for pull requests'
      : 'problem' in trigger
        ? trigger.problem
        : 'problem' in condition
          ? condition.problem
          : undefined;
  if (problem !== undefined || trigger === undefined || 'problem' in trigger || 'problem' in condition) {
    built.leftOut(1, 'the workflow of actions/labeler', problem ?? '');
    return undefined;
  }
  const sync = use.inputs.get('sync-labels')?.value;
  const dot = use.inputs.get('dot')?.value;
  // Version 4 takes every text as true, `false` included.
  const isSync = isOld ? (sync ?? '') !== '' : sync === 'true';
  for (const [name, { value }] of use.inputs) {
    if (name === 'sync-labels' || name === 'dot') built.besides(1, `${name}: ${value} (workflow)`);
    else if (name === 'pr-number')
      built.leftOut(1, `${name}: ${value} (workflow)`, 'a rule is about the pull request of its event');
  }
  const isDot = dot === undefined || dot === '' ? !isOld : dot.toLowerCase() === 'true';
  return { on: trigger.on, sync: isSync, dot: isDot, condition: condition.condition };
}

/** The form up to version 4: an entry matches if a file matches all globs of `any`, and all files those of `all`. */
function oldForm(written: unknown, dot: boolean): Part {
  const parts: Condition[] = [];
  const list = Array.isArray(written) ? (written as readonly unknown[]) : [written];
  const alone = list.filter((one) => typeof one === 'string');
  if (alone.length > 0) {
    const test = fileTest(alone, 'or', dot);
    if ('why' in test) return test;
    parts.push(some(test));
  }
  for (const entry of list) {
    if (typeof entry === 'string') continue;
    if (!isRecord(entry)) return { why: 'an entry is neither a glob nor a map' };
    const unknown = Object.keys(entry).find((key) => key !== 'any' && key !== 'all');
    if (unknown !== undefined)
      return {
        why: `the file has globs as in version 4, in which an entry with \`${unknown}\` alone matches everything; later versions refuse the file`,
      };
    const both: Condition[] = [];
    for (const [key, quantity] of [
      ['all', 'every'],
      ['any', 'some'],
    ] as const) {
      if (entry[key] === undefined) continue;
      const globs = Array.isArray(entry[key]) ? texts(entry[key]) : undefined;
      if (globs === undefined) return { why: `\`${key}\` is no list of globs` };
      const test = fileTest(globs, 'and', dot);
      if ('why' in test) return test;
      both.push(quantity === 'some' ? some(test) : and(anyFile, every(test)));
    }
    parts.push(and(...both));
  }
  return { condition: or(...parts), changed: true };
}

/** The form from version 5 on. Entries directly below a label belong to its first `any`; several blocks count together. */
function newForm(written: unknown, dot: boolean): Part {
  if (!Array.isArray(written)) return { why: 'the action refuses the file: a label has a list of entries' };
  const blocks: { readonly kind: 'any' | 'all'; readonly items: unknown[] }[] = [];
  for (const entry of written as readonly unknown[]) {
    if (entry === null) continue;
    if (!isRecord(entry)) return { why: 'the action refuses the file: an entry is no map' };
    for (const [key, value] of Object.entries(entry)) {
      if (key === 'any' || key === 'all') {
        if (Array.isArray(value)) blocks.push({ kind: key, items: [...(value as readonly unknown[])] });
      } else if (key === 'changed-files' || key === 'head-branch' || key === 'base-branch') {
        const first = blocks.find(({ kind }) => kind === 'any');
        if (first) first.items.push({ [key]: value });
        else blocks.push({ kind: 'any', items: [{ [key]: value }] });
      } else return { why: `\`${key}\` is not known` };
    }
  }
  const parts: Condition[] = [];
  let changed = false;
  for (const { kind, items } of blocks) {
    const inner: Condition[] = [];
    for (const item of items) {
      const found = blockItem(item, kind, dot);
      if ('why' in found) return found;
      changed ||= found.changed;
      inner.push(...found.conditions);
    }
    // A block without anything to compare does not match.
    parts.push(inner.length === 0 ? never : kind === 'any' ? or(...inner) : and(...inner));
  }
  return { condition: parts.length === 0 ? never : and(...parts), changed };
}

function blockItem(
  item: unknown,
  kind: 'any' | 'all',
  dot: boolean,
): { readonly conditions: readonly Condition[]; readonly changed: boolean } | { readonly why: string } {
  if (!isRecord(item)) return { why: 'an entry is no map' };
  const join = kind === 'any' ? or : and;
  const conditions: Condition[] = [];
  let changed = false;
  for (const [key, value] of Object.entries(item)) {
    if (key === 'head-branch' || key === 'base-branch') {
      if (value === null || value === '') continue;
      const branch = branchTest(key, value, join);
      if ('why' in branch) return branch;
      conditions.push(branch.condition);
    } else if (key === 'changed-files') {
      // The action looks at a list only: a map counts as absent.
      if (!Array.isArray(value) || value.length === 0) {
        if (typeof value === 'string')
          return { why: 'the action refuses the file: `changed-files` is a text' };
        continue;
      }
      const found = changedFiles(value as readonly unknown[], dot);
      if ('why' in found) return found;
      changed = true;
      conditions.push(kind === 'any' ? or(...found.conditions) : and(anyFile, ...found.conditions));
    } else return { why: `\`${key}\` is not known` };
  }
  return { conditions, changed };
}

function branchTest(
  key: 'head-branch' | 'base-branch',
  value: unknown,
  join: (...conditions: readonly Condition[]) => Condition,
): { readonly condition: Condition } | { readonly why: string } {
  const patterns = texts(value);
  if (patterns === undefined) return { why: `\`${key}\` is no list of regular expressions` };
  const tests: Condition[] = [];
  for (const pattern of patterns) {
    const test = regularExpression(pattern, { dialect: 'js' });
    if ('problem' in test) return { why: test.problem };
    tests.push(test.on(key === 'head-branch' ? 'pull_request.head.ref' : 'pull_request.base.ref'));
  }
  return { condition: join(...tests) };
}

const quantities: Readonly<Record<string, readonly [of: 'or' | 'and', files: 'some' | 'every']>> = {
  'any-glob-to-any-file': ['or', 'some'],
  'any-glob-to-all-files': ['or', 'every'],
  'all-globs-to-any-file': ['and', 'some'],
  'all-globs-to-all-files': ['and', 'every'],
};

function changedFiles(
  list: readonly unknown[],
  dot: boolean,
): { readonly conditions: readonly Condition[] } | { readonly why: string } {
  const conditions: Condition[] = [];
  for (const entry of list) {
    if (!isRecord(entry))
      return { why: 'the action refuses the file: an entry of `changed-files` is no map' };
    for (const [key, value] of Object.entries(entry)) {
      const quantity = quantities[key];
      if (quantity === undefined)
        return { why: `the action refuses the file: \`${key}\` below \`changed-files\` is not known` };
      const globs = texts(value);
      if (globs === undefined) return { why: `\`${key}\` is no list of globs` };
      const [joined, files] = quantity;
      if (files === 'every' && joined === 'or') {
        // One and the same glob matches all files.
        const each: Condition[] = [];
        for (const glob of globs) {
          const test = fileTest([glob], 'or', dot);
          if ('why' in test) return test;
          each.push(every(test));
        }
        conditions.push(or(...each));
        continue;
      }
      const test = fileTest(globs, joined, dot);
      if ('why' in test) return test;
      conditions.push(files === 'some' ? some(test) : every(test));
    }
  }
  return { conditions };
}

/** A test on the name of a file: `text` is an expression about `f`, or true or false for every file. */
type FileTest = { readonly text: string | boolean; readonly sample: string | undefined };

/** There is a changed file. */
const anyFile = new Condition('files.size() > 0', 'relation', { yes: { files: ['x'] } });

function some({ text, sample }: FileTest): Condition {
  if (text === false) return never;
  return text === true ? anyFile : someFile(text, sample);
}

function every({ text, sample }: FileTest): Condition {
  if (text === true) return always;
  return text === false ? not(anyFile) : everyFile(text, sample);
}

function fileTest(
  globs: readonly string[],
  joined: 'or' | 'and',
  dot: boolean,
): FileTest | { readonly why: string } {
  const plain: string[] = [];
  const others: string[] = [];
  const samples: string[] = [];
  let isNever = false;
  let isAlways = false;
  for (const written of globs) {
    const found = convertMinimatch(written, { dot });
    if ('problem' in found) return { why: `the glob \`${written}\`: ${found.problem}` };
    const { lists, isNegated } = found;
    if (lists.length === 0) {
      if (isNegated) isAlways = true;
      else isNever = true;
      continue;
    }
    samples.push(...(isNegated ? [] : lists.flat()));
    const [first = []] = lists;
    if (joined === 'or' && !isNegated && lists.length === 1 && !first.some((glob) => glob.startsWith('!')))
      plain.push(...first);
    else {
      const tests = lists.map((list) => globTest(list));
      const any = tests.length === 1 ? (tests[0] ?? '') : `(${tests.join(' || ')})`;
      others.push(isNegated ? `!${any}` : any);
    }
  }
  const sample = samples
    .filter((glob) => !glob.startsWith('!'))
    .map(samplePath)
    .find((path) => path !== undefined);
  if (joined === 'and') {
    if (isNever) return { text: false, sample };
    return others.length === 0 ? { text: true, sample } : { text: others.join(' && '), sample };
  }
  if (isAlways) return { text: true, sample };
  const tests = [...(plain.length > 0 ? [globTest(plain)] : []), ...others];
  return tests.length === 0 ? { text: false, sample } : { text: tests.join(' || '), sample };
}

function globTest(globs: readonly string[]): string {
  const [only = ''] = globs;
  return `f.filename.glob(${globs.length === 1 ? literal(only) : listLiteral(globs)})`;
}
