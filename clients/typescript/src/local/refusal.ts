import { sep } from 'node:path';
import type { LocalRefusal } from '../contract/messages.ts';

/** Why something is not brought to a local directory; never, unless a field says what brings it. */
export interface Refusal {
  reason: string;
  /** The path that must be allowed for it. */
  allow?: string | undefined;
  /** The option of `pull` that must be larger for it. */
  option?: 'maxBytes' | undefined;
  /** Another pull may bring it. */
  again?: true | undefined;
}

/** Whether it is left in the sandbox for another pull. */
export const isLeft = ({ allow, option, again }: Refusal): boolean => (allow ?? option ?? again) !== undefined;

/** What its user lets come. */
export interface Asked {
  /** Also what is in `.git`, except what git would run. */
  git: boolean;
  /** Paths that may come, each with everything below, although tools run them on sight or values are lost. Empty: all. */
  allow: readonly string[];
}

/** Where a backslash separates, a colon names a drive or a stream of another file. */
export const isPath = (path: string, separator = sep): boolean =>
  path.split('/').every((name) => !/^\.{0,2}$|\0/.test(name) && (separator === '/' || !/[\\:]/.test(name)));

export const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** Where upper and lower case are one. */
export const folded = (path: string): string => path.normalize('NFC').toLowerCase();

/** What is left of a refusal with what was asked for. undefined: it comes. */
export function refusalFor(
  path: string,
  refusal: LocalRefusal | undefined,
  { git, allow }: Asked,
): Refusal | undefined {
  if (refusal === undefined) return undefined;
  const { reason, allow: needed } = refusal;
  if (refusal.git ? !git : needed === '') return { reason };
  if (needed === '' || allow.some((each) => each === '' || isWithin(path, each))) return undefined;
  return { reason, allow: needed };
}
