import fc from 'fast-check';
import { actions } from '../../src/actions/actions.ts';
import type { SubjectKind } from '../../src/contract/events/subject.ts';
import { facts } from '../../src/facts/facts.ts';

/** Trigger of a rule, with the expressions that the rule may insert, which yield text written by other people. */
export type RuleTrigger = {
  readonly name: string;
  readonly subject: SubjectKind;
  /** Trigger in the rule file. */
  readonly yaml: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
};

const event = (family: string, subject: SubjectKind, texts: readonly string[]): RuleTrigger => ({
  name: family,
  subject,
  yaml: { on: family },
  texts: ['event.repository.full_name', 'sender.login', 'repository.full_name', ...texts],
});
const each = (subject: SubjectKind, texts: readonly string[]): RuleTrigger => ({
  name: `each ${subject}`,
  subject,
  yaml: { on: { schedule: '0 * * * *' }, each: subject },
  texts,
});

export const ruleTriggers: readonly RuleTrigger[] = [
  event('issues', 'issue', ['event.issue.title', 'issue.title', 'item.title']),
  event('issue_comment', 'issue', ['event.issue.title', 'issue.title']),
  event('pull_request', 'pull_request', ['event.pull_request.title', 'pull_request.title']),
  event('pull_request_comment', 'pull_request', ['event.issue.title', 'pull_request.title']),
  event('push', 'branch', ['event.ref', 'branch.name']),
  event('create', 'branch', ['event.ref', 'branch.name']),
  event('repository', 'repository', ['repository.name']),
  event('release', 'repository', ['event.release.tag_name']),
  event('wiki', 'repository', ['event.page']),
  event('fork', 'repository', ['event.forkee.full_name']),
  each('issue', ['issue.title', 'repository.full_name']),
  each('pull_request', ['pull_request.title', 'item.title', 'repository.full_name']),
  each('branch', ['branch.name', 'repository.full_name']),
  each('repository', ['repository.full_name']),
  each('organization', ['organization.name']),
  each('notification', ['string(notification.id)']),
];

/** Words that could lead elsewhere if anything interpreted them. */
export const hostileWords = [
  ...['evil/demo', 'acme/other', '../../evil/demo', '..%2f..%2fevil%2fdemo', 'acme/demo/../../evil/demo'],
  ...['%2e%2e/%2e%2e', '..', '.', '/', '-rf', '--upload-pack=x', '@ada', 'ACME', 'evil', 'ac\u200bme'],
  ...['#1', 'a?b=c&d', 'a#b', 'a\\b', '🦊', ' x ', '{owner}', '$${{ x }}', '1/../2', '\u202eomed'],
  `x${'/y'.repeat(60)}`,
] as const;

const word = fc.constantFrom(...hostileWords);
const label = fc.constantFrom('bug', 'docs', 'size/L', 'evil/demo', '../../evil/demo', 'shared', '..');
const person = fc.constantFrom('ada', 'reeve', 'evil', '..', 'evil/demo', '-x');
const branch = fc.constantFrom(
  'main',
  'work',
  'dark:work',
  'release/1',
  '%2e%2e',
  'refs/heads/x',
  '-x',
  'a#b',
);
const committedPath = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      'docs/a.md',
      '.editorconfig',
      'a#b',
      'a?b=c',
      '%2e%2e/x',
      'evil/demo',
      'ü b',
      '.reeve.yml',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('../../evil/demo', '/x', '.git/config', 'a\\b', '.gitea/workflows/ci.yml'),
  },
);
const color = fc.constantFrom('ff0000', '#0f0', 'abcdef');
const url = fc.constantFrom(
  'https://ci.example.org/',
  'http://127.0.0.1:9/api/v1/repos/evil/demo/hooks',
  'https://evil.example/..',
);

