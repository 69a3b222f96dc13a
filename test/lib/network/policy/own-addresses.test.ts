import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { addressesOf } from '../../../../lib/network/policy/own-addresses.ts';

it('the host’s own addresses are those of now, but for a moment that is short however long they take to read', () => {
  let address = '203.0.113.7';
  let [now, reads] = [0, 0];
  const own = addressesOf(
    () => {
      now += 0.1;
      reads++;
      return { eth0: [{ address } as NetworkInterfaceInfo], up: [{ address: 'fe80::1%up' } as NetworkInterfaceInfo] };
    },
    () => now,
  );
  expect([own.has('203.0.113.7'), own.has('203.0.113.8'), own.has('fe80::1'), own.has('no address')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(reads).toBe(1);
  address = '203.0.113.8';
  now += 3;
  expect([own.has('203.0.113.7'), own.has('203.0.113.8')]).toEqual([false, true]);
});
