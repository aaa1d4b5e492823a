// Runs test/contract and test/flows on the server that FORGE_URL and FORGE_TOKEN name, stores the result in
// docs/conformance/, and writes docs/conformance.md from all results. With the name of one suite, it runs only that
// suite; with --check it runs nothing and only compares; with --peer it compares the embedded forge with that server,
// request by request.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineOf, type RealForge, realForge } from '../test/support/real-forge.ts';
import { conformancePage, findFaults } from './conformance/page.ts';
import { comparePeer, reportOf, resultOf } from './conformance/peer.ts';
import { Result, readPeerResults, readResult } from './conformance/result.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const resultFolder = join(root, 'docs/conformance');
const peerFolder = join(resultFolder, 'peer');
const pagePath = join(root, 'docs/conformance.md');

/** Returns the stored results, by server. */
export function readResults(): readonly Result[] {
  const names = readdirSync(resultFolder).filter((name) => name.endsWith('.json'));
  return names
    .toSorted()
    .map((name) => Result.parse(JSON.parse(readFileSync(join(resultFolder, name), 'utf8'))));
}

/** Returns all problems of the page and of the results from which it is made. */
export function findProblems(): readonly string[] {
  const results = readResults();
  const isStale = readFileSync(pagePath, 'utf8') !== conformancePage(results, readPeerResults(peerFolder));
  const stale = isStale ? ['docs/conformance.md is stale: run node scripts/conformance.ts'] : [];
  return [...stale, ...results.flatMap(findFaults)];
}

/** Runs the requested suites; the others keep the values of the stored result, if there is one. */
function runSuites(forge: RealForge, isAsked: (suite: string) => boolean, kept: Result | undefined): Result {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const record = join(folder, 'record');
  writeFileSync(record, '');
  const nothing = { testResults: [] };
  try {
    const contract = isAsked('test/contract')
      ? runSuite(folder, 'test/contract', { CONTRACT_RECORD: record }, ['-t', asPattern(forge.url)])
      : nothing;
    // Runs one file at a time: a hanging receiver delays everybody's deliveries, and one flow restarts the server.
    const flows = isAsked('test/flows')
      ? runSuite(folder, 'test/flows', {}, ['--no-file-parallelism'])
      : nothing;
    const day = new Date().toISOString().slice(0, 10);
    const read = readResult({
      version: forge.version,
      day,
      contract,
      flows,
      record: readFileSync(record, 'utf8'),
    });
    return {
      ...read,
      ...(contract === nothing && kept ? { contract: kept.contract, operations: kept.operations } : {}),
      ...(flows === nothing && kept ? { flows: kept.flows } : {}),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runSuite(
  folder: string,
  suite: string,
  environment: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): unknown {
  const output = join(folder, `${suite.replace('/', '-')}.json`);
  const program = join(root, 'node_modules/vitest/vitest.mjs');
  // A real server is slow, and some flows wait for the next minute.
  const patience = ['--testTimeout=240000', '--hookTimeout=240000'];
  const reports = ['--reporter=dot', '--reporter=json', `--outputFile.json=${output}`];
  const given = [program, 'run', suite, ...patience, ...reports, ...more];
  spawnSync(process.execPath, given, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return JSON.parse(readFileSync(output, 'utf8'));
}

function asPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function fileOf(folder: string, version: string): string {
  const name = lineOf(version).name.toLowerCase();
  return join(folder, `${name.replace(/[^a-z0-9.]+/g, '-')}.json`);
}

/** Compares the embedded forge with the server that the environment names, stores the result and writes the page. */
async function runPeer(forge: RealForge): Promise<void> {
  const comparison = await comparePeer(forge);
  for (const line of reportOf(comparison)) console.log(line);
  const result = resultOf(forge.version, new Date().toISOString().slice(0, 10), comparison);
  mkdirSync(peerFolder, { recursive: true });
  writeFileSync(fileOf(peerFolder, forge.version), `${JSON.stringify(result, undefined, 2)}\n`);
  writeFileSync(pagePath, conformancePage(readResults(), readPeerResults(peerFolder)));
  process.exit(comparison.unexplained.length > 0 ? 1 : 0);
}

if (import.meta.main) {
  const forge = realForge();
  if (process.argv.includes('--peer')) {
    if (forge) await runPeer(forge);
    console.error(
      '--peer needs FORGE_URL and FORGE_TOKEN: the server, and the token of a site administrator',
    );
    process.exit(2);
  }
  if (!process.argv.includes('--check') && forge) {
    mkdirSync(resultFolder, { recursive: true });
    const kept = readResults().find(({ version }) => version === forge.version);
    const asked = process.argv.slice(2);
    const result = runSuites(forge, (suite) => asked.length === 0 || asked.includes(suite), kept);
    writeFileSync(fileOf(resultFolder, result.version), `${JSON.stringify(result, undefined, 2)}\n`);
  }
  if (!process.argv.includes('--check'))
    writeFileSync(pagePath, conformancePage(readResults(), readPeerResults(peerFolder)));
  const failed = readResults().flatMap(({ version, contract, flows }) =>
    [...contract.failed, ...flows.failed].map((title) => `${version}: failed: ${title}`),
  );
  const problems = [...findProblems(), ...failed];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`docs/conformance.md: ${readResults().length} servers`);
}
