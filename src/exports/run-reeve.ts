/** Options for running one command. */
export type RunReeveOptions = {
  /**
   * Settings, by the names of their environment variables; default: none. The environment of the process is not read.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives each result, without a trailing line break; default: stdout. */
  readonly out?: (text: string) => void;
  /** Receives everything else, without a trailing line break; default: stderr. */
  readonly error?: (text: string) => void;
};

/**
 * Runs one command, for example `['check', 'rules']`, in this process and returns its exit status: 0 success, 1
 * problems or failed changes, 2 usage or settings, 3 the forge cannot be reached. It never prompts. `serve` listens for
 * SIGINT and SIGTERM of this process and returns after one of them.
 */
export async function runReeve(args: readonly string[], options: RunReeveOptions = {}): Promise<number> {
  const { runCommandLine } = await import('../cli/cli.ts');
  const { processTerminal } = await import('../cli/output/terminal.ts');
  const { environment = {}, out = processTerminal.out, error = processTerminal.error } = options;
  return runCommandLine(args, { environment, terminal: { out, error, style: (_style, text) => text } });
}
