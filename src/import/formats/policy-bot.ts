import {
  always,
  and,
  Condition,
  isOneOf,
  labelled,
  literal,
  mergeSituations,
  never,
  not,
  or,
  regularExpression,
  type Situation,
  type TextTest,
} from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type ConversionContext,
  createRuleNames,
  type Entry,
  type Format,
  type RuleDraft,
  SourceError,
  type SourceFile,
  Template,
} from '../conversion.ts';
import { LongConditions } from '../long-conditions.ts';
import { escapeGlob } from '../names.ts';
import { isActor, NameNotes, passedChecks } from '../pulls.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';

/**
 * policy-bot of Palantir. Source: palantir/policy-bot at fc09d7a6bbe0e21327785496912e7eb39770ed93, `policy/policy.go`,
 * `policy/approval`, `policy/disapproval`, `policy/predicate`, `policy/common/methods.go` and `pull/github.go`.
 *
 * A rule of a policy has three values: skipped (its `if` does not hold), approved and pending. `or` is approved if one
 * child is, pending if one is, otherwise skipped; `and` is approved if one child is and none is pending, pending if one
 * is, otherwise skipped. A policy that is skipped as a whole is not met.
 */
export const policyBot: Format = {
  name: 'policy-bot',
  title: 'policy-bot',
  counts: 'rules',
  places: ['.policy.yml'],
  convert: (file, context) => new PolicyFile(file, context).convert(),
};

/** Why a rule cannot be carried over. */
class NotConvertible extends Error {}

type Config = Readonly<Record<string, unknown>>;

/** Who may do something. */
type Actors = {
  readonly users: readonly string[];
  readonly teams: readonly string[];
  /** Least permission in the repository that is enough; undefined: none is. */
  readonly permission?: 'read' | 'write' | 'admin' | undefined;
};

/**
 * A part of a policy: `isSkipped`, `isApproved` (which implies that it is not skipped), and `isNotPending` (skipped or
 * approved).
 */
type Node = {
  readonly isSkipped: Condition;
  readonly isApproved: Condition;
  readonly isNotPending: Condition;
};

const refusesFile =
  'policy-bot refuses the whole file for it, and writes the status error for each pull request';

const actorKeys = ['users', 'teams', 'organizations', 'permissions', 'admins', 'write_collaborators'];

/** The keys that policy-bot knows, by the part of the file. */
const keysOf = {
  file: ['policy', 'approval_rules'],
  policy: ['approval', 'disapproval'],
  rule: ['name', 'description', 'if', 'options', 'requires'],
  options: [
    'allow_author',
    'allow_contributor',
    'allow_non_author_contributor',
    'invalidate_on_push',
    'ignore_edited_comments',
    'ignore_update_merges',
    'ignore_commits_by',
    'request_review',
    'methods',
  ],
  request_review: ['enabled', 'mode', 'count'],
  methods: [
    'comments',
    'comment_patterns',
    'github_review',
    'github_review_comment_patterns',
    'body_patterns',
  ],
  ignore_commits_by: actorKeys,
} as const;

/** The keys of each predicate; those without keys have a list or a truth value. */
const predicateKeys: Readonly<Record<string, readonly string[]>> = {
  changed_files: ['paths', 'ignore'],
  no_changed_files: ['paths', 'ignore'],
  only_changed_files: ['paths'],
  file_added: ['paths'],
  file_deleted: ['paths'],
  file_not_deleted: ['paths'],
  has_author_in: actorKeys,
  has_contributor_in: actorKeys,
  only_has_contributors_in: actorKeys,
  author_is_only_contributor: [],
  targets_branch: ['pattern'],
  from_branch: ['pattern'],
  modified_lines: ['additions', 'deletions', 'total'],
  has_status: ['conclusions', 'statuses'],
  has_successful_status: [],
  has_workflow_result: ['conclusions', 'workflows'],
  has_labels: [],
  repository: ['matches', 'not_matches'],
  title: ['matches', 'not_matches'],
  has_valid_signatures: [],
  has_valid_signatures_by: actorKeys,
  has_valid_signatures_by_keys: ['key_ids'],
};

/** Throws NotConvertible if there is a key that policy-bot does not know: a rule without it would decide more loosely. */
function askKnown(config: Config, known: readonly string[], where: string): void {
  const strange = Object.keys(config).find((key) => !known.includes(key));
  if (strange !== undefined)
    throw new NotConvertible(`the key \`${strange}\` of ${where} is not known: ${refusesFile}`);
}

class PolicyFile {
  readonly #source: Source;
  readonly #file: Config;
  readonly #context: ConversionContext;
  readonly #notes: NameNotes;
  readonly #entries: Entry[] = [];
  readonly #nameOf = createRuleNames();
  readonly #rules: RuleDraft[] = [];
  /** The rules by their name. */
  readonly #nodes = new Map<string, Node>();
  readonly #used = new Set<string>();
  /** Inputs on which the part that is converted now decides in another way. */
  #differences: string[] = [];

