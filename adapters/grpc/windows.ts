import type { Http2Session } from 'node:http2';

/**
 * Bytes that a client may send before the server has read them, of each stream. With HTTP/2's 64 KiB a client of large
 * files waits for the server after each of its frames.
 */
const WIDEST = 1 << 20;
const NARROWEST = 65_535;
/** The same of all client streams of a connection, before each has the narrowest window. */
const OF_CONNECTION = 16 << 20;

interface Windows {
  streams: number;
  size: number;
}

const WINDOWS = Symbol('windows');
type Windowed = Http2Session & { [WINDOWS]?: Windows };

/**
 * Must be called when a client stream begins, and the returned function when it ends. grpc-js has no such option for servers.
 * The more streams a connection has, the less each may send ahead: what is not read is held in memory.
 */
export function widen(session: Windowed | undefined): () => void {
  if (!session || session.destroyed) return () => undefined;
  const windows = session[WINDOWS] ?? begin(session);
  windows.streams++;
  adapt(session, windows);
  return () => {
    windows.streams--;
  };
}

function begin(session: Windowed): Windows {
  const windows = { streams: 0, size: NARROWEST };
  session[WINDOWS] = windows;
  session.setLocalWindowSize(WIDEST);
  // The streams may have become more until the client acknowledges the last change.
  session.on('localSettings', () => adapt(session, windows));
  return windows;
}

/** Windows become wide again when the connection has one stream. */
function adapt(session: Http2Session, windows: Windows): void {
  const { streams } = windows;
  const fitting = WIDEST / 2 ** Math.max(0, Math.ceil(Math.log2((streams * WIDEST) / OF_CONNECTION)));
  const size = Math.max(NARROWEST, streams <= 1 ? WIDEST : Math.min(fitting, windows.size));
  if (size === windows.size || session.destroyed || session.closed || session.pendingSettingsAck) return;
  windows.size = size;
  session.settings({ initialWindowSize: size });
}
