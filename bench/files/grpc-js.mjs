/** Transfers with the usual client of gRPC, over a connection of its own. Its copies and its decoding are part of the time. */
import { once } from 'node:events';
import { join } from 'node:path';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const MIB = 2 ** 20;
const OPTIONS = { 'grpc-node.flow_control_window': 4 * MIB };
const PROTO = join(import.meta.dirname, '../../proto');
const { service } = /** @type {any} */ (
  loadPackageDefinition(loadSync('service/v1/sandbox.proto', { keepCase: true, includeDirs: [PROTO] }))
);

/**
 * Sends the content in pieces of 1 MiB.
 *
 * @param {string} address
 * @param {object} file
 * @param {Buffer} content
 */
export async function uploaded(address, file, content) {
  await withClient(address, async (client) => {
    /** @type {any} */
    let call;
    const answered = new Promise((done, failed) => {
      call = client.WriteFile((error) => (error ? failed(error) : done(undefined)));
    });
    for (let at = 0; at < content.length; at += MIB) {
      const chunk = content.subarray(at, at + MIB);
      if (!call.write(at === 0 ? { ...file, chunk } : { chunk })) await once(call, 'drain');
    }
    call.end();
    await answered;
  });
}

/**
 * Throws if the file has fewer bytes.
 *
 * @param {string} address
 * @param {object} file
 * @param {number} size
 */
export async function downloaded(address, file, size) {
  await withClient(address, async (client) => {
    let bytes = 0;
    for await (const { data } of client.ReadFile(file)) bytes += data.length;
    if (bytes < size) throw new Error(`${bytes} bytes were read`);
  });
}

async function withClient(address, transfer) {
  const client = new service.v1.SandboxService(address, credentials.createInsecure(), OPTIONS);
  try {
    await transfer(client);
  } finally {
    client.close();
  }
}
