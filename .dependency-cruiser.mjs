/**
 * The floors of the house: a file imports from lower floors and its own folder, never upward, never in a circle.
 * 0 clock, delivery-lifetime, duration, errors, log, form-marks, html, kept, package, patterns, private-files, redactor, remembering, same-secret, throttle, contract · 1 client, forge · 2 facts, actions · 3 expressions below rules · 4 engine, sources · 5 store ·
 * 6 receiver, sweeps, dashboard, worker · 7 server, app, readings, cli, run-reeve, ci, config, operator-file, named-secrets, generated-file,
 * dashboard-password, account, handle-delivery, commands, demo
 */
const floors = [
  [
    'clock',
    'delivery-lifetime',
    'duration',
    'errors',
    'log',
    'form-marks',
    'patterns',
    'html',
    'kept',
    'package',
    'private-files',
    'redactor',
    'remembering',
    'same-secret',
    'throttle',
    'contract',
  ],
  ['client', 'forge'],
  ['facts', 'actions'],
  ['expressions'],
  ['rules'],
  ['engine', 'sources'],
  ['incidents'],
  ['store'],
  ['receiver', 'sweeps', 'dashboard', 'worker'],
  [
    'server',
    'cli',
    'run-reeve',
    'ci',
    'config',
    'operator-file',
    'named-secrets',
    'app',
    'readings',
    'generated-file',
    'dashboard-password',
    'account',
    'handle-delivery',
    'commands',
    'demo',
  ],
];
/** Libraries that the package and the action carry inside their bundles. All others in package.json are tools. */
const bundled = [
  '@marcbachmann/cel-js',
  '@octokit/webhooks-methods',
  'commander',
  'fastify',
  'ky',
  'node-cron',
  'pino',
  'prom-client',
  're2js',
  'secure-json-parse',
  'yaml',
  'zod',
];
const pattern = (names) => `^src/(${names.join('|')})(/|\\.ts$)`;

const upward = floors.slice(0, -1).map((names, floor) => ({
  name: `floor-${floor}-looks-up`,
  severity: 'error',
  from: { path: pattern(names) },
  to: { path: pattern(floors.slice(floor + 1).flat()) },
}));

const strangers = [
  ['client', 'forge'],
  ...['receiver', 'sweeps', 'dashboard', 'worker'].flatMap((a, i, all) =>
    all.slice(i + 1).map((b) => [a, b]),
  ),
].flatMap(([a, b]) => [
  { name: `${a}-knows-${b}`, severity: 'error', from: { path: pattern([a]) }, to: { path: pattern([b]) } },
  { name: `${b}-knows-${a}`, severity: 'error', from: { path: pattern([b]) }, to: { path: pattern([a]) } },
]);

export default {
  forbidden: [
    ...upward,
    ...strangers,
    {
      name: 'circle',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'ci-stays-small',
      comment:
        'The CI action runs on any Node from 20 with no database: it reaches neither store, forge nor receiver.',
      severity: 'error',
      from: { path: '^src/ci\\.ts$' },
      to: { path: '^src/(store|forge|receiver)/', reachable: true },
    },
    {
      name: 'orphan-package',
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
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts'] },
  },
};
