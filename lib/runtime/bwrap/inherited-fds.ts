import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/**
 * This process's descriptors above 2 that a program it starts would inherit. Node opens its own close-on-exec, so these
 * came from whoever started the server (a shell, a supervisor): constant for its lifetime.
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
