import { type CommandRow, defineCommand } from '../command.ts';

const group = { name: 'store', description: 'back up the store of the server, and restore it' };

/** The rows of `reeve store`. */
export const storeCommands: readonly CommandRow[] = [
  defineCommand<{ json?: boolean }, readonly [file: string]>({
    group,
    usage: 'backup <file>',
    description: 'copy the store (deliveries, runs, queues) into a new file; the server may be running',
    flags: [['--json', 'print file, bytes, deliveries and runs as JSON']],
    notes:
      'Secrets are not in it: save the other files of REEVE_DATA and your settings as well (docs/backup.md).',
    examples: ['reeve store backup /backups/reeve-$(date +%F).db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { backup } = await import('./backup.ts');
      return backup(file, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [file: string]>({
    group,
    usage: 'restore <file>',
    description: 'put a copy made by `backup` into the place of the store; the server must be stopped',
    flags: [
      ['--json', 'print file, bytes, deliveries, runs, and where the store that was there is now, as JSON'],
    ],
    notes: 'The store that is there is moved aside, not deleted.',
    examples: ['reeve store restore /backups/reeve-2026-11-01.db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { restore } = await import('./backup.ts');
      return restore(file, options, await readerSettings(), terminal);
    },
  }),
];
