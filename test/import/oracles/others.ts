/**
 * Small bots, one function each. Read at:
 *
 * - github.com/amannn/action-semantic-pull-request b439535a8eb2122b748ed2b45d1693aaabe5b0aa: `run` (src/index.js),
 *   `validatePrTitle`, `ConfigParser`; the header of conventional-changelog-conventionalcommits 9;
 * - github.com/zeke/semantic-pull-requests f4916f442d077624ea7bc24751be187be3c3ac9f: `handlePullRequestChange`,
 *   `isSemanticMessage`; the header of parse-commit-message 4 is not published with its package and written from its
 *   documentation;
 * - github.com/kentaro-m/auto-assign-action e4bac10e264c621dbfddcba9b25d1f9d79c3117a and github.com/kentaro-m/auto-assign
 *   5cf3d0e24381df83a411852e4657db7134752a6a: `handlePullRequest`, `chooseUsers`, `chooseReviewers`, `chooseAssignees`;
 * - github.com/necojackarc/auto-request-review 5d3060495e58e9cb41f51de50e808d3135d5374e: src/index.js, src/reviewer.js;
 * - github.com/release-drafter/release-drafter c03148ea43699a98f338dbb64b0d4dd5b07ae447: `main` of
 *   src/actions/autolabeler, `stringToRegex`;
 * - github.com/kaxil/boring-cyborg 6d67e2e720b8d300be06b460cbbb95861c64ad3e: `addLabelsOnPr`, `addReviewersOnPr`,
 *   `verifyTitles`, greetings.js, `matchesBranchFilter`;
 * - github.com/actions/first-interaction a1db7729b356323c7988c20ed6f0d33fe31297be: src/main.ts;
 * - github.com/korthout/backport-action 553846e644fbd1ff334845129486227de4465e6c: `findTargetBranches`
 *   (src/backport.ts);
 * - github.com/sqren/backport 2dba5e51341bfa633515a7b77114f52e7b55138f: `getTargetBranchesFromLabels`.
 *
 * What surprises: files of boring-cyborg and of the autolabeler are patterns of .gitignore, of which the last one decides;
 * a text without slashes is a literal part for the autolabeler; auto-assign-action chooses one reviewer if no number is
 * given, where the app takes all; first-interaction greets everyone without an earlier issue in every pull request.
 */
import ignore from 'ignore';
import { Minimatch } from 'minimatch';
import { parse } from 'yaml';
import { stepsOf } from './stale.ts';
import {
  type Decision,
  decision,
  type Effect,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  nothing,
  type Oracle,
  type Subject,
} from './subject.ts';

const read = (configuration: string): Mapping => mappingOf(parse(configuration, { merge: true }));
const types = ['feat', 'fix', 'docs', 'style', 'refactor', 'perf', 'test', 'build', 'ci', 'chore', 'revert'];

const addLabels = (labels: Iterable<string>, subject: Subject): Effect[] =>
  [...new Set(labels)]
    .filter((label) => !subject.labels.includes(label))
    .map((label) => `add-label ${label}` as const);

// Titles.

/** amannn/action-semantic-pull-request, as a workflow. The status has the name of the action. */
export const decideSemanticTitle: Oracle = (configuration, subject) => {
  const effects: Effect[] = [];
  const because: string[] = [];
  for (const inputs of stepsOf(configuration, 'amannn/action-semantic-pull-request')) {
    const lines = (name: string): string[] | undefined => {
      const value = inputs[name];
      if (value === undefined || value === '') return undefined;
      return value
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    };
    const isTrue = (name: string): boolean => inputs[name] === 'true';
    if (lines('ignoreLabels')?.some((label) => subject.labels.includes(label)) === true) {
      effects.push('status semantic-title success');
      continue;
    }
    const wip = isTrue('wip') && /^\[WIP\]\s/.test(subject.title);
    let wrong = wip ? undefined : titleFault(subject.title, inputs, lines);
    if (!wip && wrong === undefined && isTrue('validateSingleCommit')) {
      const [only, ...more] = subject.commits.filter(({ parents }) => parents.length < 2);
      if (only !== undefined && more.length === 0) {
        const [first = ''] = only.message.split('\n');
        if (titleFault(only.message, inputs, lines) !== undefined) wrong = 'the only commit';
        else if (isTrue('validateSingleCommitMatchesPrTitle') && first !== subject.title)
          wrong = 'the title is not that of the only commit';
      }
    }
    if (wrong !== undefined) because.push(wrong);
    // With `wip` the action sets a status of its own besides the result of the job.
    if (isTrue('wip'))
      effects.push(
        `status action-semantic-pull-request ${wip || wrong !== undefined ? 'pending' : 'success'}`,
      );
    effects.push(`status semantic-title ${wrong === undefined ? 'success' : 'failure'}`);
  }
  return decision(effects, ...because);
};

