import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from '../../../../lib/network/policy/addresses.ts';
import { contains, formatCidr, parseCidr } from '../../../../lib/network/policy/cidr.ts';
import { specialAddress } from '../../../../lib/network/policy/special-addresses.ts';

const v4 = fc.ipV4();
const v6 = fc.oneof(
  fc.ipV6(),
  fc
    .array(fc.constantFrom('0', '1', 'ffff', '64', 'ff9b', '2001'), { minLength: 8, maxLength: 8 })
    .map((all) => all.join(':')),
);
const isMapped = (text: string) => parseAddress(text)?.bits === 32;

describe('addresses', () => {
  it('are written like the URL standard writes them', () => {
    fc.assert(
      fc.property(v6, (text) => {
        fc.pre(!isMapped(text));
        expect(`[${formatAddress(parseAddress(text)!)}]`).toBe(new URL(`http://[${text}]/`).hostname);
      }),
    );
    fc.assert(fc.property(v4, (text) => formatAddress(parseAddress(text)!) === text));
  });

  it('of IPv4 in IPv6 are those of IPv4, however they are written', () => {
    for (const text of ['::ffff:10.1.2.3', '::FFFF:a01:203', '0:0:0:0:0:ffff:10.1.2.3']) {
      expect(formatAddress(parseAddress(text)!)).toBe('10.1.2.3');
    }
    expect(formatCidr(parseCidr('::ffff:10.0.0.0/104')!)).toBe('10.0.0.0/8');
  });

  it.each([
    '',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '010.0.0.1',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '::1\0',
    '[::1]',
    ' 1.2.3.4',
  ])('are not %j', (text) => expect(parseAddress(text)).toBeUndefined());
});

describe('networks', () => {
  it.each(['10.0.0.0/33', '10.0.0.0/-1', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '::ffff:10.0.0.0/95', '/8'])(
    'are not %j',
    (text) => expect(parseCidr(text)).toBeUndefined(),
  );

  it('contain the addresses that Node.js says they do', () => {
    const network = fc.oneof(
      fc.tuple(v4, fc.integer({ min: 0, max: 32 }), fc.constant('ipv4' as const)),
      fc.tuple(v6, fc.integer({ min: 0, max: 128 }), fc.constant('ipv6' as const)),
    );
    fc.assert(
      fc.property(network, fc.oneof(v4, v6), ([base, length, family], address) => {
        fc.pre(!isMapped(base) || family === 'ipv4');
        fc.pre(!isMapped(address) || address.includes('.'));
        const list = new BlockList();
        list.addSubnet(base, length, family);
        const is4 = parseAddress(address)!.bits === 32;
        // Node.js finds an IPv4 address in an IPv6 network that has its mapped form.
        const expected = is4 === (family === 'ipv4') && list.check(address, is4 ? 'ipv4' : 'ipv6');
        expect(contains(parseCidr(`${base}/${length}`)!, parseAddress(address)!)).toBe(expected);
      }),
    );
  });
});

describe('special addresses', () => {
  it.each([
    ...[
      '0.0.0.0',
      '10.0.0.1',
      '100.64.0.1',
      '127.0.0.1',
      '127.255.0.9',
      '169.254.169.254',
      '172.31.255.255',
      '192.0.0.8',
    ],
    ...['192.0.2.1', '192.168.1.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7'],
    ...['224.0.0.251', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16', '100.100.100.200'],
    ...['::', '::1', '::10.0.0.1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0:10.0.0.1', '64:ff9b::10.0.0.1'],
    ...[
      '64:ff9b:1::1',
      '100::1',
      '2001::1',
      '2001:2::1',
      '2001:db8::1',
      '2002:7f00:1::1',
      '2002:a9fe:a9fe::',
      '3fff::1',
    ],
    ...['5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', '4000::1', 'e000::1'],
  ])('%s', (text) => expect(specialAddress(parseAddress(text)!)).toBeDefined());

  it.each([
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1'],
    ...['192.0.1.1', '192.167.255.255', '198.17.255.255', '198.20.0.0', '223.255.255.255', '2606:4700::1', '2a00::1'],
    ...['64:ff9b::8.8.8.8', '2002:808:808::1', '2001:200::1', '2620:4f:8000::1'],
  ])('not %s', (text) => expect(specialAddress(parseAddress(text)!)).toBeUndefined());
});
