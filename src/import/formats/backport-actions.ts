import { parse } from 'yaml';
import { ConversionBuilder } from '../builder.ts';
import { and, Condition, regularExpression, situationOf } from '../condition.ts';
import {
  type ArgumentValue,
  type ConversionContext,
  type Format,
  SourceError,
  Template,
} from '../conversion.ts';
import { escapeGlob } from '../names.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { type ActionUse, conditionOf, readWorkflow, usesAction, workflowPlaces } from '../workflow.ts';

// Source: korthout/backport-action, src/backport.ts and action.yml of v4.6.0 (commit 553846e644fb); tibdex/backport,
// src/backport.ts and action.yml of v2.0.4 (commit 7005ef85c456); sorenlouv/backport, src/options/option-schema.ts and
// src/lib/get-target-branches.ts of v9.6.6 (commit 77217f6793c1), and the input of its action.

const korthout = ['korthout/backport-action', 'zeebe-io/backport-action'];
const tibdex = ['tibdex/backport', 'm-kuhn/backport'];
const sorenlouv = ['sorenlouv/backport-github-action', 'sqren/backport-github-action'];
const actions = [...korthout, ...tibdex, ...sorenlouv];

const merged = new Condition('pull_request.merged', 'unary', {
  yes: situationOf('pull_request.merged', true),
});

/** A label that names a branch: text before and after it, and globs of the branches. */
type BranchLabel = { readonly before: string; readonly after: string; readonly only: readonly string[] };

/** Backports by a workflow. */
export const backportAction: Format = {
  name: 'backport-action',
  title: 'backport actions (korthout, tibdex, sorenlouv)',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) convertUse(use, built, context, file.text);
    return built.done();
  },
};

