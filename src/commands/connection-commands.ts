import type { Command } from 'commander';
import type { SetupOptions } from '../connection/steps/answers.ts';
import type { Prompt } from '../output/prompt.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Environment } from '../settings/config.ts';

type Context = {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly prompt: Prompt | undefined;
};

/** Adds the commands that connect a forge and look whether it still is. They are imported when they are called. */
export function addConnecting(
  program: Command,
  { environment, terminal, prompt }: Context,
  finish: (status: number) => void,
): void {
  program
    .command('setup')
    .description(
      'connect a forge: token, secrets, hooks, and a delivery by each; run again it mends what is not so',
    )
    .option('--url <url>', 'the forge (FORGE_URL)')
    .option('--token-file <file>', 'file with the access token of the account Reeve acts as (FORGE_TOKEN)')
    .option(
      '--admin-token-file <file>',
      'file with the token of somebody who may make the hooks; used now and kept nowhere (SETUP_TOKEN)',
    )
    .option('--webhook <url>', 'address of Reeve as the forge reaches it; default: HOST and PORT')
    .option('--repository <names...>', 'make a hook in these repositories (owner/name)')
    .option('--organization <names...>', 'make a hook in these organizations')
    .option('--user', 'make a hook of the account whose token makes the hooks')
    .option('--system', 'make a hook of the instance (needs a site administrator’s token)')
    .option(
      '--events <which>',
      'what hooks hear: all (default), or rules: what the operator’s rules listen to',
    )
    .option('--dashboard <url>', 'address of the dashboard: registers an OAuth2 application to sign in with')
    .option('--allow-admin', 'let Reeve act as a site administrator')
    .option('--config <file>', 'the operator file (REEVE_CONFIG); default ./reeve.yml')
    .option('--rotate', 'give the hooks new secrets')
    .option('--no-test', 'let no hook deliver')
    .option('--plan', 'tell what would be done; nothing is written')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
The env file that it writes (--settings, default ./reeve.env) holds the token and the webhook secrets, readable by its
owner alone. To try the hook of an organization, an account or the instance, a private repository is made and removed.

Examples:
  $ reeve setup
  $ reeve setup --url https://git.example.org --token-file token --repository acme/demo --webhook https://reeve.example.org
  $ reeve setup --organization acme --admin-token-file owner-token
  $ reeve setup --rotate
`,
    )
    .action(async (_options: SetupOptions, command: Command) => {
      const { setup } = await import('./setup.ts');
      finish(await setup(command.optsWithGlobals<SetupOptions>(), environment, terminal, prompt));
    });

  program
    .command('doctor')
    .description(
      'find what is wrong with a connection: token, hooks, secrets, deliveries, disk, clock, rules',
    )
    .option(
      '--thorough',
      'try the hooks of organizations, accounts and the instance, too: makes and removes a private repository',
    )
    .option('--no-test', 'let no hook deliver')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ reeve doctor --settings reeve.env\n  $ SETUP_TOKEN_FILE=owner-token reeve doctor --settings reeve.env --thorough\n',
    )
    .action(async (_options: object, command: Command) => {
      const { doctor } = await import('./doctor.ts');
      finish(await doctor(command.optsWithGlobals(), environment, terminal));
    });
}
