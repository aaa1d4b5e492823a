import { ConversionBuilder } from '../builder.ts';
import { and, Condition, literal, not, situationOf } from '../condition.ts';
import type { ConversionContext, Format } from '../conversion.ts';
import type { Names } from '../names.ts';
import { type ActionUse, readWorkflow, scheduledUse, usesAction, workflowPlaces } from '../workflow.ts';
import {
  addStaleRules,
  allLabels,
  anyLabel,
  factOf,
  forPulls,
  hasMilestone,
  isAssigned,
  type Kind,
  notLocked,
  type StaleModel,
} from './inactivity.ts';

// Source: actions/stale, src/classes/issues-processor.ts, issue.ts, assignees.ts, milestones.ts, src/main.ts and action.yml
// of v10.3.0 (commit 9461cb10066d); issues-processor.ts of v3.0.19 for messages that are not given.

const actions = ['actions/stale'];

/** The action stale, in a workflow. */
export const stale: Format = {
  name: 'stale',
  title: 'actions/stale',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) convertUse(use, built, context);
    return built.done();
  },
};

/** How the value of an option reaches the rules. */
type OptionRow = {
  readonly carries: 'mark' | 'close' | 'revive' | 'all';
  readonly kinds?: Kind;
  readonly note?: (value: string) => string | undefined;
};

const both = (carries: OptionRow['carries'], note?: OptionRow['note']): OptionRow => ({
  carries,
  ...(note && { note }),
});
const issues = (carries: OptionRow['carries'], note?: OptionRow['note']): OptionRow => ({
  ...both(carries, note),
  kinds: 'issue',
});
const pulls = (carries: OptionRow['carries'], note?: OptionRow['note']): OptionRow => ({
  ...both(carries, note),
  kinds: 'pull_request',
});

const closesAtOnce = (value: string): string | undefined =>
  Number.parseInt(value, 10) === 0
    ? 'an item that becomes stale tonight: the action closes it in the same run, the rule at its next schedule'
    : undefined;

const revivedByEvents = (value: string): string | undefined =>
  value === 'false'
    ? 'an item with a comment by a person after it was marked, and without activity afterwards: the action never closes it, the rule does'
    : undefined;

/** The options that are carried over, by their names. */
const optionRows: Readonly<Record<string, OptionRow>> = {
  'stale-issue-message': issues('mark'),
  'stale-pr-message': pulls('mark'),
  'skip-stale-issue-message': issues('mark'),
  'skip-stale-pr-message': pulls('mark'),
  'close-issue-message': issues('close'),
  'close-pr-message': pulls('close'),
  'days-before-stale': both('mark'),
  'days-before-issue-stale': issues('mark'),
  'days-before-pr-stale': pulls('mark'),
  'days-before-close': both('close', closesAtOnce),
  'days-before-issue-close': issues('close', closesAtOnce),
  'days-before-pr-close': pulls('close', closesAtOnce),
  'stale-issue-label': issues('all'),
  'stale-pr-label': pulls('all'),
  'close-issue-label': issues('close', closeLabelStays),
  'close-pr-label': pulls('close', closeLabelStays),
  'exempt-issue-labels': issues('all'),
  'exempt-pr-labels': pulls('all'),
  'exempt-issue-label': issues('all'),
  'exempt-pr-label': pulls('all'),
  'exempt-milestones': both('all'),
  'exempt-issue-milestones': issues('all'),
  'exempt-pr-milestones': pulls('all'),
  'exempt-all-milestones': both('all'),
  'exempt-all-issue-milestones': issues('all'),
  'exempt-all-pr-milestones': pulls('all'),
  'exempt-assignees': both('all'),
  'exempt-issue-assignees': issues('all'),
  'exempt-pr-assignees': pulls('all'),
  'exempt-all-assignees': both('all'),
  'exempt-all-issue-assignees': issues('all'),
  'exempt-all-pr-assignees': pulls('all'),
  'exempt-draft-pr': pulls('all'),
  'include-only-assigned': both('all'),
  'only-labels': both('all'),
  'only-issue-labels': issues('all'),
  'only-pr-labels': pulls('all'),
  'any-of-labels': both('all'),
  'any-of-issue-labels': issues('all'),
  'any-of-pr-labels': pulls('all'),
  'remove-stale-when-updated': both('revive', revivedByEvents),
  'remove-issue-stale-when-updated': issues('revive', revivedByEvents),
  'remove-pr-stale-when-updated': pulls('revive', revivedByEvents),
  'labels-to-add-when-unstale': both('revive'),
  'labels-to-remove-when-stale': both('mark'),
  'labels-to-remove-when-unstale': both('revive'),
  'ignore-updates': both('mark'),
  'ignore-issue-updates': issues('mark'),
  'ignore-pr-updates': pulls('mark'),
  'start-date': both('all'),
  'operations-per-run': both(
    'all',
    (value) =>
      `a night in which ${value} items are quiet: the action stops after ${value} requests, which are two and more for each item, and continues in its next run; each rule changes ${value} items`,
  ),
};

function closeLabelStays(value: string): string {
  return `an item with the label ${value} that a person reopens: the action removes the label in its next run, the rules leave it`;
}