function convertUse(
  use: ActionUse,
  built: ConversionBuilder,
  context: ConversionContext,
  text: string,
): void {
  const { inputs, line } = use;
  const of = (list: readonly string[]): boolean =>
    list.some((action) => new RegExp(`uses:\\s*['"]?${action}@`, 'i').test(text.split('\n')[line - 1] ?? ''));
  const bot = of(korthout) ? 'korthout' : of(tibdex) ? 'tibdex' : 'sorenlouv';
  const part = `the step ${bot} backport@${use.version}`;
  const input = (name: string): string => inputs.get(name)?.value ?? '';
  const condition = conditionOf(
    use,
    context.names,
    ['pull_request_target', 'pull_request'].find((one) => use.triggers.has(one)) ?? 'pull_request',
  );
  const pattern =
    bot === 'sorenlouv'
      ? `^${(input('auto_backport_label_prefix') || 'backport-to-').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(.+)$`
      : input('label_pattern') || (bot === 'korthout' ? '^backport ([^ ]+)$' : '^backport (?<base>([^ ]+))$');
  const label = branchLabel(pattern, bot === 'tibdex');
  const problem = 'problem' in condition ? condition.problem : 'problem' in label ? label.problem : undefined;
  if (problem !== undefined || 'problem' in label || 'problem' in condition) {
    built.leftOut(line, part, problem ?? '');
    for (const { name, line: at } of inputs.values())
      if (!/token/.test(name)) built.leftOut(at, name, 'the step is left out');
    return;
  }
  const title = titleOf(bot, input(bot === 'tibdex' ? 'title_template' : 'pull_title'));
  const template = bot === 'tibdex' ? labelsTemplate(input('labels_template')) : [];
  const labels = template && [...template, ...words(input('add_labels'))];
  const branches = input('target_branches')
    .split(/\s+/)
    .filter((one) => one !== '');
  const common = {
    ...(labels === undefined || labels.length === 0 ? {} : { labels }),
    ...('problem' in title ? {} : { title: title.title }),
  } satisfies Record<string, ArgumentValue>;
  const name = built.rule({
    name: built.nameOf('backport'),
    on: { pull_request: ['closed', 'label_updated', 'label_cleared'] },
    each: 'pull_request',
    if: and(merged, condition.condition),
    steps: [
      {
        uses: 'backport',
        with: { to: { label: `${label.before}{branch}${label.after}`, only: label.only }, ...common },
      },
      ...(branches.length === 0
        ? []
        : [{ uses: 'backport', with: { to: branches.map(escapeGlob), ...common } }]),
    ],
  });
  const left: Readonly<Record<string, string>> = {
    pull_description: 'a backport has a text of its own, which Reeve recognises it by',
    body_template: 'a backport has a text of its own, which Reeve recognises it by',
    branch_name: 'the branch of a backport is named backport-NUMBER-to-BRANCH',
    head_template: 'the branch of a backport is named backport-NUMBER-to-BRANCH',
    copy_labels_pattern: 'labels are not copied, only set from a list',
    copy_assignees: 'assignees are set from a list alone',
    copy_milestone: 'milestones are not copied',
    copy_requested_reviewers: 'reviewers are not copied',
    copy_all_reviewers: 'reviewers are not copied',
    add_author_as_assignee: 'assignees are set from a list alone',
    add_author_as_reviewer: 'reviewers are not requested at a backport',
    add_reviewers: 'reviewers are not requested at a backport',
    add_team_reviewers: 'reviewers are not requested at a backport',
    add_original_reviewers: 'reviewers are not copied',
    auto_merge_enabled: 'a backport is merged by a rule about merging, not by that about backports',
    auto_merge_method: 'a backport is merged by a rule about merging, not by that about backports',
    experimental: 'a conflict is never committed, and other repositories are not written to',
    source_pr_number: 'a rule is about the pull request of its event',
    cherry_picking_merge_mode: 'white space decides whether changes apply',
  };
  for (const [key, { name: shown, value, line: at }] of inputs) {
    const all = `${shown}: ${value.replaceAll('\n', ' ')}`;
    const why = left[key];
    if (/token|workspace|committer|comment_style|auto_backport_label_prefix/.test(key)) {
      if (key === 'auto_backport_label_prefix') built.carried(at, all, [name]);
      else built.withoutMeaning(at, all, 'the rules use the account of Reeve, and its own comments');
    } else if (key === 'label_pattern' || key === 'target_branches' || key === 'add_labels')
      built.carried(at, all, [name]);
    else if (key === 'pull_title' || key === 'title_template') {
      if ('problem' in title) built.leftOut(at, all, title.problem);
      else built.carried(at, all, [name]);
    } else if (key === 'labels_template') {
      if (labels === undefined) built.leftOut(at, all, 'it is no plain list of labels');
      else built.carried(at, all, [name]);
    } else if (key === 'merge_commits' || key === 'cherry_picking')
      built.carried(
        at,
        all,
        [name],
        'a pull request with merge commits: Reeve brings its changes as one commit, or writes how to do it by hand',
      );
    else if (why !== undefined) {
      if (/^(false|)$/.test(value)) built.withoutMeaning(at, all, 'it is off');
      else built.leftOut(at, all, why);
    } else built.withoutMeaning(at, all, 'the action has no such option');
  }
  if (!use.triggers.has('pull_request') && !use.triggers.has('pull_request_target'))
    built.leftOut(
      use.triggersLine,
      'the events of the workflow',
      'it does not run when a pull request is closed; the rule does',
    );
  built.todo(backportTodo);
  built.carried(
    line,
    part,
    [name],
    'a pull request of three commits: the action cherry-picks three commits, the rule makes one commit with all changes',
    'a label that is added after the merge: the rule backports at once, also if the workflow listens to closed alone',
    ...condition.notes,
  );
}

const backportTodo =
  'The branches of `only` are all whose names fit the pattern of the labels. Write the release branches there: a label names none outside of it.';

