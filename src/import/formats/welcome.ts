import { ConversionBuilder } from '../builder.ts';
import { and, Condition, situationOf } from '../condition.ts';
import { type ConversionContext, type Format, SourceError, Template } from '../conversion.ts';
import { isRecord, readYamlSource } from '../source.ts';
import { conditionOf, pullTriggerOf, readWorkflow, usesAction, workflowPlaces } from '../workflow.ts';

// Source: actions/first-interaction, src/main.ts and action.yml of v3.1.0 (commit a1db7729b356), dist/index.js of v1.1.1;
// the apps new-issue-welcome, new-pr-welcome and first-pr-merge of behaviorbot, whose options behaviorbot/welcome
// (commit 61a4b24c0b6e) and their documentation describe.

const actions = ['actions/first-interaction'];

type Kind = 'issue' | 'pull_request' | 'merge';

const kinds: Readonly<
  Record<
    Kind,
    {
      readonly on: string;
      readonly each: 'issue' | 'pull_request';
      readonly if: Condition;
      readonly words: string;
    }
  >
> = {
  issue: {
    on: 'issues.opened',
    each: 'issue',
    if: new Condition('first_issue', 'unary', { yes: { first_issue: true }, no: { first_issue: false } }),
    words: 'welcome issue',
  },
  pull_request: {
    on: 'pull_request.opened',
    each: 'pull_request',
    if: new Condition('first_pull_request', 'unary', {
      yes: { first_pull_request: true },
      no: { first_pull_request: false },
    }),
    words: 'welcome pull request',
  },
  merge: {
    on: 'pull_request.closed',
    each: 'pull_request',
    if: and(
      new Condition('pull_request.merged', 'unary', { yes: situationOf('pull_request.merged', true) }),
      new Condition('contributions == 0', 'relation', { yes: { contributions: 0 } }),
    ),
    words: 'first merge',
  },
};

function addRule(
  kind: Kind,
  text: Template,
  built: ConversionBuilder,
  more: { readonly condition?: Condition; readonly comment?: string | undefined } = {},
): string {
  const { on, each, if: isFirst, words } = kinds[kind];
  return built.rule({
    name: built.nameOf(words),
    comment: more.comment,
    on,
    each,
    if: more.condition ? and(more.condition, isFirst) : isFirst,
    steps: [{ uses: 'comment', with: { key: 'welcome', text } }],
  });
}

/** The action first-interaction, in a workflow. */
export const firstInteraction: Format = {
  name: 'first-interaction',
  title: 'actions/first-interaction',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context: ConversionContext) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) {
      for (const [key, { name: shown, value, line }] of use.inputs) {
        const kind = {
          'issue-message': 'issue',
          issue_message: 'issue',
          'pr-message': 'pull_request',
          pr_message: 'pull_request',
        }[key] as Kind | undefined;
        const part = `${shown}: ${value}`;
        if (kind === undefined) {
          const why = /token/.test(key)
            ? 'the rules use the account of Reeve'
            : 'the action has no such option';
          built.withoutMeaning(line, part, why);
          continue;
        }
        const event =
          kind === 'issue'
            ? 'issues'
            : ['pull_request_target', 'pull_request'].find((one) => use.triggers.has(one));
        const condition = conditionOf(use, context.names, event);
        const trigger = kind === 'issue' ? undefined : pullTriggerOf(use);
        const text = templateOf(value, kind);
        if (event === undefined || !use.triggers.has(event)) {
          built.withoutMeaning(line, part, 'the workflow does not run for these');
        } else if (value === '') built.withoutMeaning(line, part, 'it is empty');
        else if ('problem' in condition) built.leftOut(line, part, condition.problem);
        else if (trigger && 'problem' in trigger) built.leftOut(line, part, trigger.problem);
        else if ('problem' in text) built.leftOut(line, part, text.problem);
        else if (kind === 'issue' && condition.condition.text.includes('pull_request'))
          built.leftOut(line, part, 'the condition of the workflow is about pull requests');
        else {
          const branches = isRecord(trigger?.on.pull_request) ? trigger.on.pull_request : {};
          const filters = Object.keys(branches).filter((one) => one !== 'types');
          const isOpened =
            kind === 'issue'
              ? hasOpened(use.triggers.get('issues'))
              : (trigger?.types.includes('opened') ?? false);
          if (!isOpened) {
            built.withoutMeaning(line, part, 'the workflow does not run when something is opened');
            continue;
          }
          if (filters.length > 0) {
            const name = built.rule({
              name: built.nameOf(kinds[kind].words),
              on: { pull_request: { ...branches, types: ['opened'] } },
              each: 'pull_request',
              if: and(condition.condition, kinds[kind].if),
              steps: [{ uses: 'comment', with: { key: 'welcome', text } }],
            });
            built.carried(line, part, [name], ...condition.notes, firstNote(kind, use.version));
          } else
            built.carried(
              line,
              part,
              [addRule(kind, text, built, { condition: condition.condition })],
              ...condition.notes,
              firstNote(kind, use.version),
            );
        }
      }
    }
    return built.done();
  },
};

