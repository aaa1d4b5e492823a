import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program in the checkout and returns what it printed, without the line break at the end. Rejects where it fails. */
export type RunProgram = (program: string, args: readonly string[], input?: string) => Promise<string>;

/** Creates the function for a checkout. Programs run with the Node that runs this, and without what npm tells its scripts. */
export function createRunProgram(root: string): RunProgram {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const options = { cwd: root, env: { ...Object.fromEntries(inherited), PATH }, maxBuffer: 64 * 2 ** 20 };
  return async (program, args, input) => {
    const running = execute(program, [...args], options);
    if (input !== undefined) running.child.stdin?.end(input);
    return (await running).stdout.trimEnd();
  };
}
