import type { Sandbox } from 'paddock-sandbox';

interface Link {
  createdAt: Date;
  link: string;
}

/** The links that this program has: only OpenPort tells a token, and opening a port again cuts the connections. */
const links = new WeakMap<Sandbox, Map<number, Promise<Link>>>();

/**
 * A URL of a server in the sandbox, with the token that admits whoever has it. Opens the port, unless this program has opened it
 * for the same object. `protocol`: `ws` and `wss` for a WebSocket. Whether it is with TLS is the server's matter.
 */
export async function portLink(sandbox: Sandbox, port: number, protocol = 'http'): Promise<URL> {
  const known = links.get(sandbox) ?? new Map<number, Promise<Link>>();
  links.set(sandbox, known);
  const before = known.get(port);
  const opening = before === undefined ? open(sandbox, port) : again(sandbox, port, before);
  known.set(port, opening);
  try {
    const url = new URL((await opening).link);
    if (protocol.startsWith('ws')) url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    return url;
  } catch (error) {
    if (known.get(port) === opening) known.delete(port);
    throw error;
  }
}

/** Closes a port that `portLink` has opened. */
export async function closeLink(sandbox: Sandbox, port: number): Promise<void> {
  links.get(sandbox)?.delete(port);
  await sandbox.ports.close(port);
}

/** The port may have been closed, or opened by somebody else, meanwhile. */
async function again(sandbox: Sandbox, port: number, before: Promise<Link>): Promise<Link> {
  const link = await before;
  const opened = (await sandbox.ports.opened()).find((each) => each.port === port);
  return opened?.access === 'link' && opened.createdAt.getTime() === link.createdAt.getTime()
    ? link
    : open(sandbox, port);
}

async function open(sandbox: Sandbox, port: number): Promise<Link> {
  const { createdAt, link } = await sandbox.ports.open(port, { access: 'link' });
  return { createdAt, link };
}
