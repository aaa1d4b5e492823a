import { always, and, Condition, literal, not, or } from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type ConversionContext,
  createRuleNames,
  type Entry,
  type Format,
  type PlainValue,
  type RuleDraft,
  SourceError,
  type SourceFile,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { LongConditions } from '../long-conditions.ts';
import { escapeGlob } from '../names.ts';
import { approvalsDiffer, NameNotes, noRequiredCheckOpen, requiredApprovalsGiven } from '../pulls.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';
import {
  type ConditionContext,
  convertConditions,
  isMerged,
  leavesOf,
  NotConvertible,
  type Scope,
} from './mergify-conditions.ts';

/**
 * Rules of Mergify. Sources: its documentation (Mergifyio/docs at 905e495703b02b4af629a161e51537df54bbc879,
 * `src/content/docs/workflow/actions` and `public/mergify-configuration-schema.json`), and the last version of its
 * engine that is public (Mergifyio/mergify-engine at cea68b0b37273d11f17404d69391aacfa4e4439d,
 * `mergify_engine/actions` and `mergify_engine/engine/actions_runner.py`).
 */
export const mergify: Format = {
  name: 'mergify',
  title: 'Mergify',
  counts: 'rules',
  places: ['.mergify.yml', '.mergify/config.yml', '.github/mergify.yml'],
  isFormat: ({ text }) =>
    /^(pull_request_rules|queue_rules|merge_protections|extends|commands_restrictions|merge_queue|defaults|shared)\s*:/m.test(
      text,
    ),
  convert: (file, context) => new MergifyFile(file, context).convert(),
};

/** When a step acts: on open pull requests, or on those that are closed. */
type Phase = 'open' | 'ended';

/** What an action becomes. */
type Acting = {
  readonly phase: Phase;
  readonly steps: readonly StepDraft[];
  /** Events instead of `auto`. */
  readonly on?: PlainValue;
  /** It merges: its condition stands in `when`. */
  readonly merges?: true;
  /** The steps contain the condition themselves. */
  readonly hasCondition?: true;
  /** A condition besides those of the rule. */
  readonly besides?: Condition;
};

type Queue = {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly line: number;
};

/** A rule of the source, while it is converted. */
type SourceRule = {
  readonly title: string;
  readonly written: unknown;
  readonly conditions: (scope: Scope) => Condition;
  readonly differs: (note: string) => void;
  readonly scope: Scope;
};

class MergifyFile {
  readonly #source: Source;
  readonly #context: ConversionContext;
  readonly #notes: NameNotes;
  readonly #nameOf = createRuleNames();
  readonly #rules: RuleDraft[] = [];
  readonly #entries: Entry[] = [];
  readonly #todo: string[] = [];
  readonly #file: Readonly<Record<string, unknown>>;
  readonly #queues: readonly Queue[];

