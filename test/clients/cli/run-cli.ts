import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const BUNDLE = join(resolve(import.meta.dirname, '../../..'), 'dist/paddock.mjs');

/** The built command line, for a shell. */
export const CLI = `${process.execPath} ${BUNDLE}`;

export interface Run {
  exitCode: number | null;
  stdout: Buffer;
  stderr: string;
}

/** Runs the built command line without a terminal. */
export async function runCli(
  args: readonly string[],
  {
    url,
    input,
    env,
    onOutput,
  }: { url: string; input?: Uint8Array | undefined; env?: Record<string, string>; onOutput?: () => void },
): Promise<Run> {
  const child = spawn(process.execPath, [BUNDLE, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', PADDOCK_URL: url, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined).end(input ?? '');
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (data: Buffer) => {
    stdout.push(data);
    onOutput?.();
  });
  child.stderr.on('data', (data: Buffer) => stderr.push(data));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}
