import { ConversionBuilder } from '../builder.ts';
import {
  always,
  and,
  Condition,
  firstLine,
  labelled,
  or,
  regularExpression,
  situationOf,
} from '../condition.ts';
import { type ConversionContext, type Format, SourceError, Template } from '../conversion.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';
import { statusContext } from '../status-context.ts';
import { ignoredFile } from './path-labels.ts';

// Source: kaxil/boring-cyborg, index.js and lib/*.js of 2026.04.22 (branch main is documentation only).

const edits = { pull_request: ['opened', 'reopened', 'edited', 'synchronized'] };

type Scene = {
  readonly source: Source;
  readonly config: Readonly<Record<string, unknown>>;
  readonly built: ConversionBuilder;
  readonly context: ConversionContext;
  /** The branches that the whole file is about. */
  readonly branches: Condition;
};

/** The configuration of the app boring-cyborg. */
export const boringCyborg: Format = {
  name: 'boring-cyborg',
  title: 'boring-cyborg',
  counts: 'labels and sections',
  places: ['.github/boring-cyborg.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map was expected');
    const config = source.value;
    const built = new ConversionBuilder();
    const branches = branchFilter(config.targetBranchFilter);
    if ('problem' in branches) {
      for (const key of Object.keys(config)) built.leftOut(source.lineOf([key]), key, branches.problem);
      return built.done();
    }
    if (config.targetBranchFilter !== undefined)
      built.carried(source.lineOf(['targetBranchFilter']), 'targetBranchFilter', []);
    const scene: Scene = { source, config, built, context, branches: branches.condition };
    for (const key of Object.keys(config)) {
      const convert = sections[key];
      if (convert) convert(scene, key);
      else if (key !== 'targetBranchFilter')
        built.leftOut(source.lineOf([key]), key, 'the section is not known');
    }
    return built.done();
  },
};

const sections: Readonly<Record<string, (scene: Scene, key: string) => void>> = {
  labelPRBasedOnFilePath: labelsByPath,
  labelerFlags({ source, config, built }) {
    const flags = isRecord(config.labelerFlags) ? config.labelerFlags : {};
    for (const [name, value] of Object.entries(flags)) {
      const part = `labelerFlags.${name}`;
      const line = source.lineOf(['labelerFlags', name]);
      if (name === 'labelOnPRUpdates') built.carried(line, `${part}: ${String(value)}`, []);
      else if (name === 'labelsOnPRCreation') built.withoutMeaning(line, part, 'the app reads it nowhere');
      else built.leftOut(line, part, 'the flag is not known');
    }
  },
  firstPRWelcomeComment(scene, key) {
    welcome(scene, key, {
      on: 'pull_request.opened',
      each: 'pull_request',
      if: and(scene.branches, newcomer('first_pull_request')),
      note: 'a collaborator, or an author with commits on the branch, opens a first pull request here: the app says nothing, the rule writes the comment',
    });
  },
  firstIssueWelcomeComment(scene, key) {
    welcome(scene, key, {
      on: 'issues.opened',
      each: 'issue',
      if: newcomer('first_issue'),
      note: 'an author with commits in the repository opens a first issue: the app says nothing, the rule writes the comment',
    });
  },
  firstPRMergeComment(scene, key) {
    welcome(scene, key, {
      on: 'pull_request.closed',
      each: 'pull_request',
      if: and(
        scene.branches,
        new Condition('pull_request.merged', 'unary', { yes: situationOf('pull_request.merged', true) }),
        new Condition('contributions == 0', 'relation', { yes: { contributions: 0 } }),
      ),
      note: 'a collaborator, or an author who pushed commits without a pull request, has a first pull request merged: the app says nothing, the rule writes the comment; and an author whose newer pull request is merged before an older one: the rule writes it for both',
    });
  },
  verifyTitles,
  checkUpToDate,
  addReviewerBasedOnLabel: reviewersByLabel,
  insertIssueLinkInPrDescription({ source, built }, key) {
    built.leftOut(source.lineOf([key]), key, 'a rule does not edit the description of a pull request');
  },
};

function newcomer(fact: string): Condition {
  return new Condition(fact, 'unary', { yes: { [fact]: true }, no: { [fact]: false } });
}