  constructor(file: SourceFile, context: ConversionContext) {
    this.#source = readYamlSource(file);
    this.#context = context;
    this.#notes = new NameNotes(context.names);
    if (!isRecord(this.#source.value)) throw new SourceError('a map was expected');
    this.#file = this.#source.value;
    this.#queues = this.#readQueues();
  }

  convert(): Conversion {
    const written = this.#file.pull_request_rules;
    const list = Array.isArray(written) ? written : [];
    if (written !== undefined && written !== null && !Array.isArray(written))
      this.#leaveOut(['pull_request_rules'], 'pull_request_rules', 'it is no list', false);
    for (const [place, rule] of list.entries()) this.#convertRule(rule, ['pull_request_rules', place]);
    this.#noteLabels(list);
    this.#convertQueues();
    this.#convertProtections();
    this.#convertRest();
    const long = new LongConditions();
    return {
      rules: this.#rules.map((draft) => long.shorten(draft)),
      conditions: long.named,
      entries: [...this.#entries, ...this.#notes.entries()].toSorted((one, other) => one.line - other.line),
      todo: this.#todo,
    };
  }

  // Rules

  #convertRule(rule: unknown, path: readonly (string | number)[]): void {
    const line = this.#source.lineOf(path);
    this.#notes.line = line;
    const title = isRecord(rule) && typeof rule.name === 'string' ? rule.name : `rule ${Number(path[1]) + 1}`;
    const part = `rule ${title}`;
    if (!isRecord(rule)) {
      this.#leaveOut(path, part, 'it is no map', false);
      return;
    }
    if (rule.disabled !== undefined && rule.disabled !== null && rule.disabled !== false) {
      this.#entries.push({ line, part, outcome: 'without-meaning', note: 'it is disabled' });
      return;
    }
    const actions = Object.entries(isRecord(rule.actions) ? rule.actions : {});
    if (actions.length === 0) {
      this.#entries.push({ line, part, outcome: 'without-meaning', note: 'it has no actions' });
      return;
    }
    const differences: string[] = [];
    const differs = (note: string): void => {
      if (!differences.includes(note)) differences.push(note);
    };
    const strange = Object.keys(rule).filter(
      (key) => !['name', 'description', 'conditions', 'actions', 'hidden', 'disabled'].includes(key),
    );
    if (strange.length > 0)
      differs(`\`${strange.join('`, `')}\`: Reeve does not read it, and Mergify may obey it`);
    const drafts: RuleDraft[] = [];
    try {
      drafts.push(...this.#draftsOf(title, rule, { actions, differs, line, path }));
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      this.#leaveOut(path, part, error.message, false);
      return;
    }
    if (drafts.length === 0) {
      this.#entries.push({
        line,
        part,
        outcome: 'without-meaning',
        note: 'its conditions never hold where its actions could act',
      });
      return;
    }
    const comment = this.#source.commentOf(path);
    const description = typeof rule.description === 'string' ? `${title}: ${rule.description}` : title;
    for (const [place, draft] of drafts.entries())
      this.#rules.push({
        ...draft,
        ...(description === '' ? {} : { description }),
        ...(comment === undefined || place > 0 ? {} : { comment }),
      });
    this.#entries.push({
      line,
      part,
      outcome: differences.length === 0 ? 'exact' : 'differs',
      ...(differences.length === 0 ? {} : { note: differences.join('; ') }),
      rules: drafts.map(({ name }) => name),
    });
  }

  #draftsOf(
    title: string,
    rule: Readonly<Record<string, unknown>>,
    {
      actions,
      differs,
      line,
      path,
    }: {
      readonly actions: readonly (readonly [string, unknown])[];
      readonly differs: (note: string) => void;
      readonly line: number;
      readonly path: readonly (string | number)[];
    },
  ): readonly RuleDraft[] {
    const { scope, conditions } = scopeOf(rule.conditions);
    const context = (of: Scope): ConditionContext => ({ scope: of, notes: this.#notes, differs });
    const source: SourceRule = {
      title,
      written: rule.conditions,
      scope,
      differs,
      conditions: (of) => convertConditions(conditions, context(of)),
    };
    if (scope === 'open')
      this.#notes.note(
        'closed pull requests',
        'the title of a closed pull request is edited, so that a rule without the condition `merged` or `closed` holds: Mergify acts, Reeve leaves closed pull requests alone',
      );
    const actings: Acting[] = [];
    const left: string[] = [];
    for (const [action, given] of actions) {
      try {
        actings.push(...this.#actingsOf(action, given, { source, context, actions }));
      } catch (error) {
        if (!(error instanceof NotConvertible)) throw error;
        left.push(`the action \`${action}\`: ${error.message}`);
      }
    }
    if (left.length === actions.length) throw new NotConvertible(left.join('; '));
    for (const why of left) {
      differs(
        `a pull request for which the conditions hold: Reeve does not do what Mergify does with ${why}`,
      );
      this.#entries.push({
        line: this.#source.lineOf([...path, 'actions']) || line,
        part: `rule ${title}`,
        outcome: 'left-out',
        note: why,
        apart: true,
      });
    }
    return this.#groups(source, actings);
  }

  /** Makes rules of the steps: those that act on the same pull requests and events are one rule. */
  #groups(source: SourceRule, actings: readonly Acting[]): readonly RuleDraft[] {
    const drafts: RuleDraft[] = [];
    const together = actings.filter(({ phase, on, hasCondition, besides }) =>
      source.scope === 'all'
        ? on === undefined && !hasCondition && !besides
        : phase === 'open' && on === undefined && !hasCondition && !besides,
    );
    const groups: (readonly Acting[])[] = [
      together,
      ...actings.filter((acting) => !together.includes(acting)).map((acting) => [acting]),
    ];
    for (const group of groups) {
      const [first] = group;
      if (first === undefined) continue;
      const scope: Scope = source.scope === 'all' || first.phase === 'ended' ? 'all' : 'open';
      const condition = and(source.conditions(scope), ...(first.besides ? [first.besides] : []));
      if (condition.text === 'false') continue;
      const steps = group.flatMap((acting) => acting.steps);
      for (const some of chunksOf(steps, 10)) {
        const onlyMerges = group.length === 1 && first.merges === true && some.length === 1;
        const [step] = some;
        drafts.push({
          name: this.#nameOf(source.title),
          on: this.#on(source, first),
          each: scope === 'all' ? { pull_request: { state: 'all' } } : 'pull_request',
          ...(onlyMerges || first.hasCondition ? {} : { if: condition }),
          steps:
            onlyMerges && step
              ? [{ ...step, with: { when: and(condition, ...whenOf(step)), ...withoutWhen(step) } }]
              : some,
        });
      }
    }
    return drafts;
  }

  #on({ written, scope }: SourceRule, { on }: Acting): PlainValue {
    if (on !== undefined) return on;
    const leaves = leavesOf(written);
    const readsTime = leaves.some(({ attribute }) => /-at$|^schedule$|^current-/.test(attribute));
    const place = this.#rules.length;
    const minute = (7 + place * 13) % 60;
    if (readsTime) return ['auto', { schedule: scope === 'all' ? `${minute} 3 * * *` : `${minute} * * * *` }];
    const own = this.#ownLabels();
    const followsOwn = leaves.some(({ attribute, value }) => attribute === 'label' && own.has(value));
    return followsOwn && scope === 'open' ? ['auto', { schedule: `${minute} * * * *` }] : 'auto';
  }

  /** Labels that rules of the file add, with the names of these rules. */
  #ownLabels(): ReadonlyMap<string, string> {
    const list = Array.isArray(this.#file.pull_request_rules) ? this.#file.pull_request_rules : [];
    const found = new Map<string, string>();
    for (const rule of list) {
      const label = isRecord(rule) && isRecord(rule.actions) ? rule.actions.label : undefined;
      if (!isRecord(label) || !isRecord(rule)) continue;
      for (const name of [label.add, label.toggle, label.remove].flatMap((one) => texts(one ?? []) ?? []))
        if (!found.has(name)) found.set(name, String(rule.name));
    }
    return found;
  }

  /** Names what depends on the order of label changes: labels that start rules, and rules that undo each other. */
  #noteLabels(list: readonly unknown[]): void {
    const own = this.#ownLabels();
    const changes = new Map<string, { add: unknown[]; remove: unknown[] }>();
    for (const [place, rule] of list.entries()) {
      if (!isRecord(rule)) continue;
      const line = this.#source.lineOf(['pull_request_rules', place]);
      const read = leavesOf(rule.conditions).flatMap(({ attribute, value }) =>
        attribute === 'label' && own.has(value) ? [value] : [],
      );
      for (const label of new Set(read)) {
        if (own.get(label) === String(rule.name)) continue;
        this.#entries.push({
          line,
          part: `label ${label} of rule ${String(rule.name)}`,
          outcome: 'differs',
          note: `the rule \`${own.get(label)}\` changes the label \`${label}\`: Mergify evaluates this rule again at once, Reeve at the next event of the pull request or within an hour, because its own label changes start no rules`,
          apart: true,
        });
      }
      const given = isRecord(rule.actions) && isRecord(rule.actions.label) ? rule.actions.label : {};
      for (const label of texts(given.add ?? []) ?? [])
        changes.set(label, { add: [], remove: [], ...changes.get(label) });
      for (const kind of ['add', 'remove'] as const) {
        for (const label of texts(given[kind] ?? []) ?? []) {
          const known = changes.get(label) ?? { add: [], remove: [] };
          known[kind].push(rule);
          changes.set(label, known);
        }
      }
    }
    for (const [label, { add, remove }] of changes) {
      if (add.length === 0 || remove.length === 0 || areOpposite(add, remove)) continue;
      const [adder, remover] = [add[0], remove[0]].map((one) => (isRecord(one) ? String(one.name) : ''));
      this.#entries.push({
        line: this.#source.lineOf(['pull_request_rules', list.indexOf(remove[0])]),
        part: `label ${label}`,
        outcome: 'differs',
        note: `a pull request for which both \`${adder}\` and \`${remover}\` hold: Mergify adds and removes the label \`${label}\` in turn, Reeve refuses both changes`,
        apart: true,
      });
    }
  }

  // Actions

  #actingsOf(
    action: string,
    given: unknown,
    {
      source,
      context,
      actions,
    }: {
      readonly source: SourceRule;
      readonly context: (scope: Scope) => ConditionContext;
      readonly actions: readonly (readonly [string, unknown])[];
    },
  ): readonly Acting[] {
    const defaults =
      isRecord(this.#file.defaults) && isRecord(this.#file.defaults.actions)
        ? this.#file.defaults.actions
        : {};
    const options: Readonly<Record<string, unknown>> = {
      ...(isRecord(defaults[action]) ? defaults[action] : {}),
      ...(isRecord(given) ? given : {}),
    };
    const { differs } = source;
    const open = (...steps: readonly StepDraft[]): readonly Acting[] => [{ phase: 'open', steps }];
    switch (action) {
      case 'label':
        return this.#label(options, source);
      case 'comment': {
        this.#once('action comment', commentNote);
        const message = textOf(options.message);
        if (message === undefined) return [];
        return open({ uses: 'comment', with: { key: this.#key(), text: template(message) } });
      }
      case 'close': {
        this.#once('action comment', commentNote);
        const message = textOf(options.message) ?? 'This pull request has been automatically closed.';
        return open(
          { uses: 'comment', with: { key: this.#key(), text: template(message) } },
          { uses: 'set-issue', with: { state: 'closed' } },
        );
      }
      case 'assign':
        return this.#assign(options);
      case 'request_reviews':
        return this.#requestReviews(options, source);
      case 'review':
        return this.#review(options, source);
      case 'dismiss_reviews':
        return this.#dismiss(options, source);
      case 'merge': {
        const isQueue = options.strict !== undefined && options.strict !== false;
        if (isQueue) return [this.#queueStep(undefined, options, { source, context })];
        return [
          {
            phase: 'open',
            merges: true,
            steps: [
              {
                uses: 'merge',
                with: {
                  ...this.#mergeArguments(options, differs),
                  ...(this.#deletesBranch(actions) ? { 'delete-branch': true } : {}),
                },
              },
            ],
          },
        ];
      }
      case 'queue':
        return this.#queue(options, { source, context, actions });
      case 'delete_head_branch':
        return this.#deleteBranch(options, source, actions);
      case 'update':
      case 'rebase':
        this.#once(
          'action update',
          'the head of a fork that lets maintainers edit it: Mergify updates it, Reeve does not, because the forge may run the workflows of the fork with the rights of Reeve; and a draft that is behind: Mergify updates it, Reeve when it is ready for review, because forges check no drafts for conflicts',
        );
        if (action === 'rebase' && options.autosquash === true)
          differs('a commit `fixup! …`: Mergify squashes it during the rebase, Reeve keeps it');
        return open({ uses: 'update-branch', with: { how: action === 'rebase' ? 'rebase' : 'merge' } });
      case 'backport':
        return this.#backport(options, source);
      case 'post_check':
        return this.#postCheck(options, { source, context });
      case 'edit': {
        if (options.draft !== true) throw new NotConvertible('Reeve does not make a draft ready for review');
        differs(
          'a pull request that is no draft: Mergify makes it a draft, Reeve puts `WIP: ` before its title, which is a draft on the forge as long as its settings have that prefix',
        );
        return [
          {
            phase: 'open',
            besides: new Condition('!pull_request.draft', 'unary'),
            steps: [
              {
                uses: 'set-issue',
                with: { title: new Template('WIP: ', { expression: 'pull_request.title' }) },
              },
            ],
          },
        ];
      }
      case 'squash':
        throw new NotConvertible('Reeve does not squash the commits of a branch before the merge');
      case 'copy':
        throw new NotConvertible('Reeve copies merged pull requests only (backport)');
      case 'github_actions':
        throw new NotConvertible(
          'Reeve starts workflows by events, not when a state begins: Mergify starts it once, a rule with events would start it at each of them',
        );
      case 'refresh':
      case 'delete_head_branch_on_close':
        throw new NotConvertible('it has no counterpart');
      default:
        throw new NotConvertible('it is not known');
    }
  }

  #once(part: string, note: string): void {
    this.#notes.note(part, note);
  }

  #keys = 0;

  /** Comments of one rule need different keys; each comment of the file has its own. */
  #key(): string {
    this.#keys += 1;
    return `comment-${this.#keys}`;
  }

  #label(options: Readonly<Record<string, unknown>>, source: SourceRule): readonly Acting[] {
    const listOf = (key: string): readonly string[] => {
      const list = texts(options[key] ?? []);
      if (list === undefined) throw new NotConvertible(`\`${key}\` is no list of labels`);
      if (list.some((label) => label.includes('{{') || label.includes('{%')))
        throw new NotConvertible(`a label of \`${key}\` is a template`);
      return [...new Set(list)];
    };
    const [add, remove, toggle] = [listOf('add'), listOf('remove'), listOf('toggle')];
    const actings: Acting[] = [];
    if (options.remove_all === true) {
      const known = this.#context.names.forge.labels;
      if (known === undefined)
        throw new NotConvertible(
          '`remove_all`: Reeve removes labels by name; --repository names those that exist',
        );
      source.differs('a label that is created later: Mergify removes it as well, the rule does not name it');
    }
    const gone = options.remove_all === true ? (this.#context.names.forge.labels ?? []) : remove;
    const removed = gone.filter((label) => !add.includes(label));
    if (removed.length < gone.length && options.remove_all !== true)
      source.differs(
        'a pull request for which the conditions hold: Mergify adds and removes the same label, Reeve adds it',
      );
    if (add.length > 0 || removed.length > 0) {
      this.#once(
        'action label',
        'a person removes the label while the conditions hold: the public version of Mergify leaves it away until they hold anew, Reeve adds it again at once; and the other way round',
      );
      const known = this.#context.names.forge.labels;
      if (known === undefined || add.some((label) => !known.includes(label)))
        this.#once(
          'missing labels',
          'a label that the repository does not have: Mergify creates it with a random color, the step of Reeve fails until it exists',
        );
      actings.push({
        phase: 'open',
        steps: [
          {
            uses: 'set-labels',
            with: { ...(add.length > 0 ? { add } : {}), ...(removed.length > 0 ? { remove: removed } : {}) },
          },
        ],
      });
    }
    if (toggle.length > 0) {
      const condition = source.conditions(source.scope);
      actings.push({
        phase: 'open',
        hasCondition: true,
        steps: [
          {
            uses: 'set-labels',
            with: { sync: Object.fromEntries(toggle.map((label) => [label, condition])) },
          },
        ],
      });
    }
    return actings;
  }

  #assign(options: Readonly<Record<string, unknown>>): readonly Acting[] {
    const users = (keys: readonly string[]): readonly ArgumentValue[] =>
      keys.flatMap((key) => texts(options[key] ?? []) ?? []).map((user) => this.#userText(user));
    const [add, remove] = [users(['users', 'add_users']), users(['remove_users'])];
    if (add.length + remove.length === 0) return [];
    this.#once(
      'action assign',
      'a person unassigns the user while the conditions hold: Mergify leaves it so, Reeve assigns the user again at once',
    );
    const assignees = { ...(add.length > 0 ? { add } : {}), ...(remove.length > 0 ? { remove } : {}) };
    return [{ phase: 'open', steps: [{ uses: 'set-issue', with: { assignees } }] }];
  }

  #userText(user: string): ArgumentValue {
    if (user.includes('{{')) return template(user);
    return new Template(this.#notes.user(user));
  }

  #requestReviews(options: Readonly<Record<string, unknown>>, { differs }: SourceRule): readonly Acting[] {
    const listOf = (key: string): readonly string[] => {
      const value = options[key] ?? [];
      if (isRecord(value)) {
        if (Object.values(value).some((weight) => weight !== 1))
          differs(
            'reviewers with different weights: Mergify picks those with larger weights more often, Reeve each equally often',
          );
        return Object.keys(value);
      }
      return texts(value) ?? [];
    };
    const users = listOf('users').map((user) => this.#userText(user));
    const ofTeams = listOf('users_from_teams');
    if (ofTeams.length > 0)
      differs(
        `a member of the team ${ofTeams[0]}: Mergify requests reviews of the members, Reeve of the team`,
      );
    const teams = [...listOf('teams'), ...ofTeams].map(
      (team) => this.#notes.team(team.replace(/^@/, '')).split('/').at(-1) ?? '',
    );
    if (users.length + teams.length === 0) return [];
    const count = options.random_count;
    if (count !== undefined && count !== null && (typeof count !== 'number' || count > 10))
      throw new NotConvertible('`random_count` is larger than 10');
    this.#once(
      'action request_reviews',
      'a person withdraws a request while the conditions hold: Mergify requests the review again at the next event, Reeve does not; a person without write access who has reviewed already: Mergify asks this person, Reeve does not',
    );
    return [
      {
        phase: 'open',
        steps: [
          {
            uses: 'request-reviewers',
            with: {
              ...(users.length > 0 ? { users } : {}),
              ...(teams.length > 0 ? { teams: [...new Set(teams)] } : {}),
              ...(typeof count === 'number' ? { pick: count } : {}),
            },
          },
        ],
      },
    ];
  }

  #review(options: Readonly<Record<string, unknown>>, { differs }: SourceRule): readonly Acting[] {
    const message = textOf(options.message);
    const type = options.type ?? 'APPROVE';
    if (type === 'COMMENT') {
      this.#once('action comment', commentNote);
      if (message === undefined) return [];
      return [
        { phase: 'open', steps: [{ uses: 'comment', with: { key: this.#key(), text: template(message) } }] },
      ];
    }
    if (type !== 'APPROVE' && type !== 'REQUEST_CHANGES')
      throw new NotConvertible(`the type \`${String(type)}\` is not known`);
    if (type === 'APPROVE' && this.#context.target !== 'operator')
      throw new NotConvertible('only rule files of the operator may approve');
    if (type === 'APPROVE')
      differs(
        'a rule that asks for `approved-reviews-by`: Mergify counts its own approval, `approvals` of Reeve does not',
      );
    differs(
      'a push while the conditions hold: Mergify leaves its review as it is, Reeve reviews the new head again',
    );
    return [
      {
        phase: 'open',
        steps: [
          {
            uses: 'review',
            with: {
              verdict: type === 'APPROVE' ? 'approve' : 'request-changes',
              ...(message === undefined ? {} : { text: template(message) }),
            },
          },
        ],
      },
    ];
  }

  #dismiss(options: Readonly<Record<string, unknown>>, source: SourceRule): readonly Acting[] {
    if (options.when === 'always')
      throw new NotConvertible('`when: always`: Reeve dismisses reviews after a push only');
    const states: string[] = [];
    for (const [key, state] of [
      ['approved', 'APPROVED'],
      ['changes_requested', 'REQUEST_CHANGES'],
    ] as const) {
      const value = options[key] ?? true;
      if (value === true) states.push(state);
      else if (value !== false) {
        throw new NotConvertible(`\`${key}\` is a list: Reeve dismisses the reviews of all, or of none`);
      }
    }
    if (states.length === 0) return [];
    const attributes = leavesOf(source.written).filter(({ isTop, isNegated }) => isTop && !isNegated);
    if (attributes.some(({ attribute }) => attribute === 'merged' || attribute === 'closed')) {
      this.#once(
        'dismiss_reviews after the merge',
        'a push to a merged pull request is no event: there is nothing to dismiss',
      );
      return [];
    }
    this.#once(
      'action dismiss_reviews',
      'Reeve itself brings a branch up to date: Mergify ignores the pushes that it makes itself, and reviews stay; with a merge queue or `update-branch` of Reeve, another rule of Reeve is started by that push, and dismisses them',
    );
    const message = textOf(options.message) ?? 'Pull request has been modified.';
    return [
      {
        phase: 'open',
        on: { pull_request: ['synchronized'] },
        steps: [{ uses: 'dismiss-stale-reviews', with: { states, message: template(message) } }],
      },
    ];
  }

  #deletesBranch(actions: readonly (readonly [string, unknown])[]): boolean {
    return actions.some(([name]) => name === 'delete_head_branch');
  }

  #deleteBranch(
    options: Readonly<Record<string, unknown>>,
    source: SourceRule,
    actions: readonly (readonly [string, unknown])[],
  ): readonly Acting[] {
    this.#once(
      'action delete_head_branch',
      'an account pushes to the branch after the merge, or it is protected: Mergify deletes it, Reeve keeps it',
    );
    if (options.force === true)
      source.differs(
        'another open pull request uses the branch: Mergify deletes it (`force`), Reeve keeps it',
      );
    const tops = leavesOf(source.written).filter(({ isTop, isNegated }) => isTop && !isNegated);
    const saysMerged = tops.some(({ attribute }) => attribute === 'merged');
    const saysClosed = leavesOf(source.written).some(
      ({ attribute, isNegated }) => attribute === 'closed' && !isNegated,
    );
    const merges = actions.some(
      ([name, given]) =>
        name === 'merge' && !(isRecord(given) && given.strict !== undefined && given.strict !== false),
    );
    if (merges && source.scope === 'open') {
      source.differs(
        'a person merges the pull request, or closes it, while the conditions hold: Mergify deletes the branch, Reeve deletes branches of its own merges only',
      );
      return [];
    }
    if (!saysMerged && !saysClosed)
      source.differs(
        'a pull request that is closed without a merge: Mergify deletes its branch, Reeve deletes branches of merged pull requests only',
      );
    return [
      {
        phase: 'ended',
        ...(saysMerged || saysClosed ? {} : { besides: isMerged }),
        steps: [{ uses: 'delete-branch', ...(saysClosed && !saysMerged ? { with: { closed: true } } : {}) }],
      },
    ];
  }

  #backport(options: Readonly<Record<string, unknown>>, source: SourceRule): readonly Acting[] {
    const { differs } = source;
    const branches = texts(options.branches ?? []) ?? [];
    const to: string[] = [];
    for (const branch of branches) {
      if (/\{\{|\{%/.test(branch)) throw new NotConvertible(`the branch \`${branch}\` is a template`);
      to.push(escapeGlob(branch).replace(/^!/, '\\!'));
    }
    for (const pattern of texts(options.regexes ?? []) ?? []) {
      const glob = branchGlob(pattern);
      if (glob !== undefined) {
        to.push(glob);
        continue;
      }
      const known = this.#context.names.forge.branches;
      let test: RegExp | undefined;
      try {
        test = new RegExp(`^(?:${pattern})`);
      } catch {
        test = undefined;
      }
      const matching = known?.filter((branch) => test?.test(branch)) ?? [];
      if (matching.length === 0)
        throw new NotConvertible(
          `the branches \`${pattern}\`: Reeve takes globs; --repository names the branches that exist`,
        );
      differs(
        `a branch that matches \`${pattern}\` and is created later: Mergify backports to it, the rule does not name it`,
      );
      to.push(...matching.map((branch) => escapeGlob(branch)));
    }
    if (to.length === 0) throw new NotConvertible('it names no branch');
    if (to.length > 20) throw new NotConvertible('it names more than 20 branches');
    this.#once(
      'action backport',
      'a change that does not apply to the branch: Mergify opens a pull request with the conflict and a label (`ignore_conflicts`), Reeve one comment with the commands to backport by hand',
    );
    this.#once(
      'text of backports',
      'each backport has the text of Reeve, one commit and the branch `backport-NUMBER-to-BRANCH`; Mergify uses its own text (`body`), the commits of the pull request and `mergify/bp/…`: rules that look for these do not find them',
    );
    const arguments_: Record<string, ArgumentValue> = { to: [...new Set(to)] };
    const labels = texts(options.labels ?? []) ?? [];
    if (labels.length > 0) {
      if (labels.some((label) => label.includes('{{'))) throw new NotConvertible('a label is a template');
      arguments_.labels = labels;
    }
    const assignees = texts(options.assignees ?? []) ?? [];
    const fixed = assignees.filter((user) => !user.includes('{{'));
    if (fixed.length > 0) arguments_.assignees = fixed.map((user) => this.#notes.user(user));
    if (fixed.length < assignees.length)
      differs(
        'each backport: Mergify assigns it to the author, or to who merged; `assignees` of Reeve takes fixed logins only',
      );
    const title = textOf(options.title) ?? '{{ title }} (backport #{{ number }})';
    arguments_.title = template(title, { destination_branch: '{branch}' });
    const saysMerged = leavesOf(source.written).some(
      ({ isTop, isNegated, attribute }) => isTop && !isNegated && attribute === 'merged',
    );
    return [
      {
        phase: 'ended',
        ...(saysMerged ? {} : { besides: isMerged }),
        steps: [{ uses: 'backport', with: arguments_ }],
      },
    ];
  }

  #postCheck(
    options: Readonly<Record<string, unknown>>,
    {
      source,
      context,
    }: { readonly source: SourceRule; readonly context: (scope: Scope) => ConditionContext },
  ): readonly Acting[] {
    const own = options.success_conditions;
    if (options.neutral_conditions !== undefined && options.neutral_conditions !== null)
      source.differs(
        'a pull request for which `neutral_conditions` hold alone: Mergify reports neutral, Reeve failure',
      );
    const when =
      own === undefined || own === null
        ? source.conditions(source.scope)
        : convertConditions(own, context(source.scope));
    const status: Record<string, ArgumentValue> = {
      ...(this.#context.target === 'operator'
        ? { context: source.title.includes('${{') ? 'mergify' : source.title.slice(0, 200) }
        : {}),
      state: 'success',
      when,
      otherwise: { state: 'failure' },
    };
    source.differs(
      `each pull request: Mergify writes the check \`Rule: ${source.title} (post_check)\` with a title and a summary, Reeve a status without them`,
    );
    return [
      {
        phase: 'open',
        ...(own === undefined || own === null ? { hasCondition: true as const } : {}),
        steps: [{ uses: 'set-status', with: status }],
      },
    ];
  }

  // Merging

  #mergeArguments(
    options: Readonly<Record<string, unknown>>,
    differs: (note: string) => void,
  ): Record<string, ArgumentValue> {
    this.#once(
      'merges after a push',
      'an account without write access pushes after the label or approval that a merge depends on: Mergify merges once the conditions hold, Reeve waits until a person with write access acts again (`after-push`)',
    );
    const given: Record<string, ArgumentValue> = {};
    const method = options.method ?? options.merge_method;
    const known: Readonly<Record<string, string>> = {
      merge: 'merge',
      squash: 'squash',
      rebase: 'rebase',
      'fast-forward': 'fast-forward-only',
    };
    if (typeof method === 'string') {
      const name = known[method];
      if (name === undefined) throw new NotConvertible(`the method \`${method}\` has no counterpart`);
      given.method = name;
    } else {
      this.#once(
        'merge method',
        'a rule without a method in a repository that allows several: Mergify takes merge, or the first that is allowed, Reeve the default of the repository',
      );
    }
    if (typeof options.rebase_fallback === 'string' && method === 'rebase')
      differs(
        `a pull request that cannot be rebased: Mergify falls back to ${options.rebase_fallback}, Reeve does not merge it`,
      );
    for (const key of ['merge_bot_account', 'update_bot_account', 'bot_account'])
      if (typeof options[key] === 'string')
        differs(
          `each merge or update: Mergify acts as \`${options[key]}\` (\`${key}\`), Reeve with its own account`,
        );
    Object.assign(given, this.#message(options, differs));
    return given;
  }

  #message(
    options: Readonly<Record<string, unknown>>,
    differs: (note: string) => void,
  ): Record<string, ArgumentValue> {
    const format = options.commit_message_format;
    if (isRecord(format)) {
      if (Array.isArray(format.trailers) && format.trailers.length > 0)
        differs('each merge: Mergify adds lines at the end of the message (`trailers`), Reeve does not');
      return {
        ...(format.title === 'pr-title' ? { title: titleOfPull } : {}),
        ...(format.body === 'pr-body' ? { message: bodyOfPull } : {}),
        ...(format.body === 'empty' ? { message: new Template(' ') } : {}),
      };
    }
    if (options.commit_message === 'title+body') return { title: titleOfPull, message: bodyOfPull };
    if (options.commit_message === 'first-commit')
      differs(
        'each merge of several commits: Mergify takes the message of the first commit, Reeve that of the forge',
      );
    const written = textOf(options.commit_message_template);
    if (written === undefined) {
      if (options.commit_message_template === undefined && options.commit_message === undefined)
        this.#once(
          'message of merges',
          'a description with a heading `# Commit Message`: the public version of Mergify takes the message from there, Reeve leaves it to the forge',
        );
      return {};
    }
    const [first = '', ...rest] = written.trim().split('\n');
    try {
      const message = rest.join('\n').trim();
      const made = {
        title: template(first.trim()),
        ...(message === '' ? {} : { message: template(message) }),
      };
      if (/\{\{\s*body/.test(message))
        this.#once(
          'long descriptions',
          'a description of more than 8 KiB: Mergify puts all of it into the message, Reeve the first 8 KiB',
        );
      return made;
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      differs(
        `each merge: the message of Mergify cannot be made (${error.message}), and Reeve leaves it to the forge`,
      );
      return {};
    }
  }

  #queue(
    options: Readonly<Record<string, unknown>>,
    more: {
      readonly source: SourceRule;
      readonly context: (scope: Scope) => ConditionContext;
      readonly actions: readonly (readonly [string, unknown])[];
    },
  ): readonly Acting[] {
    const name = textOf(options.name);
    const named = this.#queues.find((queue) => queue.name === name);
    if (name !== undefined && named === undefined && this.#queues.length > 0)
      throw new NotConvertible(`the queue \`${name}\` is not defined`);
    if (name !== undefined || this.#queues.length < 2)
      return [this.#queueStep(named ?? this.#queues[0], options, more)];
    // Without a name, the first queue whose conditions hold takes the pull request.
    const before: Condition[] = [];
    const actings: Acting[] = [];
    for (const queue of this.#queues) {
      const own = this.#entering(queue, more.context('open'));
      const made = this.#queueStep(queue, options, more);
      actings.push({ ...made, besides: and(made.besides ?? always, ...before.map(not)) });
      if (own === always) break;
      before.push(own);
    }
    return actings;
  }

  #entering({ options }: Queue, context: ConditionContext): Condition {
    return and(
      convertConditions(options.queue_conditions, context),
      convertConditions(options.routing_conditions, context),
    );
  }

  #queueStep(
    queue: Queue | undefined,
    options: Readonly<Record<string, unknown>>,
    {
      source,
      context,
    }: { readonly source: SourceRule; readonly context: (scope: Scope) => ConditionContext },
  ): Acting {
    const all = { ...queue?.options, ...withoutNull(options) };
    const { differs } = source;
    const isProtected = all.require_branch_protection !== false;
    if (isProtected)
      this.#once(
        'required approvals',
        `${approvalsDiffer('Mergify')}; a required approval by an account \`…[bot]\` that may not write: Mergify counts it, Reeve and the forge do not`,
      );
    const when = and(
      ...(queue
        ? [
            this.#entering(queue, context('open')),
            convertConditions(all.merge_conditions ?? queue.options.conditions, context('open')),
          ]
        : []),
      ...(isProtected ? [requiredApprovalsGiven, noRequiredCheckOpen] : []),
    );
    this.#once(
      'merge queue',
      'two pull requests in the queue: Mergify may test them together (batches, speculative checks, branches `mergify/merge-queue/…`), Reeve updates, tests and merges one after the other, and needs no queue of each name: each base branch has one; one in a repository that does not allow the method: Mergify updates it and does not merge it, Reeve does neither; one for which the conditions of the queue do not hold yet: Mergify updates it at its turn, Reeve lets it enter when they hold',
    );
    const merging = this.#mergeArguments(all, differs);
    if (all.update_method === 'rebase' || all.strict_method === 'rebase')
      this.#once(
        'update_method',
        'a pull request in the queue that is behind its base: Mergify rebases it, Reeve merges the base into it',
      );
    const priority = priorityOf(options.priority);
    return {
      phase: 'open',
      merges: true,
      ...(when === always ? {} : { besides: when }),
      steps: [{ uses: 'queue-merge', with: { ...merging, ...(priority === 0 ? {} : { priority }) } }],
    };
  }

  #readQueues(): readonly Queue[] {
    const defaults =
      isRecord(this.#file.defaults) && isRecord(this.#file.defaults.queue_rule)
        ? this.#file.defaults.queue_rule
        : {};
    const list = Array.isArray(this.#file.queue_rules) ? this.#file.queue_rules : [];
    return list.flatMap((rule, place) =>
      isRecord(rule) && typeof rule.name === 'string'
        ? [
            {
              name: rule.name,
              options: { ...defaults, ...rule },
              line: this.#source.lineOf(['queue_rules', place]),
            },
          ]
        : [],
    );
  }

  #convertQueues(): void {
    for (const { name, options, line } of this.#queues) {
      this.#notes.line = line;
      const part = `queue ${name}`;
      const differences: string[] = [];
      const differs = (note: string): void => void differences.push(note);
      const context = (scope: Scope): ConditionContext => ({ scope, notes: this.#notes, differs });
      try {
        const source: SourceRule = {
          title: `queue ${name}`,
          written: options.queue_conditions,
          scope: 'open',
          differs,
          conditions: () => always,
        };
        const queue = { name, options, line };
        const acting = this.#queueStep(queue, {}, { source, context });
        const rules: string[] = [];
        if (options.autoqueue === true) {
          const [draft] = this.#groups(source, [acting]);
          if (draft) {
            this.#rules.push(draft);
            rules.push(draft.name);
          }
        }
        if (options.merge_conditions !== undefined || options.conditions !== undefined)
          differs(
            'a check that runs only on the branches of the queue (`mergify/merge-queue/…`): Mergify waits for it there, a rule of Reeve waits for it on the head before the pull request enters',
          );
        this.#entries.push({
          line,
          part,
          outcome: differences.length === 0 ? 'exact' : 'differs',
          ...(differences.length === 0 ? {} : { note: differences.join('; ') }),
          apart: true,
          ...(rules.length === 0 ? {} : { rules }),
        });
      } catch (error) {
        if (!(error instanceof NotConvertible)) throw error;
        this.#entries.push({ line, part, outcome: 'left-out', note: error.message, apart: true });
      }
      for (const key of Object.keys(options).filter((one) => one in queueOptions))
        this.#leaveOut(['queue_rules'], `queue ${name}: ${key}`, queueOptions[key] ?? '', true);
    }
  }

  // Other sections

  #convertProtections(): void {
    const list = Array.isArray(this.#file.merge_protections) ? this.#file.merge_protections : [];
    for (const [place, rule] of list.entries()) {
      const path = ['merge_protections', place];
      const line = this.#source.lineOf(path);
      this.#notes.line = line;
      const title = isRecord(rule) && typeof rule.name === 'string' ? rule.name : `protection ${place + 1}`;
      const part = `merge protection ${title}`;
      if (!isRecord(rule)) {
        this.#leaveOut(path, part, 'it is no map', true);
        continue;
      }
      const differences: string[] = [
        `each pull request: Mergify writes the one check \`Mergify Merge Protections\`, Reeve a status for each protection, and the branch has to require it`,
      ];
      const context: ConditionContext = {
        scope: 'open',
        notes: this.#notes,
        differs: (note) => void differences.push(note),
      };
      try {
        const condition = or(
          not(convertConditions(rule.if, context)),
          convertConditions(rule.success_conditions, context),
        );
        const name = this.#nameOf(`protection ${title}`);
        const description = textOf(rule.description);
        this.#rules.push({
          name,
          description: title,
          on: this.#on(
            {
              title,
              written: [rule.if, rule.success_conditions].flat(),
              scope: 'open',
              differs: () => {},
              conditions: () => always,
            },
            { phase: 'open', steps: [] },
          ),
          each: 'pull_request',
          steps: [
            {
              uses: 'set-status',
              with: {
                state: 'success',
                when: condition,
                otherwise: {
                  state: 'pending',
                  ...(description === undefined
                    ? {}
                    : { description: new Template(description.slice(0, 140)) }),
                },
              },
            },
          ],
        });
        this.#todo.push(`Require the status of the rule \`${name}\` in the protection of the branch.`);
        this.#entries.push({
          line,
          part,
          outcome: 'differs',
          note: differences.join('; '),
          apart: true,
          rules: [name],
        });
      } catch (error) {
        if (!(error instanceof NotConvertible)) throw error;
        this.#leaveOut(path, part, error.message, true);
      }
    }
  }

  #convertRest(): void {
    const { extends: extended, commands_restrictions: restrictions } = this.#file;
    if (extended !== undefined)
      this.#leaveOut(
        ['extends'],
        'extends',
        `the rules of the repository \`${String(extended)}\` are not read: import that file as well`,
        true,
      );
    if (isRecord(restrictions))
      for (const command of Object.keys(restrictions))
        this.#leaveOut(
          ['commands_restrictions', command],
          `commands_restrictions: ${command}`,
          'Reeve obeys no commands of Mergify (`@mergifyio …`); a rule with `command("…")` and `permission` makes one',
          true,
        );
    for (const [place, rule] of (Array.isArray(this.#file.priority_rules)
      ? this.#file.priority_rules
      : []
    ).entries())
      this.#leaveOut(
        ['priority_rules', place],
        `priority rule ${isRecord(rule) ? String(rule.name) : place + 1}`,
        'priorities are arguments of the steps with `queue-merge`: see rules/merge-queue.yml',
        true,
      );
    for (const section of ['merge_queue', 'merge_protections_settings', 'scopes', 'partition_rules']) {
      const written = this.#file[section];
      if (!isRecord(written)) continue;
      for (const key of Object.keys(written))
        this.#leaveOut([section, key], `${section}: ${key}`, 'this setting has no counterpart', true);
    }
    const known = new Set([
      ...['pull_request_rules', 'queue_rules', 'merge_protections', 'extends', 'commands_restrictions'],
      ...['priority_rules', 'merge_queue', 'merge_protections_settings', 'scopes', 'partition_rules'],
      ...['defaults', 'shared'],
    ]);
    for (const key of Object.keys(this.#file).filter((one) => !known.has(one)))
      this.#leaveOut([key], key, 'this key is not known', true);
  }

  #leaveOut(path: readonly (string | number)[], part: string, note: string, isApart: boolean): void {
    this.#entries.push({
      line: this.#source.lineOf(path),
      part,
      outcome: 'left-out',
      note,
      ...(isApart ? { apart: true } : {}),
    });
  }
}

