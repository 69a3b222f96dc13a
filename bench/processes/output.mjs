/**
 * Measures 1 GiB of output of a process to a client that only reads, compared with ExecStream. The process hardly waits
 * for its readers: what a client that is slower has missed is a gap, so that only the bytes that came count.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../exec/table.mjs';
import { alternate, verdictOf } from './alternate.mjs';
import { execStream, execStreamOverGrpc, watch, watchOverGrpc } from './streams.mjs';

const BYTES = 2 ** 30;
const MB = 1_000_000;
const MIB = 2 ** 20;
/** Milliseconds between two looks at a process without readers. */
const POLL_MS = 10;

export async function output(server, rounds) {
  const id = await server.create();
  const ways = {
    execRest: () => measured(server, () => execStream(server, id, BYTES)),
    watchRest: () => measured(server, () => ofProcess(server, id, watch)),
    execGrpc: () => measured(server, () => execStreamOverGrpc(server, id, BYTES)),
    watchGrpc: () => measured(server, () => ofProcess(server, id, watchOverGrpc)),
    unread: () => measured(server, () => unread(server, id)),
  };
  const results = await alternate(ways, rounds, 0);
  await server.destroy(id);
  const rates = (name) => median(results[name].map(({ rate }) => rate));
  const shown = (name, label, compared, label2) => {
    const all = results[name];
    const ratio = rates(name) / rates(compared);
    const came = median(all.map(({ share }) => share));
    return {
      name: `${label}, median of ${rounds}`,
      value: `${rates(name).toFixed(0)} MB/s, ${(100 * came).toFixed(0)} % of the output`,
      beside: `${ratio.toFixed(2)} × ${label2} (${rates(compared).toFixed(0)} MB/s); ${usage(all)}`,
      must: `1 × ${label2}`,
      verdict: verdictOf(ratio >= 1),
    };
  };
  const rows = [
    shown('watchRest', 'WatchProcess over REST', 'execRest', 'ExecStream over REST'),
    shown('watchGrpc', 'WatchProcess over gRPC', 'execGrpc', 'ExecStream over gRPC'),
    shown('unread', 'A process without readers', 'execRest', 'ExecStream over REST'),
  ];
  return { title: '1 GiB of output', rows };
}

const usage = (all) =>
  `server +${(Math.max(...all.map(({ growth }) => growth)) / MIB).toFixed(0)} MiB at most, ${median(all.map(({ cpu }) => cpu)).toFixed(1)} s of CPU`;

async function ofProcess(server, id, read) {
  const processes = `/v1/sandboxes/${id}/processes`;
  const { process_id } = await server.call('POST', processes, { command: `head -c ${BYTES} /dev/zero` });
  const received = await read(server, id, process_id);
  await server.call('DELETE', `${processes}/${process_id}`);
  return received;
}

async function unread(server, id) {
  const processes = `/v1/sandboxes/${id}/processes`;
  const { process_id } = await server.call('POST', processes, { command: `head -c ${BYTES} /dev/zero` });
  // Reads nothing meanwhile: a reader that goes on slows the process to its own pace.
  while ((await server.call('GET', `${processes}/${process_id}`)).end === undefined) await delay(POLL_MS);
  await server.call('DELETE', `${processes}/${process_id}`);
  return BYTES;
}

/** Samples the memory meanwhile. `way` resolves to the bytes that came. */
async function measured(server, way) {
  const before = server.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, server.rss());
  }, 20);
  const [began, busy] = [performance.now(), server.cpu()];
  try {
    const bytes = await way();
    const seconds = (performance.now() - began) / 1000;
    return {
      rate: bytes / MB / seconds,
      share: Math.min(bytes / BYTES, 1),
      growth: most - before,
      cpu: server.cpu() - busy,
    };
  } finally {
    clearInterval(timer);
  }
}
