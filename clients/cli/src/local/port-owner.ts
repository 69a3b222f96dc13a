import { readFileSync } from 'node:fs';

const LISTEN = '0A';

/**
 * The user who listens on a port of 127.0.0.1; undefined: nobody, or it cannot be told. The threat: another user of this
 * machine listens at the default address, and gets what is uploaded.
 */
export function portOwner(port: number): number | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  for (const [file, hosts] of [
    ['/proc/net/tcp', ['0100007F', '00000000']],
    ['/proc/net/tcp6', ['00000000000000000000000000000000', '0000000000000000FFFF00000100007F']],
  ] as const) {
    for (const line of linesOf(file)) {
      const [, local = '', , state, , , , uid] = line.trim().split(/\s+/);
      const [host, listening] = local.split(':');
      if (state === LISTEN && listening === hex && hosts.some((each) => each === host)) return Number(uid);
    }
  }
  return undefined;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}
