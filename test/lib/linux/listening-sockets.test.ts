import { expect, it } from 'vitest';
import { listeningSockets } from '../../../lib/linux/listening-sockets.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (local: string, state: string, inode: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;

it('finds sockets that listen, with address, port and inode, and no others', () => {
  const text = HEAD + line('0100007F:1F40', '0A', 7) + line('00000000:0050', '0A', 8) + line('0100007F:0051', '01', 9);
  expect(listeningSockets(text)).toEqual([
    { port: 8000, address: '127.0.0.1', inode: '7' },
    { port: 80, address: '0.0.0.0', inode: '8' },
  ]);
});

it('reads addresses of IPv6', () => {
  const [any, loopback, mapped] = ['0'.repeat(32), `${'0'.repeat(24)}01000000`, '0000000000000000FFFF00000100007F'];
  const text = HEAD + [any, loopback, mapped].map((address) => line(`${address}:1F40`, '0A', 7)).join('');
  expect(listeningSockets(text).map(({ address }) => address)).toEqual(['::', '::1', '::ffff:7f00:1']);
});

it('is not misled by text that is cut off or empty', () => {
  expect(listeningSockets('')).toEqual([]);
  expect(listeningSockets(`${HEAD}   0: 0100007F:1F40 000`)).toEqual([]);
});
