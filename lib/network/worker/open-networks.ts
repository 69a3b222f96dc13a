import type { Config } from '../../config/schema.ts';
import type { Log } from '../../log.ts';
import type { InspectionOptions } from '../inspection/inspection.ts';
import { NetworkThread } from './network-thread.ts';
import { ThreadedNetworks } from './threaded-networks.ts';

interface Environment {
  /** URL of the module for worker threads. */
  entry: URL;
  log: Log;
  /** Connections of all sandboxes at once. */
  maxConnections: number;
  /** For connections that are looked into. */
  inspection: InspectionOptions | undefined;
}

/** The networks that the configuration has; undefined: none. Nothing is started before the first sandbox that has one. */
export function openNetworks(
  { network }: Pick<Config, 'network'>,
  { entry, log, maxConnections, inspection }: Environment,
): ThreadedNetworks | undefined {
  if (!network.enabled) return undefined;
  const { resolvers, allowMax } = network;
  const options = { resolvers, allowMax, inspection, maxConnections };
  return new ThreadedNetworks((ended) => new NetworkThread(entry, options, ended), log);
}
