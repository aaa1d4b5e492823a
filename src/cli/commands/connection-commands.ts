import type { SetupOptions } from '../connection/steps/answers.ts';
import { defineCommand } from './command.ts';

/** The commands that connect a forge and check the connection. */
export const connectionCommands = [
  defineCommand<SetupOptions>({
    usage: 'setup',
    description:
      'connect a forge: token, secrets, hooks and a test delivery of each; run again, it repairs what has changed',
    flags: [
      ['--url <url>', 'the forge (FORGE_URL)'],
      ['--token-file <file>', 'file with the access token of the account Reeve acts as (FORGE_TOKEN)'],
      [
        '--admin-token-file <file>',
        'file with the token of an account that may create the hooks; used now and not stored (SETUP_TOKEN)',
      ],
      ['--webhook <url>', 'address of Reeve as the forge reaches it; default: HOST and PORT'],
      ['--repository <names...>', 'make a hook in these repositories (owner/name)'],
      ['--organization <names...>', 'make a hook in these organizations'],
      ['--user', 'make a hook of the account whose token makes the hooks'],
      ['--system', 'make a hook of the instance (needs a site administrator’s token)'],
      [
        '--serve <names...>',
        'serve these repositories (owner/name, owner/*) without a star: repositories of the operator file',
      ],
      ['--events <which>', 'what hooks hear: all (default), or rules: what the operator’s rules listen to'],
      ['--dashboard <url>', 'address of the dashboard: registers an OAuth2 application to sign in with'],
      ['--allow-admin', 'let Reeve act as a site administrator'],
      ['--config <file>', 'the operator file (REEVE_CONFIG); default ./reeve.yml'],
      ['--rotate', 'give the hooks new secrets'],
      ['--no-test', 'let no hook deliver'],
      ['--plan', 'tell what would be done; nothing is written'],
      ['--json', 'print one JSON object'],
    ],
    notes: `The env file that it writes (--settings, default ./reeve.env) holds the token and the webhook secrets, readable by its
owner alone. To try the hook of an organization, an account or the instance, a private repository is made and removed.`,
    examples: [
      'reeve setup',
      'reeve setup --url https://git.example.org --token-file token --repository acme/demo --serve acme/demo --webhook https://reeve.example.org',
      'reeve setup --organization acme --admin-token-file owner-token',
      'reeve setup --rotate',
    ],
    async run({ options, environment, terminal, prompt }) {
      const { setup } = await import('./setup.ts');
      return setup(options, environment, terminal, prompt);
    },
  }),

  defineCommand<{ settings?: string; json?: boolean; test?: boolean; thorough?: boolean }>({
    usage: 'doctor',
    description:
      'find problems of a connection, with remedies: token, hooks, secrets, deliveries, disk, clock, rules',
    flags: [
      [
        '--thorough',
        'try the hooks of organizations, accounts and the instance, too: makes and removes a private repository',
      ],
      ['--no-test', 'let no hook deliver'],
      ['--json', 'print one JSON object'],
    ],
    examples: [
      'reeve doctor --settings reeve.env',
      'SETUP_TOKEN_FILE=owner-token reeve doctor --settings reeve.env --thorough',
    ],
    async run({ options, environment, terminal }) {
      const { doctor } = await import('./doctor.ts');
      return doctor(options, environment, terminal);
    },
  }),

  defineCommand<{ renew?: boolean; json?: boolean }>({
    usage: 'password',
    description: 'show the password of the dashboard and of /metrics',
    flags: [
      ['--renew', 'generate another one first, and end the sessions of people who signed in'],
      ['--json', 'print one JSON object'],
    ],
    notes: `With DATABASE_URL the password is in the database, for all processes; otherwise it is in REEVE_DATA/dashboard.password, and
a new one takes effect when the server starts again.`,
    examples: ['reeve password --settings reeve.env', 'reeve password > /etc/prometheus/reeve.password'],
    async run({ options, readerSettings, terminal }) {
      const { showPassword } = await import('./password.ts');
      return showPassword(options, await readerSettings(), terminal);
    },
  }),
];
