import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ownersOf, parseCodeowners } from '../test/import/oracles/codeowners.ts';
import { decide as decideLabels } from '../test/import/oracles/labeler.ts';
import { evaluate } from '../test/import/oracles/policy-bot.ts';
import {
  createDraw,
  type Draw,
  makeSubject,
  type Subject,
  type Words,
} from '../test/import/oracles/subject.ts';

/**
 * `node scripts/import-oracles.ts FOLDER [--count N] [--seed N]`: writes random configurations with random pull requests
 * and the answers of the oracles to FOLDER, one JSON file for each bot whose own functions can be run on plain values.
 * A runner beside a checkout of the bot reads the file, asks the bot's functions, and compares. An answer `error` stands
 * for a configuration or a pull request that the oracle refuses.
 *
 * - labeler-4.json, labeler-5.json: `{ configuration, files, base, head, dot, answer: labels }`, with the configuration
 *   as an object;
 * - policy-bot.json: `{ configuration, pull, answer: status }`, where `pull` has the members of policy-bot's pull request
 *   context, times in milliseconds;
 * - codeowners.json: `{ configuration, paths, answer: owners of each path }`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});
const [folder] = positionals;
if (folder === undefined)
  throw new Error('usage: node scripts/import-oracles.ts FOLDER [--count N] [--seed N]');
const count = Number(values.count);
const now = Date.parse('2026-06-01T12:00:00Z');

const words: Words = {
  labels: ['area/api', 'Docs', 'hotfix', 'do not merge', 'size/XL'],
  paths: [
    'README.md',
    'docs/index.md',
    'docs/guide/start.md',
    'src/api/users.ts',
    'src/api/users.test.ts',
    'src/web/app.tsx',
    '.github/workflows/ci.yml',
    'package.json',
    'config/a b.yml',
    'vendor/lib/x.go',
    'apps/one/docs/a.md',
  ],
  bases: ['main', 'release/1.2', 'develop'],
  heads: ['feature/login', 'fix-typo', 'docs-update', 'main'],
  logins: ['ada', 'bob', 'cleo', 'dan', 'renovate[bot]'],
  checks: ['build', 'test', 'lint'],
  teams: ['core', 'docs'],
  titles: ['feat: add login', 'WIP: draft', 'Bump x from 1.0.0 to 1.1.0', 'fix(api): handle null'],
  bodies: ['no-review: true', 'closes #3'],
  comments: [':+1:', '👍 well done', ':-1:', 'I approve this', 'no'],
};

const several = (draw: Draw, items: readonly string[], most = 3): string[] => {
  const drawn = draw.some(items, most);
  return drawn.length > 0 ? drawn : [draw.one(items)];
};

// actions/labeler

const globs = [
  '**/*.md',
  'docs/**',
  'docs/*',
  '*',
  '**',
  'src/**/*',
  'src/{api,web}/**',
  '!docs/**',
  '!**/*.test.ts',
  '.github/**',
  '**/*.@(ts|tsx)',
  'src/api/',
  '/README.md',
  'README.md',
  'config/*.yml',
  '**/docs/**',
  'apps/*/docs/*.md',
  '**.ts',
  '[rR]*',
  '!(docs)/**',
];
const branches = ['^main$', 'release/.*', '^feature', 'docs', '.*'];