function titleFault(
  title: string,
  inputs: Readonly<Record<string, string>>,
  lines: (name: string) => string[] | undefined,
): string | undefined {
  const names = (inputs.headerPatternCorrespondence ?? 'type,scope,subject')
    .split(',')
    .map((name) => name.trim());
  const header = title.replace(/^\n+/, '').split('\n')[0] ?? '';
  // The pattern of a breaking change comes first, even if the input replaces the other one.
  const match =
    /^(\w*)(?:\((.*)\))?!: (.*)$/.exec(header) ??
    new RegExp(inputs.headerPattern || /^(\w*)(?:\((.*)\))?!?: (.*)$/).exec(header);
  const part = (name: string): string => match?.[names.indexOf(name) + 1] ?? '';
  const [type, scope, subject] = [part('type'), part('scope'), part('subject')];
  if (type === '') return 'no type';
  if (subject === '') return 'no subject';
  const fits = (patterns: readonly string[], text: string): boolean =>
    patterns.some((pattern) => new RegExp(`^${pattern}$`).test(text));
  if (!fits(lines('types') ?? types, type)) return 'unknown type';
  if (inputs.requireScope === 'true' && scope === '') return 'no scope';
  const scopes = scope === '' ? [] : scope.split(',').map((one) => one.trim());
  const [allowed, denied] = [lines('scopes'), lines('disallowScopes')];
  if (allowed !== undefined && scopes.some((one) => !fits(allowed, one))) return 'unknown scope';
  if (denied !== undefined && scopes.some((one) => fits(denied, one))) return 'disallowed scope';
  const pattern = inputs.subjectPattern ?? '';
  if (pattern !== '' && new RegExp(pattern).exec(subject)?.[0]?.length !== subject.length)
    return 'the subject does not match';
  return undefined;
}

/** zeke/semantic-pull-requests: .github/semantic.yml. */
export const decideSemanticPulls: Oracle = (configuration, subject) => {
  const file = read(configuration);
  const list = (name: string): string[] | undefined =>
    Array.isArray(file[name]) ? listOf(file[name]) : undefined;
  const isTrue = (name: string): boolean => file[name] === true;
  const isSemantic = (message: string, ofCommit: boolean): boolean => {
    if (ofCommit && isTrue('allowMergeCommits') && message.startsWith('Merge')) return true;
    if (ofCommit && isTrue('allowRevertCommits') && message.startsWith('Revert')) return true;
    const [, type = '', scope] = /^(\w+)(?:\((.+)\))?!?: .+/i.exec(message) ?? [];
    const scopes = list('scopes');
    const known =
      scopes === undefined ||
      scope === undefined ||
      scope.split(',').every((one) => scopes.includes(one.trim()));
    return (list('types') ?? types).includes(type) && known;
  };
  const title = isSemantic(subject.title, false);
  const results = subject.commits.map(({ message }) => isSemantic(message, true));
  const everyCommit = (isTrue('commitsOnly') || isTrue('titleAndCommits')) && !isTrue('anyCommit');
  const commits = everyCommit ? results.every(Boolean) : results.some(Boolean);
  const single = subject.commits.filter(({ message }) => !message.startsWith('Merge')).length === 1;
  const passes =
    file.enabled === false ||
    (isTrue('titleOnly')
      ? title
      : isTrue('commitsOnly')
        ? commits
        : isTrue('titleAndCommits')
          ? title && commits
          : Object.keys(file).length === 0 && single
            ? commits
            : title || commits);
  return decision([`status Semantic Pull Request ${passes ? 'success' : 'failure'}`]);
};

// Reviewers.

/** kentaro-m/auto-assign-action: .github/auto_assign.yml as the action reads it. */
export const decideAutoAssignAction: Oracle = (configuration, subject) =>
  autoAssign(read(configuration), subject, 'action');
/** kentaro-m/auto-assign: the same file as the app reads it, on opened and ready_for_review alone. */
export const decideAutoAssignApp: Oracle = (configuration, subject) => {
  if (!['opened', 'ready_for_review'].includes(subject.event.action)) return nothing('no event of this bot');
  return autoAssign(read(configuration), subject, 'app');
};

