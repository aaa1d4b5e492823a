import { noRuleTest, testRules } from '../cli/commands/rules/rule-tests.ts';
import { actionClient } from './action-client.ts';
import { createActionPacks } from './packs.ts';
import { annotateProblems, type Finished, listProblems } from './problems.ts';
import { type ActionRunner, inCode, inText, rulePaths, shortPath } from './runner.ts';

/** Runs the rule tests beside rule files. Makes no requests, except for packs of a repository that is named. */
export async function testFiles(runner: ActionRunner): Promise<Finished> {
  const { results, failed, unreached, summary, ...report } = await testRules(
    rulePaths(runner),
    createActionPacks(runner, () => actionClient(runner)),
  );
  const problems = annotateProblems(runner, report.problems);
  if (results.length === 0 && problems.length === 0) throw new Error(noRuleTest);
  const rows = failed.map(({ name, path, line, differences }) => {
    const spot = { path: shortPath(runner.workspace, path), line, column: 1 };
    runner.error(`${name}: ${differences.join('; ')}`, spot);
    return `- \`${inCode(`${spot.path}:${line}`)}\` ${inText(name)}: ${inText(differences.join('; '))}`;
  });
  const left = [
    ...unreached.rules.map((rule) => `rule ${rule}`),
    ...unreached.steps.map((step) => `step ${step}`),
  ];
  for (const one of left) runner.say(`not reached: ${one}`);
  return {
    findings: failed.length + problems.length,
    summary,
    details: [listProblems(problems), ...rows, ...left.map((one) => `- not reached: ${inText(one)}`)]
      .filter(Boolean)
      .join('\n'),
  };
}
