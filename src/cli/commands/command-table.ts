import { defaultLimits } from '../../forge/platform/git/limits.ts';
import type { SetupOptions } from '../connection/steps/answers.ts';
import { type CommandRow, defineCommand } from './command.ts';

/** The commands for the connection to a forge. */
const connectionCommands = [
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
      'Secrets are not in it: save the other files of REEVE_DATA and your settings as well (docs/backup.md).',
    examples: ['reeve store backup /backups/reeve-$(date +%F).db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { backup } = await import('./store/backup.ts');
      return backup(file, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [file: string]>({
    group: storeGroup,
    usage: 'restore <file>',
    description: 'put a copy made by `backup` into the place of the store; the server must be stopped',
    flags: [
      ['--json', 'print file, bytes, deliveries, runs, and where the store that was there is now, as JSON'],
    ],
    notes: 'The store that is there is moved aside, not deleted.',
    examples: ['reeve store restore /backups/reeve-2026-11-01.db'],
    async run({ args: [file], options, readerSettings, terminal }) {
      const { restore } = await import('./store/backup.ts');
      return restore(file, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ from: string; to: string; restart?: boolean; json?: boolean }>({
    group: storeGroup,
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
      ['--requests', 'list the requests to the forge as well, each with its answer'],
      ['--json', 'print each run, with its requests, as one line of JSON'],
    ],
    notes:
      'TARGET is the id of a run or of a delivery, or last: the newest run that is not about Reeve’s own change.',
    examples: ['reeve explain last', 'reeve explain --requests 42'],
    async run({ args: [run], options, readerSettings, terminal }) {
      const { explain } = await import('./runs/explain.ts');
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
      const { replay } = await import('./runs/replay.ts');
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
      const { redrive } = await import('./runs/redrive.ts');
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
      const { pause } = await import('./runs/pause.ts');
      return pause(name, options, await readerSettings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }, readonly [name: string]>({
    usage: 'resume <name>',
    description: 'end a pause; the runs that waited for it start again from the live state',
    flags: [['--json', 'print one JSON object']],
    examples: ['reeve resume all', 'reeve resume acme/shop'],
    async run({ args: [name], options, readerSettings, terminal }) {
      const { resume } = await import('./runs/pause.ts');
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
    description: 'print the pull requests in merge queues, with positions and what each waits for',
    flags: [
      branchFlag,
      ['--history', 'print the latest 50 events of each queue instead'],
      ['--json', 'print one JSON list of queues; with --history, of events'],
    ],
    examples: ['reeve queue list', 'reeve queue list acme/shop --branch main', 'reeve queue list --history'],
    async run({ args: [repository], options, readerSettings, terminal }) {
      const { listMergeQueues } = await import('./queue/list.ts');
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
      const { moveQueued } = await import('./queue/change.ts');
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
      const { removeQueued } = await import('./queue/change.ts');
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
      const { pauseQueues } = await import('./queue/change.ts');
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
      const { resumeQueues } = await import('./queue/change.ts');
      return resumeQueues(repository, options, await readerSettings(), terminal);
    },
  }),
];

const mebibytes = (bytes: number): string => String(bytes / 1024 / 1024);

const serveCommands = [
  defineCommand<{ once?: boolean; role?: string }>({
    usage: 'serve',
    description: 'run the bot; without FORGE_URL, run a demo with the embedded forge',
    flags: [
      [
        '--once',
        'play the demo in a temporary folder and exit: 0 only if every label is where the rules want it',
      ],
      ['--role <role>', 'what this process does, with DATABASE_URL: all, web or worker (REEVE_ROLE)'],
    ],
    examples: [
      'reeve serve',
      'reeve serve --once',
      'FORGE_URL=https://git.example.org FORGE_TOKEN_FILE=token reeve serve',
      'DATABASE_URL_FILE=database reeve serve --role worker',
    ],
    async run({ options, settings, terminal }) {
      const { serve } = await import('./serve.ts');
      const { once = false, role } = options;
      return serve({ once }, await settings(role === undefined ? {} : { REEVE_ROLE: role }), terminal);
    },
  }),

  defineCommand<Record<string, string> & { json?: boolean; control?: boolean; seedSchema?: boolean }>({
    usage: 'forge',
    description: 'run the embedded forge alone, on loopback',
    flags: [
      ['--port <number>', 'port to listen on, 0 for a free one', '3000'],
      ['--data <folder>', 'where it keeps everything', './data/forge'],
      [
        '--admin <name:password>',
        'make this site administrator (others on this machine can see it: for trying things)',
      ],
      ['--admin-password-file <file>', 'make the site administrator root with the password in this file'],
      ['--admin-email <address>', 'e-mail address of that administrator instead of NAME@localhost'],
      ['--url <address>', 'address that answers and events name, where it is not the one it listens on'],
      ['--seed <file>', 'bring about what this file says (YAML): accounts, repositories, runners and more'],
      ['--seed-schema', 'print the JSON Schema of seed files and exit'],
      ['--control', 'mount /-/control/ for runners, clock, redelivery and faults; bearer in control.token'],
      [
        '--hook-hosts <hosts>',
        'hosts with private addresses that hooks of every account may reach, with commas: loopback, names, addresses, networks',
      ],
      ['--max-push <MiB>', 'size of a push at most, unpacked', mebibytes(defaultLimits.pushBytes)],
      [
        '--max-object <MiB>',
        'size of one object in a push at most, unpacked',
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
      'list every problem in rule files, with line and column; with FORGE_URL and a token, also what that forge does not support, and labels and statuses that do not exist',
    flags: [
      [
        '--repository <names...>',
        'look for labels and statuses in these, instead of in starred repositories',
      ],
      ['--expanded', 'print the rules with the values of their parameters and the rules of their packs'],
      ['--packs <folder>', 'packs that a repository’s file includes by name'],
      ['--json', 'print one JSON object'],
    ],
    examples: [
      'reeve check',
      'reeve check rules/ .reeve.yml',
      'reeve check --json rules/',
      'reeve check --expanded rules/stale.yml',
    ],
    async run({ args: [paths], options, environment, terminal }) {
      const { check } = await import('./rules/check.ts');
      const { loadForge } = await import('../../server/settings/config.ts');
      const given = { ...options, rules: environment.REEVE_RULES, forge: loadForge(environment) };
      return check(paths, given, terminal);
    },
  }),

  defineCommand<{ json?: boolean; packs?: string }, readonly [paths: string[]]>({
    usage: 'test [paths...]',
    description:
      'run the rule tests (NAME.test.yml beside NAME.yml), and list rules and steps that no test case covers',
    flags: [
      ['--packs <folder>', 'packs that a repository’s file includes by name'],
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
      ['--activity <name>', 'plan this activity alone: opened, synchronized, approved, created, …'],
      ['--event <kind>', 'of a payload: family or Event-Type: pull_request, issues, push, …'],
      ['--payload <file>', 'the body of a delivery, JSON or YAML'],
      ['--facts <file>', 'for a payload: what is known, name to value; with it no forge is asked'],
      ['--rules <path>', 'rule file or folder, instead of the rules in force'],
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
  defineCommand<{ in?: string[]; plan?: boolean; json?: boolean }, readonly [rule: string]>({
    usage: 'sweep <rule>',
    description: 'run a scheduled rule now; if a server is running, the server runs it',
    flags: [
      ['--in <patterns...>', 'only these repositories or organizations'],
      ['--plan', 'show what it would do, item by item, and why; nothing is written'],
      ['--json', 'print how it went as one JSON object; with --plan, each item as one line'],
    ],
    examples: [
      'reeve sweep quiet-notifications',
      "reeve sweep release-tags --in 'acme/*'",
      'reeve sweep release-tags --plan',
    ],
    async run({ args: [rule], options, settings, readerSettings, terminal }) {
      if (options.plan) {
        const { printSweepPlan } = await import('./sweeps/sweep-plan.ts');
        return printSweepPlan(rule, options, await readerSettings(), terminal);
      }
      const { sweep } = await import('./sweeps/sweep.ts');
      return sweep(rule, options, await settings(), terminal);
    },
  }),

  defineCommand<{ json?: boolean }>({
    usage: 'runners',
    description: 'list the runners that sweeps have found, with their state and its age',
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
      ['--adopt', 'print the rule file that describes what is live in a repository or an organization'],
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
    description: 'print the script by which bash, zsh or fish completes commands and flags',
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

/** The commands of `reeve`, in the order in which the help lists them. */
export const commandTable: readonly CommandRow[] = [
  ...serveCommands,
  ...ruleCommands,
  ...runCommands,
  ...sweepCommands,
  ...queueCommands,
  ...storeCommands,
  ...connectionCommands,
  ...shellCommands,
];