function autoAssign(file: Mapping, subject: Subject, by: 'action' | 'app'): Decision {
  const { author, title, labels } = subject;
  if (listOf(file.skipKeywords).some((word) => title.toLowerCase().includes(word.toLowerCase())))
    return nothing('skip keyword');
  if (subject.draft && !(by === 'action' && file.runOnDraft === true)) return nothing('draft');
  const groups = (use: string, name: string): string[][] | undefined => {
    if (file[use] !== true) return undefined;
    if (!isMapping(file[name])) throw new Error(`${use} without ${name}`);
    const lists = Object.values(file[name]).map(listOf);
    return lists.length > 0 ? lists : undefined;
  };
  const reviewGroups = groups('useReviewGroups', 'reviewGroups');
  const assigneeGroups = groups('useAssigneeGroups', 'assigneeGroups');
  if (by === 'app' && listOf(file.skipUsers).includes(author)) return nothing('skipped user');
  if (by === 'action') {
    const { include, exclude } = mappingOf(file.filterLabels);
    if (listOf(include).length > 0 && !listOf(include).some((label) => labels.includes(label)))
      return nothing('filterLabels.include');
    if (listOf(exclude).some((label) => labels.includes(label))) return nothing('filterLabels.exclude');
  }

  const effects: Effect[] = [];
  const choose = (
    verb: 'request' | 'assign',
    candidates: readonly string[],
    count: number | undefined,
  ): void => {
    const isTeam = (name: string): boolean => by === 'app' && name.includes('/');
    const users = candidates.filter(
      (name) =>
        !isTeam(name) && (by === 'app' ? name !== author : name.toLowerCase() !== author.toLowerCase()),
    );
    const taken = verb === 'request' ? subject.requestedUsers : subject.assignees;
    // lodash's sampleSize takes one item if no number is given; the app takes all for any falsy number.
    const wanted = by === 'app' && !count ? 0 : (count ?? 1);
    if (wanted === 0 || wanted >= users.length) {
      for (const user of users) {
        if (!taken.includes(user))
          effects.push(verb === 'request' ? `request-review ${user}` : `assign ${user}`);
      }
    } else effects.push(`${verb}-some ${wanted} ${[...users].sort().join(',')}`);
    if (verb === 'request' && reviewGroups === undefined) {
      for (const name of candidates.filter(isTeam)) {
        const team = name.split('/')[1] ?? '';
        if (!subject.requestedTeams.includes(team)) effects.push(`request-review @${team}`);
      }
    }
  };
  const number = (name: string): number | undefined =>
    typeof file[name] === 'number' ? file[name] : undefined;
  const reviewers = number('numberOfReviewers');
  if (file.addReviewers === true) {
    for (const group of reviewGroups ?? [listOf(file.reviewers)]) choose('request', group, reviewers);
  }
  if (typeof file.addAssignees === 'string') {
    if (file.addAssignees === 'author' && !subject.assignees.includes(author))
      effects.push(`assign ${author}`);
  } else if (file.addAssignees === true) {
    const own = number('numberOfAssignees');
    const count = by === 'action' ? own || reviewers : (own ?? reviewers);
    for (const group of assigneeGroups ?? [listOf(file.assignees ?? file.reviewers)])
      choose('assign', group, count);
  }
  return decision([...new Set(effects)]);
}

/** necojackarc/auto-request-review. It uses minimatch 3, whose globs without a leading dot are those of minimatch 10. */
export const decideAutoRequestReview: Oracle = (configuration, subject) => {
  const file = read(configuration);
  const options = mappingOf(file.options);
  const reviewers = mappingOf(file.reviewers);
  const groups = mappingOf(reviewers.groups);
  const { author } = subject;
  if (options.ignore_draft !== false && subject.draft) return nothing('draft');
  const keywords =
    options.ignored_keywords === undefined ? ['DO NOT REVIEW'] : listOf(options.ignored_keywords);
  if (keywords.some((word) => subject.title.includes(word))) return nothing('ignored keyword');
  const expand = (names: readonly string[]): string[] =>
    names.flatMap((name) => (Array.isArray(groups[name]) ? listOf(groups[name]) : [name]));

  const patterns = Object.entries(mappingOf(file.files)).map(([glob, names]) => ({
    glob: new Minimatch(glob),
    names: listOf(names),
  }));
  const byFiles =
    options.last_files_match_only === true
      ? subject.files.flatMap(({ path }) => patterns.findLast(({ glob }) => glob.match(path))?.names ?? [])
      : patterns.flatMap(({ glob, names }) =>
          subject.files.some(({ path }) => glob.match(path)) ? names : [],
        );
  const byAuthor = Object.entries(mappingOf(reviewers.per_author)).flatMap(([name, names]) =>
    name === author || expand([name]).includes(author) ? expand(listOf(names)) : [],
  );
  const sameGroup =
    options.enable_group_assignment === true
      ? Object.values(groups).flatMap((members) => (listOf(members).includes(author) ? listOf(members) : []))
      : [];
  let wanted = [...new Set([...expand(byFiles), ...byAuthor, ...sameGroup])].filter(
    (name) => name !== author,
  );
  if (wanted.length === 0)
    wanted = [...new Set(expand(listOf(reviewers.defaults)))].filter((name) => name !== author);
  const count = options.number_of_reviewers;
  if (typeof count === 'number' && count < wanted.length) {
    return count > 0
      ? decision([`request-some ${count} ${[...wanted].sort().map(teamName).join(',')}`])
      : nothing('no reviewers');
  }
  const taken = [...subject.requestedUsers, ...subject.requestedTeams.map((team) => `@${team}`)];
  return decision(
    wanted
      .map(teamName)
      .filter((name) => !taken.includes(name))
      .map((name) => `request-review ${name}` as const),
  );
};

