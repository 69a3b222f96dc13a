import { parentPort } from 'node:worker_threads';
import { encodeThrown } from '../../threads/thread-messages.ts';
import { type NetworkOptions, NetworkService } from './network-service.ts';

/** A call of one method of `NetworkService`. Several may be in progress. */
export interface NetworkCall {
  call: number;
  method: 'open' | 'update' | 'close' | 'connections' | 'refusals' | 'events' | 'end';
  args: readonly unknown[];
}

/** There are events of this sandbox's network. */
export interface NetworkNews {
  news: string;
}

export interface NetworkWorkerData {
  role: 'network';
  options: NetworkOptions;
}

/** Milliseconds between two reports: programs may cause errors as often as they like. */
const REPORT_MS = 1000;

/** `count`: errors since the last report. */
function paced(report: (error: unknown, count: number) => void): (error: unknown) => void {
  let [count, last] = [0, -REPORT_MS];
  return (error) => {
    count++;
    if (performance.now() - last < REPORT_MS) return;
    report(error, count);
    [count, last] = [0, performance.now()];
  };
}

/** Serves the networks of sandboxes in this thread, for the role 'network'. */
export function runNetworks(workerData: unknown): void {
  const news = (id: string) => parentPort?.postMessage({ news: id } satisfies NetworkNews);
  const service = new NetworkService((workerData as NetworkWorkerData).options, news);
  // The last resort: what serves one connection has an error, those of others go on.
  const report = paced((error, count) => parentPort?.postMessage({ failure: encodeThrown(error), count }));
  process.on('uncaughtException', report).on('unhandledRejection', report);
  parentPort?.on('message', async ({ call, method, args }: NetworkCall) => {
    try {
      const run = service[method] as (...args: readonly unknown[]) => Promise<unknown>;
      parentPort?.postMessage({ call, value: await run.apply(service, [...args]) });
    } catch (error) {
      parentPort?.postMessage({ call, error: encodeThrown(error) });
    }
  });
}
