import { type CompletionFlag, type CompletionWords, flagNames, groupsOf } from './completion-words.ts';

const namesOf = (flags: readonly CompletionFlag[]): string => flags.map(({ name }) => name).join(' ');

/** Returns the script for bash. It needs nothing of the package bash-completion. */
export function bashScript(completion: CompletionWords): string {
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
