import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const BUNDLE = resolve(import.meta.dirname, '../../../dist/paddock.mjs');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
}

export interface How {
  url?: string;
  cwd?: string;
  input?: string;
  env?: Record<string, string>;
  bundle?: string;
}

/** Starts the built command line, in pipes and with an environment of its own. */
export function start(args: readonly string[], { url, cwd, input, env, bundle = BUNDLE }: How = {}): Started {
  const child = spawn(process.execPath, [bundle, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...(url && { PADDOCK_URL: url }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin!.on('error', () => undefined).end(input ?? '');
  const ended = Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  return { child, ended: ended.then(([stdout, stderr, code]) => ({ code, stdout, stderr })) };
}

export const cli = (args: readonly string[], how: How = {}): Promise<Ended> => start(args, how).ended;

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((done) => child.once('exit', (code) => done(code)));

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) text += piece;
  return text;
}
