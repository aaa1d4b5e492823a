import { defineCommand } from '../command.ts';

/** The commands about recorded runs and stored deliveries. */
export const runCommands = [
  defineCommand<{ json?: boolean; requests?: boolean }, readonly [run: string]>({
    usage: 'explain <target>',
    description: 'show why each rule of a recorded run matched or did not match',
    flags: [
      ['--requests', 'list the requests to the forge as well, each with its answer'],
      ['--json', 'print each run, with its requests, as one line of JSON'],
    ],
    notes:
      'TARGET is the id of a run or of a delivery, or last: the newest run that is not about Reeve’s own change.',
    examples: ['reeve explain last', 'reeve explain --requests 42'],
    async run({ args: [run], options, readerSettings, terminal }) {
      const { explain } = await import('./explain.ts');
      return explain(run, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ plan?: boolean; json?: boolean }, readonly [run: string]>({
    usage: 'revert <target>',
    description: 'revert the changes of a run that are still in effect; later changes are kept',
    flags: [
      ['--plan', 'show what would be reverted; write nothing'],
      ['--json', 'print the run as one line of JSON'],
    ],
    notes:
      'TARGET is the id of a run, the id of a delivery of which one run changed something, or last: the newest run that is not about Reeve’s own change.',
    examples: ['reeve revert --plan last', 'reeve revert 42'],
    async run({ args: [run], options, settings, terminal }) {
      const { revert } = await import('./revert.ts');
      return revert(run, options, await settings(), terminal);
    },
  }),

  defineCommand<
    { event?: string; since?: string; rules?: string; json?: boolean },
    readonly [delivery: string | undefined]
  >({
    usage: 'replay [file-or-target]',
    description: 'evaluate a recorded file or a stored delivery with the current rules; writes nothing',
    flags: [
      ['--event <kind>', 'kind of a file that holds a body alone'],
      ['--since <time>', 'compare every stored delivery of the last 30m, 12h or 7d with its recorded result'],
      ['--rules <path>', 'rule file or folder to try instead of the rules in force'],
      ['--json', 'print each result as one line of JSON'],
    ],
    notes:
      'FILE-OR-TARGET is a recorded file, the id of a delivery or of a run of it, or last: the newest delivery.',
    examples: [
      'reeve replay last',
      'reeve replay 42',
      'reeve replay --event issues opened.json',
      'reeve replay --since 7d --rules rules/',
    ],
    async run({ args: [delivery], options, readerSettings, terminal }) {
      const { replay } = await import('./replay.ts');
      return replay(delivery, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ all?: boolean; json?: boolean }, readonly [deliveries: string[]]>({
    usage: 'redrive [targets...]',
    description: 'return dead deliveries to the queue: the named ones or all',
    flags: [
      ['--all', 'every dead delivery'],
      ['--json', 'print one JSON object'],
    ],
    notes: `TARGETS are ids of deliveries or of their runs, or last: the newest dead delivery. For each that is not dead, the reason
is shown.`,
    examples: ['reeve redrive last', 'reeve redrive 42 43', 'reeve redrive --all'],
    async run({ args: [ids], options, readerSettings, terminal }) {
      const { redrive } = await import('./redrive.ts');
      return redrive(ids, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [name: string | undefined]>({
    usage: 'pause [name]',
    description:
      'stop writes at once: of a rule, to a repository (OWNER/REPO), or all; deliveries are kept. Without a name, list the pauses',
    flags: [['--json', 'print the pauses as one JSON list']],
    examples: ['reeve pause all', 'reeve pause acme/shop', 'reeve pause label-by-path', 'reeve pause'],
    async run({ args: [name], options, readerSettings, terminal }) {
      const { pause } = await import('./pause.ts');
      return pause(name, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [name: string]>({
    usage: 'resume <name>',
    description: 'end a pause; the runs that waited for it start again from the live state',
    flags: [['--json', 'print one JSON object']],
    examples: ['reeve resume all', 'reeve resume acme/shop'],
    async run({ args: [name], options, readerSettings, terminal }) {
      const { resume } = await import('./pause.ts');
      return resume(name, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [login: string, id: string]>({
    usage: 'adopt [login] [id]',
    description:
      'confirm the account that has a login now, where rules named another account before. Without a login, list them',
    notes:
      'Rules give rights to a login only while the account has it that had it at first use: a login that was freed can be taken by a stranger. With ID, that account is confirmed, whatever was seen. The operator file can name ids as well (accounts).',
    flags: [['--json', 'print one JSON object']],
    examples: ['reeve adopt', 'reeve adopt ada', 'reeve adopt ada 42'],
    async run({ args: [login, id], options, readerSettings, terminal }) {
      const { adoptAccount } = await import('./adopt-account.ts');
      return adoptAccount({ login, id }, options, await readerSettings(), terminal);
    },
  }),
];
