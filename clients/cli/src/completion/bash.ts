import { type Completed, firstWords, secondWords } from './model.ts';

/** Words of the table only: compgen -W expands what it is given. Ids of the server are compared, never expanded. */
export function bashScript(commands: readonly Completed[]): string {
  const groups = [...firstWords(commands).keys()].filter((word) => secondWords(commands, word).length > 0);
  const flags = ({ options }: Completed) =>
    options.flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])]).join(' ');
  return `# Completion of paddock for bash: source <(paddock completion bash)
_paddock_ids() {
  local id
  while IFS= read -r id; do
    [[ $id == "$2"* ]] && COMPREPLY+=("$id$3")
  done < <(paddock completion "$1" 2>/dev/null)
}
_paddock() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" command="" first="" word at
  COMPREPLY=()
  # A colon is a word of its own for readline.
  local whole="\${COMP_LINE:0:COMP_POINT}"
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    [[ $word == -* ]] && continue
    if [[ -z $first ]]; then first="$word"; command="$word"
    elif [[ $command == "$first" ]]; then
      case "$first $word" in
${commands
  .filter(({ name }) => name.includes(' '))
  .map(({ name }) => `        "${name}") command="$first $word" ;;`)
  .join('\n')}
      esac
      break
    fi
  done
  if [[ -z $first ]]; then
    COMPREPLY=($(compgen -W "${[...firstWords(commands).keys()].join(' ')}" -- "$cur"))
    return
  fi
  if [[ $cur == -* ]]; then
    case "$command" in
${commands.map((each) => `      "${each.name}") COMPREPLY=($(compgen -W "${flags(each)}" -- "$cur")) ;;`).join('\n')}
    esac
    return
  fi
  case "$command" in
${groups.map((word) => `    "${word}") COMPREPLY=($(compgen -W "${secondWords(commands, word).join(' ')}" -- "$cur")) ;;`).join('\n')}
  esac
  case "$command" in
${commands
  .filter(({ operands }) => operands !== 'files')
  .map(({ name, operands }) => `    "${name}") ${idsOf(operands)} ;;`)
  .join('\n')}
  esac
}
complete -o default -o bashdefault -F _paddock paddock
`;
}

function idsOf(operands: Completed['operands']): string {
  if (operands === 'copies')
    return '[[ $whole != *: ]] && { _paddock_ids sandboxes "$cur" :; compopt -o nospace 2>/dev/null; }';
  return `_paddock_ids ${operands} "$cur"`;
}