function branchFilter(written: unknown): { readonly condition: Condition } | { readonly problem: string } {
  if (written === undefined || written === null || written === '') return { condition: always };
  const patterns = texts(written);
  if (patterns === undefined) return { problem: '`targetBranchFilter` is no list of regular expressions' };
  const tests: Condition[] = [];
  for (const pattern of patterns.filter((one) => one !== '')) {
    const test = regularExpression(pattern, { dialect: 'js' });
    if ('problem' in test) return test;
    tests.push(test.on('pull_request.base.ref'));
  }
  return { condition: patterns.length === 0 ? always : or(...tests) };
}

/** Returns list and filter of a rule, which is a list or a map with a list. */
function listOf(
  written: unknown,
  key: 'paths' | 'reviewers',
): { readonly list: readonly string[]; readonly branches: Condition } | { readonly problem: string } {
  const map = isRecord(written) ? written : { [key]: written };
  const list = Array.isArray(map[key]) || typeof map[key] === 'string' ? texts(map[key]) : undefined;
  if (list === undefined) return { problem: `the app skips it: it has no list of ${key}` };
  const unknown = Object.keys(map).find((name) => name !== key && name !== 'targetBranchFilter');
  if (unknown !== undefined) return { problem: `\`${unknown}\` is not known` };
  const branches = branchFilter(map.targetBranchFilter);
  return 'problem' in branches ? branches : { list, branches: branches.condition };
}

function labelsByPath({ source, config, built, branches }: Scene, key: string): void {
  const labels = isRecord(config[key]) ? config[key] : {};
  const flags = isRecord(config.labelerFlags) ? config.labelerFlags : {};
  const onUpdates = 'labelOnPRUpdates' in flags ? Boolean(flags.labelOnPRUpdates) : true;
  for (const [label, written] of Object.entries(labels)) {
    const line = source.lineOf([key, label]);
    const part = `label ${label}`;
    const found = listOf(written, 'paths');
    const files = 'problem' in found ? found : ignoredFile(found.list);
    if ('problem' in files || 'problem' in found) {
      built.leftOut(line, part, 'problem' in files ? files.problem : '');
      continue;
    }
    if (files.text === 'false') {
      built.withoutMeaning(line, part, 'no pull request ever gets this label');
      continue;
    }
    const name = built.nameOf(`label ${label}`);
    built.rule({
      name,
      comment: source.commentOf([key, label]),
      on: onUpdates ? edits : 'pull_request.opened',
      each: 'pull_request',
      if: and(branches, found.branches, files),
      steps: [{ uses: 'set-labels', with: { add: [label] } }],
    });
    built.carried(line, part, [name]);
  }
}

function welcome(
  { source, config, built }: Scene,
  key: string,
  rule: { readonly on: string; readonly each: string; readonly if: Condition; readonly note: string },
): void {
  const line = source.lineOf([key]);
  const text = config[key];
  if (typeof text !== 'string' || text.trim() === '') {
    built.withoutMeaning(line, key, 'it has no text');
    return;
  }
  const name = built.nameOf(
    key
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replace('PRW', 'PR W')
      .replace('PRM', 'PR M'),
  );
  built.rule({
    name,
    comment: source.commentOf([key]),
    on: rule.on,
    each: rule.each,
    if: rule.if,
    steps: [{ uses: 'comment', with: { key: 'welcome', text: new Template(text) } }],
  });
  built.carried(line, key, [name], rule.note);
}