  constructor(file: SourceFile, context: ConversionContext) {
    this.#source = readYamlSource(file);
    this.#context = context;
    this.#notes = new NameNotes(context.names);
    if (!isRecord(this.#source.value)) throw new SourceError('a map was expected');
    this.#file = this.#source.value;
  }

  convert(): Conversion {
    if (this.#file.remote !== undefined) {
      this.#entries.push({
        line: this.#source.lineOf(['remote']),
        part: 'remote',
        outcome: 'left-out',
        note: `the file of the repository \`${String(this.#file.remote)}\` is not read: import that file`,
        apart: true,
      });
      return { rules: [], entries: this.#entries };
    }
    this.#refuseUnknown(this.#file, keysOf.file, []);
    const policy = isRecord(this.#file.policy) ? this.#file.policy : {};
    this.#refuseUnknown(policy, keysOf.policy, ['policy']);
    const requests: RuleDraft[] = [];
    const list = Array.isArray(this.#file.approval_rules) ? this.#file.approval_rules : [];
    const pending: Entry[] = [];
    for (const [place, rule] of list.entries())
      this.#convertRule(rule, ['approval_rules', place], { pending, requests });
    const name = 'policy-bot';
    let approved: Condition | undefined;
    try {
      approved = this.#approval(policy.approval);
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      this.#entries.push({
        line: this.#source.lineOf(['policy', 'approval']),
        part: 'policy.approval',
        outcome: 'left-out',
        note: error.message,
        apart: true,
      });
    }
    const disapproved = this.#disapproval(policy.disapproval);
    for (const entry of pending) {
      const isUsed = this.#used.has(entry.part.replace(/^rule /, ''));
      if (entry.outcome !== 'left-out' && !isUsed)
        this.#entries.push({
          line: entry.line,
          part: entry.part,
          outcome: 'without-meaning',
          note: 'no policy names it',
        });
      else if (entry.outcome !== 'left-out' && approved === undefined)
        this.#entries.push({
          line: entry.line,
          part: entry.part,
          outcome: 'left-out',
          note: 'the policy that uses it is left out',
        });
      else this.#entries.push(entry.outcome === 'left-out' ? entry : { ...entry, rules: [name] });
    }
    if (approved !== undefined) {
      this.#notes.line = this.#source.lineOf(['policy']);
      this.#notes.note(
        'states of the status',
        'a pull request for which all rules are skipped, or that a person disapproves: policy-bot writes the state error or failure, Reeve pending; the forge merges with none of them',
      );
      const when = and(...(disapproved ? [not(disapproved)] : []), approved);
      this.#rules.push({
        name,
        description: 'The policy of policy-bot: require this status in the protection of the branch.',
        on: ['auto', { schedule: '17 * * * *' }],
        each: 'pull_request',
        steps: [
          {
            uses: 'set-status',
            with: {
              ...(this.#context.target === 'operator'
                ? { context: new Template('policy-bot: ', { expression: 'pull_request.base.ref' }) }
                : {}),
              state: 'success',
              when,
              otherwise: {
                state: 'pending',
                description: 'The policy is not met: an approval or a condition is missing.',
              },
            },
          },
        ],
      });
      this.#rules.push(...requests);
    }
    const long = new LongConditions();
    return {
      rules: this.#rules.map((draft) => long.shorten(draft)),
      conditions: long.named,
      entries: [...this.#entries, ...this.#notes.entries()].toSorted((one, other) => one.line - other.line),
      todo:
        approved === undefined
          ? []
          : [
              this.#context.target === 'operator'
                ? 'Require the status `policy-bot: BRANCH` in the protection of each branch, as before.'
                : 'Require the status of the rule `policy-bot` in the protection of each branch.',
            ],
    };
  }

  /** policy-bot reads strictly: a key that it does not know spoils the whole file. */
  #refuseUnknown(config: Config, known: readonly string[], path: readonly (string | number)[]): void {
    for (const key of Object.keys(config).filter((one) => !known.includes(one)))
      this.#entries.push({
        line: this.#source.lineOf([...path, key]),
        part: [...path, key].join('.'),
        outcome: 'left-out',
        note: `this key is not known: ${refusesFile}; the rule goes by the rest of the file`,
      });
  }

  // Rules

  #convertRule(
    rule: unknown,
    path: readonly (string | number)[],
    { pending, requests }: { readonly pending: Entry[]; readonly requests: RuleDraft[] },
  ): void {
    const line = this.#source.lineOf(path);
    this.#notes.line = line;
    const title = isRecord(rule) ? String(rule.name) : `rule ${Number(path[1]) + 1}`;
    const part = `rule ${title}`;
    this.#differences = [];
    let holds = always;
    try {
      if (!isRecord(rule)) throw new NotConvertible('it is no map');
      askKnown(rule, keysOf.rule, 'the rule');
      if (isRecord(rule.options)) {
        askKnown(rule.options, keysOf.options, 'options');
        for (const key of ['request_review', 'methods', 'ignore_commits_by'] as const)
          if (isRecord(rule.options[key])) askKnown(rule.options[key], keysOf[key], `options.${key}`);
      }
      holds = this.#predicates(rule.if);
      const requirement = this.#requirement(rule);
      this.#nodes.set(title, {
        isSkipped: not(holds),
        isApproved: and(holds, requirement),
        isNotPending: or(not(holds), requirement),
      });
      const request = this.#request(rule, { title, when: and(holds, not(requirement)) });
      if (request) requests.push(request);
      const note = this.#differences.join('; ');
      pending.push({
        line,
        part,
        outcome: note === '' ? 'exact' : 'differs',
        ...(note === '' ? {} : { note }),
      });
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      // A rule that cannot be carried over stays pending where it is not skipped: what depends on it is not approved.
      this.#nodes.set(title, { isSkipped: not(holds), isApproved: never, isNotPending: not(holds) });
      pending.push({ line, part, outcome: 'left-out', note: error.message });
    }
  }

  #differs(note: string): void {
    if (!this.#differences.includes(note)) this.#differences.push(note);
  }

  /** Returns whether the policy is approved; throws NotConvertible. */
  #approval(written: unknown): Condition {
    if (written === undefined || written === null || (Array.isArray(written) && written.length === 0))
      return always;
    if (!Array.isArray(written)) throw new NotConvertible('`approval` is no list');
    const { isApproved } = this.#node({ and: written }, 0);
    if (isApproved === never || isApproved.text === 'false')
      throw new NotConvertible(
        'a rule that is left out has to approve, and without it nothing would be approved',
      );
    return isApproved;
  }

  #node(written: unknown, depth: number): Node {
    if (depth > 10) throw new NotConvertible('the policy is nested too deeply');
    if (typeof written === 'string') {
      this.#used.add(written);
      const node = this.#nodes.get(written);
      if (node === undefined) throw new NotConvertible(`the rule \`${written}\` is not defined`);
      return node;
    }
    const [[key, list] = [], ...more] = isRecord(written) ? Object.entries(written) : [];
    if ((key !== 'and' && key !== 'or') || more.length > 0 || !Array.isArray(list) || list.length === 0)
      throw new NotConvertible('a part of the policy is neither a rule nor a list of `and` or `or`');
    const nodes = list.map((one) => this.#node(one, depth + 1));
    const [only] = nodes;
    if (nodes.length === 1 && only) return only;
    const isSkipped = and(...nodes.map((node) => node.isSkipped));
    const some = or(...nodes.map((node) => node.isApproved));
    if (key === 'or') {
      if (some === never && nodes.length > 0)
        return { isSkipped, isApproved: never, isNotPending: isSkipped };
      return { isSkipped, isApproved: some, isNotPending: or(isSkipped, some) };
    }
    const none = and(...nodes.map((node) => node.isNotPending));
    // Without a child that may be skipped, all of them are approved.
    const isCertain = nodes.some((node) => node.isSkipped === never);
    return { isSkipped, isApproved: isCertain ? none : and(none, some), isNotPending: none };
  }

  // Requirements

  #requirement(rule: Config): Condition {
    const requires = isRecord(rule.requires) ? rule.requires : {};
    askKnown(requires, [...actorKeys, 'count', 'conditions'], 'requires');
    const conditions = this.#predicates(requires.conditions);
    const count = typeof requires.count === 'number' ? requires.count : 0;
    if (count <= 0) return conditions;
    const options = isRecord(rule.options) ? rule.options : {};
    return and(this.#approvals(count, { requires, options }), conditions);
  }

  #approvals(
    count: number,
    { requires, options }: { readonly requires: Config; readonly options: Config },
  ): Condition {
    const actors = this.#actors(requires, 'an approval');
    const methods = isRecord(options.methods) ? options.methods : {};
    const isFresh = options.invalidate_on_push === true;
    const byPermission = actors.permission !== undefined;
    const allowsContributors = options.allow_contributor === true;
    const allowsOthers = allowsContributors || options.allow_non_author_contributor === true;
    const allowsAuthor = options.allow_author === true || allowsContributors;
    if (isRecord(options.ignore_commits_by))
      this.#differs(
        'a commit by an account of `ignore_commits_by`: policy-bot does not count it as a contribution or push, Reeve does, and an approval of that account does not count',
      );
    if (options.ignore_update_merges === true)
      this.#differs(
        'the author of a merge of the base into the branch, who approves: policy-bot ignores that commit, for Reeve it makes its author a contributor',
      );
    const list = isFresh || byPermission ? 'approvals' : 'reviews';
    if (list === 'approvals')
      this.#differs(
        isFresh
          ? 'an approval after which a push changed nothing of the changes (a rebase): policy-bot drops it, Reeve counts it; and one by a person without write access, which Reeve does not count'
          : 'a reviewer approves, and then a commit changes the pull request: policy-bot still counts the approval, `approvals` of Reeve does not',
      );
    const not_ = (user: string): readonly Condition[] => [
      ...(allowsAuthor ? [] : [new Condition(`${user} != pull_request.user.login`, 'relation')]),
      ...(allowsOthers ? [] : [this.#isNoContributor(user, allowsAuthor)]),
    ];
    const reviewPatterns = this.#patterns(methods.github_review_comment_patterns);
    const usesReviews = methods.github_review !== false || reviewPatterns.length > 0;
    const sample = actors.users[0] ?? 'ada';
    const team = Object.fromEntries(actors.teams.map((name) => [name, [sample]]));
    const situation = (more: Situation): Situation =>
      mergeSituations(
        { commits: [], ...(actors.teams.length > 0 ? { team } : {}) },
        byPermission && actors.permission !== 'write'
          ? { collaborator_permissions: [{ login: sample, permission: actors.permission ?? 'admin' }] }
          : {},
        more,
      );
    const parts: {
      readonly list: string;
      readonly variable: string;
      readonly test: Condition;
      readonly yes: Situation;
    }[] = [];
    if (usesReviews)
      parts.push({
        list,
        variable: 'a',
        test: and(
          ...(list === 'reviews' ? [new Condition('a.state == "APPROVED" && !a.dismissed', 'and')] : []),
          ...(reviewPatterns.length > 0 ? [or(...reviewPatterns.map((one) => one.on('a.body')))] : []),
          this.#isOne('a.user.login', actors, list === 'approvals'),
          ...not_('a.user.login'),
        ),
        yes: situation({
          [list]: [
            {
              user: { login: sample },
              state: 'APPROVED',
              dismissed: false,
              body: reviewPatterns[0]?.sample ?? '',
            },
          ],
        }),
      });
    const comments = texts(methods.comments ?? [':+1:', '👍']) ?? [];
    const patterns = this.#patterns(methods.comment_patterns);
    if (comments.length + patterns.length > 0) {
      if (isFresh || byPermission)
        this.#differs(
          `a comment such as \`${comments[0] ?? 'that of a pattern'}\` by an approver: policy-bot counts it as an approval, Reeve counts reviews alone, because ${isFresh ? 'it does not know what was pushed after it' : 'the permission of who comments is not known'}`,
        );
      else {
        this.#differs(
          'a review that only comments, with such a text: policy-bot counts it as a comment, `comments` of Reeve does not contain it',
        );
        parts.push({
          list: 'comments',
          variable: 'c',
          test: and(
            or(
              ...comments.map((text) => new Condition(`c.body.contains(${literal(text)})`, 'unary')),
              ...patterns.map((one) => one.on('c.body')),
            ),
            ...(options.ignore_edited_comments === true
              ? [new Condition('timestamp(c.updated_at) == timestamp(c.created_at)', 'relation')]
              : []),
            this.#isOne('c.user.login', actors, false),
            ...not_('c.user.login'),
          ),
          yes: situation({
            comments: [{ id: 1, user: { login: sample }, body: comments[0] ?? patterns[0]?.sample ?? '' }],
          }),
        });
      }
    }
    const bodies = this.#patterns(methods.body_patterns);
    if (bodies.length > 0) {
      if (allowsAuthor && count === 1 && !byPermission)
        return or(
          and(
            or(...bodies.map((one) => one.on('pull_request.body'))),
            this.#isOne('pull_request.user.login', actors, false),
          ),
          countOf(parts, count),
        );
      if (allowsAuthor)
        this.#differs(
          'a description with such a text: policy-bot counts it as an approval of the author, Reeve does not',
        );
    }
    return countOf(parts, count);
  }

  #isNoContributor(user: string, allowsAuthor: boolean): Condition {
    const found = `commits.exists(m, has(m.author) && m.author.login == ${user} || has(m.committer) && m.committer.login == ${user})`;
    this.#notes.note(
      'contributors',
      'a commit that a person made on the web site of the forge: for policy-bot GitHub is its committer, for Reeve that person; and a commit with an address that the forge does not know, which has no account for either',
    );
    return allowsAuthor
      ? new Condition(`(${user} == pull_request.user.login || !${found})`, 'unary')
      : new Condition(`!${found}`, 'unary');
  }

  #patterns(written: unknown): readonly TextTest[] {
    return (texts(written ?? []) ?? []).map((pattern) => this.#pattern(pattern));
  }

  #pattern(pattern: string): TextTest {
    const test = regularExpression(pattern, { dialect: 'go' });
    if (!('problem' in test)) return test;
    throw new NotConvertible(test.isInvalid ? `${test.problem}; ${refusesFile}` : test.problem);
  }

  /** Reads who may act. Throws NotConvertible if none that Reeve can name may. */
  #actors(written: Config, what: string): Actors {
    const users = (texts(written.users ?? []) ?? []).map((user) => this.#notes.user(user));
    const teams = (texts(written.teams ?? []) ?? []).map((team) => this.#notes.team(team));
    // A team with the members of the organization can be named for it.
    const organizations: string[] = [];
    for (const organization of texts(written.organizations ?? []) ?? []) {
      const { name } = this.#context.names.team(organization);
      if (name.includes('/')) teams.push(name);
      else organizations.push(organization);
    }
    const permissions = [
      ...(texts(written.permissions ?? []) ?? []),
      ...(written.admins === true ? ['admin'] : []),
      ...(written.write_collaborators === true ? ['write'] : []),
    ];
    const known = ['admin', 'maintain', 'write', 'triage', 'read'];
    const strange = permissions.find((one) => !known.includes(one));
    if (strange !== undefined) throw new NotConvertible(`the permission \`${strange}\` is not known`);
    const isLow = permissions.includes('read') || permissions.includes('triage');
    const permission = isLow
      ? undefined
      : permissions.includes('write')
        ? 'write'
        : permissions.length > 0
          ? 'admin'
          : undefined;
    if (isLow)
      throw new NotConvertible(
        'the permissions read and triage: Reeve counts people with write access, or names them',
      );
    if (permissions.includes('maintain') && permission === 'admin')
      this.#differs(
        `${what} by a person with the permission maintain, which forges do not have: policy-bot counts it, Reeve counts administrators alone`,
      );
    if (permission === 'admin')
      this.#differs(
        `${what} by an owner of the organization who is no collaborator of the repository: policy-bot counts it, Reeve does not`,
      );
    if (users.length + teams.length === 0 && permission === undefined)
      throw new NotConvertible(
        organizations.length > 0
          ? `members of the organization \`${organizations[0]}\`: Reeve has no list of them; --team ${organizations[0]}=ORGANIZATION/TEAM names a team with the same members`
          : `${what} by no one is required, which policy-bot never grants`,
      );
    if (organizations.length > 0)
      this.#differs(
        `${what} by a member of the organization \`${organizations[0]}\` who is neither named nor in a named team: policy-bot counts it, Reeve does not, because it has no list of them`,
      );
    return { users, teams, permission };
  }

  /** The login is that of an actor. `isWriter`: it is known to have write access. */
  #isOne(value: string, { users, teams, permission }: Actors, isWriter: boolean): Condition {
    if (permission === 'write' && isWriter) return always;
    const named = users.length + teams.length > 0 ? [isActor(value, { users, teams })] : [];
    if (permission === undefined) return or(...named);
    const least = permission === 'write' ? '["write", "admin", "owner"]' : '["admin", "owner"]';
    return or(
      ...named,
      new Condition(
        `collaborator_permissions.exists(p, p.login == ${value} && p.permission in ${least})`,
        'unary',
        /^pull_request/.test(value)
          ? {
              yes: {
                pull_request: { user: { login: 'ada' } },
                collaborator_permissions: [{ login: 'ada', permission: 'admin' }],
              },
            }
          : {},
      ),
    );
  }

  #request(
    rule: Config,
    { title, when }: { readonly title: string; readonly when: Condition },
  ): RuleDraft | undefined {
    const options = isRecord(rule.options) ? rule.options : {};
    const request = isRecord(options.request_review) ? options.request_review : {};
    const requires = isRecord(rule.requires) ? rule.requires : {};
    const count = typeof requires.count === 'number' ? requires.count : 0;
    if (request.enabled !== true || count <= 0) return undefined;
    const users = (texts(requires.users ?? []) ?? []).map((user) => new Template(this.#notes.user(user)));
    const teams = (texts(requires.teams ?? []) ?? []).map(
      (team) => this.#notes.team(team).split('/').at(-1) ?? '',
    );
    const mode = request.mode ?? 'random-users';
    const given: Record<string, ArgumentValue> = {};
    if (mode !== 'teams' && users.length > 0) given.users = users;
    if (teams.length > 0) given.teams = [...new Set(teams)];
    if (mode === 'random-users')
      given.pick = Math.min(
        10,
        typeof request.count === 'number' && request.count > 0 ? request.count : count,
      );
    if (Object.keys(given).every((key) => key === 'pick')) {
      this.#differs(
        'each pull request: policy-bot requests reviews of people with a permission, Reeve requests none',
      );
      return undefined;
    }
    if (mode !== 'teams' && teams.length > 0)
      this.#differs(
        `a team of several people: policy-bot requests reviews of ${mode === 'all-users' ? 'all its' : 'random'} members, Reeve of the team`,
      );
    this.#differs(
      'a rule next to it is approved while this one is pending: policy-bot requests reviews until the whole policy is met, and only once; Reeve as long as this rule is pending',
    );
    return {
      name: this.#nameOf(`request ${title}`),
      description: `Requests the reviews of the rule ${title}.`,
      on: 'auto',
      each: 'pull_request',
      if: and(new Condition('!pull_request.draft', 'unary'), when),
      steps: [{ uses: 'request-reviewers', with: given }],
    };
  }

  // Predicates

  #predicates(written: unknown): Condition {
    if (written === undefined || written === null) return always;
    if (!isRecord(written)) throw new NotConvertible('`if` or `conditions` is no map');
    return and(...Object.entries(written).map(([name, given]) => this.#predicate(name, given)));
  }

  #predicate(name: string, given: unknown): Condition {
    const config = isRecord(given) ? given : {};
    const keys = predicateKeys[name];
    if (keys === undefined) throw new NotConvertible(`\`${name}\` is not known: ${refusesFile}`);
    askKnown(config, keys, name);
    const list = (key: string): readonly TextTest[] => this.#patterns(config[key]);
    switch (name) {
      case 'changed_files':
        return changes(list('paths'), list('ignore'));
      case 'no_changed_files':
        return not(changes(list('paths'), list('ignore')));
      case 'only_changed_files':
        return onlyChanges(list('paths'));
      case 'file_not_deleted':
      case 'file_deleted': {
        const deleted = fileWith(list('paths'), 'deleted');
        return name === 'file_deleted' ? deleted : not(deleted);
      }
      case 'file_added':
        return fileWith(list('paths'), 'added');
      case 'has_author_in':
        return this.#isOne('pull_request.user.login', this.#actors(config, 'a pull request'), false);
      case 'has_contributor_in': {
        const actors = this.#actors(config, 'a commit');
        return or(
          this.#isOne('pull_request.user.login', actors, false),
          this.#commits('exists', (user) => this.#isOne(user, actors, false), ' || '),
        );
      }
      case 'only_has_contributors_in': {
        const actors = this.#actors(config, 'a commit');
        return and(
          this.#isOne('pull_request.user.login', actors, false),
          this.#commits('all', (user) => this.#isOne(user, actors, false), ' && '),
        );
      }
      case 'author_is_only_contributor': {
        this.#notes.note('contributors', contributorsNote);
        const only = new Condition(
          'commits.all(m, has(m.author) && m.author.login == pull_request.user.login && has(m.committer) && m.committer.login == pull_request.user.login)',
          'unary',
          { yes: { commits: [] } },
        );
        return given === true ? only : not(only);
      }
      case 'targets_branch':
        return this.#pattern(String(config.pattern ?? '')).on('pull_request.base.ref');
      case 'from_branch':
        this.#differs(
          'a pull request from a fork: policy-bot compares `OWNER:BRANCH`, Reeve the name of the branch',
        );
        return this.#pattern(String(config.pattern ?? '')).on('pull_request.head.ref');
      case 'modified_lines':
        return modifiedLines(config);
      case 'has_labels': {
        const labels = texts(given ?? []) ?? [];
        return and(...labels.map((label) => labelCondition(label)));
      }
      case 'has_successful_status':
        return this.#statuses(texts(given ?? []) ?? [], ['success']);
      case 'has_status': {
        const conclusions = texts(config.conclusions ?? []) ?? [];
        return this.#statuses(
          texts(config.statuses ?? []) ?? [],
          conclusions.length === 0 ? ['success'] : conclusions,
        );
      }
      case 'has_workflow_result':
        return this.#workflows(config);
      case 'repository':
      case 'title': {
        const path = name === 'title' ? 'pull_request.title' : 'repository.full_name';
        const [matches, others] = [list('matches'), list('not_matches')];
        return or(
          ...matches.map((one) => one.on(path)),
          ...(others.length > 0 ? [not(or(...others.map((one) => one.on(path))))] : []),
        );
      }
      case 'has_valid_signatures': {
        this.#differs(
          'a commit whose key the forge does not know: GitHub verifies it with the keys of its accounts, the forge with the keys that its accounts have there',
        );
        const valid = new Condition('commits.all(m, m.verification.verified)', 'unary', {
          yes: { commits: [] },
        });
        return given === true ? valid : not(valid);
      }
      case 'has_valid_signatures_by':
        throw new NotConvertible(
          '`has_valid_signatures_by`: Reeve does not compare the account of a signature',
        );
      case 'has_valid_signatures_by_keys':
        throw new NotConvertible(
          '`has_valid_signatures_by_keys`: Reeve does not know the keys of signatures',
        );
      default:
        throw new NotConvertible(`\`${name}\` is not known`);
    }
  }

  #commits(quantity: 'exists' | 'all', test: (user: string) => Condition, joint: ' || ' | ' && '): Condition {
    this.#notes.note('contributors', contributorsNote);
    const parts = ['m.author', 'm.committer'].map((member) => {
      const inner = test(`${member}.login`);
      const text = inner.binds === 'or' ? `(${inner.text})` : inner.text;
      return quantity === 'exists' ? `has(${member}) && ${text}` : `(!has(${member}) || ${text})`;
    });
    return new Condition(`commits.${quantity}(m, ${parts.join(joint)})`, 'unary', { yes: { commits: [] } });
  }

  #statuses(names: readonly string[], conclusions: readonly string[]): Condition {
    if (names.length === 0) return always;
    const states = new Set(conclusions);
    const globs = names.map((name) => this.#notes.check(name));
    if (
      [...states].every((state) => ['success', 'skipped', 'neutral'].includes(state)) &&
      states.has('success')
    ) {
      if (!states.has('skipped'))
        this.#differs(
          `the status \`${names[0]}\` ends as skipped: policy-bot waits for success, for Reeve it has passed`,
        );
      return passedChecks(globs);
    }
    const known = ['success', 'failure', 'error', 'pending', 'skipped'];
    const strange = [...states].find((state) => !known.includes(state));
    if (strange !== undefined) throw new NotConvertible(`the conclusion \`${strange}\` has no counterpart`);
    const written = isOneOf('s.status', [...states]).text;
    return and(
      ...names.map((name, place) => {
        const [, job] = /^\* \/ (.*)$/.exec(globs[place] ?? '') ?? [];
        const context =
          job === undefined ? `s.context == ${literal(name)}` : `s.context.glob(${literal(`* / ${job}`)})`;
        return new Condition(`statuses.exists(s, ${context} && ${written})`, 'unary', {
          yes: { statuses: [{ context: name, status: conclusions[0] ?? 'success' }] },
        });
      }),
    );
  }

  #workflows(config: Config): Condition {
    const files = texts(config.workflows ?? []) ?? [];
    const conclusions = new Set(texts(config.conclusions ?? []) ?? []);
    if (conclusions.size === 0) conclusions.add('success');
    const strange = [...conclusions].find((one) => !['success', 'skipped', 'neutral'].includes(one));
    if (strange !== undefined || !conclusions.has('success'))
      throw new NotConvertible(
        `workflows with the result \`${strange ?? [...conclusions].join(', ')}\` have no counterpart`,
      );
    return passedChecks(
      files.map((file) => {
        const base = file.split('/').at(-1) ?? file;
        const { name, isCertain } = this.#context.names.check(base);
        if (isCertain) return `${name} / *`;
        this.#differs(
          `the workflow \`${base}\` has a \`name\`: its jobs report as \`NAME / JOB (EVENT)\`, and the rule waits until --checks ${base}=NAME is given`,
        );
        return `${escapeGlob(base)} / *`;
      }),
    );
  }

  // Disapproval

  #disapproval(written: unknown): Condition | undefined {
    if (!isRecord(written)) return undefined;
    const line = this.#source.lineOf(['policy', 'disapproval']);
    this.#notes.line = line;
    this.#differences = [];
    try {
      askKnown(written, ['if', 'options', 'requires'], 'disapproval');
      if (isRecord(written.requires)) askKnown(written.requires, actorKeys, 'disapproval.requires');
      if (isRecord(written.options)) {
        askKnown(written.options, ['methods'], 'disapproval.options');
        const methods = isRecord(written.options.methods) ? written.options.methods : {};
        askKnown(methods, ['disapprove', 'revoke'], 'disapproval.options.methods');
        for (const [key, one] of Object.entries(methods))
          if (isRecord(one)) askKnown(one, keysOf.methods, `disapproval.options.methods.${key}`);
      }
      const conditions = isRecord(written.if)
        ? Object.entries(written.if).map(([name, given]) => this.#predicate(name, given))
        : [];
      const requires = isRecord(written.requires) ? written.requires : {};
      const isAsked = Object.values(requires).some((one) =>
        Array.isArray(one) ? one.length > 0 : one === true,
      );
      const by = isAsked ? [this.#disapprovedBy(requires, written)] : [];
      const note = this.#differences.join('; ');
      this.#entries.push({
        line,
        part: 'policy.disapproval',
        outcome: note === '' ? 'exact' : 'differs',
        ...(note === '' ? {} : { note }),
        apart: true,
        rules: ['policy-bot'],
      });
      const all = or(...conditions, ...by);
      return all === never ? undefined : all;
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      // Without it, a disapproved pull request would be merged: any rejection holds it back instead.
      this.#entries.push({
        line,
        part: 'policy.disapproval',
        outcome: 'differs',
        note: `${error.message}; so each review that requests changes, by anyone with write access, holds the pull request back until that person approves it: a request by an account that policy-bot does not ask, or one that another person revokes, holds it back as well; a comment 👎 does not`,
        apart: true,
        rules: ['policy-bot'],
      });
      return new Condition('rejections.size() > 0', 'relation', { no: { rejections: [] } });
    }
  }

  /** There is a disapproval without a later revocation. */
  #disapprovedBy(requires: Config, written: Config): Condition {
    const actors = this.#actors(requires, 'a disapproval');
    const options =
      isRecord(written.options) && isRecord(written.options.methods) ? written.options.methods : {};
    const disapprove = isRecord(options.disapprove)
      ? options.disapprove
      : { comments: [':-1:', '👎'], github_review: true };
    const revoke = isRecord(options.revoke)
      ? options.revoke
      : { comments: [':+1:', '👍'], github_review: true };
    const commentsOf = (methods: Config, variable: string): Condition =>
      or(
        ...(texts(methods.comments ?? []) ?? []).map(
          (text) => new Condition(`${variable}.body.contains(${literal(text)})`, 'unary'),
        ),
        ...this.#patterns(methods.comment_patterns).map((one) => one.on(`${variable}.body`)),
      );
    if (
      actors.permission !== undefined &&
      (revoke.github_review === true || commentsOf(revoke, 'k') !== never)
    )
      throw new NotConvertible(
        'disapproval and revocation depend on permissions, which needs three nested loops',
      );
    const later = (at: string): readonly Condition[] => [
      ...(revoke.github_review === true
        ? [
            new Condition(
              `!reviews.exists(v, v.state == "APPROVED" && !v.dismissed && timestamp(v.submitted_at) >= timestamp(${at}) && ${enclose(this.#isOne('v.user.login', actors, false))})`,
              'unary',
            ),
          ]
        : []),
      ...(commentsOf(revoke, 'k') === never
        ? []
        : [
            new Condition(
              `!comments.exists(k, ${enclose(commentsOf(revoke, 'k'))} && timestamp(k.created_at) >= timestamp(${at}) && ${enclose(this.#isOne('k.user.login', actors, false))})`,
              'unary',
            ),
          ]),
    ];
    const ways: Condition[] = [];
    if (disapprove.github_review === true)
      ways.push(
        new Condition(
          `reviews.exists(d, d.state == "REQUEST_CHANGES" && !d.dismissed && ${and(this.#isOne('d.user.login', actors, false), ...later('d.submitted_at')).text})`,
          'unary',
          { no: { reviews: [] } },
        ),
      );
    const byComment = commentsOf(disapprove, 'e');
    if (byComment !== never)
      ways.push(
        new Condition(
          `comments.exists(e, ${and(byComment, this.#isOne('e.user.login', actors, false), ...later('e.created_at')).text})`,
          'unary',
          { no: { comments: [] } },
        ),
      );
    this.#differs(
      'a review that only comments, with the text of a disapproval or revocation: policy-bot counts it, `comments` of Reeve does not contain it',
    );
    return or(...ways);
  }
}

