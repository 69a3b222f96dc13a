import { parentPort } from 'node:worker_threads';
import { encodeThrown } from '../../threads/thread-messages.ts';
import { type NetworkOptions, NetworkService } from './network-service.ts';

/** A call of one method of `NetworkService`. Several may be in progress. */
export interface NetworkCall {
  call: number;
  method: 'open' | 'update' | 'close' | 'connections' | 'refusals' | 'end';
  args: readonly unknown[];
}

export interface NetworkWorkerData {
  role: 'network';
  options: NetworkOptions;
}

/** Serves the networks of sandboxes in this thread, for the role 'network'. */
export function runNetworks(workerData: unknown): void {
  const service = new NetworkService((workerData as NetworkWorkerData).options);
  parentPort?.on('message', async ({ call, method, args }: NetworkCall) => {
    try {
      const run = service[method] as (...args: readonly unknown[]) => Promise<unknown>;
      parentPort?.postMessage({ call, value: await run.apply(service, [...args]) });
    } catch (error) {
      parentPort?.postMessage({ call, error: encodeThrown(error) });
    }
  });
}
