import { defaultLimits } from '../../forge/platform/git/limits.ts';
import { type CommandRow, defineCommand } from './command.ts';
import { connectionCommands } from './connection-commands.ts';
import { queueCommands } from './queue/queue-command-rows.ts';
import { runCommands } from './runs/run-command-rows.ts';
import { storeCommands } from './store/store-command-rows.ts';

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
      const { completion } = await import('./completion/completion.ts');
      return completion(shell, commandTable, terminal);
    },
  }),
];

/** The commands of `reeve`, in the order of its help. */
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
