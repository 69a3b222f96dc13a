import { posix } from 'node:path';
import { UsageError } from '../command-line/errors.ts';

/** One side of a copy. */
export type Side =
  | { kind: 'stream' }
  | { kind: 'local'; path: string }
  /** `path`: relative to the workspace; empty: all of it. `contents`: what is in the directory, without it. */
  | { kind: 'sandbox'; sandbox: string; path: string; contents: boolean; slash: boolean };

/** As docker reads it: "SANDBOX:PATH", "-", or a local path, which begins with / or . if it has a colon. */
export function sideOf(given: string): Side {
  if (given === '-') return { kind: 'stream' };
  const colon = given.indexOf(':');
  if (colon <= 0 || given.startsWith('/') || given.startsWith('.')) return { kind: 'local', path: given };
  const text = given.slice(colon + 1);
  return {
    kind: 'sandbox',
    sandbox: given.slice(0, colon),
    path: inWorkspace(text),
    contents: /(^|\/)\.$/.test(text),
    slash: text.endsWith('/'),
  };
}

/** "/workspace/a", "/a" and "a" are the same path. */
function inWorkspace(text: string): string {
  const relative = posix
    .normalize(`/${text}`)
    .replace(/^\/workspace(?=\/|$)/, '')
    .replace(/^\/+|\/+$/g, '');
  // normalize() has dropped what leads out of the root: it is not silently another path.
  if (`/${text}`.split('/').includes('..')) throw new UsageError(`a path of a sandbox must not have "..": ${text}`);
  return relative;
}

/** For people: where it is inside the sandbox. */
export const shownPath = (path: string): string => (path === '' ? '/workspace' : `/workspace/${path}`);

export const nameOf = (path: string): string => (path === '' ? 'workspace' : posix.basename(path));

export const below = (directory: string, name: string): string => (directory === '' ? name : `${directory}/${name}`);
