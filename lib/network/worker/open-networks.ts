import type { Config } from '../../config/schema.ts';
import type { Log } from '../../log.ts';
import type { ThreadEntry } from '../../threads/thread-entry.ts';
import type { InspectionOptions } from '../inspection/inspection.ts';
import type { NetworkOptions } from './network-service.ts';
import { NetworkThread } from './network-thread.ts';
import { ThreadedNetworks } from './threaded-networks.ts';

interface Environment {
  /** What worker threads run. */
  entry: ThreadEntry;
  log: Log;
  /** Most of them for all networks. */
  descriptors: NetworkOptions['descriptors'];
  /** For connections that are looked into. */
  inspection: InspectionOptions | undefined;
}

/** The networks that the configuration has; undefined: none. Nothing is started before the first sandbox that has one. */
export function openNetworks(
  { network }: Pick<Config, 'network'>,
  { entry, log, descriptors, inspection }: Environment,
): ThreadedNetworks | undefined {
  if (!network.enabled) return undefined;
  const { resolvers, allowMax } = network;
  const options = { resolvers, allowMax, inspection, descriptors };
  const failed = (err: Error, count: number) => log.error('connections of sandboxes ended by an error', { err, count });
  return new ThreadedNetworks((listeners) => new NetworkThread(entry, options, { ...listeners, failed }), log);
}
