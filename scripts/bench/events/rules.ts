import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const files = 20;
const rulesPerFile = 50;
/** How many of the rules listen to new issues. */
const listening = 10;

/**
 * Writes 1,000 rules of the operator. Ten listen to new issues, and the issues of the benchmark satisfy the conditions of none; the
 * others listen to other events.
 */
export async function writeOperatorRules(folder: string): Promise<void> {
  await mkdir(folder);
  for (let file = 0; file < files; file += 1) {
    const rules = Array.from({ length: rulesPerFile }, (_, at) => ruleOf(file * rulesPerFile + at));
    await writeFile(join(folder, `rules-${file}.yml`), `version: 1\nrules:\n${rules.join('')}`);
  }
}

function ruleOf(number: number): string {
  const isHeard = number % ((files * rulesPerFile) / listening) === 0;
  const on = isHeard ? 'issues.opened' : 'pull_request.opened';
  const item = isHeard ? 'issue' : 'pull_request';
  const condition = `${item}.title.lower().contains("topic-${number} ") && event.sender.login != "bot-${number}"`;
  return `  rule-${number}:\n    on: ${on}\n    if: ${condition}\n    steps: [{ uses: set-labels, with: { add: [topic-${number}] } }]\n`;
}
