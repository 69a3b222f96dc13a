import { spawn } from 'node:child_process';

/** `cat` ends when this process has: its end of the pipe is the only one. `timeout` exits with 124 if it ends `cat`. */
const SCRIPT = 'timeout "$1" cat; [ $? != 124 ] || kill -KILL "$2"';

/**
 * For an 'exit' listener: kills this process unless it ends within that time. exit(3) of Node waits for each thread, and
 * no signal but SIGKILL ends a thread in a system call. (A thread that waits uninterruptibly for a disk keeps even a
 * killed process, until the disk answers.)
 */
export function killUnlessEnded(seconds: number): void {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `${seconds}`, `${process.pid}`], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
}
