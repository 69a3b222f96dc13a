import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClientHello } from '../../../../lib/network/proxy/client-hello.ts';
import { recognize } from '../../../../lib/network/proxy/first-bytes.ts';

/** The ClientHello of OpenSSL. */
async function helloFor(servername: string): Promise<Buffer> {
  let wire: Duplex | undefined;
  const hello = await new Promise<Buffer>((resolve) => {
    wire = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _, done) {
        resolve(chunk);
        done();
      },
    });
    connect({ socket: wire, servername }).on('error', () => undefined);
  });
  wire?.destroy();
  return hello;
}

/** The same message in records of `size` bytes. */
function fragmented(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.of(22, 3, 1, part.length >> 8, part.length & 255), part);
  }
  return Buffer.concat(records);
}

const protocolOf = (bytes: Buffer | string) => {
  const found = recognize(Buffer.from(bytes as string, 'latin1'));
  return found === 'more' ? found : found.protocol;
};

describe('the server name of a ClientHello', () => {
  it('is read when the message is complete, whole or in records', async () => {
    const hello = await helloFor('API.test');
    for (let length = 0; length < hello.length; length++)
      expect(readClientHello(hello.subarray(0, length))).toBe('more');
    const whole = { serverName: 'api.test' };
    expect(readClientHello(hello)).toEqual(whole);
    expect(readClientHello(Buffer.concat([hello, Buffer.from('more')]))).toEqual(whole);
    expect(readClientHello(fragmented(hello, 100))).toEqual(whole);
    expect(readClientHello(fragmented(hello, 1))).toBe('invalid');
    expect(readClientHello(await helloFor(''))).toEqual({ serverName: undefined });
  });

  it('is refused if there are two', async () => {
    const hello = await helloFor('api.test');
    const name = Buffer.from('api.test');
    const at = hello.indexOf(name);
    const second = Buffer.concat([Buffer.of(0, 0, 9), Buffer.from('evil.test')]);
    const changed = Buffer.concat([hello.subarray(0, at + name.length), second, hello.subarray(at + name.length)]);
    // Lengths: of the record, the message, the extensions, the extension, and its list.
    const grow = (offset: number) => changed.writeUInt16BE(changed.readUInt16BE(offset) + second.length, offset);
    grow(3);
    grow(7);
    for (const offset of [at - 5, at - 7]) grow(offset);
    let extensions = 5 + 4 + 34;
    extensions += 1 + changed[extensions]!;
    extensions += 2 + changed.readUInt16BE(extensions);
    extensions += 1 + changed[extensions]!;
    grow(extensions);
    expect(readClientHello(changed)).toBe('invalid');
  });

  it('is never read from garbage by an exception', async () => {
    const hello = await helloFor('api.test');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = Buffer.from(hello);
        for (const [at, value] of changes) bytes[at] = value;
        readClientHello(bytes);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void recognize(Buffer.from(bytes))));
  });
});

describe('the protocol of the first bytes', () => {
  it.each([
    ['GET / HTTP/1.1\r\n', 'http'],
    ['\r\n\nget /x http/1.0\n', 'http'],
    ['GET /\xe9\xff x HTTP/1.1', 'http'],
    ['\t FOO\t/\tHTTP/1.1\n', 'http'],
    ['GET /x\r\n', 'unchecked'],
    ['get /x\r\n', 'unchecked'],
    ['Get http://a/\n', 'unchecked'],
    ['GET key\r\n', 'unchecked'],
    // memcached
    ['get key\r\n', 'other'],
    ['set key 0 0 1\r\n', 'other'],
    ['\x80\x2e\x01\x03\x01', 'unchecked'],
    ['\x80\x2e\x01\x00\x02\x00\x15', 'unchecked'],
    ['\x80\x2e\x01\x03', 'more'],
    ['\x80', 'more'],
    ['\x80\x2e\x01\x00\x03', 'other'],
    ['\x80\x2e\x02\x03\x01', 'other'],
    ['PRI * HTTP/2.0\r\n', 'http2'],
    [`GET /${'x'.repeat(9000)}`, 'unchecked'],
    ['\x16\x03\x01\x00\x00', 'unchecked'],
    ['\x16\x02\x01\x00\x10', 'unchecked'],
    ['SSH-2.0-OpenSSH_9.2p1 Debian\r\n', 'other'],
    ['0032git-upload-pack /a.git\0host=x\0', 'other'],
    ['*1\r\n$4\r\nPING\r\n', 'other'],
    ['EHLO x\r\n', 'other'],
    ['\0', 'other'],
    ['', 'more'],
    ['G', 'more'],
    ['GET /\xe9', 'more'],
    ['\r\n', 'more'],
    ['\x16', 'more'],
  ])('%j is %s', (bytes, protocol) => {
    expect(protocolOf(bytes)).toBe(protocol);
  });

  it('cannot change with later bytes, except from the start of a line', () => {
    const requests = fc.constantFrom(
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      '\r\nPOST http://x/ HTTP/1.0\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\n',
    );
    fc.assert(
      fc.property(requests, fc.nat(40), (request, length) => {
        // A part of a request is never taken for another protocol, whose bytes pass.
        expect(protocolOf(request.slice(0, length))).not.toBe('other');
      }),
    );
  });
});
