/** Transfers over gRPC by a client that costs little: it counts bytes, where grpc-js copies and decodes each message. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';

const FRAME_BYTES = 5;
const WINDOW = 2 ** 22;
const PROTO = join(import.meta.dirname, '../../proto');

export class LeanGrpc {
  #session;
  #methods;

  /** @param {string} address */
  static async open(address) {
    const client = new LeanGrpc();
    const definition = loadSync('service/v1/sandbox.proto', { keepCase: true, enums: String, includeDirs: [PROTO] });
    client.#methods = /** @type {any} */ (definition['service.v1.SandboxService']);
    client.#session = connect(`http://${address}`, { settings: { initialWindowSize: WINDOW } });
    await once(client.#session, 'connect');
    client.#session.setLocalWindowSize(WINDOW);
    return client;
  }

  close() {
    this.#session.destroy();
  }

  /** The request in its gRPC frame. */
  frame(rpc, message) {
    const bytes = this.#methods[rpc].requestSerialize(message);
    const head = Buffer.alloc(FRAME_BYTES);
    head.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([head, bytes]);
  }

  /**
   * Sends the frames and returns the number of bytes in the answer.
   *
   * @param {string} rpc
   * @param {Iterable<Buffer>} frames
   */
  async call(rpc, frames) {
    const { bytes, status } = await this.send(this.#methods[rpc].path, frames);
    if (status !== '0') throw new Error(`${rpc}: status ${status}`);
    return bytes;
  }

  /**
   * @param {string} path
   * @param {Iterable<Buffer>} frames
   */
  async send(path, frames) {
    const headers = { 'content-type': 'application/grpc', te: 'trailers' };
    const stream = this.#session.request({ ':method': 'POST', ':path': path, ...headers });
    let bytes = 0;
    let status = '';
    stream.on('data', (data) => {
      bytes += data.length;
    });
    stream.on('trailers', (trailers) => {
      status = String(trailers['grpc-status']);
    });
    const ended = once(stream, 'end');
    for (const frame of frames) if (!stream.write(frame)) await once(stream, 'drain');
    stream.end();
    await ended;
    return { bytes, status };
  }
}
