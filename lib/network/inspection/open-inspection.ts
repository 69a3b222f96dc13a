import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/schema.ts';
import type { Log } from '../../log.ts';
import { hostBundle, openAuthority } from './authority.ts';
import type { InspectionOptions } from './inspection.ts';

export interface Inspection {
  /** For the thread that looks into connections. */
  options: InspectionOptions;
  /** What sandboxes trust, in PEM: what the host trusts, and the server's own authority. */
  authorities: string;
}

/**
 * The authority of this server, which is made at the first start; undefined: sandboxes have no networks, or none that are
 * looked into, because of what is logged. The server must start on a full disk, so that space can be freed.
 */
export async function openInspection({ network, storage }: Config, log: Log): Promise<Inspection | undefined> {
  if (!network.enabled) return undefined;
  try {
    const authority = await openAuthority(`${storage.dbPath}.authority`, Date.now());
    const trusted = await hostBundle();
    const extra = network.extraCa === '' ? undefined : await readFile(network.extraCa, 'utf8');
    return { options: { authority, trusted, extra }, authorities: `${trusted ?? ''}${authority.certificate}` };
  } catch (err) {
    log.error('connections of sandboxes cannot be looked into: secrets and rules with tls "inspect" do not work', {
      err,
    });
    return undefined;
  }
}
