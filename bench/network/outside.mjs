/**
 * The servers of the bench, on the port of the argument: what a connection sends first says what it gets. The process ends with its
 * input, so that it does not survive the bench.
 */
import { createServer } from 'node:net';

const CHUNK = Buffer.alloc(1 << 20);

process.stdin.on('end', () => process.exit()).resume();

createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    // `D` and a number of MiB: so many zeros. Everything else comes back.
    if (chunk[0] === 68) send(socket, Number(chunk.toString('latin1', 1, chunk.indexOf(0))));
    else socket.write(chunk);
  });
}).listen(Number(process.argv[2]), '0.0.0.0', () => process.stdout.write('ready\n'));

function send(socket, chunks) {
  for (let left = chunks; left > 0; left--) {
    if (!socket.write(CHUNK)) return void socket.once('drain', () => send(socket, left - 1));
  }
  socket.end();
}
