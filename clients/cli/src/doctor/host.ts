import { execFile } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';

/** What the checks see of this machine. They look; they change nothing. */
export interface Host {
  readonly platform: string;
  readonly nodeVersion: string;
  /** Effective user id. */
  readonly uid: number;
  /** Name of the user. */
  readonly user: string;
  /** Text of a small file; undefined: it cannot be read. */
  read(path: string): string | undefined;
  isWritable(path: string): boolean;
  /** What a character device says when it is opened; undefined: it is there, and can be used. */
  deviceError(path: string): string | undefined;
  /** Output of a program, or why it failed. */
  run(program: string, args: readonly string[]): Promise<{ ok: boolean; text: string }>;
}

/** A user of a container may have no entry. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

const PROGRAM_MS = 10_000;

export const thisHost = (): Host => ({
  platform: process.platform,
  nodeVersion: process.versions.node,
  uid: process.geteuid?.() ?? -1,
  user: userName(),
  read(path) {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      return undefined;
    }
  },
  isWritable(path) {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  deviceError(path) {
    try {
      if (!statSync(path).isCharacterDevice()) return 'it is no device';
      closeSync(openSync(path, constants.O_RDWR));
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'it cannot be opened';
    }
  },
  run: (program, args) =>
    new Promise((resolve) => {
      execFile(program, [...args], { timeout: PROGRAM_MS }, (error, stdout, stderr) => {
        const missing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';
        const said = (error ? stderr || stdout || error.message : stdout).trim().split('\n').at(-1) ?? '';
        resolve({ ok: error === null, text: missing ? 'it is not installed' : said });
      });
    }),
});