const commentNote =
  'the conditions hold, end, and hold again: Mergify writes a second comment, Reeve keeps the first';

/** Options of queues that Reeve does not have, and what becomes of them. */
const queueOptions: Readonly<Record<string, string>> = {
  batch_size: 'Reeve tests one pull request after the other',
  batch_max_wait_time: 'Reeve tests one pull request after the other',
  batch_max_failure_resolution_attempts: 'Reeve tests one pull request after the other',
  speculative_checks: 'Reeve tests one pull request after the other',
  allow_inplace_checks: 'Reeve always tests the pull request itself',
  allow_queue_branch_edit: 'Reeve has no branches of its own for the queue',
  queue_branch_prefix: 'Reeve has no branches of its own for the queue',
  queue_branch_merge_method: 'Reeve has no branches of its own for the queue',
  draft_bot_account: 'Reeve opens no pull requests for the queue',
  checks_timeout: '`timeout` of `queue-merge` ends the turn of a pull request; its default is 60 minutes',
  max_checks_retries: 'a pull request leaves the queue when a check fails',
  branch_protection_injection_mode: 'Reeve never merges against a protection',
  autosquash: 'Reeve merges the base into the branch',
  disallow_checks_interruption_from_queues: 'each base branch has one queue',
};

/**
 * Returns which pull requests a rule is about. Conditions that only say that they are open are left out where the rule is
 * about open ones.
 */
