import type { FileChange } from '../../typescript/src/contract/messages.ts';
import type { Options } from './command.ts';
import type { Output } from './output.ts';
import { quotedName } from './printable.ts';

/** Options that choose changes. */
export const CHOICE_OPTIONS = {
  exclude: { type: 'string', multiple: true, value: 'GLOB', help: 'not these paths' },
  scratch: { type: 'boolean', help: 'also what was written at scratch paths' },
} as const satisfies Options;

interface Choice {
  exclude?: readonly string[] | undefined;
  scratch?: boolean | undefined;
}

export const choiceOf = (paths: readonly string[], { exclude, scratch }: Choice) => ({
  ...(paths.length > 0 && { paths: paths.map(relative) }),
  ...(exclude && { exclude }),
  ...(scratch && { includeScratch: true }),
});

/** Paths may be those of commands. */
const relative = (path: string): string => path.replace(/^\/workspace(?=\/|$)/, '').replace(/^(\.?\/)+/, '');

const LETTERS = { CHANGE_ADDED: 'A', CHANGE_MODIFIED: 'M', CHANGE_DELETED: 'D' } as const;

/** "M src/main.ts" */
export function changeLine(change: FileChange, { green, red, yellow }: Output['paint']): string {
  const letter = LETTERS[change.kind];
  const painted = { A: green, M: yellow, D: red }[letter](letter);
  const slash = change.type === 'TYPE_DIRECTORY' ? '/' : '';
  const from = change.renamedFrom ? ` (was ${quotedName(change.renamedFrom)})` : '';
  return `${painted} ${quotedName(change.path)}${slash}${from}${change.conflict ? ' (conflict)' : ''}`;
}

/** Number of paths: "1 change", "2 changes". */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
