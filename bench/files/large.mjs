/**
 * Measures files of 64 MiB over both protocols, and the server's memory meanwhile. Beside gRPC is node:http2 over a plain
 * file with the same client and messages: with grpc-js as the client, its own copies and decoding limit both.
 */
import { median } from '../exec/table.mjs';
import { alternate, verdictOf } from '../processes/alternate.mjs';
import { downloaded, uploaded } from './grpc-js.mjs';
import { LeanGrpc } from './lean-grpc.mjs';
import { RawClient } from './raw-client.mjs';

const SIZE = 64 * 2 ** 20;
const PIECE = 2 ** 20;
const MB = 1_000_000;
const MIB = 2 ** 20;
/** Of the rate over REST that is expected over gRPC. */
const PART = 0.7;

export async function large(server, plain, rounds) {
  const content = Buffer.alloc(SIZE, 'y');
  const id = await server.create();
  const ours = `/v1/sandboxes/${id}/files/large`;
  const one = await RawClient.open(server.address);
  const peer = await RawClient.open(plain.address);
  const lean = await LeanGrpc.open(server.grpcAddress);
  const leanPeer = await LeanGrpc.open(plain.http2Address);
  const file = { sandbox_id: id, path: 'large', as: 'agent' };
  const chunk = lean.frame('WriteFile', { chunk: content.subarray(0, PIECE) });
  const uploads = [lean.frame('WriteFile', file), ...Array.from({ length: SIZE / PIECE }, () => chunk)];
  const before = server.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, server.rss())), 20);
  const rates = await alternate(
    {
      peerUp: () => rate(() => peer.call('PUT', '/file', content)),
      up: () => rate(() => one.call('PUT', ours, content)),
      leanPeerUp: () => rate(() => leanPeer.send('/up', uploads)),
      leanUp: () => rate(() => lean.call('WriteFile', uploads)),
      grpcPeerUp: () => rate(() => uploaded(plain.http2Address, {}, content)),
      grpcUp: () => rate(() => uploaded(server.grpcAddress, file, content)),
      peerDown: () => rate(() => peer.call('GET', '/file')),
      down: () => rate(() => one.call('GET', ours)),
      leanPeerDown: () => rate(() => leanPeer.send('/down', [])),
      leanDown: () => rate(() => lean.call('ReadFile', [lean.frame('ReadFile', file)])),
      grpcPeerDown: () => rate(() => downloaded(plain.http2Address, {}, SIZE)),
      grpcDown: () => rate(() => downloaded(server.grpcAddress, file, SIZE)),
    },
    rounds,
    1,
  );
  clearInterval(timer);
  for (const client of [one, peer, lean, leanPeer]) client.close();
  const row = (name, key, peerKey, least) => {
    const value = median(rates[key]);
    return {
      name,
      value: `${value.toFixed(0)} MB/s`,
      beside: `${median(rates[peerKey]).toFixed(0)} MB/s`,
      must: `${least.toFixed(0)} MB/s`,
      verdict: verdictOf(value >= least),
    };
  };
  return {
    title: `A file of 64 MiB, ${rounds} rounds; the server grew by ${((most - before) / MIB).toFixed(0)} MiB at most`,
    rows: [
      row('up, REST', 'up', 'peerUp', 500),
      row('down, REST', 'down', 'peerDown', 600),
      row('up, gRPC (of what REST reached)', 'leanUp', 'leanPeerUp', PART * median(rates.up)),
      row('down, gRPC (of what REST reached)', 'leanDown', 'leanPeerDown', PART * median(rates.down)),
      row('up, gRPC, grpc-js as the client', 'grpcUp', 'grpcPeerUp', PART * median(rates.up)),
      row('down, gRPC, grpc-js as the client', 'grpcDown', 'grpcPeerDown', PART * median(rates.down)),
    ],
  };
}

async function rate(transfer) {
  const began = performance.now();
  await transfer();
  return SIZE / MB / ((performance.now() - began) / 1000);
}
