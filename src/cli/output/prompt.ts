import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { ReeveError } from '../../platform/errors.ts';

/** Prompts the user at the terminal. */
export interface Prompt {
  /**
   * Returns the trimmed answer, or `standard` if it is empty. With `hidden`, typed characters are not shown. Throws
   * `usage` if the input ends without an answer.
   */
  ask(question: string, options?: { hidden?: boolean; standard?: string }): Promise<string>;
}

/** Returns a prompt on the terminal of this process; undefined if there is none. */
export function processPrompt(): Prompt | undefined {
  const { stdin, stderr } = process;
  // Questions are written to stderr, because stdout contains results that may be piped.
  return stdin.isTTY && stderr.isTTY ? createPrompt(stdin, stderr) : undefined;
}

/** Creates a prompt that reads lines from `input` and writes to `output`. */
export function createPrompt(input: Readable, output: Writable): Prompt {
  return {
    async ask(question, { hidden = false, standard } = {}) {
      const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
      const text = `${question}${standard === undefined ? '' : ` [${standard}]`}: `;
      if (hidden) output.write(text);
      const reader = createInterface({ input, output: hidden ? silence : output, terminal: true });
      // Node leaves the question without an answer when the input ends (Ctrl-D), and reports that as a defect.
      const ended = new Promise<never>((_resolve, reject) => {
        reader.once('close', () => reject(new ReeveError('usage', 'the input ended before an answer')));
      });
      try {
        const answer = (await Promise.race([reader.question(hidden ? '' : text), ended])).trim();
        if (hidden) output.write('\n');
        return answer === '' ? (standard ?? '') : answer;
      } catch (error) {
        output.write('\n');
        if (error instanceof ReeveError) throw error;
        throw new ReeveError('usage', 'stopped at a question', { cause: error });
      } finally {
        ended.catch(() => {});
        reader.close();
      }
    },
  };
}

/** Asks a question that has the answers yes and no. No answer means no. */
export async function confirm(prompt: Prompt, question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await prompt.ask(`${question} (yes or no)`, { standard: 'no' }));
}
