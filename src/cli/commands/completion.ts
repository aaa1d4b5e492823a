import { ReeveError } from '../../platform/errors.ts';
import type { Terminal } from '../output/terminal.ts';
import type { CommandRow } from './command.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Prints the script with which the given shell completes the commands of the table. Returns the exit status. */
export function completion(shell: string, table: readonly CommandRow[], terminal: Terminal): number {
  if (!(shell in scripts))
    throw new ReeveError('usage', `"${shell}" is not a supported shell: write bash, zsh or fish`);
  terminal.out(scripts[shell as keyof typeof scripts](completionWords(table)));
  return 0;
}

const namesOf = (flags: readonly CompletionFlag[]): string => flags.map(({ name }) => name).join(' ');

/** Returns the script for bash. It does not require the bash-completion package. */
function bashScript(completion: CompletionWords): string {
  const { first, commands, common } = completion;
  const groups = groupsOf(completion);
  const withPath = flagNames(completion, 'path');
  const withText = flagNames(completion, 'text');
  const cases = commands.map(
    ({ path, flags, words, takesPaths }) =>
      `    ${JSON.stringify(path.join(' '))}) flags="${namesOf(flags)}" words="${words.join(' ')}" paths=${takesPaths ? 1 : 0} ;;`,
  );
  const members = [...groups].map(
    ([group, names]) => `    ${group}) words="${names.map(({ name }) => name).join(' ')}" ;;`,
  );
  return `# Completion of reeve for bash: source <(reeve completion bash)
_reeve() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command="" flags="" words="" paths=0 skip=0 word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index += 1)); do
    word=\${COMP_WORDS[index]}
    if ((skip)); then skip=0; continue; fi
    case $word in
      ${withPath}|${withText}) skip=1 ;;
      -*) ;;
      *)
        if [[ -z $command ]]; then command=$word
        else
          case $command in
            ${[...groups.keys()].join('|')}) command="$command $word" ;;
          esac
        fi ;;
    esac
  done
  case $previous in
    ${withPath}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    ${withText}) return ;;
  esac
  case $command in
    "") words="${first.map(({ name }) => name).join(' ')}" ;;
${[...members, ...cases].join('\n')}
  esac
  if [[ $cur == -* ]]; then words="$flags ${namesOf(common)}"; paths=0; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if ((paths)); then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _reeve reeve`;
}

/** Returns a text as a single fish word, in single quotes. */
const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
/** Returns the condition that the words before the cursor select this command; an empty text stands for no command. */
const at = (command: string): string => ` -n ${quote(`__reeve_at "${command}"`)}`;

/** Returns the script for fish. */
function fishScript(completion: CompletionWords): string {
  const { first, commands, common } = completion;
  const groups = groupsOf(completion);
  const names = (value: CompletionFlag['value']): string => flagNames(completion, value).replaceAll('|', ' ');
  const flagLine = (condition: string, { name, description, value }: CompletionFlag): string => {
    const kind = value === 'none' ? '' : value === 'path' ? ' -r -F' : ' -x';
    return `complete -c reeve${condition}${kind} -l ${name.slice(2)} -d ${quote(description)}`;
  };
  const wordLine = (condition: string, word: string, description: string): string =>
    `complete -c reeve${condition} -a ${word} -d ${quote(description)}`;
  return `# Completion of reeve for fish: reeve completion fish > ~/.config/fish/completions/reeve.fish
function __reeve_at
    set -l command
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${names('path')} ${names('text')}
                set skip 1
            case '-*'
            case '*'
                if test -z "$command"
                    set command $word
                else if contains -- "$command" ${[...groups.keys()].join(' ')}
                    set command "$command $word"
                end
        end
    end
    test "$command" = "$argv[1]"
end
complete -c reeve -f
${[
  ...first.map(({ name, description }) => wordLine(at(''), name, description)),
  ...[...groups].flatMap(([group, members]) =>
    members.map(({ name, description }) => wordLine(at(group), name, description)),
  ),
  ...common.map((flag) => flagLine('', flag)),
  ...commands.flatMap(({ path, flags, words, takesPaths }) => {
    const condition = at(path.join(' '));
    return [
      ...(words.length === 0 ? [] : [`complete -c reeve${condition} -a ${quote(words.join(' '))}`]),
      ...(takesPaths ? [`complete -c reeve${condition} -F`] : []),
      ...flags.map((flag) => flagLine(condition, flag)),
    ];
  }),
].join('\n')}`;
}

