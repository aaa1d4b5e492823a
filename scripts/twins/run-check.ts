import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScratchTree } from './scratch-tree.ts';

/** What has to notice a twin: a test file, or the arguments of a node command. */
export type Check = string | readonly string[];

/** The result of a check. `unusable`: it says nothing about the promise, for instance because a file cannot be loaded. */
export type CheckResult = {
  readonly result: 'passes' | 'fails' | 'unusable';
  readonly detail: string;
};

export function nameOfCheck(check: Check): string {
  return typeof check === 'string' ? check : `node ${check.join(' ')}`;
}

/** Runs one check in the tree. A test file stops at its first failing test. */
export async function runCheck(tree: ScratchTree, check: Check): Promise<CheckResult> {
  return typeof check === 'string' ? runTestFile(tree, check) : runCommand(tree, check);
}

async function runCommand(tree: ScratchTree, args: readonly string[]): Promise<CheckResult> {
  const { status, isTimedOut, tail } = await tree.run(process.execPath, args);
  if (isTimedOut || status === null) return { result: 'unusable', detail: 'it did not end in time' };
  const detail = lastLines(tail);
  return status === 0
    ? { result: 'passes', detail }
    : { result: 'fails', detail: detail || `exit ${status}` };
}

type VitestReport = {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

/** Shorter than those of `npm test`: a twin often shows by a wait that never ends. The unbroken check has to hold within them, too. */
const timeouts = ['--expect.poll.timeout=60000', '--testTimeout=180000'];

async function runTestFile(tree: ScratchTree, file: string): Promise<CheckResult> {
  // Beside the tree: what lies in it belongs to the twin.
  const path = join(tree.folder, '..', `${randomUUID()}.json`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, '--bail=1', '--reporter=json', ...timeouts];
  const { isTimedOut, tail } = await tree.run(process.execPath, [...args, `--outputFile=${path}`]);
  if (isTimedOut) return { result: 'unusable', detail: 'it did not end in time' };
  if (!existsSync(path)) return { result: 'unusable', detail: lastLines(tail) };
  const report: VitestReport = JSON.parse(await readFile(path, 'utf8'));
  return readReport(report);
}

/** A test must fail by itself: a file that cannot be loaded, or a failing hook, proves nothing about a promise. */
function readReport({ testResults }: VitestReport): CheckResult {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    const [message = ''] = failed.failureMessages ?? [];
    return { result: 'fails', detail: `${failed.fullName}: ${firstLine(message)}` };
  }
  if (tests.some(({ status }) => status === 'passed')) {
    const hook = testResults.map(({ message = '' }) => message).find((message) => message !== '');
    return hook === undefined
      ? { result: 'passes', detail: '' }
      : { result: 'unusable', detail: firstLine(hook) };
  }
  const reason = testResults.map(({ message = '' }) => firstLine(message)).find((message) => message !== '');
  return { result: 'unusable', detail: reason ?? 'it runs no test on this machine' };
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ').slice(-300);
}
