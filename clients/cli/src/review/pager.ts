import { spawn } from 'node:child_process';
import type { Context } from '../command-line/command.ts';

/**
 * Shows a text on standard error, or in the pager of the user if it has more lines than the terminal. What a pager fails to
 * show is printed. The signal ends the pager.
 */
export async function page(text: string, { out, env, signal }: Pick<Context, 'out' | 'env' | 'signal'>): Promise<void> {
  const pager = env.PADDOCK_PAGER ?? env.PAGER ?? 'less';
  const lines = text.split('\n').length;
  if (!process.stderr.isTTY || lines <= (process.stderr.rows ?? 24) || pager === '' || pager === 'cat') {
    out.errorBytes(text);
    return;
  }
  const isShown = await shownBy(pager, text, { env, signal });
  signal.throwIfAborted();
  if (!isShown) out.errorBytes(text);
}

function shownBy(pager: string, text: string, { env, signal }: Pick<Context, 'env' | 'signal'>): Promise<boolean> {
  // The threat: less can run commands and open files, and nothing of a sandbox may make it.
  const secure = { ...env, LESS: env.LESS ?? 'FRX', LESSSECURE: '1', LESSOPEN: '' };
  const { stderr } = process;
  const child = spawn('/bin/sh', ['-c', pager], { stdio: ['pipe', stderr, stderr], env: secure, signal });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
    // A pager that is left before the end.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
}
