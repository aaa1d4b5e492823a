import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { packageRoot } from '../src/package.ts';

/**
 * `node scripts/flows.ts [FILES] [--json FILE]`: runs test/flows on the forge that the environment names (`FORGE_URL`, `FORGE_TOKEN`,
 * `FORGE_RESTART`), else on the embedded one, and prints how many flows ran, passed, failed and were skipped, each with
 * its reason. `--json` writes the same as one object. Exit 1 where a flow failed.
 */
const { values, positionals } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
});

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), duration: z.number().nullish() }),
      ),
    }),
  ),
});

type Flow = { readonly file: string; readonly title: string; readonly why?: string };

const server = await nameOfServer();
const flows = flowsIn(await runFlows());
const told = { server, at: new Date().toISOString(), ...flows };
if (values.json) await writeFile(values.json, `${JSON.stringify(told, null, 2)}\n`);
console.log(tableOf(told));
process.exitCode = flows.failed.length > 0 ? 1 : 0;

async function nameOfServer(): Promise<string> {
  const { FORGE_URL: url, FORGE_TOKEN: token } = process.env;
  if (!url || !token) return 'embedded';
  const answer = await fetch(`${url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1/version`);
  const { version } = z.object({ version: z.string() }).parse(await answer.json());
  return version.includes('+gitea-') ? `Forgejo ${version}` : `Gitea ${version}`;
}

async function runFlows(): Promise<z.output<typeof Report>> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-flows-'));
  const output = join(folder, 'report.json');
  const files = positionals.length > 0 ? positionals : ['test/flows'];
  // A server takes its time, and some flows wait for a minute to pass on it.
  const patience = ['--testTimeout=240000', '--hookTimeout=240000'];
  const reports = ['--reporter=dot', '--reporter=json', `--outputFile.json=${output}`];
  const vitest = join(packageRoot, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...files, ...patience, ...reports], {
    cwd: packageRoot,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  await new Promise((resolve) => child.on('close', resolve));
  const report = Report.parse(JSON.parse(await readFile(output, 'utf8')));
  await rm(folder, { recursive: true });
  return report;
}

function flowsIn({ testResults }: z.output<typeof Report>) {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      file: relative(packageRoot, name),
      title: fullName,
      status,
    })),
  );
  // A file that could not be loaded has no flows to count: it is one that failed.
  const broken = testResults
    .filter(({ assertionResults, message }) => assertionResults.length === 0 && message)
    .map(({ name, message }) => ({ file: relative(packageRoot, name), title: message ?? '' }));
  const of = (status: string): Flow[] =>
    all.filter((one) => one.status === status).map(({ file, title }) => ({ file, title }));
  const skipped = all
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ file, title }) => ({ file, title, why: reasonIn(title) }));
  return {
    run: of('passed').length + of('failed').length,
    passed: of('passed').length,
    failed: [...of('failed'), ...broken],
    skipped,
  };
}

/** A flow that is skipped ends with what it needs. */
function reasonIn(title: string): string {
  return /\[needs (.+)\]$/.exec(title)?.[1] ?? 'no reason is given';
}

function tableOf({ server: name, run, passed, failed, skipped }: typeof told): string {
  const counts = new Map<string, number>();
  for (const { why = '' } of skipped) counts.set(why, (counts.get(why) ?? 0) + 1);
  const reasons = [...counts].map(([why, count]) => `${count} × ${why}`).join('; ') || '–';
  return [
    '| server | run | passed | failed | skipped | reasons |',
    '| --- | --- | --- | --- | --- | --- |',
    `| ${name} | ${run} | ${passed} | ${failed.length} | ${skipped.length} | ${reasons} |`,
    ...failed.map(({ file, title }) => `failed: ${file}: ${title}`),
  ].join('\n');
}