/** Returns a text as a single zsh word, in single quotes. */
const quoteForZsh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns words with descriptions in the format of `_describe`, in which a colon ends the word. */
function listOf(words: readonly (CompletionGroup | CompletionFlag)[]): string {
  return words
    .map(({ name, description }) => quoteForZsh(`${name}:${description.replace(/[\\:]/g, '\\$&')}`))
    .join(' ');
}

/** Returns the script for zsh, which is either a file `_reeve` in a folder of `fpath`, or sourced after `compinit`. */
function zshScript(completion: CompletionWords): string {
  const { first, commands, common } = completion;
  const groups = groupsOf(completion);
  const groupCases = [...groups].map(([group, members]) => `    (${group}) choices=(${listOf(members)}) ;;`);
  const commandCases = commands.map(({ path, flags, words, takesPaths }) => {
    const paths = takesPaths ? '; paths=1' : '';
    return `    (${quoteForZsh(path.join(' '))}) choices=(${words.join(' ')}); flags+=(${listOf(flags)})${paths} ;;`;
  });
  return `#compdef reeve
# Completion of reeve for zsh: reeve completion zsh > "\${fpath[1]}/_reeve"
_reeve() {
  local command="" word
  local -i paths=0 skip=0 index
  local -a choices flags
  flags=(${listOf(common)})
  for ((index = 2; index < CURRENT; index += 1)); do
    word=\${words[index]}
    if ((skip)); then skip=0; continue; fi
    case $word in
      (${flagNames(completion, 'path')}|${flagNames(completion, 'text')}) skip=1 ;;
      (-*) ;;
      (*)
        if [[ -z $command ]]; then command=$word
        else
          case $command in
            (${[...groups.keys()].join('|')}) command="$command $word" ;;
          esac
        fi ;;
    esac
  done
  case \${words[CURRENT-1]} in
    (${flagNames(completion, 'path')}) _files; return ;;
    (${flagNames(completion, 'text')}) return ;;
  esac
  case $command in
    ('') choices=(${listOf(first)}) ;;
${[...groupCases, ...commandCases].join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option flags
  else
    (($#choices)) && _describe argument choices
    ((paths)) && _files
  fi
}
if [[ \${funcstack[1]} == _reeve ]]; then
  _reeve "$@"
else
  compdef _reeve reeve
fi`;
}

/** A flag: its spelling, whether it takes a value, and whether the value is a file or folder. */
type CompletionFlag = {
  readonly name: string;
  readonly description: string;
  readonly value: 'none' | 'path' | 'text';
};

/** A command for completion. `path` is `['check']`, or `['store', 'backup']` for a command of a group. */
type CompletionCommand = {
  readonly path: readonly string[];
  readonly description: string;
  readonly flags: readonly CompletionFlag[];
  /** Fixed values of the command's first argument. */
  readonly words: readonly string[];
  /** Whether the command's arguments are files or folders. */
  readonly takesPaths: boolean;
};

/** A word after `reeve`: a command, or a group with its commands. */
type CompletionGroup = { readonly name: string; readonly description: string };

/** The completion data: the words after `reeve`, the commands, and the common flags. */
type CompletionWords = {
  readonly first: readonly CompletionGroup[];
  readonly commands: readonly CompletionCommand[];
  readonly common: readonly CompletionFlag[];
};

/** Argument names in usages that stand for files or folders. */
const pathArguments = /^(paths|file-or-target|file|folder)$/;
const pathValues = /^(file|folder|path)$/;
/** Argument names in usages that stand for the id of a run or delivery, or `last`. */
const targetArguments = /^(targets?|file-or-target)$/;

/** Returns the completion data of the command table. */
function completionWords(table: readonly CommandRow[]): CompletionWords {
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
      { name: '--settings', description: 'also read settings from this file', value: 'path' },
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
function groupsOf({ commands }: CompletionWords): ReadonlyMap<string, readonly CompletionGroup[]> {
  const groups = new Map<string, CompletionGroup[]>();
  for (const { path, description } of commands) {
    const [group = '', name] = path;
    if (name !== undefined) groups.set(group, [...(groups.get(group) ?? []), { name, description }]);
  }
  return groups;
}

/** Returns the names of all flags with this kind of value, as a pattern for `case`. */
function flagNames({ commands, common }: CompletionWords, value: CompletionFlag['value']): string {
  const all = [...common, ...commands.flatMap(({ flags }) => flags)];
  return [...new Set(all.filter((flag) => flag.value === value).map(({ name }) => name))].join('|');
}
