import { type Completed, firstWords, secondWords } from './model.ts';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export function fishScript(commands: readonly Completed[]): string {
  const first = [...firstWords(commands)];
  const top = first.map(
    ([word, text]) => `complete -c paddock -n __fish_use_subcommand -f -a ${quoted(word)} -d ${quoted(text)}`,
  );
  const second = first.flatMap(([word]) =>
    secondWords(commands, word).map(
      (each) => `complete -c paddock -n '__fish_seen_subcommand_from ${word}' -f -a ${quoted(each)}`,
    ),
  );
  return `# Completion of paddock for fish: paddock completion fish | source
${[...top, ...second, ...commands.flatMap(linesOf)].join('\n')}
`;
}

function linesOf({ name, options, operands }: Completed): string[] {
  const [first = '', second] = name.split(' ');
  const seen = `__fish_seen_subcommand_from ${first}${second ? `; and __fish_seen_subcommand_from ${second}` : ''}`;
  const flags = options.map(({ name: option, short, value, help }) => {
    const names = `-l ${option}${short ? ` -s ${short}` : ''}${value ? ' -r' : ''}`;
    return `complete -c paddock -n ${quoted(seen)} ${names} -d ${quoted(help)}`;
  });
  if (operands === 'files') return flags;
  const ids =
    operands === 'copies'
      ? '(paddock completion sandboxes 2>/dev/null):'
      : `(paddock completion ${operands} 2>/dev/null)`;
  const files = operands === 'copies' ? '' : ' -f';
  return [...flags, `complete -c paddock -n ${quoted(seen)}${files} -a ${quoted(ids)}`];
}