/** Splits `^before(captured)after$` with plain text around one group for the branch. */
function branchLabel(
  pattern: string,
  isNamed: boolean,
  choices: readonly string[] = [],
): BranchLabel | { readonly problem: string } {
  const named = isNamed ? '\\(\\?<base>' : '\\((?:\\?<[a-z]+>)?';
  const match = new RegExp(
    `^\\^?((?:[^\\\\()[\\]{}*+?|^$.]|\\\\[^A-Za-z0-9])*)${named}\\(?(.*?)\\)?\\)((?:[^\\\\()[\\]{}*+?|^$.]|\\\\[^A-Za-z0-9])*)\\$?$`,
  ).exec(pattern);
  const problem = { problem: `the label pattern \`${pattern}\` is not of the form TEXT(BRANCH)TEXT` };
  if (match === null || !pattern.startsWith('^') || !pattern.endsWith('$')) return problem;
  const [, before = '', inner = '', after = ''] = match;
  const plain = (text: string): string => text.replace(/\\(.)/g, '$1');
  const test = regularExpression(`^(?:${inner})$`, { dialect: 'js' });
  // Among known branches, those count which the pattern of the label can name.
  const known =
    'problem' in test ? [] : choices.filter((branch) => new RegExp(`^(?:${inner})$`).test(branch));
  const only = known.length > 0 ? known.map(escapeGlob) : globsOfBranch(inner);
  if (only === undefined)
    return { problem: `the branches of the label pattern \`${pattern}\` are no list of globs` };
  if (/[{}]/.test(before + after)) return problem;
  return { before: plain(before), after: plain(after), only };
}

function globsOfBranch(pattern: string): readonly string[] | undefined {
  if (/^(\.[*+]|\[\^ \][*+]|\[\^\\s\][*+]|\\S[*+])\??$/.test(pattern)) return ['**'];
  const globs: string[] = [];
  for (const one of pattern.split('|')) {
    const glob = one
      .replace(/\\d[+*]|\[0-9\][+*]/g, '\u0001')
      .replace(/\.[*+]|\[\^ \][*+]|\\S[*+]|\\w\+/g, '\u0002')
      .replace(/\\d|\[0-9\]/g, '\u0003')
      .replace(/\\([./_-])/g, '$1');
    if (/[\\()[\]{}*+?^$]/.test(glob)) return undefined;
    globs.push(glob.replaceAll('\u0001', '[0-9]*').replaceAll('\u0002', '**').replaceAll('\u0003', '[0-9]'));
  }
  // A glob that matches more than digits would let a label name other branches.
  return globs.some((glob) => glob.includes('[0-9]*')) ? undefined : globs;
}

