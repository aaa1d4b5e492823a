import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, relative } from 'node:path';

/**
 * Returns the command with which this program was called, to be printed for the next call: `reeve` may not be on PATH,
 * and `npx reeve` outside of a checkout would fetch another package.
 */
export function calledAs(
  program: string | undefined,
  { npm_command: npmCommand, PATH: path = '' }: Readonly<Record<string, string | undefined>>,
): string {
  if (npmCommand === 'exec') return `npx ${isOfCheckout(program) ? 'reeve' : '@reeve-forge/reeve'}`;
  // Started in another way, for instance by a test or a container, whose users know how.
  if (program === undefined || basename(program) !== 'reeve') return 'reeve';
  if (path.split(delimiter).includes(dirname(program))) return 'reeve';
  const inside = relative(process.cwd(), program);
  return inside.startsWith('..') || isAbsolute(inside) ? program : inside;
}

function isOfCheckout(program = ''): boolean {
  try {
    return !realpathSync(program).includes('@reeve-forge');
  } catch {
    return false;
  }
}