/** Expressions for data that only the account of Reeve can read, by fact. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  timeline: [
    'timeline[0].body',
    'timeline[0].ref_issue.title',
    'timeline[0].ref_comment.body',
    'timeline[1].body',
    'timeline[2].dependent_issue.body',
    'timeline.map(e, e.body)[0]',
  ],
  dependencies: ['dependencies[0].title', 'dependencies[0].body'],
  pull_request: ['pull_request.head.repo.description', 'pull_request.base.repo.parent.description'],
  repository: ['repository.parent.description'],
  compare: ['compare("main...dark:work").commits[0].commit.message'],
  open_pull: ['open_pull("main...dark:old").title'],
  own_issues: ['own_issues("dark/vault")[0].title'],
  file_of: ['file_of("dark/vault:secret").base64'],
  contents: ['contents("../../../dark/vault/contents/secret").content'],
  file_at: ['file_at("dark:secret").sha'],
  commit_diff: ['commit_diff("../../../../dark/vault/git/commits/x")'],
  wiki: ['wiki("../../../../dark/vault/wiki/page/Home").content'],
};

/** Returns a trigger whose rules insert only data that only the account of Reeve can read. */
export function readingElsewhere(trigger: RuleTrigger): RuleTrigger {
  const there = facts.filter(({ of }) => of.includes(trigger.subject));
  return { ...trigger, texts: there.flatMap(({ name }) => foreign[name] ?? []) };
}

/** Generates texts that consist of words, of expressions for text written by other people, or of both. */
function saying({ texts }: RuleTrigger): fc.Arbitrary<string> {
  const inserted = fc.constantFrom(...texts).map((text) => `\${{ ${text} }}`);
  return fc.oneof(
    { weight: 2, arbitrary: inserted },
    { weight: 1, arbitrary: word },
    { weight: 1, arbitrary: fc.tuple(word, inserted).map(([one, other]) => `${one} ${other}`) },
  );
}

function asking({ texts }: RuleTrigger): fc.Arbitrary<string> {
  const [text = 'now'] = texts;
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('true') },
    { weight: 1, arbitrary: fc.constantFrom('false', `${text}.contains("evil")`, `${text} != "x"`) },
  );
}

const some = <T>(of: fc.Arbitrary<T>, maxLength = 2) => fc.uniqueArray(of, { minLength: 1, maxLength });
const maybe = <T>(of: Record<string, fc.Arbitrary<T>>, always: readonly string[]) =>
  fc.record(of, { requiredKeys: [...always] });

function labels(trigger: RuleTrigger): fc.Arbitrary<unknown> {
  const where = fc.constantFrom('add', 'add', 'remove', 'sync');
  const named = fc.uniqueArray(fc.tuple(label, where, asking(trigger)), {
    minLength: 1,
    maxLength: 4,
    selector: ([name]) => name,
  });
  return fc.tuple(named, fc.option(fc.record({ color }))).map(([all, create]) => {
    const of = (place: string) => all.filter(([, where]) => where === place);
    const [add, remove, sync] = ['add', 'remove', 'sync'].map(of);
    return {
      ...(add?.length ? { add: add.map(([name]) => name) } : {}),
      ...(remove?.length ? { remove: remove.map(([name]) => name) } : {}),
      ...(sync?.length ? { sync: Object.fromEntries(sync.map(([name, , when]) => [name, when])) } : {}),
      ...(create ? { create } : {}),
    };
  });
}

/** Generates an argument; for triggers that are comments, also one that is taken from a command. */
const orCommand = ({ name }: RuleTrigger, listed: fc.Arbitrary<unknown>, given: unknown) =>
  isComment(name) ? fc.oneof(listed, fc.constant(given)) : listed;
const isComment = (name: string): boolean => name.endsWith('_comment');

const secret = fc.constant({ secret: 'TOKEN' });
/**
 * Generates the value only rarely. An argument that no repository file may use would otherwise keep everything else
 * from being tested.
 */
const seldom = <T>(of: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: of });
const members = {
  required_approvals: fc.integer({ min: 0, max: 3 }),
  enable_push: fc.constant(true),
  enable_push_whitelist: fc.boolean(),
  push_whitelist_usernames: some(person),
  block_on_rejected_reviews: fc.boolean(),
  protected_file_patterns: word,
};
const stated = fc.constantFrom('success', 'failure', 'pending');

/**
 * Generates the arguments of each action for a trigger. They are valid according to the schema, and as far-reaching as
 * possible.
 */
