import { parse, TomlError } from 'smol-toml';
import {
  and,
  Condition,
  isOneOf,
  labelled,
  literal,
  never,
  not,
  or,
  regularExpression,
} from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type ConversionContext,
  type Entry,
  type Format,
  type RuleDraft,
  SourceError,
  type SourceFile,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { LongConditions } from '../long-conditions.ts';
import {
  approvalsDiffer,
  isBaseProtected,
  NameNotes,
  noRequiredCheckOpen,
  requiredApprovalsGiven,
} from '../pulls.ts';
import { isRecord, texts } from '../source.ts';

/**
 * Kodiak. Source: chdsbd/kodiak at 920c1c653eb811e4f1f5e0a7c21649b2c856e689, `bot/kodiak/config.py`,
 * `bot/kodiak/evaluation.py` and `bot/kodiak/dependencies.py`.
 */
export const kodiak: Format = {
  name: 'kodiak',
  title: 'Kodiak',
  counts: 'options',
  places: ['.kodiak.toml', '.github/.kodiak.toml', 'kodiak.toml'],
  convert: (file, context) => new KodiakFile(file, context).convert(),
};

/** The title blocks merges of Kodiak if no pattern is given. */
const defaultTitle = '^WIP:.*';

class KodiakFile {
  readonly #text: string;
  readonly #options = new Map<string, unknown>();
  readonly #context: ConversionContext;
  readonly #notes: NameNotes;
  readonly #entries: Entry[] = [];
  readonly #rules: RuleDraft[] = [];
  readonly #named = new Map<string, Condition>();
  readonly #seen = new Set<string>();