/** A reviewer `team:core` is a team. */
const teamName = (name: string): string =>
  name.startsWith('team:') ? `@${name.slice('team:'.length)}` : name;

// Labels.

/** The autolabeler of release-drafter, in release-drafter.yml or a file of its own. Labels are only added. */
export const decideAutolabeler: Oracle = (configuration, subject) => {
  if (subject.kind === 'issue') return nothing('an issue');
  const rows = read(configuration).autolabeler;
  const labels: string[] = [];
  for (const row of (Array.isArray(rows) ? rows : []).map(mappingOf)) {
    const patterns = (name: string): RegExp[] => listOf(row[name]).map(readRegExp);
    let all: readonly (readonly [RegExp[], string])[];
    try {
      all = [
        [patterns('branch'), subject.head],
        [patterns('title'), subject.title],
        [patterns('body'), subject.body],
      ];
    } catch {
      // A wrong expression drops its row.
      continue;
    }
    const files = listOf(row.files);
    const matcher = ignore().add(files);
    if (
      (files.length > 0 && subject.files.some(({ path }) => matcher.ignores(path))) ||
      all.some(([list, text]) => list.some((pattern) => pattern.test(text)))
    ) {
      labels.push(String(row.label));
    }
  }
  return decision(addLabels(labels, subject));
};

function readRegExp(text: string): RegExp {
  const [, body, flags = ''] = /^\/(.+)\/([AJUXgimsux]*)$/s.exec(text) ?? [];
  if (body === undefined) return new RegExp(text.replaceAll(/[|\\{}()[\]^$+*?.-]/g, '\\$&'));
  // Flags that JavaScript does not have throw, like in the original; `g` has no meaning for one test.
  return new RegExp(body, flags.replace('g', ''));
}

