import { isIP } from 'node:net';
import { parseCeilingEntry } from '../network/policy/ceiling.ts';
import type { CeilingEntry } from '../network/policy/policy.ts';
import { NotAllowed, type Parse } from './values.ts';

/** The most that the policies of sandboxes can allow. */
export const ceiling: Parse<readonly CeilingEntry[]> = (raw) => {
  if (!Array.isArray(raw)) throw new NotAllowed('a list of public, names, networks, with ports or without');
  return raw.map((each: unknown) => {
    const entry = typeof each === 'string' ? parseCeilingEntry(each) : { problem: 'must be a text' };
    if ('problem' in entry) throw new NotAllowed(`an entry ${JSON.stringify(each)} ${entry.problem}`);
    return entry;
  });
};

/** Addresses of DNS servers, with or without ports; IPv6 with a port is in brackets. */
export const resolvers: Parse<readonly string[]> = (raw) => {
  const allowed = 'a list of addresses like 1.1.1.1, 1.1.1.1:53 or [::1]:53';
  if (!Array.isArray(raw)) throw new NotAllowed(allowed);
  return raw.map((each: unknown) => {
    const [, bracketed, plain, port = '53'] =
      typeof each === 'string' && isIP(each) === 0 ? (/^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(each) ?? []) : [];
    const host = typeof each === 'string' && isIP(each) !== 0 ? each : (bracketed ?? plain ?? '');
    if (isIP(host) === 0 || Number(port) < 1 || Number(port) > 65_535) throw new NotAllowed(allowed);
    return each as string;
  });
};
