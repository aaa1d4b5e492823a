import { messageOf } from '../platform/errors.ts';
import { checkFiles } from './check.ts';
import type { Finished } from './problems.ts';
import { applyEventRules, planEvent } from './run-event.ts';
import { type ActionRunner, createActionRunner, inText, type RunnerEnvironment } from './runner.ts';
import { testFiles } from './test.ts';

/** What the action can be told to do. */
const commands: Readonly<Record<string, (runner: ActionRunner) => Promise<Finished>>> = {
  check: checkFiles,
  test: testFiles,
  plan: planEvent,
  apply: applyEventRules,
};

/** Runs Reeve as an action of Gitea Actions, Forgejo Actions, act or GitHub. Returns the exit status. */
export async function runAction(
  environment: RunnerEnvironment,
  print: (line: string) => void,
): Promise<number> {
  const runner = createActionRunner(environment, print);
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
