import { spawn } from 'node:child_process';

/** How a program ended. */
export interface Outcome {
  /** Exit status; null after a signal. */
  code: number | null;
  /** Its messages on one line. */
  stderr: string;
}

/**
 * Runs a program and waits for its end, however long that takes. Its working directory is '/', which is never inside a
 * mount that does not answer. `fd3`, if given, becomes its descriptor 3; the caller closes it. Rejects only if the
 * program cannot be started.
 */
export function run(command: string, args: readonly string[], fd3?: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'ignore', 'pipe', ...(fd3 === undefined ? [] : [fd3])] as const;
    const child = spawn(command, args, { cwd: '/', stdio: [...stdio] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    // If reading fails, the rest of the messages is lost.
    child.stderr?.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stderr: stderr.trim().replaceAll('\n', '; ') }));
  });
}
