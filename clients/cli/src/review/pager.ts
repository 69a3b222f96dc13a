import { spawn } from 'node:child_process';
import type { Output } from '../output.ts';

/** Shows a text on standard error, or in the pager of the user if it has more lines than the terminal. */
export async function page(
  text: string,
  out: Output,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const pager = env.PADDOCK_PAGER ?? env.PAGER ?? 'less';
  const lines = text.split('\n').length;
  if (!process.stderr.isTTY || lines <= (process.stderr.rows ?? 24) || pager === '' || pager === 'cat') {
    out.errorBytes(text);
    return;
  }
  if (!(await shownBy(pager, text, env))) out.errorBytes(text);
}

/** False: there is no such program. */
function shownBy(pager: string, text: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  // The threat: less can run commands and open files, and nothing of a sandbox may make it.
  const secure = { ...env, LESS: env.LESS ?? 'FRX', LESSSECURE: '1', LESSOPEN: '' };
  const child = spawn('/bin/sh', ['-c', pager], { stdio: ['pipe', process.stderr, process.stderr], env: secure });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code !== 127));
    // A pager that is left before the end.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
}
