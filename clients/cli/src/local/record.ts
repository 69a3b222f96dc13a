import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CliError } from '../command-line/errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A server that this command line started. */
export interface LocalServer {
  pid: number;
  /** Of the process, in ticks since the boot: its id may be used again. */
  startedAt: string;
  url: string;
  /** Admin key: only who can read the directory can use the server. */
  key: string;
  /** Digest of the user's settings that it was started with. */
  settings: string;
}

/** Directory of the local server: its state, configuration, log and record. */
export function localDirectory(env: Env): string {
  const own = env.PADDOCK_LOCAL_STATE;
  if (own && !isAbsolute(own)) throw new CliError('PADDOCK_LOCAL_STATE must be an absolute path');
  if (own) return own;
  if (process.geteuid?.() === 0) return '/var/lib/paddock-local';
  const state = env.XDG_STATE_HOME;
  return join(state && isAbsolute(state) ? state : join(env.HOME || homedir(), '.local/state'), 'paddock-local');
}

/** Creates the directory, for this user alone. Throws if it belongs to another one, who could exchange its files. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CliError(`the local server needs a directory for its state: ${(error as Error).message}`);
  }
  const { uid } = statSync(directory);
  if (uid !== process.geteuid?.()) throw new CliError(`${directory} belongs to user ${uid}`);
  chmodSync(directory, 0o700);
}

const file = (directory: string): string => join(directory, 'server.json');

/** The server, if its process still runs. */
export function readLocal(directory: string): LocalServer | undefined {
  let record: LocalServer;
  try {
    const { uid, mode } = statSync(file(directory));
    if (uid !== process.geteuid?.() || (mode & 0o077) !== 0) return undefined;
    record = JSON.parse(readFileSync(file(directory), 'utf8'));
  } catch {
    return undefined;
  }
  const { pid, startedAt } = record ?? {};
  return startedAt !== undefined && startTimeOf(pid) === startedAt ? record : undefined;
}

export function writeLocal(directory: string, record: LocalServer): void {
  const temporary = `${file(directory)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file(directory));
}

export function removeLocal(directory: string): void {
  rmSync(file(directory), { force: true });
}

/** Field 22 of /proc/PID/stat; the name of the program before it may contain anything. undefined: it has ended. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
