import { readFileSync } from 'node:fs';
import { requireInSandbox } from './own-proc.ts';

/** Counters of the kernel, by protocol, that increase when a program without a network tries to reach something. */
const COUNTERS = {
  // connect and send to an address without a route.
  Ip: 'OutNoRoutes',
  // Questions to a name server on this machine, where none is.
  Udp: 'NoPorts',
} as const;

/** Whether the counters of a network namespace (/proc/PID/net/snmp) show that a program tried to reach another machine. */
function showsAttempt(snmp: string): boolean {
  const lines = snmp.split('\n').map((line) => line.split(' '));
  return Object.entries(COUNTERS).some(([protocol, counter]) => {
    const [names, values] = lines.filter(([first]) => first === `${protocol}:`);
    return Number(values?.[names?.indexOf(counter) ?? -1] ?? 0) > 0;
  });
}

/** Whether a program in the network namespace of the process tried to reach another machine. Throws if it has ended. */
export function hasTriedNetwork(pid: number): boolean {
  requireInSandbox(pid);
  return showsAttempt(readFileSync(`/proc/${pid}/net/snmp`, 'latin1'));
}