  constructor({ text }: SourceFile, context: ConversionContext) {
    this.#text = text;
    this.#context = context;
    this.#notes = new NameNotes(context.names);
    let value: unknown;
    try {
      value = parse(text, { maxDepth: 20 });
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      throw new SourceError(error.message.split('\n')[0] ?? 'invalid TOML', error.line);
    }
    const flatten = (inner: unknown, path: string): void => {
      if (isRecord(inner))
        for (const [key, one] of Object.entries(inner)) flatten(one, path === '' ? key : `${path}.${key}`);
      else this.#options.set(path, inner);
    };
    flatten(value, '');
    if (this.#options.get('version') !== 1) throw new SourceError('`version = 1` was expected');
  }

  convert(): Conversion {
    this.#option('version', 'without-meaning', 'it names the form of the file');
    const notes = this.#notes;
    notes.note(
      'branch protection',
      'a protected branch whose protection is not the same on the forge: both bots merge only what the protection of the base branch allows; required checks, approvals and `block_on_rejected_reviews` have to be set there',
    );
    const selected = this.#selected();
    const allowed = this.#allowed();
    const doNotMerge = this.#option('merge.do_not_merge', 'exact') === true;
    if (!doNotMerge) this.#merge(and(...selected, ...allowed));
    this.#deletes(selected, allowed);
    this.#update(selected, doNotMerge);
    this.#approve();
    this.#conflict();
    this.#rest();
    const long = new LongConditions();
    const rules = this.#rules.map((draft) => long.shorten(draft));
    return {
      rules,
      conditions: new Map([...this.#named, ...long.named]),
      entries: [...this.#entries, ...notes.entries()].toSorted((one, other) => one.line - other.line),
      todo: ['Protect the branches, with required checks: Kodiak merges nothing into other branches.'],
    };
  }

  // Conditions

  /** The labels that ask for a merge; undefined if none is needed. */
  #mergeLabels(): readonly string[] | undefined {
    if (this.#options.get('merge.require_automerge_label') === false) return undefined;
    return texts(this.#options.get('merge.automerge_label') ?? 'automerge') ?? [];
  }

  /** Which pull requests Kodiak looks at: those with the label, and updates of dependencies. */
  #selected(): readonly Condition[] {
    const isRequired = this.#option('merge.require_automerge_label', 'exact') !== false;
    this.#option(
      'merge.automerge_label',
      isRequired ? 'exact' : 'without-meaning',
      isRequired ? undefined : 'no label is required',
    );
    const dependencies = this.#dependencies(isRequired);
    const labels = this.#mergeLabels();
    const disabled = String(this.#option('disable_bot_label', 'exact') ?? 'kodiak:disabled');
    return [
      ...(labels === undefined
        ? []
        : [or(...(labels.length > 0 ? [labelled(labels)] : []), ...dependencies)]),
      not(labelled([disabled])),
    ];
  }

  #dependencies(isRequired: boolean): readonly Condition[] {
    const versions = texts(this.#options.get('merge.automerge_dependencies.versions') ?? []) ?? [];
    const users = texts(this.#options.get('merge.automerge_dependencies.usernames') ?? []) ?? [];
    const has = (version: string): boolean => versions.includes(version);
    const isUsed = isRequired && versions.length > 0 && users.length > 0;
    const unused = isRequired ? '`versions` and `usernames` are needed together' : 'no label is required';
    this.#option(
      'merge.automerge_dependencies.versions',
      isUsed ? 'differs' : 'without-meaning',
      isUsed
        ? 'an update whose title has other versions than its text (`from 1.2 to 2.0` in a changelog), or none: Kodiak reads the text first and takes the largest change, Reeve reads a title that ends in `from 1.2.3 to 1.2.4` alone'
        : unused,
    );
    this.#option(
      'merge.automerge_dependencies.usernames',
      isUsed ? 'exact' : 'without-meaning',
      isUsed ? undefined : unused,
    );
    if (!isUsed) return [];
    const version = String.raw`[0-9]+(\.[0-9]+){0,2}([.+][^ ]*)?`;
    const guard = new Condition(
      `pull_request.title.matches(${literal(`from ${version} to ${version}( in [^ ]+)?$`)})`,
      'unary',
      { yes: { pull_request: { title: 'Bump a from 1.2.3 to 1.2.4' } } },
    );
    const words = 'pull_request.title.substring(pull_request.title.lastIndexOf("from ") + 5).split(" ")';
    this.#named.set('versions', new Condition(words, 'unary'));
    for (const [name, place] of [
      ['old_version', 0],
      ['new_version', 2],
    ] as const)
      this.#named.set(
        name,
        new Condition(`(versions[${place}] + ".x.x").replace("+", ".").split(".")`, 'unary'),
      );
    const same = (place: number): Condition =>
      new Condition(`old_version[${place}] == new_version[${place}]`, 'relation');
    const kinds: Readonly<Record<string, Condition>> = {
      major: not(same(0)),
      minor: and(same(0), not(same(1))),
      patch: and(same(0), same(1)),
    };
    const fitting =
      has('major') && has('minor') && has('patch')
        ? []
        : has('minor') && has('patch')
          ? [same(0)]
          : [or(...versions.flatMap((one) => kinds[one] ?? []))];
    return [
      and(
        isOneOf(
          'pull_request.user.login',
          users.map((user) => this.#user(user)),
        ),
        guard,
        ...fitting,
      ),
    ];
  }

  /** Kodiak writes names of bots without `[bot]`. */
  #user(user: string): string {
    const isBot =
      /^(dependabot|dependabot-preview|renovate|mergify|github-actions|weblate|imgbot|greenkeeper|pre-commit-ci)$/.test(
        user,
      );
    return this.#notes.user(isBot ? `${user}[bot]` : user);
  }

  /** What must not be the case. */
  #allowed(): readonly Condition[] {
    const conditions: Condition[] = [];
    const blocking = ['merge.blocking_labels', 'merge.blacklist_labels'].flatMap(
      (name) => texts(this.#option(name, 'exact') ?? []) ?? [],
    );
    if (blocking.length > 0) conditions.push(not(labelled([...new Set(blocking)])));
    const isNew = this.#options.get('merge.blocking_title_regex') !== undefined;
    const name = isNew ? 'merge.blocking_title_regex' : 'merge.blacklist_title_regex';
    const pattern = String(this.#options.get(name) ?? defaultTitle);
    if (isNew)
      this.#option(
        'merge.blacklist_title_regex',
        'without-meaning',
        '`blocking_title_regex` takes its place',
      );
    if (pattern === '') this.#option(name, 'exact');
    else {
      const test = regularExpression(pattern, { dialect: 'go' });
      if ('problem' in test) {
        this.#option(name, 'left-out', `${test.problem}; nothing is merged without it`);
        conditions.push(never);
      } else {
        this.#option(name, 'exact');
        conditions.push(not(test.on('pull_request.title')));
      }
    }
    if (this.#option('merge.block_on_reviews_requested', 'exact') === true)
      conditions.push(
        new Condition(
          'pull_request.requested_reviewers.size() + pull_request.requested_reviewers_teams.size() == 0',
          'relation',
        ),
      );
    return conditions;
  }

  // Rules

  #merge(condition: Condition): void {
    this.#notes.note(
      'merge queue',
      'a pull request that is behind a base branch that need not be up to date: Kodiak merges it as it is, the queue of Reeve merges the base into it first and waits for its checks; one from a fork that is behind leaves the queue; one that is behind while a required check is pending: Kodiak updates it before the check ends, Reeve after it has passed',
    );
    this.#notes.note(
      'merges after a push',
      'an account without write access pushes after the label was set: Kodiak merges once the protection allows it, Reeve waits until a person with write access acts again (`after-push`)',
    );
    const method = this.#options.get('merge.method');
    const methods: Readonly<Record<string, string>> = {
      merge: 'merge',
      squash: 'squash',
      rebase: 'rebase',
      rebase_fast_forward: 'fast-forward-only',
    };
    const chosen = typeof method === 'string' ? methods[method] : undefined;
    this.#option(
      'merge.method',
      method === undefined || chosen ? 'exact' : 'left-out',
      chosen ? undefined : 'the method is not known',
    );
    if (method === undefined)
      this.#notes.note(
        'merge method',
        'a repository that allows merge commits and whose default is another method: Kodiak takes merge, then squash, then rebase, Reeve the default of the repository',
      );
    this.#notes.note(
      'label kodiak: merge.method',
      'a pull request with the label `kodiak: merge.method = "rebase"`: Kodiak takes that method, Reeve the one of the rule',
    );
    this.#notes.note(
      'method of the repository',
      'a repository that does not allow the method, or a rebase where commits have to be signed: Kodiak reports an error and does nothing at all, Reeve merges nothing, but still updates, approves and comments',
    );
    const ignored = [
      ...new Set(
        ['update.ignored_usernames', 'update.blacklist_usernames'].flatMap(
          (name) => texts(this.#options.get(name) ?? []) ?? [],
        ),
      ),
    ].map((user) => this.#user(user));
    const auto = this.#options.get('update.autoupdate_label');
    const isStale =
      ignored.length === 0
        ? []
        : [
            not(
              and(
                isOneOf('pull_request.user.login', ignored),
                new Condition('pull_request.behind > 0', 'relation', {
                  yes: { pull_request: { behind: 1 } },
                  no: { pull_request: { behind: 0 } },
                }),
                ...(typeof auto === 'string' ? [not(labelled([auto]))] : []),
              ),
            ),
          ];
    const when = and(condition, ...isStale, isBaseProtected, requiredApprovalsGiven, noRequiredCheckOpen);
    this.#notes.note('required approvals', approvalsDiffer('Kodiak'));
    const given: Readonly<Record<string, ArgumentValue>> = {
      when,
      ...(chosen === undefined ? {} : { method: chosen }),
      ...this.#message(),
    };
    const priority = this.#option('merge.priority_merge_label', 'exact');
    const step: StepDraft = { uses: 'queue-merge', with: given };
    const steps: readonly StepDraft[] =
      typeof priority === 'string'
        ? [
            { ...step, if: labelled([priority]), with: { ...given, priority: 10 } },
            { ...step, if: not(labelled([priority])) },
          ]
        : [step];
    this.#rules.push({
      name: 'kodiak-merge',
      description: 'Merges pull requests as Kodiak did.',
      on: 'auto',
      each: 'pull_request',
      steps,
    });
  }

  #message(): Readonly<Record<string, ArgumentValue>> {
    const at = (key: string): unknown => this.#options.get(`merge.message.${key}`);
    const hasTitle = at('title') === 'pull_request_title';
    const hasBody = at('body') === 'pull_request_body';
    const isEmpty = at('body') === 'empty';
    this.#option(
      'merge.message.title',
      at('title') === 'github_default' ? 'differs' : 'exact',
      at('title') === 'github_default'
        ? 'a squash of one commit: GitHub takes the title of the commit, the forge that of the pull request'
        : undefined,
    );
    this.#option(
      'merge.message.include_pr_number',
      hasTitle ? 'exact' : 'without-meaning',
      hasTitle ? undefined : 'it counts with `title = "pull_request_title"` only',
    );
    const number =
      at('include_pr_number') === false ? [] : [' (#', { expression: 'pull_request.number' }, ')'];
    const body: (string | { readonly expression: string })[] = [];
    let text = 'pull_request.body';
    const cutsText = at('cut_body_and_text') === true;
    const before = at('cut_body_before');
    const after = at('cut_body_after');
    if (typeof before === 'string' && before !== '') {
      const more = cutsText ? ` + ${[...before].length}` : '';
      text = `${text}.contains(${literal(before)}) ? ${text}.substring(${text}.indexOf(${literal(before)})${more}) : ${text}`;
    }
    if (typeof after === 'string' && after !== '') {
      const length = cutsText ? 0 : [...after].length;
      const inner = text === 'pull_request.body' ? text : `(${text})`;
      text = `${inner}.contains(${literal(after)}) ? ${inner}.substring(0, ${inner}.indexOf(${literal(after)})${length === 0 ? '' : ` + ${length}`}) : ${inner}`;
    }
    body.push({ expression: text });
    const used = hasBody ? 'exact' : 'without-meaning';
    const why = hasBody ? undefined : 'it counts with `body = "pull_request_body"` only';
    this.#option(
      'merge.message.body',
      hasBody ? 'differs' : at('body') === 'github_default' ? 'differs' : 'exact',
      hasBody
        ? 'a description of more than 8 KiB: Kodiak takes all of it, Reeve the first 8 KiB'
        : at('body') === 'github_default'
          ? 'a squash of two commits: GitHub lists their messages, the forge writes its own message'
          : undefined,
    );
    for (const key of ['cut_body_before', 'cut_body_after', 'cut_body_and_text'])
      this.#option(`merge.message.${key}`, used, why);
    const type = at('body_type');
    this.#option(
      'merge.message.body_type',
      !hasBody ? 'without-meaning' : type === 'markdown' ? 'exact' : 'differs',
      !hasBody
        ? why
        : type === 'markdown'
          ? undefined
          : 'a description with `**bold**`: Kodiak renders it, Reeve takes the Markdown as it is written',
    );
    this.#option(
      'merge.message.strip_html_comments',
      hasBody && at('strip_html_comments') === true ? 'differs' : 'without-meaning',
      hasBody && at('strip_html_comments') === true
        ? 'a description with `<!-- a comment -->`: Kodiak takes it out of the message, Reeve leaves it in'
        : 'nothing is taken out',
    );
    const canAdd = hasBody || isEmpty;
    if (at('include_pull_request_url') === true && canAdd)
      body.push(hasBody ? '\n\nPR-URL: ' : 'PR-URL: ', { expression: 'pull_request.html_url' });
    this.#option(
      'merge.message.include_pull_request_url',
      canAdd ? 'exact' : 'without-meaning',
      canAdd ? undefined : 'the message of the forge is taken',
    );
    for (const key of ['include_coauthors', 'include_pull_request_author'])
      this.#option(
        `merge.message.${key}`,
        canAdd && at(key) === true ? 'differs' : 'without-meaning',
        canAdd && at(key) === true
          ? 'each merge: Kodiak adds lines `Co-authored-by: …`, Reeve adds none (the forge may)'
          : 'no lines are added',
      );
    const parts = isEmpty ? body.slice(1) : body;
    // Forges write the title alone if there is no message: this is an empty body.
    return {
      ...(hasTitle ? { title: new Template({ expression: 'pull_request.title' }, ...number) } : {}),
      ...(canAdd && parts.length > 0 ? { message: new Template(...parts) } : {}),
    };
  }

  #deletes(selected: readonly Condition[], allowed: readonly Condition[]): void {
    if (this.#option('merge.delete_branch_on_merge', 'exact') !== true) return;
    this.#notes.note(
      'merge.delete_branch_on_merge',
      'an account pushes to the branch after the merge: Kodiak deletes it, Reeve keeps it',
    );
    this.#rules.push({
      name: 'kodiak-delete-branch',
      on: 'auto',
      each: { pull_request: { state: 'all' } },
      if: and(
        new Condition('pull_request.merged', 'unary', {
          yes: { pull_request: { merged: true, state: 'closed' } },
        }),
        isBaseProtected,
        ...selected,
        ...allowed,
      ),
      steps: [{ uses: 'delete-branch' }],
    });
  }

  #update(selected: readonly Condition[], doNotMerge: boolean): void {
    const always = this.#options.get('update.always') === true;
    const atOnce = this.#options.get('merge.update_branch_immediately') === true;
    const auto = this.#option('update.autoupdate_label', 'exact');
    const labels =
      this.#mergeLabels() ?? texts(this.#options.get('merge.automerge_label') ?? 'automerge') ?? [];
    const needsLabel = this.#options.get('update.require_automerge_label') !== false;
    const isUsed = always || atOnce || typeof auto === 'string';
    const strict =
      'a base branch that need not be up to date (`block_on_outdated_branch` is off): Kodiak updates nothing, Reeve updates the branch';
    this.#option('update.always', always ? 'differs' : 'exact', always ? strict : undefined);
    this.#option(
      'merge.update_branch_immediately',
      atOnce ? 'differs' : 'exact',
      atOnce ? `${strict}; and one that waits for an approval, which Kodiak leaves alone` : undefined,
    );
    this.#option(
      'update.require_automerge_label',
      always ? 'exact' : 'without-meaning',
      always ? undefined : 'it counts with `always = true` only',
    );
    const ignored = ['update.ignored_usernames', 'update.blacklist_usernames'].flatMap(
      (name) => texts(this.#option(name, 'exact') ?? []) ?? [],
    );
    this.#option(
      'merge.optimistic_updates',
      this.#options.get('merge.optimistic_updates') === false ? 'differs' : 'without-meaning',
      this.#options.get('merge.optimistic_updates') === false
        ? 'a pull request in the queue with checks in progress that is behind: Kodiak waits for them before it updates the branch, Reeve updates it at its turn'
        : 'it is the way in which the queue works',
    );
    if (!isUsed) return;
    const isIgnored = isOneOf(
      'pull_request.user.login',
      [...new Set(ignored)].map((user) => this.#user(user)),
    );
    const ways = [
      ...(always ? [needsLabel ? labelled(labels) : new Condition('true', 'unary')] : []),
      ...(atOnce ? [and(...selected)] : []),
    ];
    const notIgnored = ignored.length === 0 ? [] : [not(isIgnored)];
    const asked = typeof auto === 'string' ? [labelled([auto])] : [];
    const disabled = String(this.#options.get('disable_bot_label') ?? 'kodiak:disabled');
    const wanted = ways.some(({ text }) => text === 'true') ? [] : [or(...ways)];
    const others = ways.length === 0 ? [] : [and(...wanted, ...notIgnored)];
    const condition = others.some(({ text }) => text === 'true') ? [] : [or(...others, ...asked)];
    this.#rules.push({
      name: 'kodiak-update',
      description: doNotMerge
        ? 'Keeps branches up to date; nothing is merged.'
        : 'Keeps branches up to date.',
      on: 'auto',
      each: 'pull_request',
      steps: [
        {
          uses: 'update-branch',
          with: { when: and(...condition, isBaseProtected, not(labelled([disabled]))), how: 'merge' },
        },
      ],
    });
  }

  #approve(): void {
    const users = texts(this.#options.get('approve.auto_approve_usernames') ?? []) ?? [];
    const labels = texts(this.#options.get('approve.auto_approve_labels') ?? []) ?? [];
    const isOperator = this.#context.target === 'operator';
    const note =
      'a push after the approval: Kodiak leaves its approval as it is, Reeve approves the new head; and `approvals` of Reeve does not count it, while the forge does';
    for (const [name, list] of [
      ['approve.auto_approve_usernames', users],
      ['approve.auto_approve_labels', labels],
    ] as const)
      this.#option(
        name,
        list.length === 0 ? 'exact' : isOperator ? 'differs' : 'left-out',
        list.length === 0 ? undefined : isOperator ? note : 'only rule files of the operator may approve',
      );
    if (users.length + labels.length === 0 || !isOperator) return;
    const disabled = String(this.#options.get('disable_bot_label') ?? 'kodiak:disabled');
    this.#rules.push({
      name: 'kodiak-approve',
      on: 'auto',
      each: 'pull_request',
      if: and(
        or(
          ...(users.length > 0
            ? [
                isOneOf(
                  'pull_request.user.login',
                  users.map((user) => this.#user(user)),
                ),
              ]
            : []),
          ...(labels.length > 0 ? [labelled(labels)] : []),
        ),
        new Condition('!pull_request.draft', 'unary'),
        isBaseProtected,
        not(labelled([disabled])),
      ),
      steps: [{ uses: 'review', with: { verdict: 'approve' } }],
    });
  }

  #conflict(): void {
    const labels = this.#mergeLabels();
    const isOn = this.#options.get('merge.notify_on_conflict') !== false;
    const isUsed = isOn && labels !== undefined && labels.length > 0;
    this.#option(
      'merge.notify_on_conflict',
      isOn && !isUsed ? 'without-meaning' : 'exact',
      isOn && !isUsed ? 'no label is required' : undefined,
    );
    if (!isUsed) return;
    this.#notes.note(
      'merge.notify_on_conflict',
      'a draft in conflict, or a second conflict of the same pull request: Kodiak removes the label and comments, and comments again; Reeve sees conflicts of drafts when they are ready for review, and keeps its first comment',
    );
    const shown = labels.length === 1 ? labels[0] : `[${labels.map((label) => `'${label}'`).join(', ')}]`;
    const disabled = String(this.#options.get('disable_bot_label') ?? 'kodiak:disabled');
    this.#rules.push({
      name: 'kodiak-conflict',
      on: 'auto',
      each: 'pull_request',
      if: and(
        labelled(labels),
        new Condition('!pull_request.draft', 'unary'),
        new Condition('!pull_request.mergeable', 'unary', {
          yes: { pull_request: { mergeable: false } },
          no: { pull_request: { mergeable: true } },
        }),
        isBaseProtected,
        not(labelled([disabled])),
      ),
      steps: [
        {
          uses: 'comment',
          with: {
            text: new Template(
              `This PR currently has a merge conflict. Please resolve this and then re-add the \`${shown}\` label.`,
            ),
          },
        },
        { uses: 'set-labels', with: { remove: labels } },
      ],
    });
  }

  /** What is left: options without a rule. */
  #rest(): void {
    this.#option(
      'merge.prioritize_ready_to_merge',
      this.#options.get('merge.prioritize_ready_to_merge') === true ? 'differs' : 'exact',
      this.#options.get('merge.prioritize_ready_to_merge') === true
        ? 'a pull request that is ready while another one is first in the queue: Kodiak merges it at once, Reeve when it is the first'
        : undefined,
    );
    this.#option(
      'merge.show_missing_automerge_label_message',
      'without-meaning',
      'it is about the status of Kodiak',
    );
    this.#option(
      'merge.block_on_neutral_required_check_runs',
      this.#options.get('merge.block_on_neutral_required_check_runs') === true ? 'differs' : 'exact',
      this.#options.get('merge.block_on_neutral_required_check_runs') === true
        ? 'a required check that a program reports as skipped: GitHub calls it neutral and Kodiak waits, forges have no neutral checks and the protection is met'
        : undefined,
    );
    const passing = this.#options.get('merge.dont_wait_on_status_checks');
    if (Array.isArray(passing) && passing.length === 0)
      this.#option('merge.dont_wait_on_status_checks', 'exact');
    else
      this.#option(
        'merge.dont_wait_on_status_checks',
        'left-out',
        'a pull request leaves the queue of Reeve when a check fails or its time is over, not when a check stays pending',
      );
    this.#option('app_id', 'without-meaning', 'it is about the development of Kodiak');
    for (const name of this.#options.keys())
      if (!this.#seen.has(name))
        this.#entries.push({
          line: this.#lineOf(name),
          part: name,
          outcome: 'without-meaning',
          note: 'Kodiak does not know this option, and ignores it',
        });
  }

  /** Returns the value of an option, and adds an entry for it if the file has it. */
  #option(name: string, outcome: Entry['outcome'], note?: string): unknown {
    const value = this.#options.get(name);
    if (value === undefined || this.#seen.has(name)) return value;
    this.#seen.add(name);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    this.#entries.push({
      line: this.#lineOf(name),
      part: `${name} = ${text}`,
      outcome,
      ...(note === undefined ? {} : { note }),
      ...(outcome === 'without-meaning' ? {} : { rules: rulesOf(name) }),
    });
    return value;
  }

  /** The line of the last part of a name: the parser reports no positions. */
  #lineOf(name: string): number {
    const key = name.split('.').at(-1) ?? '';
    const lines = this.#text.split('\n');
    const isKey = (line: string): boolean =>
      new RegExp(`(^|[\\s.{,"'])${key.replace(/[^\w-]/g, '.')}["']?\\s*=`).test(line.replace(/#.*/, ''));
    return Math.max(0, lines.findIndex(isKey)) + 1;
  }
}

/** The rules that carry an option. */
function rulesOf(name: string): readonly string[] {
  if (name.startsWith('approve.')) return ['kodiak-approve'];
  if (name === 'merge.notify_on_conflict') return ['kodiak-conflict'];
  if (name === 'merge.delete_branch_on_merge') return ['kodiak-delete-branch'];
  if (name.startsWith('update.')) return ['kodiak-update'];
  return ['kodiak-merge'];
}
