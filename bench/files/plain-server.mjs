/** The peer: node:http over plain files. A PUT is whole, too: it is written under another name and renamed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const CHUNK = 1 << 20;
const SMALL = 65_536;

/** The bench's side. The caller must call `stop`. */
export class PlainServer {
  #child;
  address;

  /** @param {string} directory */
  static async start(directory) {
    const server = new PlainServer();
    server.#child = fork(fileURLToPath(import.meta.url), ['--serve', directory]);
    const [port] = await once(server.#child, 'message');
    server.address = { host: '127.0.0.1', port };
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
  server.listen(0, '127.0.0.1', () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.send?.(address.port);
  });
  process.on('disconnect', () => process.exit());
}
