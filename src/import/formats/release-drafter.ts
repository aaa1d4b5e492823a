import { ConversionBuilder } from '../builder.ts';
import { always, and, type Condition, or, regularExpression } from '../condition.ts';
import { type Format, SourceError, type SourceFile } from '../conversion.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { type ActionUse, conditionOf, pullTriggerOf, readWorkflow, usesAction } from '../workflow.ts';
import { ignoredFile } from './path-labels.ts';

// Source: release-drafter/release-drafter, src/actions/autolabeler/main.ts, src/actions/autolabeler/config and
// src/common/string-to-regex.ts of v7.7.0 (commit c03148ea4369); index.js of v5.25.0 for its events.

const actions = ['release-drafter/release-drafter', 'release-drafter/release-drafter/autolabeler'];

/** The section `autolabeler` of the configuration of release-drafter. */
export const releaseDrafter: Format = {
  name: 'release-drafter',
  title: 'release-drafter (autolabeler)',
  counts: 'labels',
  places: ['.github/release-drafter*.{yml,yaml}'],
  isFormat: ({ text }) => /^autolabeler\s*:/m.test(text),
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map was expected');
    const built = new ConversionBuilder();
    const { autolabeler } = source.value;
    const others = Object.keys(source.value).filter((key) => key !== 'autolabeler');
    const [first] = others;
    if (first !== undefined)
      built.leftOut(
        source.lineOf([first]),
        `the sections about releases: ${others.join(', ')}`,
        'Reeve writes no release notes and drafts no releases',
        { isApart: true },
      );
    if (!Array.isArray(autolabeler)) return built.done();
    const use = workflowOf(file);
    const trigger = use && pullTriggerOf(use);
    const condition = use ? conditionOf(use, context.names) : { condition: always, notes: [] };
    const problem =
      use?.inputs.get('disable-autolabeler')?.value === 'true'
        ? 'the workflow has `disable-autolabeler`'
        : trigger && 'problem' in trigger
          ? trigger.problem
          : 'problem' in condition
            ? condition.problem
            : undefined;
    if (use === undefined)
      built.todo(
        'No workflow with release-drafter was found beside the file: the rules listen to the events of its app (opened, reopened, synchronize, edited). Import the folder of the repository if the workflow listens to others.',
      );
    const on =
      trigger && 'on' in trigger
        ? trigger.on
        : { pull_request: ['opened', 'reopened', 'synchronized', 'edited'] };
    for (const [place, entry] of (autolabeler as readonly unknown[]).entries()) {
      const line = source.lineOf(['autolabeler', place]);
      const label = isRecord(entry) && typeof entry.label === 'string' ? entry.label : undefined;
      const part = `label ${label ?? place + 1}`;
      if (!isRecord(entry) || label === undefined || label === '') {
        built.leftOut(line, part, 'release-drafter refuses the file: an entry has no label');
        continue;
      }
      const found = problem === undefined ? conditionOfEntry(entry) : { problem };
      if ('problem' in found || 'problem' in condition) {
        built.leftOut(line, part, 'problem' in found ? found.problem : (problem ?? ''));
        continue;
      }
      if (found.condition.text === 'false') {
        built.withoutMeaning(line, part, 'no pull request ever gets this label');
        continue;
      }
      const name = built.nameOf(`label ${label}`);
      built.rule({
        name,
        comment: source.commentOf(['autolabeler', place]),
        on,
        each: 'pull_request',
        if: and(condition.condition, found.condition),
        steps: [{ uses: 'set-labels', with: { add: [label] } }],
      });
      built.carried(line, part, [name], ...condition.notes, ...found.notes);
    }
    return built.done();
  },
};

function workflowOf({ workflows = [], path }: SourceFile): ActionUse | undefined {
  for (const workflow of workflows) {
    if (!usesAction(actions)(workflow)) continue;
    try {
      const uses = readWorkflow(workflow, actions).filter(({ triggers }) =>
        ['pull_request', 'pull_request_target'].some((name) => triggers.has(name)),
      );
      const found = uses.find(({ inputs }) =>
        path.endsWith(inputs.get('config-name')?.value ?? 'release-drafter.yml'),
      );
      if (found) return found;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
  }
  return undefined;
}

const values = {
  branch: 'pull_request.head.ref',
  title: 'pull_request.title',
  body: 'pull_request.body',
} as const;

/** Matchers of one entry count independently. */
function conditionOfEntry(
  entry: Readonly<Record<string, unknown>>,
): { readonly condition: Condition; readonly notes: readonly string[] } | { readonly problem: string } {
  const parts: Condition[] = [];
  const notes: string[] = [];
  for (const [key, value] of Object.entries(entry)) {
    if (key === 'label') continue;
    const patterns = texts(value);
    if (patterns === undefined) return { problem: `\`${key}\` is no list of texts` };
    if (key === 'files') {
      const files = ignoredFile(patterns);
      if ('problem' in files) return files;
      parts.push(files);
    } else if (key === 'branch' || key === 'title' || key === 'body') {
      for (const pattern of patterns) {
        const found = testOf(pattern, key);
        if ('problem' in found) return found;
        parts.push(found.condition);
        if (found.note !== undefined) notes.push(found.note);
      }
    } else return { problem: `\`${key}\` is not known` };
  }
  return { condition: or(...parts), notes };
}

/** Text is searched for as it is, unless it stands between slashes. */
function testOf(
  pattern: string,
  key: keyof typeof values,
): { readonly condition: Condition; readonly note?: string } | { readonly problem: string } {
  const [, body, flags = ''] = /^\/(.+)\/([AJUXgimsux]*)$/s.exec(pattern) ?? [];
  if (body === undefined) {
    const escaped = pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const test = regularExpression(escaped, { dialect: 'js' });
    return 'problem' in test ? test : { condition: test.on(values[key]) };
  }
  if (/[AJUXx]/.test(flags))
    return { problem: `release-drafter ignores the entry: \`${pattern}\` is invalid` };
  const test = regularExpression(body, {
    dialect: 'js',
    ignoreCase: flags.includes('i'),
    flags: `${flags.includes('m') ? 'm' : ''}${flags.includes('s') ? 's' : ''}`,
  });
  if ('problem' in test) return test;
  const condition = test.on(values[key]);
  return key === 'body' && flags.includes('m') && /(?<!\\)\$/.test(body)
    ? {
        condition,
        note: `a description with Windows line ends: \`$\` of ${pattern} matches before \`\\r\\n\` there, and only before \`\\n\` in the rule`,
      }
    : { condition };
}