function hasOpened(written: unknown): boolean {
  const types = isRecord(written) ? written.types : undefined;
  if (types === undefined || types === null) return true;
  return (Array.isArray(types) ? types : [types]).includes('opened');
}

/** In version 1, the action looks at the earlier issues or pull requests of the author, as the rule does. */
function firstNote(kind: Kind, version: string): string | undefined {
  if (/^v?1(\.|$)/.test(version)) return undefined;
  return kind === 'issue'
    ? 'the second issue of an author, before the repository has a pull request: the action from version 2 on writes the comment, the rule does not'
    : 'the second pull request of an author who has opened no issue: the action from version 2 on writes the comment again, the rule does not; the first pull request of an author who has opened an issue: the action says nothing, the rule writes the comment';
}

/** Expressions of GitHub that have a counterpart. */
const expressions: Readonly<Record<string, Readonly<Partial<Record<Kind, string>>>>> = {
  'github.event.issue.user.login': { issue: 'issue.user.login' },
  'github.event.pull_request.user.login': { pull_request: 'pull_request.user.login' },
  'github.actor': { issue: 'sender.login', pull_request: 'sender.login' },
  'github.event.sender.login': { issue: 'sender.login', pull_request: 'sender.login' },
  'github.repository': { issue: 'repository.full_name', pull_request: 'repository.full_name' },
  'github.event.issue.number': { issue: 'issue.number' },
  'github.event.pull_request.number': { pull_request: 'pull_request.number' },
  'github.event.issue.title': { issue: 'issue.title' },
  'github.event.pull_request.title': { pull_request: 'pull_request.title' },
};

function templateOf(text: string, kind: Kind): Template | { readonly problem: string } {
  const parts: (string | { readonly expression: string })[] = [];
  let end = 0;
  for (const match of text.matchAll(/\$\{\{\s*([^{}]*?)\s*\}\}/g)) {
    const expression = expressions[match[1] ?? '']?.[kind];
    if (expression === undefined) return { problem: `the expression \`${match[0]}\` has no counterpart` };
    parts.push(text.slice(end, match.index), { expression });
    end = match.index + match[0].length;
  }
  return new Template(...parts, text.slice(end));
}

const behaviorKeys: Readonly<Record<string, Kind>> = {
  newIssueWelcomeComment: 'issue',
  newPRWelcomeComment: 'pull_request',
  firstPRMergeComment: 'merge',
};

const behaviorNotes: Readonly<Record<Kind, string>> = {
  issue:
    'an author whose only earlier issue was deleted: the app counts what GitHub finds, the rule what the forge still has',
  pull_request:
    'an author whose only earlier pull request was deleted: the app counts what GitHub finds, the rule what the forge still has',
  merge:
    'an author whose newer pull request is merged before an older one: the app writes the comment once, the rule also at the merge of the older one',
};

/** The configuration of the apps of behaviorbot. */
export const behaviorbot: Format = {
  name: 'behaviorbot',
  title: 'behaviorbot (welcome)',
  counts: 'options',
  places: ['.github/config.{yml,yaml}'],
  isFormat: ({ text }) => Object.keys(behaviorKeys).some((key) => new RegExp(`^${key}\\s*:`, 'm').test(text)),
  convert(file) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map of options was expected');
    const built = new ConversionBuilder();
    for (const [key, value] of Object.entries(source.value)) {
      const line = source.lineOf([key]);
      const kind = behaviorKeys[key];
      if (kind === undefined)
        built.leftOut(line, key, 'it belongs to another app: this format has the welcome comments alone', {
          isApart: true,
        });
      else if (typeof value !== 'string' || value.trim() === '')
        built.withoutMeaning(line, key, 'it has no text');
      else
        built.carried(
          line,
          key,
          [addRule(kind, new Template(value), built, { comment: source.commentOf([key]) })],
          behaviorNotes[kind],
        );
    }
    return built.done();
  },
};
