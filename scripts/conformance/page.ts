import { type Capability, capabilitiesOf } from '../../src/client/capabilities.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { lineOf } from '../../test/support/real-forge.ts';
import { page, table, word } from '../reference/text.ts';
import type { Result } from './result.ts';

/** The operations that the description of the service numbers, and its notification operations. */
const described = [
  'hook.edit',
  'pull.create',
  'review.dismiss',
  'branch-protection.list',
  'branch.list',
  'tag-protection.create',
  'contents.get',
  'contents.get-ext',
  'wiki.list-pages',
  'wiki.get-page',
  'issue.list-dependencies',
  'issue.replace-labels',
  'issue.list-times',
  'comment.get-attachment',
  'notification.list',
  'notification.mark-all',
  'notification.count',
  'notification.get',
  'notification.mark',
  'repository.list-notifications',
  'repository.mark-notifications',
  'oauth2.create',
  'user.list-hooks',
  'user.list-starred',
  'organization.edit',
  'organization-runner.list',
] as const;

const kinds = {
  success: (status: number) => status < 300,
  error: (status: number) => status >= 400 && status !== 401 && status !== 403,
  permission: (status: number) => status === 401 || status === 403,
} as const;

/** Returns what is wrong with how a server was asked: flows skipped without a reason, described operations not asked in every way. */
export function findFaults(result: Result): readonly string[] {
  const { name } = lineOf(result.version);
  const { flows } = result;
  return [
    ...flows.skipped
      .filter(({ reason }) => !reason.startsWith('needs '))
      .map((flow) => `${name}: ${flow.case}: ${flow.reason}`),
    ...described
      .filter((id) => !isLacking(result, id))
      .flatMap((id) =>
        Object.entries(kinds)
          .filter(([kind, isOf]) => mayAnswer(id, kind) && !(result.operations[id] ?? []).some(isOf))
          .map(([kind]) => `${name}: ${id}: no answer of the kind ${kind}`),
      ),
  ];
}

/** Returns the text of `docs/conformance.md`. */
export function conformancePage(results: readonly Result[]): string {
  return page(
    'Conformance',
    `The suites in \`test/contract/\` and \`test/flows/\` run on the embedded forge in \`npm test\`, and on any real server that
the environment names. This page holds what the newest runs on real servers gave; it is written by
\`node scripts/conformance.ts\` from the files in \`docs/conformance/\`.`,
    `## How to repeat it

Take a server of your own that may be filled with test data: its web hooks must be allowed to reach the loopback
interface (\`[webhook] ALLOWED_HOST_LIST = loopback\`; \`[security] ALLOWED_HOST_LIST\` from Gitea 1.27 on), and the token must
be a site administrator's with every scope. The suites make their own accounts, organizations and repositories, under new names.

\`\`\`sh
FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… npx vitest run test/contract   # the contract alone
FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… npx vitest run test/flows      # the flows alone
FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… node scripts/conformance.ts    # both, and this page
\`\`\`

A case that a server is known to answer otherwise stands in \`test/contract/differences.ts\` with its reason. It is run all
the same, and fails as soon as the server behaves as the suite asks.`,
    `## Servers\n\n${table(
      [
        'server',
        'day',
        'contract: run',
        'as the baseline',
        'known to differ',
        'failed',
        'flows: run',
        'passed',
        'failed',
        'not possible',
      ],
      results.map(serverRow),
    )}`,
    `## Operations

How many operations were answered, and with what: a success, an error (400 and above), a refusal (401, 403).\n\n${table(
      ['server', 'operations', 'with a success', 'with an error', 'with a refusal', 'with all three'],
      results.map(operationRow),
    )}`,
    `The ${described.length} operations of the service's description, with every status each was answered with:\n\n${table(
      ['operation', ...results.map(({ version }) => lineOf(version).name)],
      described.map((id) => [
        word(pathOf(id)),
        ...results.map((result) => (result.operations[id] ?? []).join(', ')),
      ]),
    )}`,
    ...results.map(differencesOf),
  );
}

/** Operations that some servers do not have, by the capability that says so. */
const lackable: Readonly<Record<string, Capability>> = { 'contents.get-ext': 'contents_ext' };

function isLacking({ version }: Result, id: string): boolean {
  const capability = lackable[id];
  return capability !== undefined && !capabilitiesOf(version).has[capability];
}

/** An operation whose row knows no error but refusals has none to ask for. */
function mayAnswer(id: string, kind: string): boolean {
  return kind !== 'error' || operationOf(id).errors.some((status) => kinds.error(status));
}

function operationOf(id: string): Operation {
  const found = Object.values(operations).find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

function serverRow({ version, day, contract, flows }: Result): readonly string[] {
  const run = contract.passed + contract.different.length + contract.failed.length;
  const counts = [
    run,
    contract.passed,
    contract.different.length,
    contract.failed.length,
    flows.passed + flows.failed.length,
    flows.passed,
    flows.failed.length,
    flows.skipped.length,
  ];
  return [lineOf(version).name, day, ...counts.map(String)];
}

function operationRow({ version, operations: answers }: Result): readonly string[] {
  const all = Object.values(answers);
  const having = Object.values(kinds).map((isOf) => all.filter((statuses) => statuses.some(isOf)).length);
  const whole = all.filter((statuses) => Object.values(kinds).every((isOf) => statuses.some(isOf))).length;
  return [lineOf(version).name, all.length, ...having, whole].map(String);
}

function pathOf(id: string): string {
  const { method, path } = operationOf(id);
  return `${method} ${path}`;
}

type Named = { readonly case: string; readonly reason: string };

function byReason(rows: readonly Named[]): string[][] {
  const groups = [...Map.groupBy(rows, ({ reason }) => reason)];
  return groups.map(([reason, of]) => [reason, of.map((one) => one.case).join('; ')]);
}

/** What fails is a defect of ours that is not mended yet: the page says so. */
function failuresOf({ contract, flows }: Result): string {
  const failed = [...contract.failed, ...flows.failed];
  return failed.length === 0
    ? ''
    : `Failed, and to be mended:\n\n${failed.map((title) => `- ${title}`).join('\n')}`;
}

function flowsOf({ passed, failed, skipped }: Result['flows']): string {
  if (passed + failed.length + skipped.length === 0)
    return 'The flows were not run as a whole on this server.';
  const rows = table(['flows not possible, because it', 'flows'], byReason(skipped));
  return rows || 'Every flow is possible.';
}

function differencesOf(result: Result): string {
  const { version, contract, flows } = result;
  return [
    `## ${lineOf(version).name}: what differs, and what is not possible`,
    table(['what the server does', 'cases of the contract suite'], byReason(contract.different)) ||
      'No case differs.',
    flowsOf(flows),
    failuresOf(result),
  ]
    .filter(Boolean)
    .join('\n\n');
}
