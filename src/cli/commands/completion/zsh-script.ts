import {
  type CompletionFlag,
  type CompletionGroup,
  type CompletionWords,
  flagNames,
  groupsOf,
} from './completion-words.ts';

/** Returns a text as one word of zsh, within single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns words with descriptions as `_describe` reads them: a colon ends the word. */
function listOf(words: readonly (CompletionGroup | CompletionFlag)[]): string {
  return words
    .map(({ name, description }) => quote(`${name}:${description.replace(/[\\:]/g, '\\$&')}`))
    .join(' ');
}

/** Returns the script for zsh: a file `_reeve` in a folder of `fpath`, or sourced after `compinit`. */
export function zshScript(completion: CompletionWords): string {
  const { first, commands, common } = completion;
  const groups = groupsOf(completion);
  const groupCases = [...groups].map(([group, members]) => `    (${group}) choices=(${listOf(members)}) ;;`);
  const commandCases = commands.map(({ path, flags, words, takesPaths }) => {
    const paths = takesPaths ? '; paths=1' : '';
    return `    (${quote(path.join(' '))}) choices=(${words.join(' ')}); flags+=(${listOf(flags)})${paths} ;;`;
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
