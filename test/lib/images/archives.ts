import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** A member of a tar; `type` is the flag in its header. */
export interface TarMember {
  name: string;
  type?: string;
  content?: string | Buffer;
  mode?: number;
  target?: string;
}

const BLOCK = 512;

/** A tar of these members, which may be hostile. */
export function tarOf(members: readonly TarMember[]): Buffer {
  const parts = members.flatMap(({ name, type = '0', content = '', mode = 0o644, target = '' }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(BLOCK);
    header.write(name, 0, 100, 'latin1');
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('14000000000\0', 136);
    header.write(type, 156);
    header.write(target, 157, 100, 'latin1');
    header.write('ustar\x0000', 257);
    header.fill(' ', 148, 156);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** A file system with the static busybox of the tests' packages as every program. */
export function busybox(more: readonly TarMember[] = []): TarMember[] {
  const tools = ['sh', 'cat', 'ls', 'id', 'env', 'echo', 'sleep', 'kill', 'touch', 'mkdir', 'rm', 'stat', 'find', 'ps'];
  return [
    { name: './', type: '5', mode: 0o755 },
    { name: 'bin/', type: '5', mode: 0o700 },
    { name: 'bin/busybox', content: readFileSync('/bin/busybox'), mode: 0o4755 },
    ...tools.map((name) => ({ name: `bin/${name}`, type: '2', target: '/bin/busybox' })),
    { name: 'usr/bin/', type: '5' },
    { name: 'usr/bin/env', type: '2', target: '../../bin/busybox' },
    { name: 'etc/', type: '5' },
    {
      name: 'etc/passwd',
      content: 'root:x:0:0::/root:/bin/sh\napp:x:1000:1000::/app:/bin/sh\npg:x:70:70::/:/bin/sh\n',
    },
    { name: 'var/lib/app/data', content: 'data' },
    { name: 'srv/', type: '5' },
    ...more,
  ];
}

const CONFIG = { os: 'linux', architecture: process.arch === 'arm64' ? 'arm64' : 'amd64' };

interface Parts {
  env?: string[];
  /** Changes what is written, for archives that lie. */
  lie?: (blobs: Map<string, Buffer>) => void;
  platform?: object;
}

/** An OCI image layout with these layers, gzipped. */
export function ociOf(layers: readonly Buffer[], { env = [], lie, platform = CONFIG }: Parts = {}): Buffer {
  const blobs = new Map<string, Buffer>();
  const add = (bytes: Buffer | string) => {
    const digest = sha256(bytes);
    blobs.set(`blobs/sha256/${digest}`, Buffer.from(bytes));
    return { digest: `sha256:${digest}`, size: bytes.length };
  };
  const diff_ids = layers.map((layer) => `sha256:${sha256(layer)}`);
  const config = add(JSON.stringify({ ...platform, config: { Env: env }, rootfs: { type: 'layers', diff_ids } }));
  const manifest = add(JSON.stringify({ schemaVersion: 2, config, layers: layers.map((each) => add(gzipSync(each))) }));
  blobs.set('index.json', Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, platform }] })));
  blobs.set('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}'));
  lie?.(blobs);
  return tarOf([...blobs].map(([name, content]) => ({ name, content })));
}

/** What older versions of `docker save` wrote. */
export function dockerSaveOf(layers: readonly Buffer[], env: string[] = []): Buffer {
  const diff_ids = layers.map((layer) => `sha256:${sha256(layer)}`);
  const config = JSON.stringify({ ...CONFIG, config: { Env: env }, rootfs: { type: 'layers', diff_ids } });
  const names = layers.map((_, index) => `${sha256(`${index}`)}/layer.tar`);
  const [{ length }] = [layers];
  return tarOf([
    ...layers.flatMap((content, index) => [
      { name: `${names[index]!.slice(0, 64)}/`, type: '5' },
      index > 0 && length > 1 && content.equals(layers[0]!)
        ? { name: names[index]!, type: '2', target: `../${names[0]}` }
        : { name: names[index]!, content },
    ]),
    { name: `${sha256(config)}.json`, content: config },
    {
      name: 'manifest.json',
      content: JSON.stringify([{ Config: `${sha256(config)}.json`, RepoTags: ['a:b'], Layers: names }]),
    },
  ]);
}

/** In small pieces, as a client may send it. */
export async function* streamOf(bytes: Buffer, piece = 60_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}
