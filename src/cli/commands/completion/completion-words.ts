import type { CommandRow } from '../command.ts';

/** A flag: its spelling, whether a value follows it, and whether that is a file or folder. */
export type CompletionFlag = {
  readonly name: string;
  readonly description: string;
  readonly value: 'none' | 'path' | 'text';
};

/** A command as the shells complete it. `path` is `['check']`, or `['store', 'backup']` for one of a group. */
export type CompletionCommand = {
  readonly path: readonly string[];
  readonly description: string;
  readonly flags: readonly CompletionFlag[];
  /** Fixed words that its first argument can be. */
  readonly words: readonly string[];
  /** Whether its arguments are files or folders. */
  readonly takesPaths: boolean;
};

/** A word after `reeve`: a command, or a group with its commands. */
export type CompletionGroup = { readonly name: string; readonly description: string };

/** What can be completed: the words after `reeve`, the commands, and the flags that every command has. */
export type CompletionWords = {
  readonly first: readonly CompletionGroup[];
  readonly commands: readonly CompletionCommand[];
  readonly common: readonly CompletionFlag[];
};

/** Arguments that are files or folders, by the names that usages give them. */
const pathArguments = /^(paths|file-or-target|file|folder)$/;
const pathValues = /^(file|folder|path)$/;
/** Commands whose argument is the id of a run or delivery, or `last`. */
const targetArguments = /^(targets?|file-or-target)$/;

/** Returns the words of the command table. */
export function completionWords(table: readonly CommandRow[]): CompletionWords {
  const commands = table.map((row) => describe(row));
  const first = new Map<string, CompletionGroup>();
  for (const [at, { group, description }] of table.entries()) {
    const name = commands[at]?.path[0] ?? '';
    if (!first.has(name)) first.set(name, { name, description: group?.description ?? description });
  }
  return {
    first: [...first.values()],
    commands,
    common: [
      { name: '--settings', description: 'take settings from this file too', value: 'path' },
      { name: '--help', description: 'print the help', value: 'none' },
    ],
  };
}

function describe({
  group,
  usage,
  description,
  flags = [],
  requiredFlags = [],
}: CommandRow): CompletionCommand {
  const [name = '', ...rest] = usage.split(' ');
  const names = rest.map((argument) => argument.replace(/[<>[\].]/g, ''));
  return {
    path: group === undefined ? [name] : [group.name, name],
    description,
    flags: [...requiredFlags, ...flags].map(([spelling, text]) => toFlag(spelling, text)),
    words: [
      ...(names.some((one) => targetArguments.test(one)) ? ['last'] : []),
      ...(names.includes('shell') ? ['bash', 'zsh', 'fish'] : []),
    ],
    takesPaths: names.some((one) => pathArguments.test(one)),
  };
}

/** Parses a flag in commander's notation: `--in <patterns...>`. */
function toFlag(spelling: string, description: string): CompletionFlag {
  const [, name = '', argument] = /(--[\w-]+)(?: [<[]([^>\].]+))?/.exec(spelling) ?? [];
  const value = argument === undefined ? 'none' : pathValues.test(argument) ? 'path' : 'text';
  return { name, description, value };
}

/** Returns the groups of commands with their members. */
export function groupsOf({ commands }: CompletionWords): ReadonlyMap<string, readonly CompletionGroup[]> {
  const groups = new Map<string, CompletionGroup[]>();
  for (const { path, description } of commands) {
    const [group = '', name] = path;
    if (name !== undefined) groups.set(group, [...(groups.get(group) ?? []), { name, description }]);
  }
  return groups;
}

/** Returns the names of all flags with this kind of value, as a pattern of `case`. */
export function flagNames({ commands, common }: CompletionWords, value: CompletionFlag['value']): string {
  const all = [...common, ...commands.flatMap(({ flags }) => flags)];
  return [...new Set(all.filter((flag) => flag.value === value).map(({ name }) => name))].join('|');
}
