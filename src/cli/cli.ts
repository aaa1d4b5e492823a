import { Command, CommanderError } from 'commander';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { packageVersion } from '../platform/package.ts';
import { addCommand, type CommandContext } from './commands/command.ts';
import { commandTopics } from './commands/command-table.ts';
import { processPrompt } from './output/prompt.ts';
import { processTerminal } from './output/terminal.ts';

/**
 * Builds the command line. Commands are imported when they are called, which keeps `reeve --help` fast. `finish`
 * receives the exit status of the command.
 */
function createProgram(
  context: CommandContext & { isJson: boolean },
  finish: (status: number) => void,
): Command {
  const { terminal } = context;
  const program = new Command('reeve');
  const environment: Record<string, string | undefined> = { ...context.environment };
  program
    .description(
      'Automation bot for Gitea and Forgejo: runs rules written in YAML on webhook events and on a schedule.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => context.isJson || terminal.error(text.trimEnd()),
    })
    .option(
      '--settings <file>',
      'also read settings from this env file, as written by reeve setup; the environment takes precedence',
    )
    .hook('preAction', async (_program, command) => {
      await context.prepare?.();
      const { settings: file } = command.optsWithGlobals<{ settings?: string }>();
      if (file === undefined || command.name() === 'setup') return;
      const { mergeEnvironments, readEnvFile } = await import('../server/settings/env-file.ts');
      Object.assign(environment, mergeEnvironments(readEnvFile(file), context.environment));
    })
    .showHelpAfterError('(see reeve --help)')
    .addHelpText(
      'after',
      `
Examples:
  $ reeve serve                             a demo with a forge of its own: nothing to prepare
  $ reeve setup --repository ada/garden     connect a forge and a repository
  $ reeve explain last                      why the last run did what it did

Exit status: 0 success · 1 problems or failed changes · 2 usage or settings · 3 the forge cannot be reached
`,
    );
  for (const [heading, rows] of commandTopics) {
    program.commandsGroup(heading);
    for (const row of rows) addCommand(program, row, { context: { ...context, environment }, finish });
  }
  return program;
}
/**
 * Runs a command line and returns its exit status. An error is printed as one message on stderr, without a stack; with
 * `--json`, as one line of JSON.
 */
export async function runCommandLine(argv: readonly string[], context: CommandContext): Promise<number> {
  let status = 0;
  const isJson = wantsJson(argv);
  const program = createProgram({ ...context, isJson }, (given) => {
    status = given;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const problem = describeError(error);
    if (isJson) context.terminal.error(JSON.stringify({ error: problem }));
    // commander has already printed its own errors.
    else if (!(error instanceof CommanderError)) context.terminal.error(`reeve: ${problem.message}`);
    return problem.exit;
  }
}

/**
 * Returns whether JSON output is requested, even if the command line cannot be parsed. Arguments after `--` are not
 * flags.
 */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

/**
 * Returns an error in the `--json` format: `code` is stable, and `retryable` means that the same command may succeed
 * later.
 */
function describeError(error: unknown) {
  const { code, exit, retryable }: ReeveError =
    error instanceof ReeveError
      ? error
      : new ReeveError(error instanceof CommanderError ? 'usage' : 'internal', '');
  return { code, exit, retryable, message: messageOf(error).replace(/^error: /, '') };
}

/** Runs the command line of this process. */
export async function main(): Promise<void> {
  const context = {
    environment: process.env,
    terminal: processTerminal,
    prompt: processPrompt(),
    // Before a command, which imports schemas; not earlier, because the help has none.
    prepare: () => import('../platform/interpreted-shapes.ts'),
  };
  process.exitCode = await runCommandLine(process.argv.slice(2), context);
}

if (import.meta.main) await main();
