import { actions } from '../../../actions/actions.ts';
import { schemaOfRules } from '../../../rules/files/grammar.ts';
import type { Terminal } from '../../output/terminal.ts';

/** Prints the JSON Schema of rule files. Returns the exit status. */
export function schema(terminal: Terminal): number {
  terminal.out(JSON.stringify(schemaOfRules(actions), null, 2));
  return 0;
}
