/** A TCP socket that listens. */
export interface ListeningSocket {
  port: number;
  /** Textual IP address. */
  address: string;
  /** Number in the link text of its descriptors, `socket:[INODE]`. */
  inode: string;
}

/** State LISTEN in `/proc/PID/net/tcp` (TCP_LISTEN in the kernel's tcp_states.h). */
const LISTEN = '0A';

/**
 * Returns the listening sockets in the text of `/proc/PID/net/tcp` or `tcp6`; see proc_pid_net(5). Each address is one or
 * four words in hexadecimal, each in the byte order of the machine (little-endian on all that Node runs on).
 */
export function listeningSockets(text: string): ListeningSocket[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      const [address = '', port = ''] = local.split(':');
      if (state !== LISTEN || inode === undefined) return [];
      return [{ port: Number.parseInt(port, 16), address: addressOf(address), inode }];
    });
}

function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  // The parser of URLs shortens zeros as RFC 5952 says.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
