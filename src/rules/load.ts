import { ReeveError } from '../errors.ts';
import type { Problem } from './problem.ts';
import type { Level, LoadedRule, RuleRegistry } from './rule.ts';

export type RuleFileSource = {
  /** Path as people know it; it becomes part of the rules' identity. */
  readonly path: string;
  readonly text: string;
  readonly level: Level;
  /** The commit the file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  readonly registry: RuleRegistry;
  /** Actions that the operator grants to this file by name, beyond those every file may use. */
  readonly grants?: readonly string[];
};

/** The rules of a file, or all its problems: a file with a problem has no rules. */
export type LoadedFile = { readonly rules: readonly LoadedRule[]; readonly problems: readonly Problem[] };

/** Returns the rules of a file or every problem it has, each with its place. Never throws, whatever the text is. */
export function loadRuleFile(_source: RuleFileSource): LoadedFile {
  throw new ReeveError('internal', 'loadRuleFile is not there yet');
}
