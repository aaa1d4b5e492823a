import { defaultLimits } from '../../forge/platform/git/limits.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { SetupOptions } from '../connection/steps/answers.ts';
import { type CommandRow, defineCommand } from './command.ts';
import type { ImportOptions } from './import.ts';

/** The commands for the connection to a forge. */
const connectionCommands = [
  defineCommand<SetupOptions>({
    usage: 'setup',
    description:
      'connect a forge: token, secrets, hooks and a test delivery of each; a later run repairs what has changed',
    flags: [
      ['--url <url>', 'the forge (FORGE_URL)'],
      ['--token-file <file>', 'file with the access token of the account that Reeve acts as (FORGE_TOKEN)'],
      [
        '--admin-token-file <file>',
        'file with the token of an account that may create the hooks; used only now, not stored (SETUP_TOKEN)',
      ],
      ['--webhook <url>', 'URL at which the forge reaches Reeve; default: HOST and PORT'],
      [
        '--poll <seconds>',
        'create no hooks, and poll the forge in this interval instead, for a machine that the forge cannot reach (REEVE_POLL)',
      ],
      ['--repository <names...>', 'create a hook in these repositories (owner/name), and serve them'],
      ['--organization <names...>', 'create a hook in these organizations'],
      ['--user', 'create a hook of the account whose token creates the hooks'],
      ['--system', 'create a hook of the instance (requires the token of a site administrator)'],
      [
        '--serve <names...>',
        'serve these repositories (owner/name, owner/*) even without a star: adds them to the operator file',
      ],
      [
        '--rules <names...>',
        'begin with these rule files that ship with Reeve: copies them to REEVE_RULES (default: reeve-rules beside the env file), in mode observe; or with a folder or file of your own, such as ./imported-rules: sets REEVE_RULES to it',
      ],
      ['--create-labels', 'create the labels that rules need and repositories lack'],
      [
        '--events <which>',
        'events of the hooks: all (default), or rules: only those that the operator’s rules use',
      ],
      ['--dashboard <url>', 'URL of the dashboard: registers an OAuth2 application for sign-in'],
      ['--allow-admin', 'let Reeve act as a site administrator'],
      ['--config <file>', 'the operator file (REEVE_CONFIG); default: reeve.yml beside the env file'],
      ['--rotate', 'replace the secrets of the hooks'],
      ['--no-test', 'do not request test deliveries'],
      ['--plan', 'show what would be done; writes nothing'],
      ['-y, --yes', 'ask nothing: copy no rules without --rules, create no labels without --create-labels'],
      ['--json', 'print one JSON object'],
    ],
    notes: `The env file (--settings, default ./reeve.env) will contain the token and the webhook secrets, readable only by its
owner. To test the hook of an organization, an account or the instance, a private repository is created and deleted.`,
    examples: [
      'reeve setup',
      'reeve setup --url https://git.example.org --token-file token --repository acme/demo --rules triage labels --create-labels --yes',
      'reeve setup --poll 60 --serve acme/demo --rules triage --create-labels --yes',
      'reeve setup --rules ./imported-rules',
      'reeve setup --organization acme --admin-token-file owner-token',
      'reeve setup --rotate',
    ],
    async run({ options, environment, terminal, prompt }) {
      const { setup } = await import('./setup.ts');
      return setup(options, environment, terminal, prompt);
    },
  }),

  defineCommand<{ settings?: string; json?: boolean; test?: boolean; thorough?: boolean; all?: boolean }>({
    usage: 'doctor',
    description:
      'find problems of a connection, with remedies: token, hooks, secrets, deliveries, disk, clock, rules',
    flags: [
      [
        '--thorough',
        'also test the hooks of organizations, accounts and the instance: creates and deletes a private repository',
      ],
      ['--no-test', 'do not request test deliveries'],
      ['--all', 'also list the checks that passed or were skipped; by default, they are counted'],
      ['--json', 'print one JSON object with every check'],
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
      ['--renew', 'replace the password first, and end all sessions'],
      ['--json', 'print one JSON object'],
    ],
    notes: `With DATABASE_URL the password is in the database, for all processes; otherwise it is in REEVE_DATA/dashboard.password, and
a new one takes effect when the server is restarted.`,
    examples: ['reeve password --settings reeve.env', 'reeve password > /etc/prometheus/reeve.password'],
    async run({ options, storeSettings, terminal }) {
      const { showPassword } = await import('./password.ts');
      return showPassword(options, await storeSettings(), terminal);
    },
  }),
];

