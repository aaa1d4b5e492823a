import { ConversionBuilder } from '../builder.ts';
import { always, and, Condition, firstLine, labelled, literal, or, regularExpression } from '../condition.ts';
import { type ConversionContext, type Format, SourceError } from '../conversion.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { statusContext } from '../status-context.ts';
import {
  type ActionUse,
  conditionOf,
  expressionInputOf,
  type PullTrigger,
  pullTriggerOf,
  readWorkflow,
  usesAction,
  workflowPlaces,
} from '../workflow.ts';

// Source: amannn/action-semantic-pull-request, src/validatePrTitle.js, src/index.js and src/ConfigParser.js of v6.1.1 (commit
// b439535a8eb2), with the header pattern of conventional-changelog-conventionalcommits; Ezard/semantic-prs,
// functions/src/handle-pull-request-change.ts and is-message-semantic.ts of commit d0794ddc287d, which succeeds
// zeke/semantic-pull-requests.

const actions = ['amannn/action-semantic-pull-request'];
const defaultTypes = [
  'feat',
  'fix',
  'docs',
  'style',
  'refactor',
  'perf',
  'test',
  'build',
  'ci',
  'chore',
  'revert',
];

/** The action semantic-pull-request, in a workflow. */
export const semanticTitle: Format = {
  name: 'semantic-title',
  title: 'amannn/action-semantic-pull-request',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) convertUse(use, built, context);
    return built.done();
  },
};

/** Options of the action, with whether their value is read. */
const known = new Set([
  'types',
  'scopes',
  'requirescope',
  'disallowscopes',
  'subjectpattern',
  'ignorelabels',
  'wip',
  'validatesinglecommit',
  'validatesinglecommitmatchesprtitle',
]);

function convertUse(use: ActionUse, built: ConversionBuilder, context: ConversionContext): void {
  const { inputs, line } = use;
  const part = `the step amannn/action-semantic-pull-request@${use.version}`;
  const input = (name: string): string => inputs.get(name.toLowerCase())?.value ?? '';
  const lines = (name: string): readonly string[] =>
    input(name)
      .split('\n')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  const isOn = (name: string): boolean => input(name) === 'true';
  const condition = conditionOf(use, context.names);
  const trigger = pullTriggerOf(use);
  const expression = expressionInputOf(inputs.values(), (name) => known.has(name.toLowerCase()));
  const problem =
    trigger === undefined
      ? 'the workflow does not run for pull requests'
      : 'problem' in trigger
        ? trigger.problem
        : 'problem' in condition
          ? condition.problem
          : (expression ??
            (input('headerPattern') === '' ? undefined : 'a `headerPattern` of its own has no counterpart'));
  const test =
    problem === undefined
      ? headerTest({
          types: lines('types').length > 0 ? lines('types') : defaultTypes,
          scopes: input('scopes') === '' ? undefined : lines('scopes'),
          requireScope: isOn('requireScope'),
          disallowed: lines('disallowScopes'),
          subject: input('subjectPattern'),
        })
      : { problem };
  if ('problem' in test || 'problem' in condition || trigger === undefined || 'problem' in trigger) {
    const why = 'problem' in test ? test.problem : (problem ?? '');
    built.leftOut(line, part, why);
    for (const { name, line: at } of inputs.values())
      if (known.has(name.toLowerCase())) built.leftOut(at, name, 'the step is left out');
    return;
  }
  const isWip = new Condition('pull_request.title.matches("^\\\\[WIP\\\\]\\\\s")', 'unary');
  const single = isOn('validateSingleCommit')
    ? [singleCommit(test.of, isOn('validateSingleCommitMatchesPrTitle'))]
    : [];
  const isValid = and(test.of('pull_request.title'), ...single);
  const ignored = lines('ignoreLabels');
  const when = or(
    ...(ignored.length > 0 ? [labelled(ignored)] : []),
    ...(isOn('wip') ? [isWip] : []),
    isValid,
  );
  const name = built.nameOf('pull request title');
  const wip = statusContext('action-semantic-pull-request', context.target);
  const types = test.types.join(', ');
  const { on, base } = startOf(trigger);
  built.rule({
    name,
    on,
    each: 'pull_request',
    if: and(base, condition.condition),
    steps: [
      {
        name: 'title',
        uses: 'set-status',
        with: {
          state: 'success',
          when,
          otherwise: {
            state: 'failure',
            description: `Begin the title with one of: ${types}`.slice(0, 250).replaceAll('${{', ''),
          },
        },
      },
      ...(isOn('wip')
        ? [
            {
              name: 'work in progress',
              uses: 'set-status',
              if: ignored.length > 0 ? new Condition(`!${labelled(ignored).text}`, 'unary') : always,
              with: {
                context: wip.context,
                state: 'success',
                description: 'Ready for review & merge.',
                when: and(new Condition(`!${isWip.text}`, 'unary', { yes: isWip.no }), isValid),
                otherwise: { state: 'pending', description: 'The title is invalid, or begins with [WIP].' },
              },
            },
          ]
        : []),
    ],
  });
  built.todo(
    `Require the status of the rule (\`reeve/${name}\` in a file of the operator) instead of the job of the workflow in the protection of the branch.`,
  );
  for (const [key, { name: shown, value, line: at }] of inputs) {
    const text = `${shown}: ${value.replaceAll('\n', ', ')}`;
    if (known.has(key)) {
      const isScopes = key === 'scopes' || key === 'disallowscopes';
      built.carried(
        at,
        text,
        [name],
        isScopes && key === 'disallowscopes' ? twice : undefined,
        key === 'wip' && isOn('wip') ? wip.note : undefined,
      );
    } else if (key === 'subjectpatternerror')
      built.carried(
        at,
        text.slice(0, 120),
        [name],
        'a title with an invalid subject: the action shows this message in its log, the status of the rule names the types',
      );
    else if (key === 'githubbaseurl')
      built.withoutMeaning(at, text, 'the rules use the forge that they run for');
    else if (key === 'headerpatterncorrespondence')
      built.withoutMeaning(at, text, 'without `headerPattern`, the usual order counts');
    else built.withoutMeaning(at, text, 'the action has no such option');
  }
  const missing = ['opened', 'edited', 'synchronize'].filter((type) => !trigger.types.includes(type));
  built.carried(
    line,
    part,
    [name],
    `a branch that requires the job of the workflow: it waits for ever; require the status of \`${name}\``,
    missing.length > 0
      ? `a pull request after ${missing.join(' or ')}: the workflow does not run, the rule judges the title anew`
      : undefined,
  );
}