/** Options without an effect on rules, with the reason. */
const withoutMeaning: Readonly<Record<string, string>> = {
  'repo-token': 'the rules use the account of Reeve',
  'enable-statistics': 'it is about the log of the action',
  ascending:
    'it is the order in which the action looks at items; a sweep with a limit goes on where the last one ended, so that every item is visited',
  'sort-by':
    'it is the order in which the action looks at items; a sweep with a limit goes on where the last one ended, so that every item is visited',
  'close-issue-reason': 'a forge has no reasons for closing',
};

function convertUse(use: ActionUse, built: ConversionBuilder, context: ConversionContext): void {
  const { inputs, line } = use;
  const part = `the step actions/stale@${use.version}`;
  const scheduled = scheduledUse(use, context.names);
  if ('problem' in scheduled) {
    built.leftOut(line, part, scheduled.problem);
    return;
  }
  const { schedules } = scheduled;
  const version = Number(/^v?(\d+)(\.|$)/.exec(use.version)?.[1] ?? 99);
  const reader = new Options(inputs, version);
  const kindModels = (['issue', 'pull_request'] as const)
    .filter((kind) => !(kind === 'issue' && reader.text('only-issue-types') !== ''))
    .map((kind) => [kind, reader.modelOf([kind], context.names, schedules)] as const);
  const [first, second] = kindModels;
  const isSame =
    first !== undefined && second !== undefined && fingerprint(first[1]) === fingerprint(second[1]);
  const models = isSame
    ? [reader.modelOf(['issue', 'pull_request'], context.names, schedules)]
    : kindModels.map(([, model]) => model);
  const rules = models.map((model) => ({ model, names: addStaleRules(model, built) }));
  const namesFor = ({ carries, kinds }: OptionRow): readonly string[] =>
    rules
      .filter(({ model }) => kinds === undefined || model.kinds.includes(kinds))
      .flatMap(({ names }) => (carries === 'all' ? Object.values(names) : [names[carries]]))
      .filter((name) => name !== undefined);
  for (const [key, input] of inputs) {
    const row = optionRows[key];
    const shown = `${input.name}: ${input.value}`;
    const none = withoutMeaning[key];
    if (none !== undefined) built.withoutMeaning(input.line, shown, none);
    else if (key === 'delete-branch') {
      if (input.value === 'true')
        built.leftOut(
          input.line,
          shown,
          'changes of Reeve start no rules, so that no rule sees that a pull request was closed as stale: its branch stays',
        );
      else built.carried(input.line, shown, []);
    } else if (key === 'debug-only') {
      if (input.value === 'true')
        built.carried(
          input.line,
          shown,
          Object.values(rules[0]?.names ?? {}),
          'a quiet issue: the action only logs it, the rules mark it as soon as `mode: observe` is removed',
        );
      else built.withoutMeaning(input.line, shown, 'it is off');
    } else if (key === 'only-issue-types')
      built.leftOut(input.line, shown, 'a forge has no types of issues; there is no rule for issues');
    else if (row === undefined)
      built.withoutMeaning(input.line, shown, 'the action has no such option, and ignores it');
    else built.carried(input.line, shown, namesFor(row), row.note?.(input.value));
  }
  const all = rules.flatMap(({ names }) => Object.values(names));
  const labels = [...new Set(models.map(({ label }) => label))].join(' or ');
  if (schedules.length === 0)
    built.todo('The workflow has no schedule. The rules run at 01:30 UTC; change `on` as you like.');
  if (all.length === 0) {
    built.withoutMeaning(line, part, 'with these days, the action marks and closes nothing');
    return;
  }
  built.carried(
    line,
    part,
    all,
    `an item with ${labels} that gets another label: the action removes ${labels} in its next run, the rules do not, and close it when it was quiet for long enough`,
    `an item with ${labels} that gets a comment: the action removes the label in its next run, the rule at once`,
  );
}

function fingerprint({ kinds: _kinds, filter, otherFilter, ...others }: StaleModel): string {
  const neutral = (condition: Condition): string =>
    condition.text.replace(/\b(issue|pull_request)\./g, 'item.');
  return JSON.stringify([others, neutral(filter), neutral(otherFilter)]);
}

/** Reads options with their defaults, and those for one kind before those for both. */
class Options {
  readonly #inputs: ActionUse['inputs'];
  readonly #version: number;

  constructor(inputs: ActionUse['inputs'], version: number) {
    this.#inputs = inputs;
    this.#version = version;
  }

  text(name: string, otherwise = ''): string {
    return this.#inputs.get(name)?.value || otherwise;
  }

