import type { Command } from 'commander';
import type { Settings, Variables } from '../../server/settings/config.ts';
import type { Prompt } from '../output/prompt.ts';
import { plain, type Terminal } from '../output/terminal.ts';

/** Context of a command line; tests supply their own. */
export type CommandContext = {
  readonly environment: Variables;
  readonly terminal: Terminal;
  /** Prompt for the user at the terminal; absent if not interactive. */
  readonly prompt?: Prompt | undefined;
  /** Called before a command is imported. Absent: nothing is prepared. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
};

/** One call of a command. */
export type CommandCall<Options, Arguments> = CommandContext & {
  /** Values of the flags, under the names that commander gives them. */
  readonly options: Options;
  readonly args: Arguments;
  /** Loads the settings from the environment, overridden by variables from flags. Throws `settings`. */
  settings(flags?: Variables): Promise<Settings>;
  /** Loads the settings for a command that receives no deliveries: a forge token is sufficient. */
  readerSettings(): Promise<Settings>;
  /**
   * Loads the settings for a command that needs the store alone, such as `pause`: an operator file that cannot be used
   * is a warning, because the command may be needed just then.
   */
  storeSettings(): Promise<Settings>;
};

/** A flag in commander's notation, its description, and its default. */
type CommandFlag = readonly [flags: string, description: string, value?: string];

/** One row of the command table. `run` imports the command when it is called, and returns the exit status. */
export type CommandRow<Options = object, Arguments = readonly unknown[]> = {
  /** Name and description of the command's group: `reeve GROUP NAME`. */
  readonly group?: { readonly name: string; readonly description: string };
  /** Name and arguments in commander's notation: `check [paths...]`. */
  readonly usage: string;
  readonly description: string;
  readonly flags?: readonly CommandFlag[];
  /** Flags that must be given. */
  readonly requiredFlags?: readonly CommandFlag[];
  readonly notes?: string;
  readonly examples: readonly string[];
  readonly run: (call: CommandCall<Options, Arguments>) => Promise<number>;
};

/**
 * Defines a row of the table. Returns its argument; `run` receives the options and arguments that the flags and the
 * usage describe.
 */
export function defineCommand<Options = object, Arguments extends readonly unknown[] = readonly []>(
  row: CommandRow<Options, Arguments>,
): CommandRow {
  // Boundary to commander, which passes the values that `usage` and `flags` describe.
  return row as CommandRow<never, never> as CommandRow;
}

/** Adds a command to the program. `finish` receives the exit status after the command has run. */
export function addCommand(
  program: Command,
  row: CommandRow,
  { context, finish }: { readonly context: CommandContext; readonly finish: (status: number) => void },
): void {
  // The settings import most schemas of the program: without them, `--help` takes a third of the time.
  const load = () => import('../../server/settings/config.ts');
  const parent = row.group === undefined ? program : findGroup(program, row.group);
  const command = parent.command(row.usage).description(row.description);
  for (const [flags, description, value] of row.requiredFlags ?? [])
    command.requiredOption(flags, description, value);
  for (const [flags, description, value] of row.flags ?? []) command.option(flags, description, value);
  const examples = row.examples.map((line) => `  $ ${line}\n`).join('');
  command.addHelpText(
    'after',
    `\n${row.notes === undefined ? '' : `${row.notes}\n\n`}Examples:\n${examples}`,
  );
  command.action(async () => {
    const status = await row.run({
      ...context,
      options: command.optsWithGlobals(),
      args: command.processedArgs,
      settings: async (given) => (await load()).loadSettings({ ...context.environment, ...given }),
      readerSettings: async () => (await load()).loadSettings(context.environment, { needsSecrets: false }),
      storeSettings: async () =>
        (await load()).loadSettings(context.environment, {
          needsSecrets: false,
          onUnusableFile: (problems) =>
            context.terminal.error(plain(`warning: the operator file is left out: ${problems.join('; ')}`)),
        }),
    });
    finish(status);
  });
}

/** Returns the command of a group, and creates it if this is the group's first member. */
function findGroup(program: Command, { name, description }: NonNullable<CommandRow['group']>): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(description);
}
