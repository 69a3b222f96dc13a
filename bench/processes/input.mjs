/** Measures 100 MB through the standard input of a process, compared with as much output through ExecStream. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { median } from '../exec/table.mjs';
import { alternate, verdictOf } from './alternate.mjs';
import { execStream } from './streams.mjs';

const BYTES = 100_000_000;
const PIECE = Buffer.alloc(1_000_000, 'x');
const MB = 1_000_000;

export async function input(server, rounds) {
  const id = await server.create();
  const rate = async (way) => {
    const began = performance.now();
    await way();
    return BYTES / MB / ((performance.now() - began) / 1000);
  };
  const ways = {
    exec: () => rate(() => execStream(server, id, BYTES)),
    input: () => rate(() => throughInput(server, id)),
  };
  const rates = await alternate(ways, rounds, 1);
  await server.destroy(id);
  const [own, exec] = [median(rates.input), median(rates.exec)];
  const row = {
    name: `100 MB of input over REST, counted by wc, median of ${rounds}`,
    value: `${own.toFixed(0)} MB/s`,
    beside: `${(own / exec).toFixed(2)} × ExecStream of as much output (${exec.toFixed(0)} MB/s)`,
    must: '1 × ExecStream',
    verdict: verdictOf(own >= exec),
  };
  return { title: 'Input of a process', rows: [row] };
}

/** From the start of the process to the output that tells how much it read. */
async function throughInput(server, id) {
  const processes = `/v1/sandboxes/${id}/processes`;
  const { process_id } = await server.call('POST', processes, { command: 'wc -c', stdin: true });
  const path = `${processes}/${process_id}/input?end=true`;
  const sending = request({ ...server.address, agent: server.agent, method: 'POST', path });
  const answered = once(sending, 'response');
  for (let sent = 0; sent < BYTES; sent += PIECE.length) {
    if (!sending.write(PIECE)) await once(sending, 'drain');
  }
  sending.end();
  const [answer] = await answered;
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`input: ${answer.statusCode} ${body}`);
  const { output } = await server.call('GET', `${processes}/${process_id}/output?offset=0&wait=60000`);
  const counted = Buffer.from(output[0]?.data ?? '', 'base64')
    .toString()
    .trim();
  if (counted !== String(BYTES)) throw new Error(`the process counted ${counted} bytes`);
  await server.call('DELETE', `${processes}/${process_id}`);
}