/** kaxil/boring-cyborg: labels by files, reviewers by labels, the check of titles, and greetings. */
export const decideBoringCyborg: Oracle = (configuration, subject) => {
  const file = read(configuration);
  const { event } = subject;
  const effects: Effect[] = [];
  const fits = (filter: unknown): boolean => {
    const patterns = listOf(filter);
    return (
      patterns.length === 0 ||
      subject.kind === 'issue' ||
      patterns.some((pattern) => new RegExp(pattern).test(subject.base))
    );
  };
  if (subject.kind === 'issue') {
    const { issues, commits } = subject.earlier;
    const first = issues === 0 && commits === 0 && mayBeNew(subject);
    return event.action === 'opened' && 'firstIssueWelcomeComment' in file && first
      ? decision(['comment'])
      : nothing('no greeting');
  }
  if (!fits(file.targetBranchFilter)) return nothing('targetBranchFilter');
  const rule = (value: unknown, name: string): string[] | undefined => {
    if (Array.isArray(value)) return listOf(value);
    const given = mappingOf(value);
    return given[name] === undefined || !fits(given.targetBranchFilter) ? undefined : listOf(given[name]);
  };
  if (['opened', 'reopened', 'edited', 'synchronize'].includes(event.action)) {
    const flags = mappingOf(file.labelerFlags);
    if (
      event.action === 'opened' ||
      flags.labelOnPRUpdates === undefined ||
      flags.labelOnPRUpdates === true
    ) {
      const labels = Object.entries(mappingOf(file.labelPRBasedOnFilePath)).flatMap(([label, value]) => {
        const paths = rule(value, 'paths');
        const matcher = ignore().add(paths ?? []);
        return paths !== undefined && subject.files.some(({ path }) => matcher.ignores(path)) ? [label] : [];
      });
      effects.push(...addLabels(labels, subject));
    }
    const titles = mappingOf(file.verifyTitles);
    if ('verifyTitles' in file) {
      const titleOnly =
        titles.alwaysUsePrTitle === true ||
        (titles.validateEitherPrOrSingleCommitTitle === true && subject.commits.length !== 1);
      const texts = titleOnly
        ? [subject.title]
        : subject.commits.map(({ message }) => message.split('\n')[0] ?? '');
      const pattern = new RegExp(String(titles.titleRegexp));
      const passes = texts.length > 0 && texts.every((text) => pattern.test(text));
      effects.push(
        `status ${String(titles.statusTitle ?? 'Title Validator')} ${passes ? 'success' : 'failure'}`,
      );
    }
  }
  if (['labeled', 'unlabeled'].includes(event.action)) {
    const section = mappingOf(file.addReviewerBasedOnLabel);
    const byLabel = mappingOf(section.labels);
    const wanted = new Set([
      ...listOf(section.defaultReviewers),
      ...subject.labels.flatMap((label) =>
        Object.hasOwn(byLabel, label) ? (rule(byLabel[label], 'reviewers') ?? []) : [],
      ),
    ]);
    for (const user of wanted)
      if (user !== subject.author && !subject.requestedUsers.includes(user))
        effects.push(`request-review ${user}`);
  }
  const { pulls, commits } = subject.earlier;
  if (
    event.action === 'opened' &&
    'firstPRWelcomeComment' in file &&
    pulls === 0 &&
    commits === 0 &&
    mayBeNew(subject)
  )
    effects.push('comment');
  if (
    event.action === 'closed' &&
    subject.merged &&
    file.firstPRMergeComment &&
    commits === 0 &&
    mayBeNew(subject)
  )
    effects.push('comment');
  return decision(effects);
};

/** People of the organization and with write access are never greeted, nor are bots. */
function mayBeNew({ author, authorIsBot, members, permissions }: Subject): boolean {
  const permission = permissions[author] ?? 'none';
  return (
    !authorIsBot && author !== 'ghost' && !members.includes(author) && ['none', 'read'].includes(permission)
  );
}

/** actions/first-interaction: no earlier issue of the author, or no earlier pull request of anyone. */
export const decideFirstInteraction: Oracle = (configuration, subject) => {
  const steps = stepsOf(configuration, 'actions/first-interaction');
  if (steps.length === 0 || subject.event.action !== 'opened') return nothing('no event of this bot');
  const first = subject.earlier.issues === 0 || !subject.earlier.anyPull;
  return first ? decision(['comment']) : nothing('not the first contribution');
};

// Backports.

/** korthout/backport-action, as a workflow. Branches that do not exist fail and have no effect. */
export const decideBackportAction: Oracle = (configuration, subject) => {
  if (!subject.merged) return nothing('not merged');
  const branches = stepsOf(configuration, 'korthout/backport-action').flatMap((inputs) => {
    const text = inputs.label_pattern ?? '^backport ([^ ]+)$';
    const pattern = text === '' ? undefined : new RegExp(text);
    const fromLabels = subject.labels.flatMap((label) => {
      const match = pattern?.exec(label) ?? null;
      // Exactly one group: with more, nothing is backported.
      return match?.length === 2 && match[1] !== undefined ? [match[1]] : [];
    });
    const given = (inputs.target_branches ?? '').split(' ').filter((branch) => branch.trim() !== '');
    return [...fromLabels, ...given].filter((branch) => branch !== subject.head);
  });
  return decision(
    [...new Set(branches)]
      .filter((branch) => subject.branches.includes(branch))
      .map((branch) => `backport ${branch}` as const),
  );
};

/** sqren/backport: .backportrc.json. The first pattern that matches a label decides, even if its branch is empty. */
export const decideBackportrc: Oracle = (configuration, subject) => {
  if (!subject.merged) return nothing('not merged');
  const mapping = Object.entries(mappingOf(read(configuration).branchLabelMapping)).map(
    ([pattern, to]) => [new RegExp(pattern), String(to)] as const,
  );
  const branches = subject.labels.flatMap((label) => {
    const found = mapping.find(([pattern]) => pattern.test(label));
    const branch = found === undefined ? '' : label.replace(found[0], found[1]);
    return branch === '' || branch === subject.base ? [] : [branch];
  });
  return decision(
    [...new Set(branches)]
      .filter((branch) => subject.branches.includes(branch))
      .map((branch) => `backport ${branch}` as const),
  );
};
