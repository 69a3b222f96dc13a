import { resolve } from 'node:path';
import type { Duration, Paddock, Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { follow } from '../exec/follow.ts';
import { startIn } from '../exec/start.ts';

interface How {
  argv: readonly string[];
  interactive: boolean;
  tty: boolean;
  workdir: string | undefined;
  timeout: Duration | undefined;
  keep: boolean;
}

/** Runs the command to its end; signals go to it. Returns its exit code. */
export async function execute(context: Context, paddock: Paddock, sandbox: Sandbox, how: How): Promise<number> {
  const { argv, interactive, tty, timeout } = how;
  const workdir = workdirOf(sandbox, how.workdir);
  const terminal = tty ? (await import('../terminal/local-terminal.ts')).terminalSize() : undefined;
  const target = await startIn(paddock, sandbox.id, argv, { workdir, timeout, stdin: interactive, terminal }, context);
  if (!tty) {
    // Standard output is for the result.
    const stdout = context.out.json ? process.stderr : process.stdout;
    const inputOffset = interactive ? 0 : undefined;
    return follow(context, paddock, target, { offset: 0, inputOffset, forward: true, stdout, last: !how.keep });
  }
  const { interact } = await import('../terminal/interact.ts');
  // Nothing goes on without this program: there are no keys to leave it.
  return interact(context, target, { offset: 0, input: interactive, detachKeys: [] });
}

/** A relative one starts at the directory's own path, if the sandbox has it there. */
function workdirOf({ info: { workspacePath } }: Sandbox, workdir: string | undefined): string | undefined {
  if (!workspacePath) return workdir;
  return resolve(workspacePath, workdir ?? '.');
}