function makeLabelerFile(draw: Draw, version: 4 | 5): Record<string, unknown> {
  const files = (): unknown => {
    const checks = [
      'any-glob-to-any-file',
      'any-glob-to-all-files',
      'all-globs-to-any-file',
      'all-globs-to-all-files',
    ];
    const entry = (): unknown =>
      Object.fromEntries(
        several(draw, checks, 2).map((how) => [
          how,
          draw.chance(0.3) ? draw.one(globs) : several(draw, globs),
        ]),
      );
    if (draw.chance(0.04)) return entry();
    return Array.from({ length: draw.below(3) }, entry);
  };
  const condition = (): Record<string, unknown> => ({
    ...(draw.chance(0.6) ? { 'changed-files': files() } : {}),
    ...(draw.chance(0.3)
      ? { 'head-branch': draw.chance(0.5) ? draw.one(branches) : several(draw, branches) }
      : {}),
    ...(draw.chance(0.3)
      ? { 'base-branch': draw.chance(0.5) ? draw.one(branches) : several(draw, branches) }
      : {}),
  });
  const entry = (): unknown => {
    if (version === 4) {
      if (draw.chance(0.5)) return draw.one(globs);
      return {
        ...(draw.chance(0.6) ? { any: several(draw, globs) } : {}),
        ...(draw.chance(0.6) ? { all: several(draw, globs) } : {}),
      };
    }
    if (draw.chance(0.5)) return condition();
    const kind = draw.one(['any', 'all']);
    return {
      [kind]: Array.from({ length: draw.below(4) }, condition),
      ...(draw.chance(0.2) ? condition() : {}),
    };
  };
  return Object.fromEntries(
    ['one', 'two', 'three'].map((label) => [
      label,
      version === 4 && draw.chance(0.2) ? draw.one(globs) : Array.from({ length: 1 + draw.below(3) }, entry),
    ]),
  );
}

function makeLabelerCase(seed: number, version: 4 | 5): unknown {
  const draw = createDraw(seed);
  const configuration = makeLabelerFile(draw, version);
  const subject: Subject = { ...makeSubject(seed, words, now), labels: [] };
  const dot = draw.chance(0.5);
  const answer = attempt(() =>
    decideLabels(JSON.stringify(configuration), subject, now, { version, dot }).effects.map((effect) =>
      effect.slice('add-label '.length),
    ),
  );
  return {
    configuration,
    files: subject.files.map(({ path }) => path),
    base: subject.base,
    head: subject.head,
    dot,
    answer,
  };
}

// palantir/policy-bot

const patterns = ['^docs/', '\\.md$', '^src/', '.*', '^package\\.json$', '(?i)readme'];

