/**
 * Sends requests that are large, compressed or never complete until it is killed. A process of its own, so that it has its own
 * priority and memory. Its argument: `{http, grpc, key, attack}` as JSON.
 */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export const ATTACKER = fileURLToPath(import.meta.url);
const MIB = 2 ** 20;
const PAUSE_MS = 20;
const CREATE = '/service.v1.SandboxService/CreateSandbox';
const EXEC = '/service.v1.SandboxService/Exec';
/** What is compressed, once. */
let packed;

/** Each: connections at once, and what one of them does from its beginning to its end. */
export const ATTACKS = {
  '5 messages of 20 million empty rules': [5, rules],
  '20 streams of 60 MiB': [20, stream],
  '200 streams of 60 MiB': [200, stream],
  '100 gzip bombs of 63 MiB': [100, bomb],
  '40 JSON bodies of 60 MiB': [40, body],
  '400 JSON bodies of 60 MiB': [400, body],
};

if (process.argv[1] === ATTACKER) {
  const target = JSON.parse(process.argv[2] ?? '{}');
  const [connections, attack] = ATTACKS[target.attack];
  for (let index = 0; index < connections; index++) {
    void (async () => {
      for (;;) {
        await attack(target);
        await delay(PAUSE_MS);
      }
    })();
  }
}

function rules(target) {
  const empty = Buffer.alloc(40_000_000, Buffer.of(0x12, 0));
  // Field 17, `network`, of 40,000,000 bytes.
  packed ??= gzipSync(Buffer.concat([Buffer.of(0x8a, 0x01, 0x80, 0xb4, 0x89, 0x13), empty]));
  return call(target, CREATE, { flag: 1, length: packed.length, bytes: packed, size: packed.length });
}

function bomb(target) {
  packed ??= gzipSync(Buffer.alloc(63 * MIB));
  return call(target, EXEC, { flag: 1, length: packed.length, bytes: packed, size: packed.length });
}

function stream(target) {
  return call(target, EXEC, { flag: 0, length: 60 * MIB, bytes: Buffer.alloc(65_536, 'x'), size: 59 * MIB });
}

/** One message of `length` bytes, of which `size` are sent, on a connection of its own. */
async function call({ grpc, key }, path, { flag, length, bytes, size }) {
  const session = connectHttp2(`http://${grpc}`).on('error', () => undefined);
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
  const sent = session.request({ ...head, 'x-api-key': key, ...(flag === 1 && { 'grpc-encoding': 'gzip' }) });
  const closed = new Promise((done) => {
    sent.once('close', done).on('error', done);
  });
  sent.resume();
  const frame = Buffer.alloc(5);
  frame[0] = flag;
  frame.writeUInt32BE(length, 1);
  sent.write(frame);
  for (let left = size; left > 0 && !sent.destroyed; left -= bytes.length) {
    if (!sent.write(bytes)) await Promise.race([once(sent, 'drain').catch(() => undefined), closed]);
  }
  if (size === length) sent.end();
  await closed;
  session.destroy();
}

async function body({ http, key }) {
  const socket = connect(http).on('error', () => undefined);
  const closed = new Promise((done) => {
    socket.once('close', done);
  });
  socket.resume();
  const head = `POST /v1/sandboxes/sb_x/exec HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nd\r\n{"command":"x\r\n`);
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
  for (let left = 60 * MIB; left > 0 && !socket.destroyed; left -= 65_536) {
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  }
  await closed;
}
