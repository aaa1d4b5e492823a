import { type CompletionFlag, type CompletionWords, flagNames, groupsOf } from './completion-words.ts';

/** Returns a text as one word of fish, within single quotes. */
const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
/** Returns the condition that the words before the cursor name this command; empty for none yet. */
const at = (command: string): string => ` -n ${quote(`__reeve_at "${command}"`)}`;

/** Returns the script for fish. */
export function fishScript(completion: CompletionWords): string {
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
