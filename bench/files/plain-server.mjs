/**
 * The peer: node:http and node:http2 over plain files. A PUT is whole, too: it is written under another name and renamed. What is
 * sent over HTTP/2 is stored as it is, in its frames of gRPC.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const CHUNK = 1 << 20;
const SMALL = 65_536;
/** In its frame of gRPC. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** The bench's side. The caller must call `stop`. */
export class PlainServer {
  #child;
  address;
  /** Host and port, of HTTP/2. */
  http2Address;

  /** @param {string} directory */
  static async start(directory) {
    const server = new PlainServer();
    server.#child = fork(fileURLToPath(import.meta.url), ['--serve', directory]);
    const [[port, http2Port]] = await once(server.#child, 'message');
    server.address = { host: '127.0.0.1', port };
    server.http2Address = `127.0.0.1:${http2Port}`;
    return server;
  }

  stop() {
    this.#child?.kill();
  }
}

/**
 * @param {string} path
 * @param {import('node:http').ServerResponse} res
 */
async function get(path, res) {
  const file = await open(path);
  const { size } = await file.stat();
  res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  if (size > SMALL) {
    await pipeline(createReadStream('', { fd: file, highWaterMark: CHUNK }), res);
    return;
  }
  const { buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
  await file.close();
  res.end(buffer);
}

/**
 * The pieces as messages whose field 1 they are: https://protobuf.dev/programming-guides/encoding/.
 *
 * @param {AsyncIterable<Buffer>} pieces
 */
async function* framed(pieces) {
  for await (const piece of pieces) {
    const field = [0x0a];
    for (let rest = piece.length; rest > 0; rest >>= 7) field.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    const head = Buffer.alloc(5 + field.length);
    head.writeUInt32BE(field.length + piece.length, 1);
    head.set(field, 5);
    yield head;
    yield piece;
  }
}

/** @param {import('node:http2').ServerHttp2Stream} stream */
function respondToRpc(stream) {
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
}

/**
 * Answers ReadFile with the bytes of a file that a PUT has written.
 *
 * @param {import('node:http2').ServerHttp2Stream} stream
 * @param {string} path
 */
async function sendMessages(stream, path) {
  respondToRpc(stream);
  stream.resume();
  const pieces = createReadStream(path, { highWaterMark: CHUNK });
  // The client closes its connection once it has the trailers, and counts the bytes itself.
  await pipeline(pieces, framed, stream).catch(() => {});
}

if (process.argv.includes('--serve') && process.send) {
  const directory = process.argv.at(-1) ?? '';
  let count = 0;
  const server = createServer(async (req, res) => {
    const path = join(directory, 'file');
    if (req.method === 'GET') return get(path, res);
    const staged = join(directory, `staged-${count++}`);
    await pipeline(req, createWriteStream(staged, { highWaterMark: CHUNK }));
    await rename(staged, path);
    res.end('{}');
  });
  const http2 = createHttp2Server({ settings: { initialWindowSize: CHUNK } });
  http2.on('session', (session) => session.setLocalWindowSize(CHUNK));
  http2.on('stream', async (stream, headers) => {
    const path = join(directory, 'file');
    const rpc = headers[':path']?.split('/').at(-1);
    if (rpc === 'ReadFile') return sendMessages(stream, path);
    if (rpc === 'WriteFile') respondToRpc(stream);
    else stream.respond();
    if (headers[':path'] === '/down') {
      // A request that nobody reads to its end makes the close of the stream a premature one.
      stream.resume();
      await pipeline(createReadStream(path, { highWaterMark: CHUNK }), stream);
      return;
    }
    const staged = join(directory, `staged-${count++}`);
    await pipeline(stream, createWriteStream(staged, { highWaterMark: CHUNK }));
    await rename(staged, path);
    stream.end(rpc === 'WriteFile' ? EMPTY_MESSAGE : undefined);
  });
  const ports = [server, http2].map(async (each) => {
    await once(each.listen(0, '127.0.0.1'), 'listening');
    return /** @type {import('node:net').AddressInfo} */ (each.address()).port;
  });
  process.send?.(await Promise.all(ports));
  process.on('disconnect', () => process.exit());
}
