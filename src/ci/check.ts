import { loadRuleFiles } from '../sources/folder.ts';
import { countsOf, type Finished, listProblems, tellProblems } from './problems.ts';
import { type Runner, rulePaths } from './runner.ts';

/** Lists the problems of rule files. Makes no requests. */
export async function check(runner: Runner): Promise<Finished> {
  const files = await loadRuleFiles(rulePaths(runner));
  const problems = tellProblems(
    runner,
    files.flatMap((file) => file.problems),
  );
  const rules = files.flatMap((file) => file.rules).length;
  return {
    findings: problems.length,
    summary: countsOf(files.length, rules, problems.length),
    details: listProblems(problems),
  };
}