export const argumentArbitraries: Readonly<Record<string, (trigger: RuleTrigger) => fc.Arbitrary<unknown>>> =
  {
    'set-labels': labels,
    'set-issue': (trigger) =>
      maybe<unknown>(
        {
          title: saying(trigger),
          state: seldom(fc.constantFrom('open', 'closed')),
          assignees: orCommand(trigger, fc.record({ add: some(person), remove: fc.constant(['linus']) }), {
            add: '${{ command("x").users }}',
            from: 'sender',
          }),
          milestone: fc.constantFrom('next', 'now', null),
          due_date: fc.constantFrom('2026-12-31', null),
          locked: seldom(fc.boolean()),
          pinned: seldom(fc.boolean()),
          when: asking(trigger),
        },
        ['title'],
      ),
    'request-reviewers': (trigger) =>
      maybe<unknown>(
        {
          users: orCommand(trigger, some(fc.oneof(person, saying(trigger))), '${{ command("x").users }}'),
          teams: some(fc.constantFrom('release', '..', 'evil/release')),
          when: asking(trigger),
        },
        ['users'],
      ),
    react: (trigger) =>
      maybe<unknown>({ reaction: fc.constantFrom('eyes', '+1', '-1'), when: asking(trigger) }, ['reaction']),
    'sync-repository': () => {
      const settings = maybe<unknown>(
        {
          description: word,
          website: fc.constantFrom('', 'https://evil.example/'),
          default_branch: fc.constantFrom('main', 'work', '-x', 'a#b'),
          has_wiki: fc.boolean(),
          has_pull_requests: fc.constant(true),
          allow_squash_merge: fc.boolean(),
        },
        ['description', 'has_pull_requests'],
      );
      // Only rules of the operator may name these.
      const ofOperator = maybe<unknown>(
        { private: fc.constant(true), archived: fc.boolean(), template: fc.boolean() },
        [],
      );
      const both = fc.tuple(settings, ofOperator).map(([one, other]) => ({ ...one, ...other }));
      return fc.oneof({ weight: 7, arbitrary: settings }, { weight: 1, arbitrary: both });
    },
    'sync-collaborators': () =>
      fc.record({
        collaborators: fc.uniqueArray(
          fc.record({
            login: fc.constantFrom('ada', 'reeve', 'evil', '..', '-x'),
            permission: fc.constantFrom('read', 'write', 'admin'),
          }),
          { minLength: 1, maxLength: 2, selector: ({ login }) => login },
        ),
        prune: fc.boolean(),
      }),
    'sync-teams': () =>
      fc.record({
        teams: fc.uniqueArray(
          maybe<unknown>(
            {
              // Creates at most one team, because an object created in the same run has no id while the run is planned.
              name: fc.constantFrom('release', 'core'),
              permission: fc.constantFrom('read', 'write', 'admin'),
              description: word,
              members: some(fc.constantFrom('ada', 'reeve', 'evil')),
              repositories: some(fc.constantFrom('demo', 'other', '..')),
            },
            ['name', 'permission'],
          ),
          { minLength: 1, maxLength: 2, selector: ({ name }) => name },
        ),
        prune: fc.constantFrom(false, false, true),
      }),
    notify: (trigger) =>
      maybe<unknown>({ to: secret, text: saying(trigger), key: saying(trigger), when: asking(trigger) }, [
        'to',
        'text',
      ]),
    comment: (trigger) => {
      const said = fc.record({ text: saying(trigger) });
      const more = maybe(
        {
          key: fc.oneof(fc.constantFrom('k', 'main', '../x'), saying(trigger)),
          when: asking(trigger),
          otherwise: saying(trigger),
        },
        [],
      );
      const text = fc.oneof(
        { weight: 4, arbitrary: said },
        { weight: 1, arbitrary: fc.constant({ wiki: '../../evil' }) },
      );
      return fc.tuple(text, more).map(([one, other]) => ({ ...one, ...other }));
    },
    'set-status': (trigger) =>
      maybe<unknown>(
        {
          state: stated,
          context: word,
          description: saying(trigger),
          target_url: fc.constantFrom('https://evil.example/', `\${{ ${trigger.texts[0]} }}`),
          when: asking(trigger),
        },
        ['state'],
      ),
    'report-issue': (trigger) =>
      maybe<unknown>(
        {
          key: saying(trigger),
          title: saying(trigger),
          body: saying(trigger),
          when: asking(trigger),
          repository: seldom(fc.constantFrom('evil/demo', 'acme/other', 'acme/demo', '../..')),
        },
        ['key', 'title'],
      ),
    'dismiss-stale-reviews': (trigger) =>
      maybe<unknown>(
        {
          message: saying(trigger),
          states: fc.constant(['APPROVED', 'REQUEST_CHANGES']),
          'ignore-paths': fc.constant(['docs/**']),
          'keep-on-rebase': fc.boolean(),
          priors: fc.boolean(),
        },
        ['message'],
      ),
    review: (trigger) =>
      maybe<unknown>(
        {
          verdict: fc.constantFrom('approve', 'request-changes'),
          when: fc.boolean(),
          text: saying(trigger),
          message: saying(trigger),
        },
        ['verdict'],
      ),
    'open-pull-request': (trigger) =>
      maybe<unknown>(
        {
          head: fc.oneof(branch, fc.constant('dark:work')),
          base: branch.map((name) => `${name.replace(':', '-')}2`),
          title: saying(trigger),
          body: saying(trigger),
          labels: seldom(some(label)),
          reviewers: some(person),
        },
        ['head', 'base', 'title'],
      ),
    merge: (trigger) =>
      maybe<unknown>(
        {
          when: asking(trigger),
          // The timeline of a generated pull request contains no push.
          'after-push': fc.constantFrom('anyone', 'writers'),
          method: fc.constantFrom('merge', 'squash'),
          title: saying(trigger),
          message: saying(trigger),
          'delete-branch': fc.boolean(),
        },
        ['after-push', 'method'],
      ),
    'queue-merge': (trigger) =>
      maybe<unknown>(
        {
          when: asking(trigger),
          'after-push': fc.constantFrom('anyone', 'writers'),
          method: seldom(fc.constantFrom('merge', 'squash', 'rebase')),
          title: saying(trigger),
          message: saying(trigger),
          priority: fc.integer({ min: -3, max: 3 }),
          timeout: fc.integer({ min: 1, max: 90 }),
          forks: fc.boolean(),
        },
        ['after-push'],
      ),
    'delete-branch': (trigger) => maybe<unknown>({ when: asking(trigger), closed: fc.constant(true) }, []),
    backport: (trigger) =>
      maybe<unknown>(
        {
          to: some(fc.constantFrom('main*', 'main2', 'release/*', '**', 'a#b', '-x', '..', 'evil:work')),
          when: asking(trigger),
          labels: seldom(some(fc.constantFrom('bug', '../../evil/demo'))),
        },
        ['to'],
      ),
    'update-branch': (trigger) =>
      maybe<unknown>(
        { when: asking(trigger), how: fc.constantFrom('merge', 'rebase'), forks: fc.boolean() },
        [],
      ),
    'commit-files': (trigger) =>
      maybe<unknown>(
        {
          branch: seldom(fc.constantFrom('main', 'work', 'release/1', 'a#b', '%2e%2e', 'evil:work')),
          message: saying(trigger),
          when: asking(trigger),
          files: fc.uniqueArray(
            fc.oneof(
              { weight: 6, arbitrary: fc.record({ path: committedPath, content: saying(trigger) }) },
              {
                weight: 1,
                arbitrary: fc.record({
                  path: committedPath,
                  from: fc.constantFrom('acme/.reeve:rules/all.yml@main', 'evil/demo:secret', '../..:x', 'x'),
                }),
              },
            ),
            { minLength: 1, maxLength: 3, selector: ({ path }) => path },
          ),
        },
        ['files'],
      ),
    'run-workflow': (trigger) =>
      maybe<unknown>(
        {
          workflow: fc.oneof(
            { weight: 15, arbitrary: fc.constantFrom('deploy.yml', 'ci.yaml', '-x.yml') },
            { weight: 1, arbitrary: fc.constantFrom('../x.yml', '..%2fx.yml') },
          ),
          ref: seldom(fc.constantFrom('main', 'work', 'refs/tags/v1', 'a#b', 'evil:work')),
          inputs: fc.record({ note: saying(trigger), count: fc.constantFrom(1, true) }),
          when: asking(trigger),
        },
        ['workflow'],
      ),
    'sync-branch-protections': () =>
      fc.record({
        protections: fc.uniqueArray(
          maybe<unknown>({ rule_name: word, ...members }, ['rule_name', 'enable_push']),
          {
            minLength: 1,
            maxLength: 2,
            selector: (one) => one.rule_name,
          },
        ),
        prune: fc.boolean(),
      }),
    'protect-tags': () =>
      fc.record({
        tags: fc.uniqueArray(fc.record({ name_pattern: word, whitelist_usernames: some(person) }), {
          minLength: 1,
          maxLength: 2,
          selector: (one) => one.name_pattern,
        }),
        prune: fc.boolean(),
      }),
    'sync-organization': () =>
      maybe<unknown>(
        {
          description: word,
          location: fc.constantFrom('Moon', '../evil'),
          visibility: fc.constantFrom('public', 'private'),
          website: fc.constantFrom('', 'https://evil.example/'),
        },
        ['description'],
      ),
    'sync-milestones': () =>
      maybe<unknown>(
        {
          milestones: fc.uniqueArray(
            maybe<unknown>(
              {
                title: fc.constantFrom('v1', 'next', 'now', '../../evil/demo', 'ac\u200bme/site#1'),
                description: word,
                due_on: fc.constantFrom('2026-12-31', '2027-01-01'),
                state: fc.constantFrom('open', 'closed'),
              },
              ['title'],
            ),
            { minLength: 1, maxLength: 3, selector: (one) => one.title },
          ),
          prune: fc.boolean(),
        },
        ['milestones'],
      ),
    'sync-labels': () =>
      fc.record({
        labels: fc.uniqueArray(
          maybe<unknown>({ name: word, color, description: word, exclusive: fc.boolean() }, [
            'name',
            'color',
          ]),
          {
            minLength: 1,
            maxLength: 3,
            selector: (one) => one.name,
          },
        ),
        prune: fc.boolean(),
      }),
    'sync-hooks': () =>
      maybe<unknown>(
        {
          hooks: fc.uniqueArray(
            maybe<unknown>(
              {
                url,
                active: fc.boolean(),
                branch_filter: word,
                hmac: seldom(secret),
                events: some(fc.constantFrom('push', 'issues', 'pull_request_only', 'create')),
                authorization: seldom(secret).map((named) => named ?? 'none'),
              },
              ['url', 'events', 'authorization'],
            ),
            { minLength: 1, maxLength: 2, selector: (one) => one.url },
          ),
          'of-account': seldom(fc.constant(true)),
        },
        ['hooks'],
      ),
    'mark-notifications': ({ subject }) =>
      subject === 'repository'
        ? fc.constant({ as: 'read', all: true })
        : fc.constantFrom({ as: 'read' }, { as: 'unread' }, { as: 'pinned' }, { as: 'read', all: true }),
  };

