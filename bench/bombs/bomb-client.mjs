/**
 * Sends the requests of the bombs in a thread of its own: megabytes of answers would delay the measurements of the main
 * thread. Each message is `{id, method, path, body}`; the answer is discarded as it arrives, and then `id` is returned.
 */
import { Agent, request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** The main thread's side. The caller must call `stop`. */
export class BombClient {
  #worker;
  #pending = new Map();
  #last = 0;

  constructor(address) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: address });
    this.#worker.on('message', (id) => {
      this.#pending.get(id)?.();
      this.#pending.delete(id);
    });
  }

  /** Resolves when the answer has ended, whatever it is. */
  send(method, path, body) {
    return new Promise((done) => {
      const id = ++this.#last;
      this.#pending.set(id, done);
      this.#worker.postMessage({ id, method, path, body });
    });
  }

  stop() {
    return this.#worker.terminate();
  }
}

if (parentPort && workerData?.port !== undefined) {
  const agent = new Agent({ keepAlive: true });
  parentPort.on('message', ({ id, method, path, body }) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const ended = () => parentPort?.postMessage(id);
    const outgoing = request({ ...workerData, method, path, headers, agent }, (answer) => {
      answer.once('close', ended).resume();
    });
    outgoing.once('error', ended).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
