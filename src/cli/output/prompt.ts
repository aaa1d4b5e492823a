import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Prompts the user at the terminal. */
export interface Prompt {
  /** Returns the trimmed answer, or `standard` if it is empty. With `hidden`, typed characters are not shown. */
  ask(question: string, options?: { hidden?: boolean; standard?: string }): Promise<string>;
}

/** Returns a prompt on the terminal of this process; undefined if there is none. */
export function processPrompt(): Prompt | undefined {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return {
    async ask(question, { hidden = false, standard } = {}) {
      const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
      // Questions are written to stderr, because stdout contains results that may be piped.
      const text = `${question}${standard === undefined ? '' : ` [${standard}]`}: `;
      if (hidden) stderr.write(text);
      const reader = createInterface({ input: stdin, output: hidden ? silence : stderr, terminal: true });
      try {
        const answer = (await reader.question(hidden ? '' : text)).trim();
        if (hidden) stderr.write('\n');
        return answer === '' ? (standard ?? '') : answer;
      } finally {
        reader.close();
      }
    },
  };
}