  #words(name: string): readonly string[] {
    const text = this.text(name);
    return text === ''
      ? []
      : text
          .split(',')
          .map((word) => word.trim())
          .filter((word) => word !== '');
  }

  /** The option of the kind, else the common one. `NAME` stands for `issue` or `pr`. */
  #ofKind(name: string, kind: Kind): string {
    const own = name.replace('NAME', kind === 'issue' ? 'issue' : 'pr');
    return this.text(own) === '' ? name.replace('NAME-', '') : own;
  }

  #days(name: string, otherwise: number, kind: Kind, parse: (text: string) => number): number | undefined {
    const own = parse(this.text(name.replace('NAME', kind === 'issue' ? 'issue' : 'pr')));
    const common = parse(this.text(name.replace('NAME-', ''), String(otherwise)));
    const days = Number.isNaN(own) ? common : own;
    return Number.isNaN(days) || days < 0 ? undefined : days;
  }

  #isOn(name: string, kind: Kind): boolean {
    const own = this.text(name.replace('NAME', kind === 'issue' ? 'issue' : 'pr'));
    if (own === 'true' || own === 'false') return own === 'true';
    return this.text(name.replace('NAME-', '')) === 'true';
  }

  modelOf(kinds: readonly Kind[], names: Names, schedules: StaleModel['schedules']): StaleModel {
    const [kind = 'issue'] = kinds;
    const own = kind === 'issue' ? 'issue' : 'pr';
    const filter = this.#filterOf(kinds, names);
    const isSkipped = this.text(`skip-stale-${own}-message`) === 'true';
    const message = isSkipped ? '' : this.text(`stale-${own}-message`);
    const staleDays = this.#days('days-before-NAME-stale', 60, kind, Number.parseFloat);
    // Up to version 3, nothing happens without a message.
    const isOff = this.#version <= 3 && this.text(`stale-${own}-message`) === '' && staleDays !== undefined;
    const revives =
      this.text(`remove-${own}-stale-when-updated`) === 'true' ||
      (this.text(`remove-${own}-stale-when-updated`) !== 'false' &&
        this.text('remove-stale-when-updated') !== 'false');
    const staleLabel = this.text(`stale-${own}-label`, 'Stale');
    const closeText = this.text(`close-${own}-message`);
    const closeLabel = this.text(`close-${own}-label`);
    return {
      kinds,
      label: staleLabel,
      staleDays: isOff ? undefined : staleDays,
      since: this.#isOn('ignore-NAME-updates', kind) ? 'created_at' : 'updated_at',
      staleText: message === '' ? undefined : message,
      removedWhenStale: this.#words('labels-to-remove-when-stale'),
      filter,
      otherFilter: filter,
      closeDays: isOff
        ? undefined
        : this.#days('days-before-NAME-close', 7, kind, (text) => Number.parseInt(text, 10)),
      closeText: closeText === '' ? undefined : closeText,
      closeLabel: closeLabel === '' ? undefined : closeLabel,
      revives: revives && !isOff,
      reviveText: undefined,
      addedWhenRevived: this.#words('labels-to-add-when-unstale'),
      removedWhenRevived: this.#words('labels-to-remove-when-unstale'),
      schedules: schedules.length === 0 ? ['30 1 * * *'] : schedules,
      limit: Number.parseInt(this.text('operations-per-run', '30'), 10) || 30,
    };
  }

  #filterOf(kinds: readonly Kind[], names: Names): Condition {
    const [kind = 'issue'] = kinds;
    const item = factOf(kinds);
    const own = kind === 'issue' ? 'issue' : 'pr';
    const parts: Condition[] = [];
    const only = this.#words(this.#ofKind('only-NAME-labels', kind));
    if (only.length > 0) parts.push(allLabels(only, names));
    const startDate = new Date(this.text('start-date'));
    if (!Number.isNaN(startDate.getTime()))
      parts.push(
        new Condition(
          `timestamp(${item}.created_at) > timestamp(${literal(startDate.toISOString().replace('.000Z', 'Z'))})`,
          'relation',
          { yes: situationOf(`${item}.created_at`, '2026-05-01T00:00:00Z') },
        ),
      );
    const exempt = [
      ...this.#words(`exempt-${own}-labels`),
      ...(this.#version <= 2 ? this.#words(`exempt-${own}-label`) : []),
    ];
    if (exempt.length > 0) parts.push(not(anyLabel(exempt, names)));
    const any = this.#words(this.#ofKind('any-of-NAME-labels', kind));
    if (any.length > 0) parts.push(anyLabel(any, names));
    const milestones = this.#words(this.#ofKind('exempt-NAME-milestones', kind));
    if (this.#isOn('exempt-all-NAME-milestones', kind)) parts.push(not(hasMilestone(item)));
    else if (milestones.length > 0) parts.push(not(hasMilestone(item, milestones)));
    const assignees = this.#words(this.#ofKind('exempt-NAME-assignees', kind));
    if (this.#isOn('exempt-all-NAME-assignees', kind)) parts.push(not(isAssigned(item)));
    else if (assignees.length > 0)
      parts.push(
        not(
          isAssigned(
            item,
            assignees.map((login) => names.user(login).name),
          ),
        ),
      );
    if (this.text('include-only-assigned') === 'true') parts.push(isAssigned(item));
    if (this.text('exempt-draft-pr') === 'true')
      parts.push(
        forPulls(
          kinds,
          new Condition('!pull_request.draft', 'unary', {
            yes: situationOf('pull_request.draft', false),
            no: situationOf('pull_request.draft', true),
          }),
        ),
      );
    return and(notLocked(item), ...parts);
  }
}