function makePolicy(draw: Draw): unknown {
  const actors = (): Record<string, unknown> => ({
    ...(draw.chance(0.4) ? { users: several(draw, words.logins, 2) } : {}),
    ...(draw.chance(0.4) ? { teams: several(draw, ['acme/core', 'acme/docs'], 2) } : {}),
    ...(draw.chance(0.2) ? { organizations: ['acme'] } : {}),
    ...(draw.chance(0.3)
      ? { permissions: [draw.one(['admin', 'maintain', 'write', 'triage', 'read'])] }
      : {}),
    ...(draw.chance(0.1) ? { write_collaborators: true } : {}),
    ...(draw.chance(0.05) ? { admins: true } : {}),
  });
  const predicates = (most: number): Record<string, unknown> => {
    const all: Record<string, () => unknown> = {
      changed_files: () => ({
        paths: several(draw, patterns),
        ...(draw.chance(0.4) ? { ignore: several(draw, patterns, 1) } : {}),
      }),
      no_changed_files: () => ({
        paths: several(draw, patterns),
        ...(draw.chance(0.4) ? { ignore: several(draw, patterns, 1) } : {}),
      }),
      only_changed_files: () => ({ paths: several(draw, patterns) }),
      has_author_in: actors,
      has_contributor_in: actors,
      only_has_contributors_in: actors,
      author_is_only_contributor: () => draw.chance(0.5),
      targets_branch: () => ({ pattern: draw.one(['^main$', 'release/.*', 'dev']) }),
      from_branch: () => ({ pattern: draw.one(['^feature/', '^ada:', 'docs']) }),
      modified_lines: () => ({
        ...(draw.chance(0.6) ? { additions: draw.one(['> 20', '< 100', '= 0']) } : {}),
        ...(draw.chance(0.5) ? { deletions: draw.one(['> 20', '<40']) } : {}),
        ...(draw.chance(0.5) ? { total: draw.one(['> 90', '< 10']) } : {}),
      }),
      has_status: () => ({
        statuses: several(draw, words.checks, 2),
        ...(draw.chance(0.4)
          ? { conclusions: several(draw, ['success', 'skipped', 'neutral', 'failure'], 2) }
          : {}),
      }),
      has_successful_status: () => several(draw, words.checks, 2),
      has_labels: () => several(draw, words.labels, 2),
      title: () => ({
        ...(draw.chance(0.6) ? { matches: several(draw, ['^feat', 'fix', 'Bump'], 2) } : {}),
        ...(draw.chance(0.5) ? { not_matches: several(draw, ['^WIP', 'api'], 2) } : {}),
      }),
      repository: () => ({ matches: [draw.one(['^acme/', 'other'])] }),
      has_valid_signatures: () => draw.chance(0.5),
    };
    return Object.fromEntries(draw.some(Object.keys(all), most).map((name) => [name, all[name]?.()]));
  };
  const methods = (): Record<string, unknown> => ({
    ...(draw.chance(0.4) ? { comments: draw.some([':+1:', 'approve', ':-1:'], 2) } : {}),
    ...(draw.chance(0.3) ? { comment_patterns: ['^I approve'] } : {}),
    ...(draw.chance(0.3) ? { github_review: draw.chance(0.6) } : {}),
    ...(draw.chance(0.2) ? { github_review_comment_patterns: ['approve', '👍'] } : {}),
    ...(draw.chance(0.2) ? { body_patterns: ['no-review'] } : {}),
  });
  const flags = [
    'allow_author',
    'allow_contributor',
    'allow_non_author_contributor',
    'invalidate_on_push',
    'ignore_edited_comments',
    'ignore_update_merges',
  ];
  const names = ['r1', 'r2', 'r3', 'r4'];
  const rule = (name: string): unknown => ({
    name,
    if: predicates(2),
    options: {
      ...Object.fromEntries(draw.some(flags, 3).map((flag) => [flag, true])),
      ...(draw.chance(0.2) ? { ignore_commits_by: actors() } : {}),
      ...(draw.chance(0.3) ? { methods: methods() } : {}),
    },
    requires: {
      ...(draw.chance(0.85) ? { count: draw.below(3) } : {}),
      ...actors(),
      ...(draw.chance(0.2) ? { conditions: predicates(2) } : {}),
    },
  });
  const node = (depth: number): unknown =>
    depth > 2 || draw.chance(0.6)
      ? draw.chance(0.01)
        ? 'undefined rule'
        : draw.one(names)
      : { [draw.one(['and', 'or'])]: Array.from({ length: 1 + draw.below(3) }, () => node(depth + 1)) };
  return {
    policy: {
      ...(draw.chance(0.97) ? { approval: Array.from({ length: 1 + draw.below(3) }, () => node(0)) } : {}),
      ...(draw.chance(0.3)
        ? {
            disapproval: {
              ...(draw.chance(0.3) ? { if: predicates(1) } : {}),
              ...(draw.chance(0.8) ? { requires: actors() } : {}),
              ...(draw.chance(0.3)
                ? {
                    options: {
                      methods: {
                        ...(draw.chance(0.6) ? { disapprove: methods() } : {}),
                        ...(draw.chance(0.5) ? { revoke: methods() } : {}),
                      },
                    },
                  }
                : {}),
            },
          }
        : {}),
    },
    approval_rules: names.map(rule),
  };
}

function makePolicyCase(seed: number): unknown {
  const draw = createDraw(seed);
  const configuration = JSON.stringify(makePolicy(draw));
  const subject: Subject = { ...makeSubject(seed, words, now), state: 'open' };
  return {
    configuration,
    pull: toPolicyBot(subject),
    answer: attempt(() => evaluate(configuration, subject).status),
  };
}

