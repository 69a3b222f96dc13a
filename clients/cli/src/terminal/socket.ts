import { WebSocket } from 'ws';

/** The server sends a ping every 20 seconds. */
const SILENCE_MS = 65_000;
const HANDSHAKE_MS = 15_000;

/** A WebSocket that ends when nothing comes from the server any more, as after a change of the network. */
export class Socket extends WebSocket {
  constructor(url: string) {
    super(url, { perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS });
    let heard = performance.now();
    const seen = () => {
      heard = performance.now();
    };
    this.on('ping', seen).on('message', seen).on('pong', seen).on('open', seen);
    // While it is paused nothing is heard.
    const watch = setInterval(() => {
      if (this.isPaused) seen();
      else if (performance.now() - heard > SILENCE_MS) this.terminate();
    }, SILENCE_MS / 8);
    this.once('close', () => clearInterval(watch));
  }
}
