import { loadRuleFile, type RuleFileSource } from '../../../src/rules/files/load.ts';
import type { LoadedRule } from '../../../src/rules/rule.ts';
import { registry } from './registry.ts';

/** Loads a text as an operator file by default. */
export function load(text: string, more: Partial<RuleFileSource> = {}) {
  return loadRuleFile({ path: 'rules/test.yml', text, level: 'operator', commit: '', registry, ...more });
}

/** Returns the problems of a text as `line:column code`, in order. */
export function placesOf(text: string, more: Partial<RuleFileSource> = {}): readonly string[] {
  return load(text, more).problems.map(({ line, column, code }) => `${line}:${column} ${code}`);
}

/** Returns the only rule of a text. Throws if the text has a problem. */
export function ruleOf(text: string, more: Partial<RuleFileSource> = {}): LoadedRule {
  const { rules, problems } = load(text, more);
  const [rule] = rules;
  if (rule === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return rule;
}

/** Returns a file with one rule: the lines of its body, indented two spaces more than the rule's name. */
export function fileOf(body: string): string {
  const lines = body.replace(/^\n/, '').split('\n');
  return `version: 1\nrules:\n  one:\n${lines.map((line) => `    ${line}`).join('\n')}\n`;
}

/** Returns a file with one rule for pull requests that has this condition. */
export function conditionFile(condition: string, on = 'pull_request'): string {
  return fileOf(`on: ${on}\nif: ${condition}\nsteps: [{ uses: say, with: { text: hi } }]`);
}