const contributorsNote =
  'a commit that a person made on the web site of the forge: for policy-bot GitHub is its committer, for Reeve that person; and a commit with an address that the forge does not know, which has no account for either';

function enclose(condition: Condition): string {
  return condition.binds === 'or' ? `(${condition.text})` : condition.text;
}

/** At least `count` different people approved. */
function countOf(
  parts: readonly {
    readonly list: string;
    readonly variable: string;
    readonly test: Condition;
    readonly yes: Situation;
  }[],
  count: number,
): Condition {
  if (parts.length === 0) return never;
  if (count === 1)
    return or(
      ...parts.map(
        ({ list, variable, test, yes }) =>
          new Condition(
            test === always ? `${list}.size() > 0` : `${list}.exists(${variable}, ${test.text})`,
            'unary',
            {
              yes,
              no: { [list]: [] },
            },
          ),
      ),
    );
  const lists = parts.map(
    ({ list, variable, test }) =>
      `${list}${test === always ? '' : `.filter(${variable}, ${test.text})`}.map(${variable}, ${variable}.user.login)`,
  );
  const all = lists.length === 1 ? (lists[0] ?? '') : `(${lists.join(' + ')})`;
  return new Condition(`${all}.distinct().size() >= ${count}`, 'relation', {
    no: Object.fromEntries(parts.map(({ list }) => [list, []])),
  });
}

