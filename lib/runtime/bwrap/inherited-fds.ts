import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors above 2 that child processes of this process would inherit. Node opens its own with close-on-exec, so
 * these came from the server's parent (a shell, a supervisor) and are constant for the process's lifetime.
 */
export function inheritedFds(): number[] {
  const fds: number[] = [];
  for (const name of readdirSync('/proc/self/fdinfo')) {
    try {
      const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'latin1'));
      if (Number(name) > 2 && flags && (Number.parseInt(flags[1]!, 8) & O_CLOEXEC) === 0) fds.push(Number(name));
    } catch {}
  }
  return fds;
}
