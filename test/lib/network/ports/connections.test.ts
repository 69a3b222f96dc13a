import { expect, it } from 'vitest';
import { PortConnections } from '../../../../lib/network/ports/connections.ts';
import { Shares } from '../../../../lib/shares.ts';

it('a sandbox whose share of the descriptors is in use gets no further connection until one ends', () => {
  const descriptors = new Shares<string>(6);
  const connections = new PortConnections(Date.now, descriptors);
  const connect = (sandbox: string, port: number) => connections.add(sandbox, port, 0, () => undefined);
  const ends = [connect('sb_1', 1), connect('sb_1', 2), connect('sb_1', 2)];
  expect(() => connect('sb_1', 3)).toThrow('the server has no descriptors left for another connection to port 3');
  // A connection that was cut has its descriptor until it has ended.
  connections.cut('sb_1', 2);
  expect(() => connect('sb_1', 3)).toThrow('no descriptors left');
  const other = connect('sb_2', 1);
  other();
  ends.pop()!();
  ends.push(connect('sb_1', 3));
  for (const end of ends) end();
  expect([descriptors.held('sb_1'), descriptors.available('sb_1')]).toEqual([0, 3]);
});
