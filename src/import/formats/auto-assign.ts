import { ConversionBuilder } from '../builder.ts';
import { and, Condition, labelled, listLiteral, literal, not, situationOf } from '../condition.ts';
import { type ConversionContext, type Format, SourceError, type StepDraft, Template } from '../conversion.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { mapPeople } from './reviewer-lists.ts';

// Source: kentaro-m/auto-assign, src/handler.ts and src/util.ts of commit 5cf3d0e24381; kentaro-m/auto-assign-action,
// src/handler.ts and src/utils.ts of v2.0.2 (commit e4bac10e264c).

/** The configuration of the app and action auto-assign. */
export const autoAssign: Format = {
  name: 'auto-assign',
  title: 'kentaro-m/auto-assign',
  counts: 'options',
  places: ['.github/auto_assign.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map of options was expected');
    const config = source.value;
    const built = new ConversionBuilder();
    const guards: Condition[] = [];
    if (config.runOnDraft !== true)
      guards.push(
        new Condition('!pull_request.draft', 'unary', {
          yes: situationOf('pull_request.draft', false),
          no: situationOf('pull_request.draft', true),
        }),
      );
    const keywords = (texts(config.skipKeywords ?? []) ?? []).map((one) => one.toLowerCase());
    for (const keyword of keywords)
      guards.push(new Condition(`!pull_request.title.lower().contains(${literal(keyword)})`, 'unary'));
    const skipped = mapPeople(texts(config.skipUsers ?? []) ?? [], context.names, () => undefined);
    if (skipped.users.length > 0)
      guards.push(new Condition(`!(pull_request.user.login in ${listLiteral(skipped.users)})`, 'unary'));
    const labels = isRecord(config.filterLabels) ? config.filterLabels : {};
    const include = texts(labels.include ?? []) ?? [];
    const exclude = texts(labels.exclude ?? []) ?? [];
    if (include.length > 0) guards.push(labelled(include));
    if (exclude.length > 0) guards.push(not(labelled(exclude)));
    const reviews = config.addReviewers ? reviewSteps(config, context) : { steps: [], notes: [] };
    const assigns = config.addAssignees ? assignSteps(config, context) : { steps: [], notes: [] };
    const problem =
      'problem' in reviews ? reviews.problem : 'problem' in assigns ? assigns.problem : undefined;
    const steps = [
      ...('steps' in reviews ? reviews.steps : []),
      ...('steps' in assigns ? assigns.steps : []),
    ];
    if (problem !== undefined || steps.length > 10) {
      const why = problem ?? 'a rule has at most ten steps, and the groups need more';
      for (const key of Object.keys(config)) built.leftOut(source.lineOf([key]), key, why);
      return built.done();
    }
    const rules: string[] = [];
    const draws =
      typeof config.numberOfReviewers === 'number' || !(config.addReviewers || config.addAssignees === true);
    const asksTeams = steps.some(({ with: given = {} }) => given.teams !== undefined);
    if (steps.length > 0)
      rules.push(
        built.rule({
          name: built.nameOf('auto assign'),
          // A draft that becomes ready is edited on the forge.
          on: { pull_request: ['opened', 'edited'] },
          each: 'pull_request',
          if: and(new Condition(readyText, 'or', { yes: {} }), ...guards),
          steps,
        }),
      );
    const notesOf: Readonly<Record<string, readonly string[]>> = {
      reviewers: 'notes' in reviews ? reviews.notes : [],
      reviewGroups: 'notes' in reviews ? reviews.notes : [],
      addAssignees: 'notes' in assigns && config.assignees === undefined ? assigns.notes : [],
      assignees: 'notes' in assigns ? assigns.notes : [],
      assigneeGroups: 'notes' in assigns ? assigns.notes : [],
      skipUsers: [
        ...skipped.notes,
        'a pull request by one of these accounts: the app skips it as the rule does, the action has no such option and asks its reviewers',
      ],
      numberOfReviewers: [pickNote],
      numberOfAssignees: [pickNote],
    };
    for (const [key, value] of Object.entries(config)) {
      const line = source.lineOf([key]);
      const part = `${key}: ${shown(value)}`;
      const isUnused =
        (key === 'reviewGroups' && config.useReviewGroups !== true) ||
        (key === 'assigneeGroups' && config.useAssigneeGroups !== true);
      if (!options.has(key)) built.withoutMeaning(line, part, 'the bot has no such option');
      else if (isUnused) built.withoutMeaning(line, part, 'groups are off');
      else {
        const isAll = key.startsWith('numberOf') && !value;
        built.carried(line, part, rules, ...(isAll ? [] : (notesOf[key] ?? [])));
      }
    }
    if (rules.length > 0)
      built.carried(
        1,
        'the file',
        rules,
        'a pull request whose author withdraws the request and marks it as a draft and ready again: the bot asks the reviewer again, the rule does not',
        'a draft that a person of the list has reviewed becomes ready: the bot asks this person again, the rule does not',
        ...(draws ? [] : [allNote]),
        ...(asksTeams ? [teamNote] : []),
      );
    return built.done();
  },
};

