import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/schema.ts';
import { hostBundle, openAuthority } from './authority.ts';
import type { InspectionOptions } from './inspection.ts';

export interface Inspection {
  /** For the thread that looks into connections. */
  options: InspectionOptions;
  /** What sandboxes trust, in PEM: what the host trusts, and the server's own authority. */
  authorities: string;
}

/** The authority of this server, which is made at the first start; undefined: sandboxes have no networks. */
export async function openInspection({ network, storage }: Config): Promise<Inspection | undefined> {
  if (!network.enabled) return undefined;
  const authority = await openAuthority(`${storage.dbPath}.authority`, Date.now());
  const trusted = await hostBundle();
  const extra = network.extraCa === '' ? undefined : await readFile(network.extraCa, 'utf8');
  return { options: { authority, trusted, extra }, authorities: `${trusted ?? ''}${authority.certificate}` };
}
