import { noRuleTest, testRules } from '../cli/commands/rules/rule-tests.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { loadRuleFiles } from '../rules/sources/folder.ts';
import { actionClient } from './action-client.ts';
import { createActionPacks } from './packs.ts';
import { annotateProblems, type Finished, formatCounts, listProblems } from './problems.ts';
import { applyEventRules, planEvent, sweepFiles } from './run-event.ts';
import {
  type ActionRunner,
  createActionRunner,
  inCode,
  inText,
  type RunnerEnvironment,
  rulePaths,
  shortPath,
} from './runner.ts';

/** Commands of the action. */
const commands: Readonly<Record<string, (runner: ActionRunner) => Promise<Finished>>> = {
  check: checkFiles,
  test: testFiles,
  plan: planEvent,
  apply: applyEventRules,
  sweep: sweepFiles,
};

/** Runs Reeve as an action of Gitea Actions, Forgejo Actions, act or GitHub. Returns the exit status. */
export async function runAction(
  environment: RunnerEnvironment,
  print: (line: string) => void,
  clock: Clock = systemClock,
): Promise<number> {
  const runner = createActionRunner(environment, print, clock);
  try {
    const name = runner.input('command') || 'check';
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined)
      throw new Error(`there is no command "${name}"; known are ${Object.keys(commands).join(', ')}`);
    const failOn = runner.input('fail-on') || 'error';
    if (failOn !== 'error' && failOn !== 'never')
      throw new Error(`fail-on must be error or never, not "${failOn}"`);
    const { findings, summary, details, isSkipped = false } = await command(runner);
    if (isSkipped) runner.notice(summary);
    else runner.say(summary);
    runner.output('result', isSkipped ? 'skipped' : findings === 0 ? 'ok' : 'findings');
    runner.output('findings', String(findings));
    runner.summary(`### Reeve ${name}: ${inText(summary)}\n\n${details}\n`);
    return findings > 0 && failOn === 'error' ? 1 : 0;
  } catch (error) {
    runner.error(messageOf(error));
    runner.output('result', 'failed');
    return 2;
  }
}

/** Lists the problems of rule files. Sends requests only to read packs of a named repository. */
async function checkFiles(runner: ActionRunner): Promise<Finished> {
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

/** Runs the rule tests next to the rule files. Sends requests only to read packs of a named repository. */
async function testFiles(runner: ActionRunner): Promise<Finished> {
  const { results, failed, unreached, summary, ...report } = await testRules(
    rulePaths(runner),
    createActionPacks(runner, () => actionClient(runner)),
  );
  const problems = annotateProblems(runner, report.problems);
  if (results.length === 0 && problems.length === 0)
    return { findings: 0, summary: noRuleTest, details: '', isSkipped: true };
  const rows = failed.map(({ name, path, line, differences }) => {
    const spot = { path: shortPath(runner.workspace, path), line, column: 1 };
    const words = differences.map((one) => one.trim()).join('; ');
    runner.error(`${name}: ${words}`, spot);
    return `- \`${inCode(`${spot.path}:${line}`)}\` ${inText(name)}: ${inText(words)}`;
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