function scopeOf(given: unknown): { readonly scope: Scope; readonly conditions: unknown } {
  const written = flattened(given);
  const ends = leavesOf(written).filter(({ attribute }) =>
    ['merged', 'closed', 'open', 'merged-at', 'closed-at', 'merged-by'].includes(attribute),
  );
  const saysOpen = (one: (typeof ends)[number]): boolean =>
    one.isTop &&
    one.operator === undefined &&
    (one.attribute === 'open' ? !one.isNegated : one.isNegated && one.attribute !== 'merged-by');
  if (!ends.every(saysOpen)) return { scope: 'all', conditions: written };
  const isEnd = (one: unknown): boolean =>
    typeof one === 'string' && ends.some((leaf) => leaf.written === one);
  const conditions = Array.isArray(written)
    ? written.filter((one) => !isEnd(one))
    : isEnd(written)
      ? []
      : written;
  return { scope: 'open', conditions };
}

function whenOf({ with: given }: StepDraft): readonly Condition[] {
  return given?.when instanceof Condition ? [given.when] : [];
}

function withoutWhen({ with: given = {} }: StepDraft): Readonly<Record<string, ArgumentValue>> {
  const { when: _, ...rest } = given;
  return rest;
}

function withoutNull(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const chunks: (readonly Item[])[] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** Returns a list of conditions without `and` at its top. */
function flattened(written: unknown): unknown {
  if (!Array.isArray(written)) return written;
  return written.flatMap((one: unknown) =>
    isRecord(one) && Object.keys(one).length === 1 && Array.isArray(one.and) ? flattened(one.and) : [one],
  );
}

/** Whether of two rules with one condition each, one is the negation of the other. */
function areOpposite(add: readonly unknown[], remove: readonly unknown[]): boolean {
  const [one, other] = [add[0], remove[0]].map((rule) => (isRecord(rule) ? leavesOf(rule.conditions) : []));
  if (add.length !== 1 || remove.length !== 1 || !one || !other) return false;
  const open = (leaf: (typeof one)[number]): boolean => !['merged', 'closed'].includes(leaf.attribute);
  const [first, ...more] = one.filter(open);
  const [second, ...others] = other.filter(open);
  if (!first || !second || more.length + others.length > 0) return false;
  return (
    first.attribute === second.attribute &&
    first.value === second.value &&
    first.operator === second.operator &&
    first.isNegated !== second.isNegated
  );
}

/** Mergify has 1 to 10000 with 2000 in the middle, Reeve -100 to 100. */
function priorityOf(value: unknown): number {
  const named: Readonly<Record<string, number>> = { low: 1_000, medium: 2_000, high: 3_000 };
  const number = typeof value === 'string' ? named[value] : typeof value === 'number' ? value : 2_000;
  return Math.max(-100, Math.min(100, Math.round(((number ?? 2_000) - 2_000) / 100)));
}

/** Returns the glob for the branches that start as the regular expression says; undefined if it is no simple one. */
function branchGlob(pattern: string): string | undefined {
  const [, start, end] =
    /^\^?([A-Za-z0-9_\-/]+|(?:[A-Za-z0-9_\-/]|\\\.)+?)(\.\*\$?|\.\+\$?|\$)?$/.exec(pattern) ?? [];
  if (start === undefined) return undefined;
  const text = start.replace(/\\\./g, '.');
  return end === '$' ? text : `${text}**`.replace(/([^/])\*\*$/, '$1*');
}

const titleOfPull = new Template(
  { expression: 'pull_request.title' },
  ' (#',
  { expression: 'pull_request.number' },
  ')',
);
const bodyOfPull = new Template({ expression: 'pull_request.body' });

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Variables of templates, as expressions. */
const variables: Readonly<Record<string, string>> = {
  author: 'pull_request.user.login',
  title: 'pull_request.title',
  body: 'pull_request.body',
  'body-raw': 'pull_request.body',
  body_raw: 'pull_request.body',
  number: 'pull_request.number',
  base: 'pull_request.base.ref',
  head: 'pull_request.head.ref',
  labels: 'labels.map(l, l.name).join(", ")',
  assignees: 'pull_request.assignees.map(a, "@" + a.login).join(", ")',
  approvers: 'approvals.map(a, "@" + a.user.login).join(", ")',
};

/** Lists of templates: the list, and its texts. */
const templateLists: Readonly<Record<string, readonly [list: string, member: string]>> = {
  approved_reviews_by: ['approvals', 'user.login'],
  assignee: ['pull_request.assignees', 'login'],
  label: ['labels', 'name'],
  files: ['files', 'filename'],
};

/**
 * Converts a template of Mergify (Jinja2). Throws NotConvertible for anything but variables, and one list that is joined.
 * `words`: variables that stand for a fixed text.
 */
function template(written: string, words: Readonly<Record<string, string>> = {}): Template {
  const parts: (string | { readonly expression: string })[] = [];
  const pattern =
    /\{\{\s*(\w+)\s*\|\s*join\(\s*(?:'([^']*)'|"([^"]*)")\s*\)\s*\}\}|\{%-?\s*for\s+(\w+)\s+in\s+(\w+)\s*-?%\}([^{]*)\{\{\s*(\w+)\s*\}\}([^{]*)\{%-?\s*endfor\s*-?%\}|\{\{\s*([\w-]+)\s*\}\}/g;
  let at = 0;
  for (const found of written.matchAll(pattern)) {
    const [whole, joined, single, double, item, list, before = '', inner, after = '', name] = found;
    parts.push(plain(written.slice(at, found.index)));
    at = found.index + whole.length;
    if (joined !== undefined) {
      const known = Object.hasOwn(templateLists, joined) ? templateLists[joined] : undefined;
      if (known === undefined)
        throw new NotConvertible(`the list \`${joined}\` of a template has no counterpart`);
      parts.push({
        expression: `${known[0]}.map(x, x.${known[1]}).join(${literal(single ?? double ?? '')})`,
      });
      continue;
    }
    if (name !== undefined) {
      const word = Object.hasOwn(words, name) ? words[name] : undefined;
      const expression = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (word !== undefined) parts.push(word);
      else if (expression !== undefined) parts.push({ expression });
      else throw new NotConvertible(`the variable \`${name}\` of a template has no counterpart`);
      continue;
    }
    const known = Object.hasOwn(templateLists, list ?? '') ? templateLists[list ?? ''] : undefined;
    if (known === undefined || item !== inner)
      throw new NotConvertible(`the loop over \`${list}\` of a template has no counterpart`);
    const text = [
      ...(before === '' ? [] : [literal(before)]),
      `x.${known[1]}`,
      ...(after === '' ? [] : [literal(after)]),
    ].join(' + ');
    parts.push({ expression: `${known[0]}.map(x, ${text}).join("")` });
  }
  parts.push(plain(written.slice(at)));
  return new Template(...parts.filter((part) => part !== ''));
}

function plain(text: string): string {
  if (/\{\{|\{%|\{#/.test(text))
    throw new NotConvertible('a template has more than variables (filters, conditions or loops)');
  return text;
}
