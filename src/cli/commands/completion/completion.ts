import { ReeveError } from '../../../platform/errors.ts';
import type { Terminal } from '../../output/terminal.ts';
import type { CommandRow } from '../command.ts';
import { bashScript } from './bash-script.ts';
import { completionWords } from './completion-words.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Prints the script by which a shell completes the commands of the table and their flags. Returns the exit status. */
export function completion(shell: string, table: readonly CommandRow[], terminal: Terminal): number {
  if (!(shell in scripts))
    throw new ReeveError('usage', `"${shell}" is no shell with completion: write bash, zsh or fish`);
  terminal.out(scripts[shell as keyof typeof scripts](completionWords(table)));
  return 0;
}