function titleOf(bot: string, written: string): { readonly title: Template } | { readonly problem: string } {
  const text =
    written ||
    (bot === 'tibdex' ? '[Backport <%= base %>] <%= title %>' : '[Backport ${target_branch}] ${pull_title}');
  const marks = bot === 'tibdex' ? /<%[=-]\s*(\w+)\s*%>/g : /\$\{(\w+)\}/g;
  const values: Readonly<Record<string, string | { readonly expression: string }>> = {
    base: '{branch}',
    target_branch: '{branch}',
    title: { expression: 'pull_request.title' },
    pull_title: { expression: 'pull_request.title' },
    number: { expression: 'pull_request.number' },
    pull_number: { expression: 'pull_request.number' },
    pull_author: { expression: 'pull_request.user.login' },
  };
  const parts: (string | { readonly expression: string })[] = [];
  let end = 0;
  for (const match of text.matchAll(marks)) {
    const value = values[match[1] ?? ''];
    if (value === undefined) return { problem: `\`${match[0]}\` has no counterpart in a title` };
    parts.push(text.slice(end, match.index), value);
    end = match.index + match[0].length;
  }
  const rest = text.slice(end);
  return [...parts, rest].some((one) => typeof one === 'string' && /<%|\$\{/.test(one))
    ? { problem: 'a part of the title is not understood' }
    : { title: new Template(...parts, rest) };
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function labelsTemplate(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (text.includes('<%')) return undefined;
  try {
    return texts(parse(text));
  } catch {
    return undefined;
  }
}

/** The configuration of the command `backport` and its action. */
export const backportrc: Format = {
  name: 'backportrc',
  title: 'backport (.backportrc.json)',
  counts: 'options',
  places: ['.backportrc.json', '.backportrc.js'],
  isFormat: ({ path }) => path.endsWith('.json'),
  convert(file, context) {
    // JSON with comments is read as YAML, without the comments.
    const text = file.text.replace(/^\s*\/\/.*$/gm, '').replaceAll('\t', ' ');
    const source = readYamlSource({ ...file, text });
    if (!isRecord(source.value)) throw new SourceError('a map of options was expected');
    const config = source.value;
    const built = new ConversionBuilder();
    const choices = branchesOf(config.targetBranchChoices ?? config.branches);
    const targets = branchesOf(config.targetBranches);
    const labels = texts(config.targetPRLabels ?? config.labels ?? []) ?? [];
    const assignees = (texts(config.assignees ?? []) ?? []).map((login) => context.names.user(login).name);
    const title = config.prTitle === undefined ? undefined : titleTemplate(String(config.prTitle));
    const common: Record<string, ArgumentValue> = {
      ...(labels.length === 0 ? {} : { labels }),
      ...(assignees.length === 0 ? {} : { assignees }),
      ...(title !== undefined && !('problem' in title) ? { title: title.title } : {}),
    };
    const names = new Map<string, string>();
    const left = new Map<string, string>();
    const add = (key: string, condition: Condition, to: ArgumentValue): void => {
      names.set(
        key,
        built.rule({
          name: built.nameOf(`backport ${key === 'targetBranches' ? '' : 'label'}`),
          on: { pull_request: ['closed', 'label_updated', 'label_cleared'] },
          each: 'pull_request',
          if: condition,
          steps: [{ uses: 'backport', with: { to, ...common } }],
        }),
      );
    };
    // With fixed branches, labels do not count.
    if (targets.length > 0) add('targetBranches', merged, targets.map(escapeGlob));
    const mapping = isRecord(config.branchLabelMapping) ? config.branchLabelMapping : {};
    for (const [pattern, target] of Object.entries(mapping)) {
      const key = `branchLabelMapping.${pattern}`;
      if (targets.length > 0) {
        left.set(key, '');
        continue;
      }
      const whole =
        target === '$1'
          ? branchLabel(pattern, false, choices)
          : { problem: `labels that stand for \`${String(target)}\` need more than the part that they name` };
      if ('problem' in whole) {
        const fixed = fixedBranch(pattern, target);
        if (fixed === undefined) left.set(key, whole.problem);
        else add(key, and(merged, fixed.condition), [escapeGlob(fixed.branch)]);
      } else {
        const only = whole.only.includes('**') && choices.length > 0 ? choices.map(escapeGlob) : whole.only;
        add(key, merged, { label: `${whole.before}{branch}${whole.after}`, only });
      }
    }
    const all = [...names.values()];
    for (const [pattern, target] of Object.entries(mapping)) {
      const line = source.lineOf(['branchLabelMapping', pattern]);
      const key = `branchLabelMapping.${pattern}`;
      const part = `branchLabelMapping ${pattern}: ${String(target)}`;
      const name = names.get(key);
      const why = left.get(key);
      if (why === '') built.withoutMeaning(line, part, '`targetBranches` counts instead of labels');
      else if (why !== undefined) built.leftOut(line, part, why);
      else if (name !== undefined)
        built.carried(line, part, [name], oneCommit, choices.length > 0 ? undefined : anyBranch);
    }
    for (const [key, value] of Object.entries(config)) {
      if (key === 'branchLabelMapping') continue;
      const line = source.lineOf([key]);
      const part = `${key}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
      if (key === 'targetBranches') built.carried(line, part, all, oneCommit);
      else if (key === 'targetBranchChoices' || key === 'branches') {
        if (all.length > 0) built.carried(line, part, all);
        else
          built.leftOut(line, part, 'without labels or fixed branches, a person chooses at the command line');
      } else if (['targetPRLabels', 'labels', 'assignees'].includes(key)) {
        if (all.length > 0) built.carried(line, part, all);
        else built.leftOut(line, part, 'there is no rule that makes backports');
      } else if (key === 'prTitle') {
        if (title === undefined || 'problem' in title) built.leftOut(line, part, title?.problem ?? '');
        else if (all.length > 0) built.carried(line, part, all);
        else built.leftOut(line, part, 'there is no rule that makes backports');
      } else if (commandLine.has(key) || key === '//')
        built.withoutMeaning(
          line,
          part,
          'it is about the command line, the fork or the comments of the tool',
        );
      else if (value === false) built.withoutMeaning(line, part, 'it is off');
      else built.leftOut(line, part, leftOptions[key] ?? 'it has no counterpart');
    }
    return built.done();
  },
};

const oneCommit =
  'a merged pull request for which no person and no workflow runs the tool: nothing is backported, the rule backports it; and one of three commits: the tool cherry-picks three commits, the rule makes one commit with all changes';
const anyBranch =
  'a label that names a branch which exists and is no release branch: both backport to it; write the release branches into `only`';

const leftOptions: Readonly<Record<string, string>> = {
  autoMerge: 'a backport is merged by a rule about merging, not by that about backports',
  autoMergeMethod: 'a backport is merged by a rule about merging, not by that about backports',
  commitConflicts: 'a conflict is never committed',
  conflictResolution: 'a conflict is never committed',
  autoResolveConflictsWithTheirs: 'a conflict is never resolved by the rule',
  backportBranchName: 'the branch of a backport is named backport-NUMBER-to-BRANCH',
  signoff: 'the commit of a backport has no sign-off',
  prDescription: 'a backport has a text of its own',
  reviewers: 'reviewers are not requested at a backport',
  copySourcePRLabels: 'labels are not copied, only set from a list',
  copySourcePRReviewers: 'reviewers are not copied',
  sourcePRLabels: 'the merged pull request gets no labels',
  prFilter: 'it chooses pull requests at the command line',
  autoAssign: 'assignees are set from a list alone',
};

const commandLine = new Set([
  'upstream',
  'repoOwner',
  'repoName',
  'fork',
  'repoForkOwner',
  'details',
  'editor',
  'interactive',
  'all',
  'multiple',
  'multipleBranches',
  'multipleCommits',
  'maxCount',
  'maxNumber',
  'author',
  'dryRun',
  'prFilter',
  'prQuery',
  'publishStatusCommentOnAbort',
  'publishStatusCommentOnFailure',
  'publishStatusCommentOnSuccess',
  'gitHostname',
  'githubApiBaseUrlV3',
  'githubApiBaseUrlV4',
  'telemetry',
  'verbose',
  'ls',
  'noVerify',
  '$schema',
]);

function branchesOf(written: unknown): readonly string[] {
  return (Array.isArray(written) ? (written as readonly unknown[]) : []).flatMap((one) =>
    typeof one === 'string' ? [one] : isRecord(one) && typeof one.name === 'string' ? [one.name] : [],
  );
}

/** A label that is a plain text, or a pattern without a group, stands for one branch. */
function fixedBranch(
  pattern: string,
  target: unknown,
): { readonly condition: Condition; readonly branch: string } | undefined {
  if (typeof target !== 'string' || target === '' || target.includes('$')) return undefined;
  const plain = pattern.replace(/^\^|\$$/g, '');
  if (
    !pattern.startsWith('^') ||
    !pattern.endsWith('$') ||
    /[()|\\[\]{}*+?^$]/.test(plain.replace(/\\d\+?|\\\./g, ''))
  )
    return undefined;
  const escaped = JSON.stringify(pattern);
  return {
    condition: new Condition(`labels.exists(l, l.name.matches(${escaped}))`, 'unary'),
    branch: target,
  };
}

function titleTemplate(text: string): { readonly title: Template } | { readonly problem: string } {
  const values: Readonly<Record<string, string | { readonly expression: string }>> = {
    targetBranch: '{branch}',
    commitMessages: { expression: 'pull_request.title' },
    'sourcePullRequest.title': { expression: 'pull_request.title' },
    'sourcePullRequest.number': { expression: 'pull_request.number' },
  };
  const parts: (string | { readonly expression: string })[] = [];
  let end = 0;
  for (const match of text.matchAll(/\{\{?\s*([\w.]+)\s*\}?\}/g)) {
    const value = values[match[1] ?? ''];
    if (value === undefined) return { problem: `\`${match[0]}\` has no counterpart in a title` };
    parts.push(text.slice(end, match.index), value);
    end = match.index + match[0].length;
  }
  return { title: new Template(...parts, text.slice(end)) };
}
