/**
 * Measures 1 GiB of stdout through ExecStream to a client that only reads, beside a plain pipe, and the server's memory
 * meanwhile.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { judged } from './table.mjs';

const BYTES = 2 ** 30;
/** In seconds; sufficient for a busy machine. */
const TIMEOUT = 300;
const MB = 1_000_000;
const MIB = 2 ** 20;
/** Maximum growth of the server's memory that counts as constant; far below the streamed size. */
const FLAT = 64 * MIB;
const PIPE = 'a plain pipe of a child';
const OCTETS = 'ExecStream over REST, octets';
const GRPC = 'ExecStream over gRPC';
/**
 * MB/s that are expected, given those of a plain pipe. Base64 in JSON, and the default window of the gRPC client, are for
 * comparison.
 *
 * @type {Record<string, (pipe: number) => number>}
 */
const LEAST = { [OCTETS]: (pipe) => 0.7 * pipe, [GRPC]: () => 200 };

export async function stream(server, rounds) {
  const id = await server.create();
  const ways = {
    [PIPE]: plainPipe,
    'ExecStream over REST': overRest,
    [OCTETS]: overRestOctets,
    [GRPC]: (...call) => overGrpc(...call, { 'grpc-node.flow_control_window': MIB }),
    'gRPC, window of 64 KiB': (...call) => overGrpc(...call, {}),
  };
  /** @type {Record<string, { rate: number, growth: number, cpu: number }[]>} */
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const command = `head -c ${BYTES} /dev/zero`;
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      results[name].push(await measured(server, () => way(server, id, command)));
    }
  }
  await server.destroy(id);
  const best = (all) => Math.max(...all.map(({ rate }) => rate));
  const rows = Object.entries(results).map(([name, all]) => {
    const growth = Math.max(...all.map((each) => each.growth));
    const shown = {
      name: `${name}, best of ${rounds}`,
      value: `${best(all).toFixed(0)} MB/s`,
      beside: `server +${(growth / MIB).toFixed(0)} MiB at most, ${Math.min(...all.map(({ cpu }) => cpu)).toFixed(1)} s of CPU`,
    };
    const least = LEAST[name]?.(best(results[PIPE]));
    if (least === undefined) return shown;
    return {
      ...shown,
      must: `${least.toFixed(0)} MB/s, constant memory`,
      aim: '1000 MB/s',
      verdict: judged(best(all) >= least && growth <= FLAT, best(all) >= 1000 && growth <= FLAT),
    };
  });
  const bars = Object.entries(results).map(([label, all]) => ({ label, value: best(all) }));
  return { title: '1 GiB of stdout', rows, chart: { title: 'ExecStream of 1 GiB', unit: 'MB/s', bars } };
}

async function measured(server, once) {
  const before = server.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, server.rss());
  }, 20);
  const began = performance.now();
  const busy = server.cpu();
  try {
    await once();
  } finally {
    clearInterval(timer);
  }
  const seconds = (performance.now() - began) / 1000;
  return { rate: BYTES / seconds / MB, growth: most - before, cpu: server.cpu() - busy };
}

/**
 * The answer is base64 in JSON lines, a third larger than the bytes. The client parses the last line only.
 * @returns {Promise<void>}
 */
function overRest(server, id, command) {
  return new Promise((done, failed) => {
    const path = `/v1/sandboxes/${id}/exec/stream`;
    const outgoing = request({ ...server.address, agent: server.agent, method: 'POST', path }, (answer) => {
      let bytes = 0;
      let end = Buffer.alloc(0);
      answer.on('data', (data) => {
        bytes += data.length;
        end = data.length > 200 ? data : Buffer.concat([end, data]);
      });
      answer.once('end', () => {
        const last = end.subarray(-200).toString();
        if (bytes > (BYTES * 4) / 3 && last.includes('"exit_code":0')) done();
        else failed(new Error(`the stream ended after ${bytes} bytes: ${last}`));
      });
    });
    outgoing.once('error', failed).end(JSON.stringify({ command, timeout: TIMEOUT }));
  });
}

/** The same program as a child of this process. */
async function plainPipe() {
  const child = spawn('head', ['-c', String(BYTES), '/dev/zero'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let bytes = 0;
  child.stdout.on('data', (data) => {
    bytes += data.length;
  });
  await once(child.stdout, 'end');
  if (bytes !== BYTES) throw new Error(`the pipe ended after ${bytes} bytes`);
}

/**
 * The frames are not taken apart: the last one tells that all came.
 * @returns {Promise<void>}
 */
function overRestOctets(server, id, command) {
  return new Promise((done, failed) => {
    const path = `/v1/sandboxes/${id}/exec/stream`;
    const headers = { accept: 'application/octet-stream' };
    const outgoing = request({ ...server.address, agent: server.agent, method: 'POST', path, headers }, (answer) => {
      let bytes = 0;
      let end = Buffer.alloc(0);
      answer.on('data', (data) => {
        bytes += data.length;
        end = data.length > 200 ? data : Buffer.concat([end, data]);
      });
      answer.once('end', () => {
        const last = end.subarray(-200).toString('latin1');
        if (bytes > BYTES && last.includes('"exit_code":0')) done();
        else failed(new Error(`the stream ended after ${bytes} bytes: ${last}`));
      });
    });
    outgoing.once('error', failed).end(JSON.stringify({ command, timeout: TIMEOUT }));
  });
}

/** `options`: channel options, for example the flow control window that clients in other languages use by default. */
async function overGrpc(server, id, command, options) {
  let bytes = 0;
  const chunks = server.streamOverGrpc({ sandbox_id: id, command, timeout: TIMEOUT }, options);
  for await (const { data } of chunks) bytes += data.length;
  if (bytes !== BYTES) throw new Error(`the stream ended after ${bytes} bytes`);
}
