/**
 * Floods a server in a thread of its own, so that the measurements of the main thread do not wait for it. Each of the
 * connections sends its next request as soon as it has the answer to the last one.
 */
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { Client, credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** The main thread's side. */
export class Flooder {
  #worker;

  /** Starts the flood. `call`: `{method, path, body, key, grpc, keepAlive}`. */
  constructor({ http, grpc, connections, call }) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { http, grpc, connections, call } });
  }

  /** Ends the flood. Resolves with the number of answers by status. */
  async stop() {
    const counted = new Promise((done, failed) => {
      this.#worker.once('message', done);
      this.#worker.once('error', failed);
    });
    this.#worker.postMessage('stop');
    const counts = await counted;
    await this.#worker.terminate();
    return counts;
  }
}

if (parentPort && workerData?.connections !== undefined) {
  const { http, grpc, connections, call } = workerData;
  /** @type {Record<string, number>} */
  const counts = {};
  const count = (status) => {
    counts[status] = (counts[status] ?? 0) + 1;
  };
  let ended = false;
  const send = call.grpc ? overGrpc(grpc, call) : overRest(http, call);
  for (let index = 0; index < connections; index++) {
    void (async () => {
      while (!ended) count(await send());
    })();
  }
  parentPort.once('message', () => {
    ended = true;
    parentPort?.postMessage(counts);
  });
}

function overRest(http, { method, path, body, key, keepAlive }) {
  const agent = new Agent({ keepAlive });
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) };
  return () =>
    new Promise((done) => {
      const outgoing = request({ ...http, method, path, headers, agent }, (answer) => {
        answer.once('close', () => done(answer.statusCode)).resume();
      });
      outgoing.once('error', (error) => done(String(error.message).split(' ').at(-1))).end(body);
    });
}

/** All calls share one connection: HTTP/2 carries them at the same time. */
function overGrpc(address, { path, body, key }) {
  const proto = fileURLToPath(new URL('../../proto', import.meta.url));
  const definition = loadSync('service/v1/sandbox.proto', { keepCase: true, includeDirs: [proto] });
  const { Exec } = /** @type {any} */ (loadPackageDefinition(definition)).service.v1.SandboxService.service;
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('x-api-key', key);
  return () =>
    new Promise((done) => {
      client.makeUnaryRequest(path, Exec.requestSerialize, Exec.responseDeserialize, body, metadata, (error) => {
        done(`gRPC ${error?.code ?? 0}`);
      });
    });
}
