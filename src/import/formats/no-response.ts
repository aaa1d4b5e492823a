import { ConversionBuilder } from '../builder.ts';
import { and, Condition, equals, labelled, literal } from '../condition.ts';
import { type ConversionContext, type Format, type PlainValue, SourceError } from '../conversion.ts';
import { isRecord, readYamlSource } from '../source.ts';
import { readWorkflow, scheduledUse, usesAction, workflowPlaces } from '../workflow.ts';
import { dailyComment, daysLiteral } from './inactivity.ts';

// Source: probot/no-response, lib/no-response.js, lib/defaults.js and index.js of commit 74cbc5393669; lee-dohm/no-response,
// src/no-response.ts and src/config.ts of v0.5.0 (commit 66174372c9c5).

const actions = ['lee-dohm/no-response'];

type Settings = {
  readonly days: number;
  readonly label: string;
  readonly text: string | undefined;
  readonly schedules: readonly PlainValue[];
  /** Activities of comments after which the bot looks at them. */
  readonly comments: readonly string[];
};

const defaultText =
  "This issue has been automatically closed because there has been no response to our request for more information from the original author. With only the information that is currently in the issue, we don't have enough information to take action. Please reach out if you have or find the answers we need so that we can investigate further.";

/** The configuration of the app no-response of Probot. */
export const probotNoResponse: Format = {
  name: 'probot-no-response',
  title: 'probot/no-response',
  counts: 'options',
  places: ['.github/no-response.{yml,yaml}'],
  convert(file) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map of options was expected');
    const config = source.value;
    const built = new ConversionBuilder();
    if (config.perform === false) {
      for (const key of Object.keys(config))
        built.withoutMeaning(source.lineOf([key]), key, 'with `perform: false`, the app does nothing');
      return built.done();
    }
    const days = Number(config.daysUntilClose ?? 14);
    if (Number.isNaN(days)) {
      built.leftOut(source.lineOf(['daysUntilClose']), 'daysUntilClose', 'it is no number');
      return built.done();
    }
    const text = config.closeComment === undefined ? defaultText : config.closeComment;
    const { close, answered } = addRules(
      {
        days,
        label: String(config.responseRequiredLabel ?? 'more-information-needed'),
        text: typeof text === 'string' && text.trim() !== '' ? text : undefined,
        schedules: ['37 3 * * *'],
        comments: ['created', 'edited'],
      },
      built,
    );
    for (const [key, value] of Object.entries(config)) {
      const line = source.lineOf([key]);
      const part = `${key}: ${String(value)}`;
      if (key === 'daysUntilClose' || key === 'closeComment') built.carried(line, part, [close]);
      else if (key === 'responseRequiredLabel') built.carried(line, part, [close, answered]);
      else if (key === 'perform') built.carried(line, part, []);
      else if (key === 'responseRequiredColor')
        built.withoutMeaning(line, part, 'it is the color of a label that the app creates');
      else built.withoutMeaning(line, part, 'the app does not read it');
    }
    addGeneral(1, 'the file', [close, answered], built);
    return built.done();
  },
};

/** The action no-response, in a workflow. */
export const noResponse: Format = {
  name: 'no-response',
  title: 'lee-dohm/no-response',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context: ConversionContext) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) {
      const scheduled = scheduledUse(use, context.names);
      const input = (name: string): string | undefined =>
        use.inputs.get(name.toLowerCase())?.value || undefined;
      const days = Number.parseInt(input('daysUntilClose') ?? '14', 10);
      const problem =
        'problem' in scheduled
          ? scheduled.problem
          : Number.isNaN(days)
            ? '`daysUntilClose` is no number'
            : undefined;
      if (problem !== undefined || 'problem' in scheduled) {
        built.leftOut(use.line, `the step lee-dohm/no-response@${use.version}`, problem ?? '');
        continue;
      }
      const { schedules } = scheduled;
      const text = input('closeComment') ?? defaultText;
      const { close, answered } = addRules(
        {
          days,
          label: input('responseRequiredLabel') ?? 'more-information-needed',
          text: text === 'false' ? undefined : text,
          schedules: schedules.length === 0 ? ['37 3 * * *'] : schedules,
          comments: ['created'],
        },
        built,
      );
      for (const [key, { name, value, line }] of use.inputs) {
        const part = `${name}: ${value}`;
        if (key === 'daysuntilclose' || key === 'closecomment') built.carried(line, part, [close]);
        else if (key === 'responserequiredlabel') built.carried(line, part, [close, answered]);
        else if (key === 'responserequiredcolor')
          built.withoutMeaning(line, part, 'it is the color of a label that the action creates');
        else if (key === 'token') built.withoutMeaning(line, part, 'the rules use the account of Reeve');
        else built.withoutMeaning(line, part, 'the action has no such option');
      }
      addGeneral(use.line, `the step lee-dohm/no-response@${use.version}`, [close, answered], built);
    }
    return built.done();
  },
};

function addGeneral(line: number, part: string, rules: readonly string[], built: ConversionBuilder): void {
  built.carried(
    line,
    part,
    rules,
    'an issue that the rule closed and a maintainer reopens with its label: the bot closes it again at once, the rule not before the label was set anew',
    'an issue that its author closed once, and another account later: a comment of the author reopens it with the bot, and with the rule only removes the label',
  );
}

function addRules(
  { days, label, text, schedules, comments }: Settings,
  built: ConversionBuilder,
): { readonly close: string; readonly answered: string } {
  const isLabelEvent = `e.type == "label" && has(e.label) && e.label.name == ${literal(label)}`;
  const when = new Condition(
    `timeline.exists(e, ${isLabelEvent}) && !timeline.exists(e, ${isLabelEvent} && timestamp(e.created_at) >= now - duration(${daysLiteral(days)}))`,
    'and',
    {
      yes: {
        timeline: [{ type: 'label', body: '1', label: { name: label }, created_at: '2020-01-01T00:00:00Z' }],
      },
      no: { timeline: [] },
    },
  );
  const close = built.rule({
    name: built.nameOf('no response'),
    on: schedules.map((schedule) => ({ schedule })),
    each: 'issue',
    limits: { items: 30 },
    if: labelled([label]),
    steps: [
      ...(text === undefined ? [] : [dailyComment('no-response', text, when)]),
      { uses: 'set-issue', with: { state: 'closed', when } },
    ],
  });
  const isAuthors = new Condition('comment.user.login == item.user.login', 'relation');
  const answered = built.rule({
    name: built.nameOf('answered'),
    on: comments.flatMap((activity) => [`issue_comment.${activity}`, `pull_request_comment.${activity}`]),
    each: ['issue', 'pull_request'],
    if: and(labelled([label]), isAuthors),
    steps: [
      // Before the label, because the condition of the rule is evaluated again before an issue is reopened.
      {
        uses: 'set-issue',
        with: {
          state: 'open',
          when: and(
            equals('item.state', 'closed'),
            new Condition(
              '!timeline.exists(e, e.type == "close" && has(e.user) && e.user.login == item.user.login)',
              'unary',
              { yes: { timeline: [] } },
            ),
          ),
        },
      },
      { uses: 'set-labels', with: { remove: [label] } },
    ],
  });
  return { close, answered };
}
