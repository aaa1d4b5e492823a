import { loadRuleFiles } from '../rules/sources/folder.ts';
import { actionClient } from './action-client.ts';
import { createActionPacks } from './packs.ts';
import { annotateProblems, type Finished, formatCounts, listProblems } from './problems.ts';
import { type ActionRunner, rulePaths } from './runner.ts';

/** Lists the problems of rule files. Makes no requests, except for packs of a repository that is named. */
export async function checkFiles(runner: ActionRunner): Promise<Finished> {
  const files = await loadRuleFiles(rulePaths(runner), {
    withPacks: true,
    offered: createActionPacks(runner, () => actionClient(runner)),
  });
  const problems = annotateProblems(
    runner,
    files.flatMap((file) => file.problems),
  );
  const rules = files.flatMap((file) => file.rules).length;
  return {
    findings: problems.length,
    summary: formatCounts(files.length, rules, problems.length),
    details: listProblems(problems),
  };
}
