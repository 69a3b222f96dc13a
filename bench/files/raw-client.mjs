/** One kept connection that sends requests as text and counts the bytes of answers: a client that costs little. */
import { once } from 'node:events';
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

export class RawClient {
  #socket;
  /** @type {(result: { status: number, bytes: number }) => void} */
  #answered = () => {};
  #head = Buffer.alloc(0);
  #status = 0;
  #left = -1;
  #bytes = 0;

  /** @param {{ host: string, port: number }} address */
  static async open(address) {
    const client = new RawClient();
    client.#socket = connect(address).setNoDelay(true);
    await once(client.#socket, 'connect');
    client.#socket.on('data', (data) => client.#receive(data));
    return client;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Buffer} [body]
   */
  async call(method, path, body) {
    const length = body === undefined ? '' : `content-length: ${body.length}\r\n`;
    const answered = new Promise((resolve) => {
      this.#answered = resolve;
    });
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n`);
    if (body !== undefined) this.#socket.write(body);
    const { status, bytes } = await answered;
    if (status !== 200) throw new Error(`${method} ${path}: ${status}`);
    return bytes;
  }

  close() {
    this.#socket.destroy();
  }

  #receive(data) {
    let rest = data;
    if (this.#left < 0) {
      this.#head = this.#head.length === 0 ? data : Buffer.concat([this.#head, data]);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      this.#status = Number(head.slice(9, 12));
      this.#left = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      // A short answer with chunks has one chunk, and arrives whole.
      if (/^transfer-encoding/im.test(head)) this.#left = this.#head.length - end - 4;
      this.#bytes = this.#left;
      rest = this.#head.subarray(end + 4);
      this.#head = Buffer.alloc(0);
    }
    this.#left -= rest.length;
    if (this.#left > 0) return;
    this.#left = -1;
    this.#answered({ status: this.#status, bytes: this.#bytes });
  }
}