/** The commands for people who come from other bots, and for their editors. */
const importCommands: readonly CommandRow[] = [
  defineCommand<ImportOptions & { settings?: string }, readonly [paths: readonly string[]]>({
    usage: 'import <paths...>',
    description: 'convert configurations of other bots into rule files with tests and a report',
    flags: [
      ['--as <format>', 'format of the files; default: by path and content'],
      ['--for <source>', 'write for files of the operator, an organization or a repository', 'operator'],
      [
        '--repository <name>',
        'repository (owner/name): `in` of the files; with a forge, its labels, branches, checks and files are asked for',
      ],
      ['--team <pairs...>', 'names of teams: ORGANIZATION/TEAM=ORGANIZATION/TEAM'],
      ['--user <pairs...>', 'names of accounts: LOGIN=LOGIN'],
      ['--checks <pairs...>', "names of checks: PATTERN=NAME, where {} in NAME is the check's old name"],
      ['--out <folder>', 'folder of the result', 'imported-rules'],
      ['--force', 'overwrite files in this folder'],
      ['--json', 'print one JSON object with every part of the sources'],
    ],
    notes: `A folder is searched for the places where bots read their configuration. The exit status is 1 if a part of a source is
left out; NAME.import.md says which and why. Only reads at the forge.`,
    examples: [
      'reeve import .',
      'reeve import .github/labeler.yml .mergify.yml --repository acme/demo',
      "reeve import .mergify.yml --user 'dependabot[bot]=renovate' --checks '*=* / {} (pull_request)'",
    ],
    async run({ args: [paths], options, environment, terminal }) {
      const { loadForge } = await import('../../server/settings/config.ts');
      const { importRules } = await import('./import.ts');
      return importRules(paths, options, { forge: loadForge(environment), terminal });
    },
  }),
];

const storeGroup = {
  name: 'store',
  description: 'back up and restore the store, and move it between SQLite and PostgreSQL',
};

