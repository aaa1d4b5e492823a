import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { table } from '../../src/language-server/documentation.ts';
import { lineOf } from '../../test/support/real-forge.ts';

const caseWithReason = z.strictObject({ case: z.string(), reason: z.string() });

/** Result of one run of the suites on one server; a file in `docs/conformance/`. */
export const Result = z.strictObject({
  /** Version as reported by the server. */
  version: z.string(),
  /** Day of the run, YYYY-MM-DD. */
  day: z.iso.date(),
  contract: z.strictObject({
    /** Cases that behave as the suite requires. */
    passed: z.int(),
    /** Cases that ran and are known to differ, with the reason. */
    different: z.array(caseWithReason),
    failed: z.array(z.string()),
  }),
  flows: z.strictObject({
    passed: z.int(),
    /** Flows that need something that this server lacks. */
    skipped: z.array(caseWithReason),
    failed: z.array(z.string()),
    /** Files that were not run on this day; their flows are not counted. */
    notRun: z.array(z.string()).optional(),
  }),
  /** Response statuses of each operation, by its id. */
  operations: z.record(z.string(), z.array(z.int())),
});
export type Result = z.infer<typeof Result>;

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          meta: z.object({
            forge: z.string().optional(),
            difference: z.string().optional(),
            lack: z.string().optional(),
          }),
        }),
      ),
    }),
  ),
});

/**
 * Reads two JSON reports of vitest and the record of the responses of operations.
 *
 * @param given.contract report of `test/contract`; cases that ran on the embedded forge are ignored
 * @param given.flows report of `test/flows`
 * @param given.record lines `file id status real|embedded`
 */
export function readResult(given: {
  readonly version: string;
  readonly day: string;
  readonly contract: unknown;
  readonly flows: unknown;
  readonly record: string;
}): Result {
  const { name } = lineOf(given.version);
  const cases = casesOf(given.contract).filter(({ meta }) => meta.forge === name);
  const flows = casesOf(given.flows);
  return {
    version: given.version,
    day: given.day,
    contract: {
      passed: cases.filter((one) => one.status === 'passed' && one.meta.difference === undefined).length,
      different: cases
        .filter(({ status }) => status === 'passed')
        .flatMap(({ title, meta: { difference } }) =>
          difference === undefined ? [] : [{ case: title, reason: difference }],
        ),
      failed: cases.filter(({ status }) => status === 'failed').map(({ title }) => title),
    },
    flows: {
      passed: flows.filter(({ status }) => status === 'passed').length,
      skipped: flows.filter(({ status }) => status === 'skipped').map(skippedFlow),
      failed: flows.filter(({ status }) => status === 'failed').map(({ title }) => title),
    },
    operations: answersOf(given.record),
  };
}

type Case = {
  readonly title: string;
  readonly status: string;
  readonly meta: z.output<typeof Report>['testResults'][number]['assertionResults'][number]['meta'];
};

function casesOf(report: unknown): readonly Case[] {
  return Report.parse(report).testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status, meta }) => ({
      // The outermost title is more informative than the file name, which is used only if there is no such title.
      title: [ancestorTitles.filter(Boolean).length > 0 ? '' : fileOf(name), ...ancestorTitles, title]
        .filter(Boolean)
        .map((part) => part.replace(/ on https?:\/\/\S+$/, ''))
        .join(' > '),
      status: status === 'pending' ? 'skipped' : status,
      meta,
    })),
  );
}

function fileOf(path: string): string {
  return path.split('/').at(-1)?.replace('.test.ts', '') ?? '';
}

/**
 * Returns a skipped flow with its reason, which the flow recorded or which its title ends with: `… [needs control
 * routes: only … has them]`.
 */
function skippedFlow({ title, meta }: Case): { case: string; reason: string } {
  if (meta.lack !== undefined) return { case: title, reason: meta.lack };
  const [, name = title, reason = 'no reason given'] = /^(.*) \[(needs .*)\]$/s.exec(title) ?? [];
  return { case: name, reason };
}

function answersOf(record: string): Record<string, number[]> {
  const lines = record.split('\n').map((line) => line.split(' '));
  const real = lines.filter(([, , , forge]) => forge === 'real');
  const byId = Map.groupBy(real, ([, id = '']) => id);
  return Object.fromEntries(
    [...byId]
      .map(
        ([id, of]) =>
          [id, [...new Set(of.map(([, , status]) => Number(status)))].toSorted((a, b) => a - b)] as const,
      )
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Result of one comparison of the embedded forge with a real server; a file in `docs/conformance/peer/`. */
const PeerResult = z.strictObject({
  /** Version as reported by the server. */
  version: z.string(),
  /** Day of the run, YYYY-MM-DD. */
  day: z.iso.date(),
  /** Number of requests to each of the two servers. */
  requests: z.int(),
  /** Number of requests with two equal responses. */
  equal: z.int(),
  /** Number of requests with an unexplained difference. */
  unexplained: z.int(),
  /** Reasons of the other differences, with the number of differences for each. */
  explained: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
});
export type PeerResult = z.infer<typeof PeerResult>;

/** Returns the stored results in the folder. */
export function readPeerResults(folder: string): readonly PeerResult[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names
    .toSorted()
    .map((name) => PeerResult.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

/** Returns the section of the page about the results. */
export function peerSection(results: readonly PeerResult[]): string {
  const rows = results.map(({ version, day, requests, equal, unexplained }) => [
    lineOf(version).name,
    day,
    String(requests),
    String(equal),
    String(requests - equal - unexplained),
    String(unexplained),
  ]);
  return `## Side by side

\`npm run conformance -- --peer\` sends the same requests to a new embedded forge and to a real server: it makes the same accounts,
repositories, issues and pull requests on both, then asks every read of the contract as six people, every write in ways that must be
refused, and removes things twice. It compares status, headers and every member of the answers; addresses, numbers of rows, times and
random values count as equal. The server is best a new one. It takes one to four minutes.

\`\`\`sh
FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… npm run conformance -- --peer
\`\`\`

${table(['server', 'day', 'requests', 'equal', 'explained', 'unexplained'], rows)}

${results
  .map(
    ({ version, explained }) =>
      `Differences to ${lineOf(version).name} that are explained:\n\n${table(
        ['reason', 'differences'],
        explained.map(({ reason, count }) => [reason, String(count)]),
      )}`,
  )
  .join('\n\n')}`;
}
