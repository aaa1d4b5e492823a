import { type CommandRow, defineCommand } from '../command.ts';

const group = { name: 'queue', description: 'list merge queues, and change them' };
const branchFlag = ['--branch <name>', 'only the queue of this base branch'] as const;

/** The rows of `reeve queue`. */
export const queueCommands: readonly CommandRow[] = [
  defineCommand<
    { branch?: string; history?: boolean; json?: boolean },
    readonly [repository: string | undefined]
  >({
    group,
    usage: 'list [repository]',
    description: 'print the pull requests in merge queues, with positions and what each waits for',
    flags: [
      branchFlag,
      ['--history', 'print the latest 50 events of each queue instead'],
      ['--json', 'print one JSON list of queues; with --history, of events'],
    ],
    examples: ['reeve queue list', 'reeve queue list acme/shop --branch main', 'reeve queue list --history'],
    async run({ args: [repository], options, readerSettings, terminal }) {
      const { listMergeQueues } = await import('./list.ts');
      return listMergeQueues(repository, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [pull: string, position: string]>({
    group,
    usage: 'move <pull> <position>',
    description: 'move a pull request (OWNER/REPO#NUMBER) to a position of its queue; 1 is the first',
    flags: [['--json', 'print the queue as one JSON list']],
    examples: ['reeve queue move acme/shop#12 1'],
    async run({ args, options, readerSettings, terminal }) {
      const { moveQueued } = await import('./change.ts');
      return moveQueued(args, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [pull: string]>({
    group,
    usage: 'remove <pull>',
    description:
      'take a pull request (OWNER/REPO#NUMBER) out of its queue; it stays out until its head changes or its rule asks anew',
    flags: [['--json', 'print the queue as one JSON list']],
    examples: ['reeve queue remove acme/shop#12'],
    async run({ args: [pull], options, readerSettings, terminal }) {
      const { removeQueued } = await import('./change.ts');
      return removeQueued(pull, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ branch?: string; json?: boolean }, readonly [repository: string]>({
    group,
    usage: 'pause <repository>',
    description:
      'stop the merge queues of a repository (OWNER/REPO): they keep their pull requests and write nothing',
    flags: [branchFlag, ['--json', 'print the queues as one JSON list']],
    examples: ['reeve queue pause acme/shop', 'reeve queue pause acme/shop --branch main'],
    async run({ args: [repository], options, readerSettings, terminal }) {
      const { pauseQueues } = await import('./change.ts');
      return pauseQueues(repository, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ branch?: string; json?: boolean }, readonly [repository: string]>({
    group,
    usage: 'resume <repository>',
    description: 'end the pause of merge queues; the time of the pause counts for no timeout',
    flags: [branchFlag, ['--json', 'print the queues as one JSON list']],
    examples: ['reeve queue resume acme/shop'],
    async run({ args: [repository], options, readerSettings, terminal }) {
      const { resumeQueues } = await import('./change.ts');
      return resumeQueues(repository, options, await readerSettings(), terminal);
    },
  }),
];