/** A test on both names of a renamed file, each of which counts as a file of its own. */
function eachName(test: (path: string) => Condition, joint: 'some' | 'every'): string {
  const now = enclose(test('f.filename'));
  const before = enclose(test('f.previous_filename'));
  return joint === 'some'
    ? `${now} || has(f.previous_filename) && ${before}`
    : `${now} && (!has(f.previous_filename) || ${before})`;
}

function changes(paths: readonly TextTest[], ignored: readonly TextTest[]): Condition {
  const test = (path: string): Condition =>
    and(
      or(...paths.map((one) => one.on(path))),
      ...(ignored.length > 0 ? [not(or(...ignored.map((one) => one.on(path))))] : []),
    );
  const sample = paths.find((one) => one.sample !== undefined)?.sample;
  return new Condition(`files.exists(f, ${eachName(test, 'some')})`, 'unary', {
    yes: sample === undefined ? {} : { files: [sample === '' ? 'a' : sample] },
    no: { files: ['zz'] },
  });
}

function onlyChanges(paths: readonly TextTest[]): Condition {
  const test = (path: string): Condition => or(...paths.map((one) => one.on(path)));
  const sample = paths.find((one) => one.sample !== undefined)?.sample;
  return new Condition(`files.size() > 0 && files.all(f, ${eachName(test, 'every')})`, 'and', {
    yes: sample === undefined ? {} : { files: [sample === '' ? 'a' : sample] },
    no: { files: ['zz'] },
  });
}