/** The event is the opening, or the end of a draft: the forge marks drafts in the title. */
const readyText =
  'event.action == "opened" || has(event.changes) && has(event.changes.title) && event.changes.title.from.lower().matches("^(wip:|\\\\[wip\\\\])")';

const pickNote =
  'each pull request: the bot draws at random, the rule chooses by the number of the pull request, and counts who was asked before';

const allNote =
  'a file without `numberOfReviewers`, in which two people are named: the app and the rule ask both, the action asks one';

const teamNote =
  'a reviewer such as `acme/core`: the app and the rule ask the team, the action takes it for an account that does not exist';

const options = new Set([
  'addReviewers',
  'addAssignees',
  'reviewers',
  'assignees',
  'numberOfReviewers',
  'numberOfAssignees',
  'skipKeywords',
  'skipUsers',
  'useReviewGroups',
  'reviewGroups',
  'useAssigneeGroups',
  'assigneeGroups',
  'filterLabels',
  'runOnDraft',
]);

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value).slice(0, 100) : String(value);
}

type Steps =
  | { readonly steps: readonly StepDraft[]; readonly notes: readonly string[] }
  | { readonly problem: string };

function groupsOf(written: unknown): readonly (readonly string[])[] | undefined {
  if (!isRecord(written)) return undefined;
  const groups = Object.values(written).map((group) => texts(group));
  return groups.some((group) => group === undefined)
    ? undefined
    : groups.filter((group) => group !== undefined);
}

function teamOf(name: string): string | undefined {
  return name.includes('/') ? name.replace(/^@/, '') : undefined;
}

function reviewSteps(config: Readonly<Record<string, unknown>>, { names }: ConversionContext): Steps {
  const groups =
    config.useReviewGroups === true ? groupsOf(config.reviewGroups) : [texts(config.reviewers ?? []) ?? []];
  if (groups === undefined) return { problem: 'the bot refuses the file: `reviewGroups` is no map of lists' };
  const count = Number(config.numberOfReviewers ?? 0) || 0;
  const notes: string[] = [];
  const steps: StepDraft[] = [];
  for (const group of groups) {
    const people = mapPeople(group, names, teamOf);
    notes.push(...people.notes);
    const pick = count > 0 ? { pick: Math.min(10, count) } : {};
    if (people.users.length > 0)
      steps.push({ uses: 'request-reviewers', with: { users: people.users, ...pick } });
    // All teams are asked, however many users are drawn; in groups, none is.
    if (people.teams.length > 0 && config.useReviewGroups !== true)
      steps.push({ uses: 'request-reviewers', with: { teams: people.teams } });
  }
  return { steps, notes };
}

function assignSteps(config: Readonly<Record<string, unknown>>, { names }: ConversionContext): Steps {
  if (config.addAssignees === 'author')
    return {
      steps: [
        {
          uses: 'set-issue',
          with: { assignees: { add: [new Template({ expression: 'pull_request.user.login' })] } },
        },
      ],
      notes: [],
    };
  if (typeof config.addAssignees === 'string')
    return { problem: 'the bot refuses the file: `addAssignees` is neither true, false nor author' };
  const groups =
    config.useAssigneeGroups === true
      ? groupsOf(config.assigneeGroups)
      : [texts(config.assignees ?? config.reviewers ?? []) ?? []];
  if (groups === undefined)
    return { problem: 'the bot refuses the file: `assigneeGroups` is no map of lists' };
  const count = Number(config.numberOfAssignees ?? config.numberOfReviewers ?? 0) || 0;
  const notes: string[] = [];
  const steps: StepDraft[] = [];
  for (const group of groups) {
    const { users, notes: more } = mapPeople(
      group.filter((one) => teamOf(one) === undefined),
      names,
      () => undefined,
    );
    notes.push(
      ...more,
      'a pull request by one of these accounts: the bot never assigns the author, the rule may',
    );
    if (users.length > 0)
      steps.push({
        uses: 'set-issue',
        with: { assignees: { add: users, ...(count > 0 ? { pick: Math.min(users.length, count) } : {}) } },
      });
  }
  return { steps, notes };
}
