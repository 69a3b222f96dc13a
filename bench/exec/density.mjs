/** Measures many RUNNING sandboxes, each used once: the memory of each, and the effect on the latency of an Exec. */
import { readdirSync, readFileSync } from 'node:fs';
import { Server } from './server.mjs';
import { at, judged } from './table.mjs';

const IN_FLIGHT = 8;
const MIB = 2 ** 20;

export async function density(server, count, calls) {
  const first = await server.create();
  await times(server, [first], 50);
  const alone = await times(server, [first], calls);
  const before = memory(server.pid);
  const ids = [];
  await inFlight(Array.from({ length: count }), async () => {
    const id = await server.create();
    await server.exec(id);
    ids.push(id);
  });
  const after = memory(server.pid);
  const among = await times(server, ids, calls);
  const again = await times(server, [first], calls);
  await inFlight([...ids, first], (id) => server.destroy(id));

  const ofServer = (after.server - before.server) / count;
  const each = (after.sandboxes - before.sandboxes) / count + ofServer;
  const machine = (before.available - after.available) / count;
  const one = Math.min(at(alone, 0.5), at(again, 0.5));
  const ratio = at(among, 0.5) / one;
  const rows = [
    {
      name: 'RAM of each: PSS of its processes, plus growth of the server',
      value: `${(each / MIB).toFixed(2)} MiB`,
      beside: `server ${(ofServer / 1024).toFixed(0)} KiB of it; MemAvailable fell by ${(machine / MIB).toFixed(2)} MiB each`,
      must: '2 MiB',
      aim: '1 MiB',
      verdict: judged(each <= 2 * MIB, each <= MIB),
    },
    {
      name: 'Exec p50, each sandbox in turn',
      value: `${at(among, 0.5).toFixed(2)} ms`,
      beside: `${ratio.toFixed(2)} × that of one (${one.toFixed(2)} ms)`,
      must: '2 × that of one',
      aim: '1.2 × that of one',
      verdict: judged(ratio <= 2, ratio <= 1.2),
    },
  ];
  return { title: `${count} RUNNING sandboxes, each used once`, rows };
}

async function inFlight(items, act) {
  const left = [...items];
  const lane = async () => {
    while (left.length > 0) await act(left.pop());
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

async function times(server, ids, calls) {
  const all = [];
  for (let call = 0; call < calls; call++) {
    const began = performance.now();
    await server.exec(ids[call % ids.length]);
    all.push(performance.now() - began);
  }
  return all;
}

/** Returns proportional set sizes in bytes, and MemAvailable, which includes kernel memory of processes, mounts and cgroups. */
function memory(serverPid) {
  let sandboxes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const uid = Number(/^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? -1);
    if (Server.isSandboxUser(uid)) sandboxes += pss(pid);
  }
  const available = Number(/^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo'))?.[1]) * 1024;
  return { sandboxes, server: pss(serverPid), available };
}

const pss = (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;

/** Returns '' if the process has ended meanwhile. */
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