/** Returns a subject as policy-bot's context has it after it has read GitHub. */
function toPolicyBot(subject: Subject): unknown {
  const { owner, commits, checks } = subject;
  const statuses: Record<string, string> = {};
  for (const kind of ['status', 'run'] as const) {
    for (const check of checks) {
      if (check.kind === kind)
        statuses[check.name] = kind === 'run' && check.state === 'pending' ? '' : check.state;
    }
  }
  const kinds = {
    APPROVED: 'approved',
    CHANGES_REQUESTED: 'changes_requested',
    COMMENTED: 'commented',
    DISMISSED: 'dismissed',
  };
  const reviews = subject.reviews.filter(({ state }) => state !== 'DISMISSED');
  return {
    owner,
    repository: subject.repository,
    title: subject.title,
    body: subject.body,
    author: subject.author,
    created: subject.created,
    base: subject.base,
    head: subject.fork ? `${subject.headOwner}:${subject.head}` : subject.head,
    headSha: commits.at(-1)?.sha ?? '',
    files: subject.files.flatMap(({ path, status, previous, additions, deletions }) => [
      ...(status === 'renamed' && previous !== null ? [{ path: previous, additions: 0, deletions: 0 }] : []),
      { path, additions, deletions },
    ]),
    commits: commits.map((commit) => ({
      ...commit,
      author: commit.author ?? '',
      committer: commit.committer ?? '',
    })),
    comments: [
      ...subject.comments.map(({ author, body, time, edited }) => ({ author, body, time, edited })),
      ...reviews
        .filter(({ state }) => state === 'COMMENTED')
        .map(({ author, body, time }) => ({ author, body, time, edited: false })),
    ],
    reviews: reviews.map(({ author, state, body, time }) => ({ author, state: kinds[state], body, time })),
    teams: Object.fromEntries(
      words.logins.map((login) => [
        login,
        Object.entries(subject.teams).flatMap(([team, members]) =>
          members.includes(login) ? [`${owner}/${team}`] : [],
        ),
      ]),
    ),
    organizations: Object.fromEntries(subject.members.map((login) => [login, [owner]])),
    permissions: subject.permissions,
    statuses,
    labels: subject.labels.map((label) => label.toLowerCase()),
  };
}

// CODEOWNERS

const ownerPatterns = [
  '*',
  '*.md',
  '/docs/',
  'docs/',
  'docs/*',
  '/docs/**',
  '**/docs',
  'src/api',
  '/src/**/*.ts',
  'apps/*/docs',
  '**',
  '*.t?',
  'users*',
  '/config/a\\ b.yml',
  '.github/',
  'src/**/app.tsx',
  '/README.md',
  'README.md/',
];

function makeOwnersCase(seed: number): unknown {
  const draw = createDraw(seed);
  const configuration = Array.from({ length: 1 + draw.below(6) }, () => {
    const owners = draw.some(['@ada', '@bob', '@acme/core', 'dev@example.org'], 2);
    return [draw.one(ownerPatterns), ...owners, ...(draw.chance(0.1) ? ['# why'] : [])].join(' ');
  }).join('\n');
  const lines = parseCodeowners(configuration);
  return { configuration, paths: words.paths, answer: words.paths.map((path) => ownersOf(lines, path)) };
}

function attempt<Answer>(run: () => Answer): Answer | 'error' {
  try {
    return run();
  } catch {
    return 'error';
  }
}

mkdirSync(folder, { recursive: true });
const cases: Readonly<Record<string, (seed: number) => unknown>> = {
  'labeler-4': (seed) => makeLabelerCase(seed, 4),
  'labeler-5': (seed) => makeLabelerCase(seed, 5),
  'policy-bot': makePolicyCase,
  codeowners: makeOwnersCase,
};
for (const [name, make] of Object.entries(cases)) {
  const rows = Array.from({ length: count }, (_, index) => make(Number(values.seed) + index));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(rows));
  console.log(`${name}: ${rows.length} cases`);
}
