import { ReeveError } from '../../../platform/errors.ts';
import { formatProblem } from '../../../rules/problem.ts';
import { readOfferedIn } from '../../../rules/sources/folder.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { pathsOrDefault } from './check.ts';
import { noRuleTest, testRules } from './rule-tests.ts';

/**
 * Runs the rule tests beside the rule files at these paths, and prints differences and missing coverage. Returns the
 * exit status: 1 if a case differs or a file has problems.
 */
export async function test(
  given: readonly string[],
  options: {
    json?: boolean;
    rules?: string | undefined;
    /** Folder of the packs that files of repositories may include by name. */
    packs?: string | undefined;
  },
  terminal: Terminal,
): Promise<number> {
  const { paths, isOperators } = pathsOrDefault(given, options.rules);
  const offered = await readOfferedIn(options.packs);
  const report = await testRules(paths, offered, { isOperators });
  const { results, unreached, problems, failed, summary } = report;
  const status = failed.length + problems.length > 0 ? 1 : 0;
  if (options.json) {
    terminal.out(JSON.stringify({ cases: results.length, failed, unreached, problems }));
    return status;
  }
  for (const problem of problems) terminal.out(`${formatProblem(problem)}\n`);
  for (const result of results) {
    const isGood = result.differences.length === 0;
    const mark = isGood ? terminal.style('green', '✓') : terminal.style('red', '✗');
    terminal.out(`${mark} ${plain(`${result.path}:${result.line} ${result.name}`)}`);
    for (const difference of result.differences) terminal.out(`    ${plain(difference)}`);
  }
  for (const rule of unreached.rules)
    terminal.out(terminal.style('yellow', plain(`not reached: rule ${rule}`)));
  for (const step of unreached.steps)
    terminal.out(terminal.style('yellow', plain(`not reached: step ${step}`)));
  terminal.out(summary);
  if (results.length === 0 && problems.length === 0) {
    throw new ReeveError('usage', noRuleTest);
  }
  return status;
}
