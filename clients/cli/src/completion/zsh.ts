import { type Completed, firstWords, secondWords } from './model.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** Between the brackets of _arguments. */
const help = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');

export function zshScript(commands: readonly Completed[]): string {
  return `#compdef paddock
# Completion of paddock for zsh: source <(paddock completion zsh)
_paddock_ids() {
  local -a ids
  ids=(\${(f)"$(paddock completion $1 2>/dev/null)"})
  compadd -S "$2" -a ids
}
_paddock() {
  local -a words_of
  if (( CURRENT == 2 )); then
    words_of=(${[...firstWords(commands)].map(([word, text]) => quoted(`${word}:${text.replaceAll(':', ' -')}`)).join(' ')})
    _describe command words_of
    return
  fi
  case "$words[2] $words[3]" in
${commands
  .filter(({ name }) => name.includes(' '))
  .map((each) => `    ${quoted(each.name)}) shift 2 words; (( CURRENT -= 2 )); ${argumentsOf(each)}; return ;;`)
  .join('\n')}
  esac
  local first="$words[2]"
  shift words; (( CURRENT -= 1 ))
  case "$first" in
${[...firstWords(commands).keys()].map((word) => `    ${quoted(word)}) ${oneOf(commands, word)} ;;`).join('\n')}
  esac
}
compdef _paddock paddock
`;
}

function oneOf(commands: readonly Completed[], word: string): string {
  const second = secondWords(commands, word);
  const own = commands.find(({ name }) => name === word);
  const inner = second.length > 0 ? `(( CURRENT == 2 )) && compadd ${second.join(' ')}; ` : '';
  return `${inner}${own ? argumentsOf(own) : ':'}`;
}

function argumentsOf({ options, operands }: Completed): string {
  const flags = options.flatMap(({ name, short, value, help: text }) => {
    const rest = `[${help(text)}]${value ? `:${name}:_files` : ''}`;
    return [quoted(`*--${name}${rest}`), ...(short ? [quoted(`*-${short}${rest}`)] : [])];
  });
  const ids = operands === 'copies' ? '_paddock_ids sandboxes \\:; _files' : `_paddock_ids ${operands}`;
  const action = operands === 'files' ? "'*:file:_files'" : quoted(`*:operand:{ ${ids} }`);
  return `_arguments ${flags.join(' ')} ${action}`;
}
