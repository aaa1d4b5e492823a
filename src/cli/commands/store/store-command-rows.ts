import { type CommandRow, defineCommand } from '../command.ts';

const group = {
  name: 'store',
  description: 'back up and restore the store, and move it between SQLite and PostgreSQL',
};

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

  defineCommand<{ from: string; to: string; restart?: boolean; json?: boolean }>({
    group,
    usage: 'copy',
    description: 'copy a store into an empty place, in SQLite or PostgreSQL; no server may use either',
    requiredFlags: [
      ['--from <place>', 'the store to copy: a data folder, a file, postgres://…, or env:NAME'],
      ['--to <place>', 'where to copy it: a place without a store, in the same notation'],
    ],
    flags: [
      ['--restart', 'delete what an interrupted copy has left in the target, and begin anew'],
      ['--json', 'print tables, rows and digests as one JSON object'],
    ],
    notes: `env:NAME reads the place from the environment variable NAME, or from the file that NAME_FILE names: other users can see a
password in a command. An interrupted copy goes on when the same command runs again. At the end, both stores are read
and compared; the exit status is 0 only if they are equal (docs/postgresql.md).`,
    examples: [
      'reeve store copy --from /var/lib/reeve --to env:DATABASE_URL',
      'reeve store copy --from env:DATABASE_URL --to ./data',
    ],
    async run({ options, environment, terminal }) {
      const { copyStoreTo } = await import('./copy.ts');
      return copyStoreTo(options, environment, terminal);
    },
  }),
];
