/** Measures requests for files of 2 KiB, one after the other and with eight in flight. */

import { at, median } from '../exec/table.mjs';
import { alternate, verdictOf } from '../processes/alternate.mjs';
import { RawClient } from './raw-client.mjs';

const SIZE = 2048;
const REQUESTS = 200;
const IN_FLIGHT = 8;
const BURST = 2000;
const WARM_UP = 2;

export async function small(server, plain, rounds) {
  const content = Buffer.alloc(SIZE, 'x');
  await server.upload('base', content);
  const id = await server.create();
  const ours = `/v1/sandboxes/${id}/files`;
  await server.exec(id, 'head -c 2048 /dev/zero > written; cat base > copy');
  const one = await RawClient.open(server.address);
  const peer = await RawClient.open(plain.address);
  await peer.call('PUT', '/file', content);
  await one.call('PUT', `${ours}/put`, content);
  const get = (path) => () => each(() => one.call('GET', path));
  const times = await alternate(
    {
      peerGet: () => each(() => peer.call('GET', '/file')),
      base: get(`${ours}/base`),
      put: get(`${ours}/put`),
      written: get(`${ours}/written`),
      owner: get(`${ours}/written?as=owner`),
      stat: get(`/v1/sandboxes/${id}/stat?path=base`),
      peerPut: () => each(() => peer.call('PUT', '/file', content)),
      write: () => each(() => one.call('PUT', `${ours}/put`, content)),
    },
    rounds,
    WARM_UP,
  );
  for (const client of [one, peer]) client.close();
  const rates = await alternate(
    {
      peer: () => burst(plain.address, 'GET', '/file'),
      base: () => burst(server.address, 'GET', `${ours}/base`),
      written: () => burst(server.address, 'GET', `${ours}/written`),
      peerPut: () => burst(plain.address, 'PUT', '/file', content),
      write: () => burst(server.address, 'PUT', `${ours}/put`, content),
    },
    rounds,
    1,
  );
  return {
    title: `Files of 2 KiB, ${rounds} rounds of ${REQUESTS} and, ${IN_FLIGHT} in flight, of ${BURST}`,
    rows: [
      latency(times, 'GET of a file of the codebase, p50', 'base', 'peerGet', 1),
      latency(times, 'GET of a file that a PUT wrote', 'put', 'peerGet', 1),
      latency(times, 'GET of a file that a command wrote', 'written', 'peerGet'),
      latency(times, 'the same as the owner', 'owner', 'peerGet'),
      latency(times, 'StatFile', 'stat', 'peerGet'),
      latency(times, 'PUT, p50', 'write', 'peerPut', 1),
      rate(rates, `GET of a file of the codebase, ${IN_FLIGHT} in flight`, 'base', 'peer', 5000),
      rate(rates, 'GET of a file that a command wrote', 'written', 'peer'),
      rate(rates, 'PUT', 'write', 'peerPut'),
    ],
  };
}

function latency(times, name, key, peerKey, most) {
  const all = times[key].flat();
  const must = most === undefined ? {} : { must: `${most} ms`, verdict: verdictOf(median(all) <= most) };
  const [value, beside] = [all, times[peerKey].flat()].map(
    (each) => `${median(each).toFixed(2)} ms, p99 ${at(each, 0.99).toFixed(1)}`,
  );
  return { name, value, beside, ...must };
}

function rate(rates, name, key, peerKey, least) {
  const value = median(rates[key]);
  const must = least === undefined ? {} : { must: `${least}/s`, verdict: verdictOf(value >= least) };
  return { name, value: `${value.toFixed(0)}/s`, beside: `${median(rates[peerKey]).toFixed(0)}/s`, ...must };
}

async function each(call) {
  const times = [];
  for (let i = 0; i < REQUESTS; i++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times;
}

/** Returns the number of requests for each second. */
async function burst(address, method, path, body) {
  const clients = await Promise.all(Array.from({ length: IN_FLIGHT }, () => RawClient.open(address)));
  let left = BURST;
  const began = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (left-- > 0) await client.call(method, path, body);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  for (const client of clients) client.close();
  return BURST / seconds;
}
