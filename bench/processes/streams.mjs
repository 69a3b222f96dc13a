/** Streams of output to clients that only count them, over both protocols. */
import { request } from 'node:http';
import { resolve } from 'node:path';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** In seconds; sufficient for a busy machine. */
const TIMEOUT = 300;
const WINDOW = { 'grpc-node.flow_control_window': 2 ** 20 };
const PROTO = resolve(import.meta.dirname, '../../proto');

/** Output of ExecStream over REST. Resolves to the number of bytes. */
export async function execStream(server, id, bytes) {
  const body = { command: `head -c ${bytes} /dev/zero`, timeout: TIMEOUT };
  const { size, end } = await jsonLines(server, 'POST', `/v1/sandboxes/${id}/exec/stream`, body);
  if (size < (bytes * 4) / 3 || !end.includes('"exit_code":0')) throw new Error(`ExecStream ended with ${end}`);
  return bytes;
}

/** Output of ExecStream over gRPC. Resolves to the number of bytes. */
export async function execStreamOverGrpc(server, id, bytes) {
  const request = { sandbox_id: id, command: `head -c ${bytes} /dev/zero`, timeout: TIMEOUT };
  let received = 0;
  for await (const { data } of server.streamOverGrpc(request, WINDOW)) received += data.length;
  if (received !== bytes) throw new Error(`ExecStream ended after ${received} bytes`);
  return received;
}

/** Output of a process over REST. Resolves to the number of bytes that came; the log had dropped the others. */
export async function watch(server, id, process_id) {
  const { size, end } = await jsonLines(server, 'GET', `/v1/sandboxes/${id}/processes/${process_id}/events?offset=0`);
  if (!end.includes('"exited"')) throw new Error(`WatchProcess ended with ${end}`);
  return Math.floor((size * 3) / 4);
}

/** Output of a process over gRPC. Resolves to the number of bytes that came; the log had dropped the others. */
export async function watchOverGrpc(server, id, process_id) {
  const client = processClient(server.grpcAddress);
  try {
    let received = 0;
    let reason;
    for await (const event of client.WatchProcess({ sandbox_id: id, process_id })) {
      received += event.data.length;
      reason = event.end?.reason ?? reason;
    }
    if (reason !== 'exited') throw new Error(`WatchProcess ended with ${reason}`);
    return received;
  } finally {
    client.close();
  }
}

function processClient(address) {
  const definition = loadSync('service/v1/process.proto', {
    keepCase: true,
    enums: String,
    longs: Number,
    includeDirs: [PROTO],
  });
  const { ProcessService } = /** @type {any} */ (loadPackageDefinition(definition)).service.v1;
  return new ProcessService(address, credentials.createInsecure(), WINDOW);
}

/**
 * Counts the bytes of an answer in JSON lines, and returns its last 300.
 * @returns {Promise<{ size: number, end: string }>}
 */
function jsonLines(server, method, path, body) {
  return new Promise((done, failed) => {
    const sending = request({ ...server.address, agent: server.agent, method, path }, (answer) => {
      let size = 0;
      let last = Buffer.alloc(0);
      answer.on('data', (data) => {
        size += data.length;
        last = data.length > 300 ? data : Buffer.concat([last, data]);
      });
      answer.once('error', failed);
      answer.once('end', () => done({ size, end: last.subarray(-300).toString() }));
    });
    sending.once('error', failed).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