function fileWith(paths: readonly TextTest[], state: 'added' | 'deleted'): Condition {
  const test = (path: string): Condition => or(...paths.map((one) => one.on(path)));
  const states = state === 'added' ? '["added", "renamed", "copied"]' : '["deleted", "removed"]';
  const renamed =
    state === 'deleted'
      ? ` || has(f.previous_filename) && f.status == "renamed" && ${enclose(test('f.previous_filename'))}`
      : '';
  return new Condition(
    `files.exists(f, f.status in ${states} && ${enclose(test('f.filename'))}${renamed})`,
    'unary',
    {
      no: { files: [] },
    },
  );
}

/** One of the given comparisons holds. */
function modifiedLines(config: Config): Condition {
  const values: Readonly<Record<string, string>> = {
    additions: 'pull_request.additions',
    deletions: 'pull_request.deletions',
    total: 'pull_request.additions + pull_request.deletions',
  };
  return or(
    ...Object.entries(config).map(([key, written]) => {
      const [, sign, number] = /^\s*([<>=])\s*(\d+)\s*$/.exec(String(written)) ?? [];
      const value = values[key];
      if (value === undefined || sign === undefined || number === undefined)
        throw new NotConvertible(`\`modified_lines.${key}: ${String(written)}\` is not understood`);
      return new Condition(`${value} ${sign === '=' ? '==' : sign} ${number}`, 'relation');
    }),
  );
}

/** policy-bot compares labels without regard to case. */
function labelCondition(label: string): Condition {
  if (!/[a-z]/i.test(label)) return labelled([label]);
  return new Condition(`labels.exists(l, l.name.lower() == ${literal(label.toLowerCase())})`, 'unary', {
    yes: { labels: [label] },
    no: { labels: [] },
  });
}
