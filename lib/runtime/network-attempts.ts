import { readFileSync } from 'node:fs';

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
  // A process of the host: its pid was used again.
  if (!/^NSpid:\t\d+\t/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) throw new Error('not in a sandbox');
  return showsAttempt(readFileSync(`/proc/${pid}/net/snmp`, 'latin1'));
}