export type MadeRule = { readonly action: string; readonly rule: Readonly<Record<string, unknown>> };

/** Returns rules with this trigger; the first of them uses this action. */
export function rulesFor(trigger: RuleTrigger, lead: string): fc.Arbitrary<readonly MadeRule[]> {
  const fitting = actions.filter(({ of }) => of.includes(trigger.subject)).map(({ name }) => name);
  const others = fc.array(fc.constantFrom(...fitting), { maxLength: 2 });
  return others.chain((more) => fc.tuple(...[lead, ...more].map((action) => ruleOf(action, trigger))));
}

function ruleOf(action: string, trigger: RuleTrigger): fc.Arbitrary<MadeRule> {
  const given = argumentArbitraries[action]?.(trigger) ?? fc.constant({});
  const mode = fc.constantFrom('enforce', 'enforce', 'enforce', 'observe');
  const permission = isComment(trigger.name)
    ? seldom(fc.constantFrom('write', 'author', 'read', 'everyone'))
    : fc.constant(undefined);
  return fc.tuple(given, mode, asking(trigger), permission).map(([written, how, condition, obeyed]) => ({
    action,
    rule: {
      ...trigger.yaml,
      ...(obeyed === undefined ? {} : { permission: obeyed }),
      mode: how,
      if: condition,
      steps: [{ uses: action, with: written }],
    },
  }));
}
