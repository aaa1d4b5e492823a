import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { lineOf } from '../../../test/support/real-forge.ts';
import { table } from '../../reference/text.ts';

/** What one comparison of the embedded forge with a real server gave; a file in `docs/conformance/peer/`. */
const PeerResult = z.strictObject({
  /** As the server tells it. */
  version: z.string(),
  /** Day of the run, YYYY-MM-DD. */
  day: z.iso.date(),
  /** Requests to each of both. */
  requests: z.int(),
  /** Requests whose two answers are equal. */
  equal: z.int(),
  /** Requests with a difference that has no reason. */
  unexplained: z.int(),
  /** Reasons of the other differences, and how many differences have them. */
  explained: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
});
export type PeerResult = z.infer<typeof PeerResult>;

/** Returns the kept results of the folder. */
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
