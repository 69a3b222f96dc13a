import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The real home directories of this machine's users: root's HOME is not that of the person whose tools are in PATH. Users
 * of a directory service are not in the file, so all in /home are some.
 */
export function homesOf(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = linesOf('/etc/passwd').map((line) => line.split(':')[5] ?? '');
  const real = [env.HOME || homedir(), ...known, ...namesIn('/home')].flatMap(realOf);
  return [...new Set(real)].filter((each) => each !== '/');
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function realOf(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
