import { command } from '../command-line/command.ts';

/** Each asks `paddock __complete` for the words, with their help after a tab. None: files. */
const SCRIPTS = {
  bash: `_paddock() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(paddock __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
}
complete -o default -o bashdefault -F _paddock paddock
`,
  zsh: `#compdef paddock
_paddock() {
  local -a lines
  lines=("\${(@f)$(paddock __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z $lines[1] ]]; then _files
  elif [[ $lines[1] == *: ]]; then compadd -S '' -a lines
  else compadd -l -d lines -- "\${(@)lines%%$'\\t'*}"
  fi
}
compdef _paddock paddock
`,
  fish: `function __paddock_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (paddock __complete $words[2..] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c paddock -f -a '(__paddock_complete)'
`,
} as const;

export const completion = command({
  summary: 'print a script for the completion of a shell',
  details: 'It completes commands, options, and the names of what is on the server.',
  operands: { shell: { value: 'SHELL', count: 'one', oneOf: ['bash', 'zsh', 'fish'] } },
  options: {},
  examples: [
    'source <(paddock completion bash)',
    'source <(paddock completion zsh)',
    'paddock completion fish | source',
  ],
  async run({ out }, { operands: { shell } }) {
    out.bytes(SCRIPTS[shell as keyof typeof SCRIPTS]);
  },
});