function verifyTitles({ source, config, built, context, branches }: Scene, key: string): void {
  const line = source.lineOf([key]);
  const given = isRecord(config[key]) ? config[key] : {};
  const pattern = String(given.titleRegexp ?? '');
  const title = regularExpression(pattern, { dialect: 'js' });
  if ('problem' in title) {
    built.leftOut(line, key, title.problem);
    return;
  }
  const ofTitle = title.on('pull_request.title');
  const ofCommits = new Condition(`commits.all(c, ${title.on(firstLine('c.commit.message')).text})`, 'unary');
  const condition = given.alwaysUsePrTitle
    ? ofTitle
    : given.validateEitherPrOrSingleCommitTitle
      ? new Condition(
          `commits.size() == 1 && ${ofCommits.text} || commits.size() != 1 && (${ofTitle.text})`,
          'or',
          ofTitle,
        )
      : and(new Condition('commits.size() > 0', 'relation', { yes: { commits: [{}] } }), ofCommits);
  const status = statusContext(String(given.statusTitle ?? 'Title Validator'), context.target);
  const name = built.nameOf('verify titles');
  const message = String(given.failureMessage ?? 'Wrong ${type} title: ${title}')
    .replaceAll('${type} ', '')
    .replaceAll('${type}', 'title')
    .replaceAll('${regex}', `/${pattern}/`);
  const [before = '', ...after] = message.split('${title}');
  built.rule({
    name,
    on: edits,
    each: 'pull_request',
    ...(branches === always ? {} : { if: branches }),
    steps: [
      {
        uses: 'set-status',
        with: {
          context: status.context,
          state: 'success',
          when: condition,
          otherwise: {
            state: 'failure',
            description: new Template(
              before,
              ...after.flatMap((text) => [{ expression: 'pull_request.title' }, text]),
            ),
          },
        },
      },
    ],
  });
  built.carried(
    line,
    key,
    [name],
    given.alwaysUsePrTitle
      ? undefined
      : 'a pull request of more than 30 commits: the app reads the first 30, the rule reads all',
    status.note,
  );
}

function checkUpToDate({ source, config, built, context, branches }: Scene, key: string): void {
  const line = source.lineOf([key]);
  const map = isRecord(config[key]) ? config[key] : { files: config[key] };
  const patterns = texts(map.files ?? []);
  const files = patterns === undefined ? { problem: 'it has no list of files' } : ignoredFile(patterns);
  if ('problem' in files) {
    built.leftOut(line, key, files.problem);
    return;
  }
  const target = String(map.targetBranch ?? 'master');
  const status = statusContext('Up-to-date Checker', context.target);
  const name = built.nameOf('check up to date');
  built.rule({
    name,
    on: edits,
    each: 'pull_request',
    ...(branches === always ? {} : { if: branches }),
    steps: [
      {
        uses: 'set-status',
        with: {
          context: status.context,
          state: 'success',
          description: 'PR is up to date with base branch',
          when: or(
            new Condition(`!(${files.text})`, 'unary', { yes: files.no }),
            new Condition('pull_request.behind == 0', 'relation', { yes: { pull_request: { behind: 0 } } }),
          ),
          otherwise: { state: 'pending', description: 'PR is not up to date with base branch' },
        },
      },
    ],
  });
  built.carried(
    line,
    key,
    [name],
    `a pull request that has the newest commit of its base, but whose base is not \`${target}\`: the app compares with \`${target}\` and says pending, the rule says success; and one that lacks a commit of its base since its last push: the app compares the base at the time of the event`,
    status.note,
  );
}

function reviewersByLabel({ source, config, built, context, branches }: Scene, key: string): void {
  const given = isRecord(config[key]) ? config[key] : {};
  const add = (line: number, part: string, reviewers: readonly string[], condition: Condition): void => {
    const mapped = reviewers.map((login) => context.names.user(login));
    const name = built.nameOf(part);
    built.rule({
      name,
      on: { pull_request: ['label_updated', 'label_cleared'] },
      each: 'pull_request',
      if: condition,
      steps: [{ uses: 'request-reviewers', with: { users: mapped.map((one) => one.name) } }],
    });
    built.carried(
      line,
      part,
      [name],
      `a reviewer who has reviewed already when a label is set: the app requests another review, the rule does not`,
      ...mapped.map(({ note }) => note),
    );
  };
  const defaults = texts(given.defaultReviewers ?? []) ?? [];
  if (defaults.length > 0)
    add(source.lineOf([key, 'defaultReviewers']), 'default reviewers', defaults, branches);
  for (const [label, written] of Object.entries(isRecord(given.labels) ? given.labels : {})) {
    const line = source.lineOf([key, 'labels', label]);
    const found = listOf(written, 'reviewers');
    if ('problem' in found) built.leftOut(line, `reviewers of ${label}`, found.problem);
    else add(line, `reviewers of ${label}`, found.list, and(branches, found.branches, labelled([label])));
  }
}
