import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { conformancePage, findFaults } from '../scripts/conformance/page.ts';
import { readResult } from '../scripts/conformance/result.ts';
import { findProblems, readResults } from '../scripts/conformance.ts';
import { differences } from './contract/differences.ts';
import { isThorough } from './support/figure.ts';
import { findDifference, plainName } from './support/known-differences.ts';
import { lineOf } from './support/real-forge.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const report = (...cases: readonly object[]) => ({
  testResults: [
    {
      name: '/somewhere/labels.test.ts',
      assertionResults: cases.map((one) => ({ ancestorTitles: [], meta: {}, ...one })),
    },
  ],
});

describe('the conformance page', () => {
  it('matches the stored results, and every server was tested with every suite', () => {
    expect(findProblems()).toEqual([]);
  });

  it('contains only differences that are declared, with the same reason', () => {
    const declared = new Set(differences.map(({ reason }) => reason));

    for (const { contract } of readResults()) {
      expect(contract.different.filter(({ reason }) => !declared.has(reason))).toEqual([]);
    }
  });
});

describe('a result', () => {
  const given = {
    version: '1.27.0',
    day: '2026-07-20',
    contract: report(
      { title: 'pass', status: 'passed', meta: { forge: 'Gitea 1.27.0' } },
      { title: 'differ', status: 'passed', meta: { forge: 'Gitea 1.27.0', difference: 'answers later' } },
      { title: 'fail', status: 'failed', meta: { forge: 'Gitea 1.27.0' } },
      { title: 'ran on the embedded forge', status: 'passed' },
    ),
    flows: report(
      { title: 'flow', status: 'passed' },
      { title: 'stops [needs a stopped clock: it goes on]', status: 'skipped' },
      { title: 'hears', status: 'skipped', meta: { lack: 'needs status events: it sends none' } },
      { title: 'was left out', status: 'skipped' },
    ),
    record:
      'labels.test.ts hook.edit 200 real\nlabels.test.ts hook.edit 404 real\nlabels.test.ts hook.edit 403 embedded\n',
  };

  it('counts the cases that ran on the server, and its known differences', () => {
    const result = readResult(given);

    expect(result.contract).toEqual({
      passed: 1,
      different: [{ case: 'labels > differ', reason: 'answers later' }],
      failed: ['labels > fail'],
    });
    expect(result.flows.skipped).toEqual([
      { case: 'labels > stops', reason: 'needs a stopped clock: it goes on' },
      { case: 'labels > hears', reason: 'needs status events: it sends none' },
      { case: 'labels > was left out', reason: 'no reason given' },
    ]);
    expect(result.operations).toEqual({ 'hook.edit': [200, 404] });
  });

  it('lists the files of flows that were not run', () => {
    const result = readResult(given);

    expect(conformancePage([result])).not.toContain('Not run');
    const partial = { ...result, flows: { ...result.flows, notRun: ['outages', 'retention'] } };
    expect(conformancePage([partial])).toContain('Not run, and not counted: outages, retention.');
  });

  it('has faults if flows were skipped without a reason, or if no request produced an expected kind of response', () => {
    const faults = findFaults(readResult(given));

    expect(faults).toContain('Gitea 1.27.0: labels > was left out: no reason given');
    expect(faults).toContain('Gitea 1.27.0: hook.edit: no answer of the kind permission');
    expect(faults).not.toContain('Gitea 1.27.0: hook.edit: no answer of the kind success');
  });
});

describe('a known difference', () => {
  const rows = [{ on: ['gitea 1.26', 'forgejo'], cases: ['labels > a', 'hooks > *'], reason: 'x' }];

  it.each([
    ['1.26.3', 'labels > a', true],
    ['1.27.0', 'labels > a', false],
    ['15.0.3+gitea-1.22.0', 'hooks > b > c', true],
    ['1.26.3', 'labels > ab', false],
  ])('on %s covers "%s": %s', (version, name, isKnown) => {
    expect(findDifference(name, lineOf(version), rows) !== undefined).toBe(isKnown);
  });

  it('is named without the address of the forge', () => {
    expect(plainName(['labels on http://127.0.0.1:3000', 'of a repository'])).toBe(
      'labels > of a repository',
    );
  });

  it.runIf(isThorough)('is expected in every test file, not only in the first one of a worker', async () => {
    const server = createServer((_, response) => response.end(JSON.stringify({ version: '1.26.3' })));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const folder = mkdtempSync(join(root, 'test', 'differences-'));
    try {
      const support = pathToFileURL(join(root, 'test/support/contract-forge.ts')).href;
      const text = `import { it } from 'vitest';
        import { describeContract } from '${support}';
        describeContract('branches', (_, name) => {
          it('may not be named "HEAD"', () => { if (name.startsWith('http')) throw new Error('it may'); });
        });`;
      for (const name of ['one', 'two', 'three']) writeFileSync(join(folder, `${name}.test.ts`), text);
      const { port } = server.address() as AddressInfo;
      const output = join(folder, 'report.json');
      const program = join(root, 'node_modules/vitest/vitest.mjs');
      const given = [program, 'run', folder, '--maxWorkers=1', '--reporter=json', `--outputFile=${output}`];
      const env = { ...process.env, FORGE_URL: `http://127.0.0.1:${port}`, FORGE_TOKEN: 'none' };
      await promisify(execFile)(process.execPath, given, { cwd: root, env }).catch(() => undefined);

      const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(output, 'utf8'));
      expect({ numPassedTests, numFailedTests }).toEqual({ numPassedTests: 6, numFailedTests: 0 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
      server.close();
    }
  });
});