const twice =
  'the title `feat(a): b(): c`: the action takes everything up to the last `): ` as the scope, the rule compares `a`';

/** A status is kept by `on: auto`; filters of the workflow by branch become a condition. */
function startOf(trigger: Extract<PullTrigger, { on: unknown }>): {
  readonly on: 'auto' | (typeof trigger)['on'];
  readonly base: Condition;
} {
  const filter = isRecord(trigger.on.pull_request) ? trigger.on.pull_request : {};
  const isFiltered = Object.keys(filter).some((key) => key !== 'types');
  return { on: isFiltered ? trigger.on : 'auto', base: always };
}

type Header = {
  readonly types: readonly string[];
  readonly scopes: readonly string[] | undefined;
  readonly requireScope: boolean;
  readonly disallowed: readonly string[];
  readonly subject: string;
};

type HeaderTest = { readonly of: (value: string) => Condition; readonly types: readonly string[] };

/** Returns the test of a header `TYPE(SCOPE)!: SUBJECT`. */
function headerTest({
  types,
  scopes,
  requireScope,
  disallowed,
  subject,
}: Header): HeaderTest | { readonly problem: string } {
  // The type is a word, so that a type with other characters is never found.
  const words = types.filter((type) => /^\w+$/.test(type));
  const others = types.filter((type) => !/^\w+$/.test(type));
  const patterns = others.filter(
    (type) => /^(\w|\\[dw]|\[[\w-]+\]|[+*?]|\{\d+(,\d*)?\})+$/.test(type) && /[^\w-]/.test(type),
  );
  const unclear = others.find((type) => !patterns.includes(type) && /[\\()[\]{}*+?.|^$]/.test(type));
  if (unclear !== undefined)
    return { problem: `the type \`${unclear}\` is a regular expression that may match more than a word` };
  const all = [...words, ...patterns];
  if (all.length === 0) return { problem: 'no title can have one of the types' };
  const type = `(?:${all.join('|')})`;
  for (const scope of [...(scopes ?? []), ...disallowed]) {
    if (/[|,^$]|\.[*+]|\[\^/.test(scope) || !isPattern(scope))
      return { problem: `the scope \`${scope}\` is a regular expression that cannot be joined with others` };
  }
  const scope =
    scopes === undefined
      ? requireScope
        ? '\\(.+\\)'
        : '(?:\\(.*\\))?'
      : `${scopes.length === 0 ? '' : `(?:\\(\\s*(?:${scopes.join('|')})\\s*(?:,\\s*(?:${scopes.join('|')})\\s*)*\\))`}${requireScope ? '' : '?'}`;
  if (scopes?.length === 0) return { problem: 'no scope is allowed' };
  const ahead = /^\^\(\?!((?:[^()\\]|\\.|\([^()]*\))*)\)\.[+*]\$$/.exec(subject);
  const inner = subject === '' ? '.+' : ahead ? '.+' : subject.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  if (
    inner.includes('(?!') ||
    inner.includes('(?<') ||
    (!/^\^.*\$$/.test(subject) && /\||[*+?]\?/.test(inner) && subject !== '')
  )
    return { problem: `the subject pattern \`${subject}\` has no counterpart` };
  const start = `^${type}${scope}!?: `;
  const whole = `${start}(?:${inner})$`;
  const tests = [regularExpression(whole, { dialect: 'js' })];
  const nots: string[] = [];
  if (ahead) nots.push(`${start}(?:${ahead[1] ?? ''})`);
  if (disallowed.length > 0)
    nots.push(`^\\w*\\((?:[^()]*,)?\\s*(?:${disallowed.join('|')})\\s*(?:,[^()]*)?\\)!?: `);
  // The action takes everything up to the last `): ` as the scope.
  if (scopes !== undefined || ahead || (subject !== '' && subject !== '.+'))
    nots.push('^\\w*\\(.*\\)!?: .*\\)!?: ');
  const refused = nots.map((pattern) => regularExpression(pattern, { dialect: 'js' }));
  for (const one of [...tests, ...refused]) if ('problem' in one) return one;
  return {
    types: all,
    of: (value) =>
      and(
        ...tests.flatMap((one) => ('problem' in one ? [] : [one.on(value)])),
        ...refused.flatMap((one) =>
          'problem' in one ? [] : [new Condition(`!${one.on(value).text}`, 'unary')],
        ),
      ),
  };
}

function isPattern(text: string): boolean {
  return !('problem' in regularExpression(`^(?:${text})$`, { dialect: 'js' }));
}

/** If the pull request has one commit that is no merge, its title has to be valid, too. */
function singleCommit(of: HeaderTest['of'], isSame: boolean): Condition {
  const title = firstLine('c.commit.message');
  const same = isSame ? [new Condition(`${title} == pull_request.title`, 'relation')] : [];
  const valid = and(of(title), ...same);
  return new Condition(
    `(commits.filter(c, c.parents.size() < 2).size() != 1 || commits.all(c, c.parents.size() >= 2 || ${valid.text}))`,
    'unary',
    { yes: { commits: [] } },
  );
}

const options = [
  'enabled',
  'titleOnly',
  'commitsOnly',
  'titleAndCommits',
  'anyCommit',
  'scopes',
  'types',
  'allowMergeCommits',
  'allowRevertCommits',
];

/** The configuration of the app semantic-prs. */
export const semantic: Format = {
  name: 'semantic',
  title: 'semantic-prs',
  counts: 'options',
  places: ['.github/semantic.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (source.value !== null && !isRecord(source.value))
      throw new SourceError('a map of options was expected');
    const config = source.value ?? {};
    const built = new ConversionBuilder();
    const leaveOut = (why: string): void => {
      for (const key of Object.keys(config)) built.leftOut(source.lineOf([key]), key, why);
      if (Object.keys(config).length === 0) built.leftOut(1, 'the file', why);
    };
    const types = config.types == null ? defaultTypes : texts(config.types);
    const scopes = config.scopes == null ? undefined : texts(config.scopes);
    if (types === undefined || (config.scopes != null && scopes === undefined)) {
      leaveOut('`types` or `scopes` is no list of texts');
      return built.done();
    }
    const written = types.length > 0 ? types : defaultTypes;
    const possible = written.filter((type) => /^[^\s():!]+$/.test(type));
    if (possible.length === 0 || (scopes?.some((scope) => /[,()\n]/.test(scope)) ?? false)) {
      leaveOut('no title can have one of the types, or a scope has a comma or parenthesis');
      return built.done();
    }
    const choice = (list: readonly string[]): string => `(?:${list.map(escapePattern).join('|')})`;
    const scope =
      scopes === undefined
        ? '(?:\\([^()]+\\))?'
        : scopes.length === 0
          ? ''
          : `(?:\\(${choice(scopes)}(?:, ?${choice(scopes)})*\\))?`;
    const header = regularExpression(`^${choice(possible)}${scope}!?:`, { dialect: 'js' });
    if ('problem' in header) {
      leaveOut(header.problem);
      return built.done();
    }
    const starts = [
      ...(config.allowMergeCommits === true ? ['Merge'] : []),
      ...(config.allowRevertCommits === true ? ['Revert'] : []),
    ];
    const isSemantic = (value: string): Condition =>
      or(
        ...starts.map((start) => new Condition(`${value}.startsWith(${literal(start)})`, 'unary')),
        and(header.on(value), new Condition(`${value}.matches(": [^ ]")`, 'unary')),
      );
    const ofTitle = isSemantic('pull_request.title');
    const ofCommit = isSemantic(firstLine('c.commit.message'));
    const all = new Condition(`commits.all(c, ${ofCommit.text})`, 'unary', { yes: { commits: [] } });
    const some = new Condition(`commits.exists(c, ${ofCommit.text})`, 'unary', {
      yes: { commits: [{ commit: { message: header.sample ?? 'feat: x' } }] },
    });
    const commits = config.anyCommit === true ? some : all;
    const condition =
      config.enabled === false
        ? always
        : config.titleOnly === true
          ? ofTitle
          : config.commitsOnly === true
            ? commits
            : config.titleAndCommits === true
              ? and(ofTitle, commits)
              : new Condition(
                  `(commits.filter(c, !c.commit.message.startsWith("Merge")).size() == 1 ? ${some.text} : (${ofTitle.text}) || ${all.text})`,
                  'unary',
                  { yes: { ...ofTitle.yes, commits: [] } },
                );
    const status = statusContext('Semantic PR', context.target);
    const name = built.nameOf('semantic pull request');
    built.rule({
      name,
      on: 'auto',
      each: 'pull_request',
      steps: [
        {
          uses: 'set-status',
          with: {
            context: status.context,
            state: 'success',
            when: condition,
            otherwise: { state: 'failure', description: words(config) },
          },
        },
      ],
    });
    for (const [key, value] of Object.entries(config)) {
      const line = source.lineOf([key]);
      const part = `${key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`;
      if (options.includes(key)) built.carried(line, part, [name]);
      else if (key === 'targetUrl')
        built.carried(line, part, [name], 'each status: the app links this address, the rule none');
      else built.withoutMeaning(line, part, 'the app has no such option');
    }
    built.carried(
      1,
      'the file',
      [name],
      config.titleOnly === true
        ? undefined
        : 'a pull request of more than 30 commits: the app reads the first 30, the rule reads all',
      'a branch that requires `Semantic Pull Request`, the name at zeke/semantic-pull-requests: the rule writes `Semantic PR`, as its successor does',
      [config.enabled === false, config.titleOnly, config.commitsOnly, config.titleAndCommits].includes(true)
        ? undefined
        : 'two commits of which one is semantic, below a title that is not: zeke/semantic-pull-requests accepts them, the rule and the successor refuse them; and one commit that is not, below a title that is: the other way round',
      starts.length === 0 || config.commitsOnly === true
        ? undefined
        : `a title that starts with \`${starts[0]}\`: zeke/semantic-pull-requests refuses it, the rule and the successor accept it`,
      status.note,
    );
    return built.done();
  },
};

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function words(config: Readonly<Record<string, unknown>>): string {
  if (config.titleOnly === true) return 'add a semantic PR title';
  if (config.commitsOnly === true)
    return config.anyCommit === true ? 'add a semantic commit' : 'make sure every commit is semantic';
  return config.titleAndCommits === true
    ? 'add a semantic commit AND PR title'
    : 'add a semantic commit or PR title';
}
