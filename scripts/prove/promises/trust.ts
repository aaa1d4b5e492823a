import type { ReliabilityPromise } from '../promise.ts';

/** What rules, secrets and pages promise: P26 to P37. */
export const trust: readonly ReliabilityPromise[] = [
  {
    id: 'P26',
    promise: 'A broken rule file harms only its own repository, and the reason has path, line and column.',
    target: { quick: '0 crashes with 500 mutated files', full: '0 crashes with 100,000 mutated files' },
    proofs: [
      { file: 'test/rules/files/bounds.test.ts', titled: /mutated/ },
      { file: 'test/rules/files/load.test.ts' },
      { file: 'test/rules/files/mistakes.test.ts' },
      { file: 'test/flows/faults.test.ts', titled: /rule file that is broken/ },
      { file: 'test/flows/sources.test.ts', titled: /broken/ },
    ],
    twins: ['broken-file-used-in-part', 'argument-key-inherited'],
  },
  {
    id: 'P27',
    promise: 'A rule file from the head of a pull request is never used.',
    target: { quick: '0 effects from 20 attacks', full: '0 effects from 20 attacks' },
    proofs: [
      { file: 'test/flows/attacks-rule-files.test.ts' },
      { file: 'test/flows/attacks-default-branch.test.ts' },
    ],
    twins: ['rules-from-pull-head'],
  },
  {
    id: 'P28',
    promise: 'Rules of a repository write to that repository alone, unless the operator grants more.',
    target: {
      quick: '0 requests elsewhere',
      full: '0 requests elsewhere in 100,000 pairs of rules and events',
    },
    proofs: [{ file: 'test/engine/random-pairs.test.ts' }, { file: 'test/engine/escape.test.ts' }],
    twins: ['granted-file-of-others', 'pack-has-the-grants-of-the-operator', 'unscoped-grant'],
  },
  {
    id: 'P29',
    promise: 'A hostile expression or pattern is bounded.',
    target: {
      quick: '300 hostile expressions: none above its budget',
      full: '20,000 hostile expressions: none above its budget, none slow',
    },
    proofs: [
      { file: 'test/rules/expressions/hostile.test.ts' },
      { file: 'test/patterns/automaton.test.ts' },
      { file: 'test/engine/hostile-run.test.ts' },
      { file: 'test/engine/run-budget.test.ts' },
      { file: 'test/flows/hostile-rules.test.ts' },
    ],
    twins: [
      'budget-charged-after-match',
      'budget-per-evaluation',
      'inserted-text-not-charged',
      'paths-not-charged',
      'wide-objects-judged',
    ],
  },
  {
    id: 'P30',
    promise: 'A hostile YAML file is refused or read in bounded time.',
    target: {
      quick: '64 KiB within 500 ms of processor time',
      full: '64 KiB within 500 ms of processor time',
    },
    proofs: [{ file: 'test/rules/files/bounds.test.ts' }, { file: 'test/flows/attacks-bombs.test.ts' }],
    twins: ['rule-file-of-any-size', 'yaml-aliases-followed'],
  },
  {
    id: 'P31',
    promise: 'Rules that contradict each other do not loop.',
    target: { quick: 'stopped after five returns', full: 'stopped after five returns' },
    proofs: [
      { file: 'test/engine/limits.test.ts', titled: /back and forth/ },
      { file: 'test/engine/consequences.test.ts' },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /two bots/ },
    ],
    twins: ['consequence-that-loops', 'consequence-not-awaited'],
  },
  {
    id: 'P32',
    promise: 'One event writes no more than its budget, and an hour no more than its own.',
    target: {
      quick: '0 writes above a budget in 100 random hours',
      full: '0 writes above a budget in 2,000 random hours',
    },
    proofs: [
      { file: 'test/engine/limits.test.ts' },
      { file: 'test/engine/budget/deferral.test.ts' },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /more than its budget/ },
      { file: 'test/flows/budgets.test.ts' },
    ],
    twins: ['budget-per-process'],
  },
  {
    id: 'P33',
    promise: 'No token and no secret appears in anything that Reeve writes.',
    target: {
      quick: '0 hits in all bytes written, in any encoding',
      full: '0 hits in all bytes written, in any encoding, with 10 kills and stops',
    },
    proofs: [
      { drill: () => import('../drills/canary.ts') },
      { file: 'test/platform/redactor.test.ts' },
      { file: 'test/client/client.test.ts', titled: /credential|password/ },
      { file: 'test/server/dashboard/pages.test.ts', titled: /never hold the token/ },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /in no byte/ },
      { file: 'test/platform/http/message-sender.test.ts', titled: /no error contains/ },
    ],
    twins: ['redactor-without-base64', 'error-redacted-before-parsing', 'message-error-names-the-host'],
  },
  {
    id: 'P34',
    promise: 'A redirect never carries the token to another place.',
    target: { quick: '0 requests to another origin', full: '0 requests to another origin' },
    proofs: [
      { file: 'test/client/client.test.ts', titled: /redirects/ },
      { file: 'test/platform/http/message-sender.test.ts', titled: /redirects nowhere/ },
    ],
    twins: ['redirect-to-another-origin', 'message-follows-redirects'],
  },
  {
    id: 'P35',
    promise: 'The dashboard shows hostile texts as texts, and takes no action that another site caused.',
    target: { quick: '0 of 500 texts run', full: '0 of 500 texts run' },
    proofs: [
      { file: 'test/server/dashboard/browser.test.ts' },
      { file: 'test/server/dashboard/anonymous-access.test.ts' },
      { file: 'test/server/dashboard/sign-in/sign-in.test.ts', titled: /another site|browsers may do/ },
    ],
    twins: ['hostile-texts-as-html', 'password-compared-beyond-limit'],
  },
  {
    id: 'P36',
    promise: 'A log line cannot be forged.',
    target: { quick: '0 forged lines', full: '0 forged lines' },
    proofs: [
      { file: 'test/platform/log.test.ts' },
      { file: 'test/rules/files/load.test.ts', titled: /control characters/ },
    ],
    twins: ['log-lines-forged'],
  },
  {
    id: 'P37',
    promise: 'A plan is what the real run does, and writes nothing.',
    target: {
      quick: '0 differences, 0 writes',
      full: '0 differences, 0 writes in 100,000 pairs of rules and events',
    },
    proofs: [
      { file: 'test/engine/random-pairs.test.ts' },
      { file: 'test/engine/escape.test.ts', titled: /dry run/ },
      { file: 'test/flows/sweep-plan.test.ts' },
    ],
    twins: ['sweep-plan-writes'],
  },
];