/** The commands of `reeve store`. */
const storeCommands: readonly CommandRow[] = [
  defineCommand<{ json?: boolean }, readonly [file: string]>({
    group: storeGroup,
    usage: 'backup <file>',
    description: 'copy the store (deliveries, runs, queues) into a new file; the server may be running',
    flags: [['--json', 'print file, bytes, deliveries and runs as JSON']],
    notes:
      'The copy contains no secrets: save the other files of REEVE_DATA and your settings as well (docs/backup.md).',
    examples: ['reeve store backup /backups/reeve-$(date +%F).db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { backup } = await import('./store/backup.ts');
      return backup(file, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [file: string]>({
    group: storeGroup,
    usage: 'restore <file>',
    description: 'replace the store with a copy made by `backup`; the server must be stopped',
    flags: [
      ['--json', 'print file, bytes, deliveries, runs, and the new path of the previous store, as JSON'],
    ],
    notes: 'The previous store is moved aside, not deleted.',
    examples: ['reeve store restore /backups/reeve-2026-11-01.db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { restore } = await import('./store/backup.ts');
      return restore(file, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ from: string; to: string; restart?: boolean; json?: boolean }>({
    group: storeGroup,
    usage: 'copy',
    description: 'copy a store to an empty location, in SQLite or PostgreSQL; no server may use either one',
    requiredFlags: [
      ['--from <place>', 'the store to copy: a data folder, a file, postgres://…, or env:NAME'],
      ['--to <place>', 'the target: a location without a store, in the same notation'],
    ],
    flags: [
      ['--restart', 'delete what an interrupted copy has left in the target, and start over'],
      ['--json', 'print tables, rows and digests as one JSON object'],
    ],
    notes: `env:NAME reads the location from the environment variable NAME, or from the file in NAME_FILE: other users can see a
password in a command. The same command continues an interrupted copy. At the end, both stores are read
and compared; the exit status is 0 only if they are equal (docs/postgresql.md).`,
    examples: [
      'reeve store copy --from /var/lib/reeve --to env:DATABASE_URL',
      'reeve store copy --from env:DATABASE_URL --to ./data',
    ],
    async run({ options, environment, terminal }) {
      const { copyStoreTo } = await import('./store/copy.ts');
      return copyStoreTo(options, environment, terminal);
    },
  }),
];

/** The commands for recorded runs and stored deliveries. */
const runCommands = [
  defineCommand<{ json?: boolean; requests?: boolean }, readonly [run: string]>({
    usage: 'explain <target>',
    description: 'show why each rule of a recorded run matched or did not match',
    flags: [
      ['--requests', 'also list the requests to the forge, each with its response'],
      ['--json', 'print each run, with its requests, as one line of JSON'],
    ],
    notes:
      'TARGET is the id of a run or of a delivery, or last: the newest run that is not about Reeve’s own change. With OWNER/REPO#N, all runs about that issue or pull request are listed, and what waits; the newest run that changed something is shown.',
    examples: ['reeve explain last', 'reeve explain --requests 42', 'reeve explain acme/shop#7'],
    async run({ args: [run], options, storeSettings, terminal }) {
      const { explain } = await import('./runs/explain.ts');
      return explain(run, options, await storeSettings(), terminal);
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
      'TARGET is the id of a run, the id of a delivery of which one run changed something, or last: the newest run that made changes.',
    examples: ['reeve revert --plan last', 'reeve revert 42'],
    async run({ args: [run], options, settings, terminal }) {
      const { revert } = await import('./runs/revert.ts');
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
      ['--event <kind>', 'event type of a file that contains only a body'],
      ['--since <time>', 'compare every stored delivery of the last 30m, 12h or 7d with its recorded result'],
      ['--rules <path>', 'rule file or folder to use instead of the rules in force'],
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
      const { replay } = await import('./runs/replay.ts');
      return replay(delivery, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ all?: boolean; json?: boolean }, readonly [deliveries: string[]]>({
    usage: 'redrive [targets...]',
    description: 'return dead deliveries to the queue: the given ones or all',
    flags: [
      ['--all', 'every dead delivery'],
      ['--json', 'print one JSON object'],
    ],
    notes: `TARGETS are ids of deliveries or of their runs, or last: the newest dead delivery. For each other delivery, the reason
is shown.`,
    examples: ['reeve redrive last', 'reeve redrive 42 43', 'reeve redrive --all'],
    async run({ args: [ids], options, readerSettings, terminal }) {
      const { redrive } = await import('./runs/redrive.ts');
      return redrive(ids, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [targets: string[]]>({
    usage: 'rerun <targets...>',
    description: 'handle ended or deferred deliveries again, with the current rules and from live state',
    flags: [['--json', 'print one JSON object']],
    notes:
      'TARGETS are ids of deliveries or of their runs, or last: the delivery of the run that reeve explain last shows. A deferred one is handled at once, for instance after its limit was raised. What cannot be repeated, such as messages, is not repeated.',
    examples: ['reeve rerun last', 'reeve rerun 42'],
    async run({ args: [ids], options, readerSettings, terminal }) {
      const { rerun } = await import('./runs/redrive.ts');
      return rerun(ids, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ limit?: string; state?: string; search?: string; jobs?: boolean; json?: boolean }>({
    usage: 'deliveries',
    description: 'list stored deliveries, newest first, with their state',
    flags: [
      ['--search <text>', 'only those with this text in the event type, the repository or the uuid'],
      ['--state <state>', 'accepted, claimed, retry, deferred, settled or dead'],
      ['--jobs', 'also list the jobs of Reeve'],
      ['--limit <number>', 'at most this many (1 to 500)', '30'],
      ['--json', 'print each delivery as one line of JSON'],
    ],
    examples: ['reeve deliveries', 'reeve deliveries --search acme/shop --state dead'],
    async run({ options, storeSettings, terminal }) {
      const { deliveries } = await import('./runs/list.ts');
      return deliveries(options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ limit?: string; repository?: string; changes?: boolean; json?: boolean }>({
    usage: 'runs',
    description: 'list recorded runs, newest first, with the rules that matched',
    flags: [
      ['--repository <name>', 'only those about this repository (owner/name)'],
      ['--changes', 'only those that planned a change'],
      ['--limit <number>', 'at most this many (1 to 500)', '30'],
      ['--json', 'print each run as one line of JSON'],
    ],
    examples: ['reeve runs', 'reeve runs --repository acme/shop --changes'],
    async run({ options, storeSettings, terminal }) {
      const { runs } = await import('./runs/list.ts');
      return runs(options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }>({
    usage: 'rules',
    description:
      'list the rules of the operator: whether each observes or enforces, when it could last run, and what it cannot see or do, since when',
    flags: [['--json', 'print each rule as one line of JSON']],
    notes:
      'MODE: enforce makes the changes, observe only records them. The rest is read from the store: a running server examines this every ten minutes; with more than 20 repositories and nothing found, what rules can see and do every hour. reeve doctor examines it now.',
    examples: ['reeve rules', 'reeve rules --json'],
    async run({ options, readerSettings, terminal }) {
      const { listRules } = await import('./rules/list.ts');
      return listRules(options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ test?: boolean; chat?: boolean }, readonly [name: string]>({
    usage: 'notify <name>',
    description:
      'send a test message to the receiver of a named secret, in the form of the operator’s rule that sends messages to it',
    flags: [
      ['--test', 'send the test message'],
      ['--chat', 'as JSON with the member text, which chats expect'],
    ],
    examples: ['reeve notify CHAT_HOOK --test --chat'],
    async run({ args: [name], options, readerSettings, terminal }) {
      const { sendTestMessage } = await import('./runs/notify.ts');
      return sendTestMessage(name, options, await readerSettings(), terminal);
    },
  }),

  defineCommand({
    usage: 'report',
    description:
      'print the regular report as it would be now: what needs attention, and when each rule could last run. Exit status 1 if something needs attention',
    flags: [],
    examples: ['reeve report'],
    async run({ readerSettings, terminal }) {
      const { printReport } = await import('./rules/report.ts');
      return printReport(await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [name: string | undefined]>({
    usage: 'pause [name]',
    description:
      'pause the writes of a rule, the writes to a repository (OWNER/REPO), or all, at once; deliveries are kept. Without a name, list the pauses',
    flags: [['--json', 'print the pauses as one JSON list']],
    examples: ['reeve pause all', 'reeve pause acme/shop', 'reeve pause label-by-path', 'reeve pause'],
    async run({ args: [name], options, storeSettings, terminal }) {
      const { pause } = await import('./runs/pause.ts');
      return pause(name, options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [name: string]>({
    usage: 'resume <name>',
    description: 'end a pause; the runs that waited for it start again from the live state',
    flags: [['--json', 'print one JSON object']],
    examples: ['reeve resume all', 'reeve resume acme/shop'],
    async run({ args: [name], options, storeSettings, terminal }) {
      const { resume } = await import('./runs/pause.ts');
      return resume(name, options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [login: string, id: string]>({
    usage: 'adopt [login] [id]',
    description:
      'confirm the account that now has a login which belonged to another account before. Without a login, list such logins',
    notes:
      'Rules give rights to a login only while it belongs to the account that had it at first use, because a stranger can take a login that was freed. With ID, that account is confirmed unconditionally. The operator file can also set ids (accounts).',
    flags: [['--json', 'print one JSON object']],
    examples: ['reeve adopt', 'reeve adopt ada', 'reeve adopt ada 42'],
    async run({ args: [login, id], options, readerSettings, terminal }) {
      const { adoptAccount } = await import('./runs/adopt-account.ts');
      return adoptAccount({ login, id }, options, await readerSettings(), terminal);
    },
  }),
];

const group = { name: 'queue', description: 'list merge queues, and change them' };
const branchFlag = ['--branch <name>', 'only the queue of this base branch'] as const;

/** The commands of `reeve queue`. */
const queueCommands: readonly CommandRow[] = [
  defineCommand<
    { branch?: string; history?: boolean; json?: boolean },
    readonly [repository: string | undefined]
  >({
    group,
    usage: 'list [repository]',
    description: 'print the pull requests in merge queues, each with its position and what it waits for',
    flags: [
      branchFlag,
      ['--history', 'print the latest 50 events of each queue instead'],
      ['--json', 'print one JSON list of queues; with --history, of events'],
    ],
    examples: ['reeve queue list', 'reeve queue list acme/shop --branch main', 'reeve queue list --history'],
    async run({ args: [repository], options, storeSettings, terminal }) {
      const { listMergeQueues } = await import('./queue/list.ts');
      return listMergeQueues(repository, options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [pull: string, position: string]>({
    group,
    usage: 'move <pull> <position>',
    description: 'move a pull request (OWNER/REPO#NUMBER) to a position in its queue; 1 is the first',
    flags: [['--json', 'print the queue as one JSON list']],
    examples: ['reeve queue move acme/shop#12 1'],
    async run({ args, options, readerSettings, terminal }) {
      const { moveQueued } = await import('./queue/change.ts');
      return moveQueued(args, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [pull: string]>({
    group,
    usage: 'remove <pull>',
    description:
      'remove a pull request (OWNER/REPO#NUMBER) from its queue; it stays out until its head changes or its rule requests it again',
    flags: [['--json', 'print the queue as one JSON list']],
    examples: ['reeve queue remove acme/shop#12'],
    async run({ args: [pull], options, readerSettings, terminal }) {
      const { removeQueued } = await import('./queue/change.ts');
      return removeQueued(pull, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ branch?: string; json?: boolean }, readonly [repository: string]>({
    group,
    usage: 'pause <repository>',
    description:
      'pause the merge queues of a repository (OWNER/REPO): they keep their pull requests and write nothing',
    flags: [branchFlag, ['--json', 'print the queues as one JSON list']],
    examples: ['reeve queue pause acme/shop', 'reeve queue pause acme/shop --branch main'],
    async run({ args: [repository], options, storeSettings, terminal }) {
      const { pauseQueues } = await import('./queue/change.ts');
      return pauseQueues(repository, options, await storeSettings(), terminal);
    },
  }),

  defineCommand<{ branch?: string; json?: boolean }, readonly [repository: string]>({
    group,
    usage: 'resume <repository>',
    description: 'end the pause of merge queues; the paused time does not count towards timeouts',
    flags: [branchFlag, ['--json', 'print the queues as one JSON list']],
    examples: ['reeve queue resume acme/shop'],
    async run({ args: [repository], options, storeSettings, terminal }) {
      const { resumeQueues } = await import('./queue/change.ts');
      return resumeQueues(repository, options, await storeSettings(), terminal);
    },
  }),
];

const mebibytes = (bytes: number): string => String(bytes / 1024 / 1024);

const serveCommands = [
  defineCommand<{ once?: boolean; role?: string; poll?: string }>({
    usage: 'serve',
    description: 'run the bot; without FORGE_URL, run a demo with the embedded forge',
    flags: [
      [
        '--once',
        'play the demo in a temporary folder and exit: 0 only if all labels are as the rules require',
      ],
      ['--role <role>', 'role of this process, with DATABASE_URL: all, web or worker (REEVE_ROLE)'],
      [
        '--poll <seconds>',
        'poll the forge for changes instead of receiving webhooks: no hook and no open port are needed; at least 30 (REEVE_POLL)',
      ],
    ],
    examples: [
      'reeve serve',
      'reeve serve --once',
      'FORGE_URL=https://git.example.org FORGE_TOKEN_FILE=token reeve serve',
      'DATABASE_URL_FILE=database reeve serve --role worker',
      'FORGE_URL=https://git.example.org FORGE_TOKEN_FILE=token reeve serve --poll 60',
    ],
    async run({ options, settings, terminal }) {
      const { serve } = await import('./serve.ts');
      const { once = false, role, poll } = options;
      const given = {
        ...(role === undefined ? {} : { REEVE_ROLE: role }),
        ...(poll === undefined ? {} : { REEVE_POLL: poll }),
      };
      return serve({ once }, await settings(given), terminal);
    },
  }),

  defineCommand<Record<string, string> & { json?: boolean; control?: boolean; seedSchema?: boolean }>({
    usage: 'forge',
    description: 'run the embedded forge alone, on loopback',
    flags: [
      ['--port <number>', 'port to listen on, 0 for a free one', '3000'],
      ['--data <folder>', 'folder of all data', './data/forge'],
      [
        '--admin <name:password>',
        'create this site administrator (other users of this machine can see the password: only for tests)',
      ],
      ['--admin-password-file <file>', 'create the site administrator root with the password in this file'],
      ['--admin-email <address>', 'e-mail address of that administrator instead of NAME@localhost'],
      ['--url <address>', 'URL in responses and events, if it differs from the address it listens on'],
      ['--seed <file>', 'create the content of this file (YAML): accounts, repositories, runners and more'],
      ['--seed-schema', 'print the JSON Schema of seed files and exit'],
      ['--control', 'mount /-/control/ for runners, clock, redelivery and faults; bearer in control.token'],
      [
        '--hook-hosts <hosts>',
        'hosts with private addresses that hooks of every account may reach, separated by commas: loopback, names, addresses, networks',
      ],
      ['--max-push <MiB>', 'maximum size of a push, unpacked', mebibytes(defaultLimits.pushBytes)],
      [
        '--max-object <MiB>',
        'maximum size of one object in a push, unpacked',
        mebibytes(defaultLimits.objectBytes),
      ],
      ['--json', 'print one line of JSON with the url once it listens'],
    ],
    examples: [
      'reeve forge --port 0 --data ./forge --admin root:password --json',
      'reeve forge --data ./forge --seed examples/seed.yml --control',
      'reeve forge --seed-schema > seed.schema.json',
    ],
    async run({ options, terminal }) {
      const { forge, seedSchema } = await import('./forge.ts');
      return options.seedSchema ? seedSchema(terminal) : forge(options, terminal);
    },
  }),
];

const ruleCommands = [
  defineCommand<
    { json?: boolean; repository?: string[]; expanded?: boolean; packs?: string },
    readonly [paths: string[]]
  >({
    usage: 'check [paths...]',
    description:
      'list every problem in rule files, with line and column; with FORGE_URL and a token, also features that the forge does not support, and labels and statuses that do not exist',
    flags: [
      [
        '--repository <names...>',
        'check labels and statuses in these repositories instead of the served ones; write -- before paths',
      ],
      ['--expanded', 'print the rules with the values of their parameters and the rules of their packs'],
      ['--packs <folder>', 'folder of the packs that a repository’s file may include by name'],
      ['--json', 'print one JSON object'],
    ],
    examples: [
      'reeve check',
      'reeve check rules/ .reeve.yml',
      'reeve check --json rules/',
      'reeve check --expanded rules/stale.yml',
      'reeve check --settings reeve.env --repository acme/demo -- .reeve.yml',
    ],
    async run({ args: [paths], options, environment, terminal }) {
      const { check } = await import('./rules/check.ts');
      const { loadForge, loadNamedSecrets } = await import('../../server/settings/config.ts');
      const { readOperatorFile } = await import('../../server/settings/operator-file.ts');
      const path = environment.REEVE_CONFIG;
      const file = path === undefined ? undefined : (await readOperatorFile(path)).file;
      const given = { ...options, listed: file?.repositories, rules: environment.REEVE_RULES };
      const named = loadNamedSecrets(environment, file);
      const isPolled = Boolean(environment.REEVE_POLL) || file?.poll !== undefined;
      return check(paths, { ...given, forge: loadForge(environment), named, isPolled }, terminal);
    },
  }),

  defineCommand<{ json?: boolean; packs?: string }, readonly [paths: string[]]>({
    usage: 'test [paths...]',
    description:
      'run the rule tests (NAME.test.yml beside NAME.yml), and list rules and steps that no test case covers',
    flags: [
      ['--packs <folder>', 'folder of the packs that a repository’s file may include by name'],
      ['--json', 'print one JSON object'],
    ],
    examples: ['reeve test rules/', 'reeve test rules/demo/labels.test.yml'],
    async run({ args: [paths], options, environment, terminal }) {
      const { test } = await import('./rules/test.ts');
      return test(paths, { ...options, rules: environment.REEVE_RULES }, terminal);
    },
  }),

  defineCommand<Record<string, string> & { json?: boolean }>({
    usage: 'plan',
    description:
      'show what the rules would do with a live pull request, issue, branch or repository, or with one event, and why; writes nothing',
    flags: [
      ['--pull <owner/repo#number>', 'a pull request as it is now'],
      ['--issue <owner/repo#number>', 'an issue as it is now'],
      ['--branch <owner/repo@branch>', 'a push to a branch, as it is now'],
      ['--repository <owner/repo>', 'a repository as it is now'],
      ['--activity <name>', 'plan only this activity: opened, synchronized, approved, created, …'],
      ['--event <kind>', 'event of the payload, as family or Event-Type: pull_request, issues, push, …'],
      ['--payload <file>', 'the body of a delivery, JSON or YAML'],
      ['--facts <file>', 'facts for a payload, by name; with this flag, no requests are made'],
      ['--rules <path>', 'rule file or folder, instead of the rules in force'],
      [
        '--all',
        'print each event with every rule; by default, the changes and failures of all events once, and the other rules are counted',
      ],
      ['--json', 'print each run as one line of JSON'],
    ],
    examples: [
      'reeve plan --pull acme/shop#6',
      'reeve plan --pull acme/shop#6 --activity synchronized --rules rules/',
      'reeve plan --event pull_request --payload opened.json --facts facts.yml --rules rules/demo',
    ],
    async run({ options, readerSettings, terminal }) {
      const { plan } = await import('./rules/plan.ts');
      return plan(options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ repository?: string[]; packs?: string }>({
    usage: 'lsp',
    description:
      'serve an editor over the language server protocol: problems, completion, documentation, remedies',
    flags: [
      [
        '--repository <names...>',
        'also complete the names of labels, teams and branches of these repositories',
      ],
      ['--packs <folder>', 'folder of the packs that a repository’s file may include by name'],
      ['--stdio', 'accepted because editors add it: there is no other way'],
    ],
    notes: `Started by the editor (docs/editors.md). The names on the forge need FORGE_URL and a token; only reading requests are sent.
Nothing is read from settings in the opened folder.`,
    examples: ['reeve lsp', 'reeve lsp --settings ~/.config/reeve/editor.env --repository acme/shop'],
    async run({ options, environment }) {
      const { lsp } = await import('./lsp.ts');
      return lsp(options, environment);
    },
  }),

  defineCommand({
    usage: 'schema',
    description: 'print the JSON Schema of rule files, for editors',
    examples: ['reeve schema > reeve.schema.json'],
    async run({ terminal }) {
      const { schema } = await import('./rules/schema.ts');
      return schema(terminal);
    },
  }),
];

const sweepCommands = [
  defineCommand<
    { in?: string[]; plan?: boolean; all?: boolean; json?: boolean },
    readonly [rule: string | undefined]
  >({
    usage: 'sweep [rule]',
    description: 'run a scheduled rule now; if a server is running, the server runs it',
    flags: [
      ['--in <patterns...>', 'only these repositories or organizations'],
      [
        '--plan',
        'show what it would do, and why: a table, then the items with changes; without a rule, for every rule with a schedule; writes nothing',
      ],
      ['--all', 'with --plan, also show the items without changes, and all of those with changes'],
      ['--json', 'print the result as one JSON object; with --plan, each item as one line'],
    ],
    examples: [
      'reeve sweep quiet-notifications',
      "reeve sweep release-tags --in 'acme/*'",
      'reeve sweep release-tags --plan',
      'reeve sweep --plan',
    ],
    async run({ args: [rule], options, readerSettings, terminal }) {
      if (options.plan) {
        const { printSweepPlan } = await import('./sweeps/sweep-plan.ts');
        return printSweepPlan(rule, options, await readerSettings(), terminal);
      }
      if (rule === undefined)
        throw new ReeveError(
          'usage',
          'name a rule; reeve sweep --plan shows what every rule with a schedule would do',
        );
      const { sweep } = await import('./sweeps/sweep.ts');
      return sweep(rule, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<
    { in?: string[]; rules?: string[]; plan?: boolean; all?: boolean; yes?: boolean; json?: boolean },
    readonly [rule?: string]
  >({
    usage: 'apply [rule]',
    description:
      'run a rule, or all rules of the operator, on the issues and pull requests that are open now, as for new rules; if a server is running, the server runs them',
    requiredFlags: [
      ['--open', 'the open issues and pull requests of served repositories that the rules listen to'],
    ],
    flags: [
      ['--in <patterns...>', 'only these repositories or organizations'],
      [
        '--rules <paths...>',
        'the rules of these files or folders instead of REEVE_RULES; without --plan, they have to be in force',
      ],
      ['--plan', 'only show what they would do, item by item, and for one rule why; writes nothing'],
      ['--all', 'with the plan, also show the items without changes, and all of those with changes'],
      ['--yes', 'make the changes without showing a plan and asking first'],
      ['--json', 'print the result as one JSON object for each rule; with --plan, each item as one line'],
    ],
    notes: `Without --yes, the plan is shown first, and nothing is written before you confirm it. There is no event: filters by branch and
path are compared with the live state, and a rule that reads event or sender cannot run, nor one that listens to neither
issues nor pull requests: of several rules, it is named and left out. Each rule is planned alone, from the present state. The budgets
apply: what has no room in this hour follows later, by a running server. If no rule of the operator has the name, the rule is looked for
in the .reeve.yml of served repositories and in the files of organizations.`,
    examples: [
      'reeve apply --open --plan',
      'reeve apply label-by-path --open',
      'reeve apply --open --plan --rules imported-rules/mergify.yml',
      "reeve apply label-by-path --open --in 'acme/*' --yes",
    ],
    async run({ args: [rule], options, readerSettings, terminal, prompt }) {
      if (options.plan) {
        const { printSweepPlan } = await import('./sweeps/sweep-plan.ts');
        return printSweepPlan(rule, { ...options, open: true }, await readerSettings(), terminal);
      }
      const { applyToOpen } = await import('./sweeps/sweep.ts');
      return applyToOpen(rule, options, await readerSettings(), { terminal, prompt });
    },
  }),

  defineCommand<{ json?: boolean }>({
    usage: 'runners',
    description: 'list the runners that sweeps have observed, each with its state and how long it has lasted',
    flags: [['--json', 'print one JSON list']],
    examples: ['reeve runners'],
    async run({ options, readerSettings, terminal }) {
      const { runners } = await import('./sweeps/runners.ts');
      return runners(options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ adopt?: boolean; json?: boolean }, readonly [items: string[]]>({
    usage: 'drift [items...]',
    description:
      'list differences from the rules, with their age; with --adopt, print the live state as a rule file',
    flags: [
      ['--adopt', 'print the rule file that describes the live state of a repository or an organization'],
      ['--json', 'print one JSON list'],
    ],
    examples: ['reeve drift', 'reeve drift acme/demo', 'reeve drift --adopt acme/demo'],
    async run({ args: [items], options, readerSettings, terminal }) {
      const { drift } = await import('./sweeps/drift.ts');
      return drift(items, options, await readerSettings(), terminal);
    },
  }),
];

const shellCommands = [
  defineCommand<object, readonly [shell: string]>({
    usage: 'completion <shell>',
    description: 'print the script with which bash, zsh or fish completes commands and flags',
    notes:
      'SHELL is bash, zsh or fish. The script is generated from the commands: generate it again after an update.',
    examples: [
      'source <(reeve completion bash)',
      'reeve completion zsh > "${fpath[1]}/_reeve"',
      'reeve completion fish > ~/.config/fish/completions/reeve.fish',
    ],
    async run({ args: [shell], terminal }) {
      const { completion } = await import('./completion.ts');
      return completion(shell, commandTable, terminal);
    },
  }),
];

/** The commands of `reeve` by topic, in the order in which the help lists them. */
export const commandTopics: readonly (readonly [heading: string, rows: readonly CommandRow[]])[] = [
  ['Connect and run:', [...connectionCommands, ...serveCommands]],
  ['Rules:', [...ruleCommands, ...importCommands]],
  ['What happened:', runCommands],
  ['Schedules:', sweepCommands],
  ['Merge queues:', queueCommands],
  ['Store and shell:', [...storeCommands, ...shellCommands]],
];

export const commandTable: readonly CommandRow[] = commandTopics.flatMap(([, rows]) => rows);
