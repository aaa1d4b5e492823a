import { Command, CommanderError } from 'commander';
import { addConnecting } from './commands/connection-commands.ts';
import { messageOf, ReeveError } from './errors.ts';
import { defaultLimits } from './forge/git/limits.ts';
import { type Prompt, processPrompt } from './output/prompt.ts';
import { processTerminal, type Terminal } from './output/terminal.ts';
import { packageVersion } from './package.ts';
import type { Environment } from './settings/config.ts';

/** What a command line is run with; a test gives its own. */
type CommandContext = {
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Asks the person at the terminal; absent: nobody is there. */
  readonly prompt?: Prompt | undefined;
};

const mebibytes = (bytes: number): string => String(bytes / 1024 / 1024);
const examples = (lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;

/**
 * Builds the command line. Commands are imported when they are called, so that `reeve --help` is quick. `finish` is told
 * the exit status of the command that ran.
 */
function createProgram(context: CommandContext, finish: (status: number) => void): Command {
  const { terminal } = context;
  const program = new Command('reeve');
  const environment: Record<string, string | undefined> = { ...context.environment };
  // Most of the program's shapes hang on the settings: `--help` starts in a third of the time without them.
  const settings = async () => (await import('./settings/config.ts')).loadSettings(environment);
  /** For commands that hear no deliveries: a person with a token alone may run them. */
  const settingsOfReader = async () =>
    (await import('./settings/config.ts')).loadSettings(environment, { needsSecrets: false });
  program
    .description(
      'Keeps the rules of a self-hosted forge: hears what happens, holds it against rules in YAML, does what they ask.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
    })
    .option(
      '--settings <file>',
      'take settings from this file too, as reeve setup writes it; the environment goes before it',
    )
    .hook('preAction', async (_program, command) => {
      const { settings: file } = command.optsWithGlobals<{ settings?: string }>();
      if (file === undefined || command.name() === 'setup') return;
      const { mergeEnvironments, readEnvFile } = await import('./settings/env-file.ts');
      Object.assign(environment, mergeEnvironments(readEnvFile(file), context.environment));
    })
    .showHelpAfterError('(reeve --help tells what there is)')
    .addHelpText(
      'after',
      '\nExit status: 0 fine · 1 problems or failed changes · 2 usage or settings · 3 the forge cannot be reached\n',
    );

  program
    .command('serve')
    .description('run the bot; without FORGE_URL, with an embedded forge beside it and a demo to look at')
    .option(
      '--once',
      'play the demo in a temporary folder and exit: 0 only if every label is where the rules want it',
    )
    .addHelpText(
      'after',
      examples([
        'reeve serve',
        'reeve serve --once',
        'FORGE_URL=https://git.example.org FORGE_TOKEN_FILE=token reeve serve',
      ]),
    )
    .action(async (options: { once?: boolean }) => {
      const { serve } = await import('./commands/serve.ts');
      finish(await serve({ once: options.once ?? false }, await settings(), terminal));
    });

  program
    .command('forge')
    .description('run the embedded forge alone, on loopback')
    .option('--port <number>', 'port to listen on, 0 for a free one', '3000')
    .option('--data <folder>', 'where it keeps everything', './data/forge')
    .option(
      '--admin <name:password>',
      'make this site administrator (others on this machine can see it: for trying things)',
    )
    .option('--admin-password-file <file>', 'make the site administrator root with the password in this file')
    .option(
      '--seed <file>',
      'bring about what this file says (YAML): accounts, repositories, runners and more',
    )
    .option('--seed-schema', 'print the JSON Schema of seed files and exit')
    .option(
      '--control',
      'mount /-/control/ for runners, clock, redelivery and faults; bearer in control.token',
    )
    .option('--max-push <MiB>', 'size of a push at most, unpacked', mebibytes(defaultLimits.pushBytes))
    .option(
      '--max-object <MiB>',
      'size of one object in a push at most, unpacked',
      mebibytes(defaultLimits.objectBytes),
    )
    .option('--json', 'print one line of JSON with the url once it listens')
    .addHelpText(
      'after',
      examples([
        'reeve forge --port 0 --data ./forge --admin root:password --json',
        'reeve forge --data ./forge --seed examples/seed.yml --control',
        'reeve forge --seed-schema > seed.schema.json',
      ]),
    )
    .action(
      async (
        options: Record<string, string> & { json?: boolean; control?: boolean; seedSchema?: boolean },
      ) => {
        const { forge, seedSchema } = await import('./commands/forge.ts');
        finish(options.seedSchema ? seedSchema(terminal) : await forge(options, terminal));
      },
    );

  program
    .command('check [paths...]')
    .description(
      'list the problems of rule files, by default those of this repository; offline, or, with FORGE_URL and a way to sign in, also what that forge cannot do, and labels that are not there',
    )
    .option('--repository <names...>', 'look for labels in these, instead of in starred repositories')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      examples(['reeve check', 'reeve check rules/ .reeve.yml', 'reeve check --json rules/']),
    )
    .action(async (paths: string[], options: { json?: boolean; repository?: string[] }) => {
      const { check } = await import('./commands/check.ts');
      const { loadForge } = await import('./settings/config.ts');
      const given = { ...options, rules: environment.REEVE_RULES, forge: loadForge(environment) };
      finish(await check(paths, given, terminal));
    });

  program
    .command('test [paths...]')
    .description(
      'run the rule tests (NAME.test.yml beside NAME.yml) and tell which rules and steps no case reaches',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples(['reeve test rules/', 'reeve test rules/demo/labels.test.yml']))
    .action(async (paths: string[], options: { json?: boolean }) => {
      const { test } = await import('./commands/test.ts');
      finish(await test(paths, { ...options, rules: environment.REEVE_RULES }, terminal));
    });

  program
    .command('plan')
    .description('show what the rules would do with one event, and why; nothing is written')
    .requiredOption('--event <kind>', 'family or Event-Type: pull_request, issues, push, …')
    .requiredOption('--payload <file>', 'the body of the delivery, JSON or YAML')
    .option('--facts <file>', 'what is known, name to value; with it no forge is asked')
    .option('--rules <path>', 'rule file or folder')
    .option('--json', 'print the run as one line of JSON')
    .addHelpText(
      'after',
      examples([
        'reeve plan --event pull_request --payload opened.json --facts facts.yml --rules rules/demo',
      ]),
    )
    .action(
      async (options: { event: string; payload: string; facts?: string; rules?: string; json?: boolean }) => {
        const { plan } = await import('./commands/plan.ts');
        finish(await plan(options, await settingsOfReader(), terminal));
      },
    );

  program
    .command('explain <run>')
    .description('tell why each rule of a recorded run did or did not fire: RUN, a delivery id, or last')
    .option('--json', 'print each run as one line of JSON')
    .addHelpText('after', examples(['reeve explain last', 'reeve explain 42']))
    .action(async (run: string, options: { json?: boolean }) => {
      const { explain } = await import('./commands/explain.ts');
      finish(await explain(run, options, await settingsOfReader(), terminal));
    });

  program
    .command('revert <run>')
    .description('take back what a run did, where it is still so; what changed since is left alone')
    .option('--plan', 'show what would be taken back; nothing is written')
    .option('--json', 'print the run as one line of JSON')
    .addHelpText('after', examples(['reeve revert --plan RUN', 'reeve revert RUN']))
    .action(async (run: string, options: { plan?: boolean; json?: boolean }) => {
      const { revert } = await import('./commands/revert.ts');
      finish(await revert(run, options, await settings(), terminal));
    });

  program
    .command('replay [delivery]')
    .description('hold a recorded file or a stored delivery against the rules of today; nothing is written')
    .option('--event <kind>', 'kind of a file that holds a body alone')
    .option(
      '--since <time>',
      'every stored delivery of the last 30m, 12h or 7d, compared with what it came to',
    )
    .option('--rules <path>', 'rule file or folder to try instead of what is in force')
    .option('--json', 'print each result as one line of JSON')
    .addHelpText(
      'after',
      examples([
        'reeve replay 42',
        'reeve replay --event issues opened.json',
        'reeve replay --since 7d --rules rules/',
      ]),
    )
    .action(
      async (
        delivery: string | undefined,
        options: { event?: string; since?: string; rules?: string; json?: boolean },
      ) => {
        const { replay } = await import('./commands/replay.ts');
        finish(await replay(delivery, options, await settingsOfReader(), terminal));
      },
    );

  program
    .command('redrive [deliveries...]')
    .description('try dead deliveries again, those named or all')
    .option('--all', 'every dead delivery')
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples(['reeve redrive 42 43', 'reeve redrive --all']))
    .action(async (ids: string[], options: { all?: boolean; json?: boolean }) => {
      const { redrive } = await import('./commands/redrive.ts');
      finish(await redrive(ids, options, await settingsOfReader(), terminal));
    });

  program
    .command('sweep <rule>')
    .description('run the sweep of a rule now; beside a running server, the server does it')
    .option('--in <patterns...>', 'only these repositories or organizations')
    .option('--json', 'print how it went as one JSON object')
    .addHelpText(
      'after',
      examples(['reeve sweep quiet-notifications', "reeve sweep release-tags --in 'acme/*'"]),
    )
    .action(async (rule: string, options: { in?: string[]; json?: boolean }) => {
      const { sweep } = await import('./commands/sweep.ts');
      finish(await sweep(rule, options, await settings(), terminal));
    });

  program
    .command('runners')
    .description('list the runners that sweeps have seen, and since when they are as they are')
    .option('--json', 'print one JSON list')
    .addHelpText('after', examples(['reeve runners']))
    .action(async (options: { json?: boolean }) => {
      const { runners } = await import('./commands/runners.ts');
      finish(await runners(options, await settingsOfReader(), terminal));
    });

  program
    .command('drift [items...]')
    .description(
      'list what is not as a rule wants it, and since when; or describe what is live as a rule file',
    )
    .option('--adopt', 'print the rule file that describes what is live in a repository or an organization')
    .option('--json', 'print one JSON list')
    .addHelpText('after', examples(['reeve drift', 'reeve drift acme/demo', 'reeve drift --adopt acme/demo']))
    .action(async (items: string[], options: { adopt?: boolean; json?: boolean }) => {
      const { drift } = await import('./commands/drift.ts');
      finish(await drift(items, options, await settingsOfReader(), terminal));
    });

  program
    .command('schema')
    .description('print the JSON Schema of rule files, for editors')
    .addHelpText('after', examples(['reeve schema > reeve.schema.json']))
    .action(async () => {
      const { schema } = await import('./commands/schema.ts');
      finish(schema(terminal));
    });

  addConnecting(program, { environment, terminal, prompt: context.prompt }, finish);
  return program;
}

/** Runs a command line and returns its exit status. Whatever went wrong is one message on stderr, never a stack. */
export async function runCommandLine(argv: readonly string[], context: CommandContext): Promise<number> {
  let status = 0;
  const program = createProgram(context, (given) => {
    status = given;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    context.terminal.error(`reeve: ${messageOf(error)}`);
    return error instanceof ReeveError ? error.exit : 1;
  }
}

/** Runs the command line of this process. */
export async function main(): Promise<void> {
  const context = { environment: process.env, terminal: processTerminal, prompt: processPrompt() };
  process.exitCode = await runCommandLine(process.argv.slice(2), context);
}

if (import.meta.main) await main();
