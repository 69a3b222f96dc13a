import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Unzstd } from '../../../lib/archive/unzstd.ts';
import { ImageStore } from '../../../lib/images/image-store.ts';
import { RootTree } from '../../../lib/images/root-tree.ts';
import { silentLog } from '../../../lib/log.ts';
import { IMAGE_ETC } from '../../../lib/runtime/bwrap/etc.ts';
import { inSameThread } from '../../../lib/threads/same-thread.ts';
import { busybox, dockerSaveOf, ociOf, sha256, streamOf, type TarMember, tarOf } from './archives.ts';

const unzstd = inSameThread(() => new Unzstd());
const PAGE = { page_size: 100, page_token: '' };

let folder: string;
let path: string;
let limits = { maxBytes: 0, maxFiles: 0, totalBytes: 0 };
let store: ImageStore;

const open = () => ImageStore.open({ path, limits, etc: IMAGE_ETC, unzstd, log: silentLog });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-images-'));
  path = join(folder, 'images');
  mkdirSync(path);
  limits = { maxBytes: 0, maxFiles: 0, totalBytes: 0 };
  store = await open();
});
afterEach(() => rmSync(folder, { recursive: true }));

const machine = () => (process.arch === 'arm64' ? 'arm64' : 'amd64');
const SHELL: TarMember = { name: 'bin/sh', content: 'shell', mode: 0o755 };
const importTar = (members: readonly TarMember[], name = 'a') => store.import(name, streamOf(tarOf(members)));
const importLayers = (...layers: TarMember[][]) =>
  store.import('a', streamOf(ociOf([tarOf([SHELL]), ...layers.map(tarOf)])));
const rootOf = ({ id }: { id: string }, ...names: string[]) => join(path, id.slice(7), 'root', ...names);
const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) });

describe('an imported tar', () => {
  it('is stored under its digest, with plain modes and the files of /etc that sandboxes need', async () => {
    const archive = tarOf(busybox());
    const image = await store.import('team/busybox:1', streamOf(gzipSync(archive)));
    expect(image).toMatchObject({ id: `sha256:${sha256(archive)}`, names: ['team/busybox:1'], format: 'tar', env: {} });
    expect(image.total_size).toBeGreaterThan(100_000);
    expect(statSync(rootOf(image, 'bin/busybox')).mode & 0o7777).toBe(0o755);
    expect(statSync(rootOf(image, 'bin')).mode & 0o7777).toBe(0o755);
    const passwd = readFileSync(rootOf(image, 'etc/passwd'), 'utf8');
    expect(passwd).toMatch(/^sandbox:x:1000:/m);
    expect(passwd).toMatch(/^pg:x:70:/m);
    expect(passwd).not.toMatch(/^app:/m);
    expect(store.rootOf('team/busybox:1')).toMatchObject({
      id: image.id,
      resetsSignals: false,
      entries: [{ name: 'bin' }, { name: 'srv', empty: true }, { name: 'usr' }, { name: 'var' }],
    });
    expect(readdirSync(path)).toEqual([image.id.slice(7)]);
  });

  const hostile: [string, TarMember[], RegExp][] = [
    ['a path above the root', [{ name: '../../x', content: 'x' }], /contains ".."/],
    [
      'a file below a file',
      [
        { name: 'f', content: '' },
        { name: 'f/x', content: '' },
      ],
      /not a directory/,
    ],
    ['a hard link to nothing', [{ name: 'h', type: '1', target: 'etc/shadow' }], /not an earlier file/],
    [
      'a hard link to a link',
      [
        { name: 'l', type: '2', target: '/etc/shadow' },
        { name: 'h', type: '1', target: 'l' },
      ],
      /hard link/,
    ],
    [
      'a loop of links',
      [{ name: 'a', type: '2', target: 'b' }, { name: 'b', type: '2', target: 'a' }, { name: 'a/x' }],
      /too many/,
    ],
    [
      'a path of 200 directories',
      [
        { name: '././@LongLink', type: 'L', content: `${'d/'.repeat(200)}\0` },
        { name: 'd', type: '5' },
      ],
      /deeper than 128/,
    ],
  ];
  for (const [what, members, message] of hostile) {
    it(`with ${what} is refused, and leaves nothing`, async () => {
      await expect(importTar([SHELL, ...members])).rejects.toEqual(refused(message));
      expect(readdirSync(path)).toEqual([]);
      expect(store.list(PAGE).images).toEqual([]);
    });
  }

  it('with more hard links than the file system permits is refused', async () => {
    vi.spyOn(RootTree.prototype, 'link').mockRejectedValue(Object.assign(new Error('link'), { code: 'EMLINK' }));
    onTestFinished(() => void vi.restoreAllMocks());
    const importing = importTar([SHELL, { name: 'h', type: '1', target: SHELL.name }]);
    await expect(importing).rejects.toEqual(refused(/"h" is a hard link to a file that has as many/));
    expect(readdirSync(path)).toEqual([]);
  });

  it('writes through no link out of its root, and follows links within it', async () => {
    const victim = join(folder, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, 'file'), 'before');
    const image = await importTar([
      SHELL,
      { name: 'out', type: '2', target: victim },
      { name: 'out/file', content: 'inside' },
      { name: 'up', type: '2', target: `${'../'.repeat(20)}${victim}` },
      { name: 'up/other', content: 'inside' },
      { name: 'direct', type: '2', target: join(victim, 'file') },
      { name: 'direct', content: 'replaced' },
      { name: 'usr/lib/', type: '5' },
      { name: 'lib', type: '2', target: 'usr/lib' },
      { name: 'lib/a', content: 'a' },
      { name: 'second', type: '1', target: 'lib/a' },
    ]);
    expect(readFileSync(join(victim, 'file'), 'utf8')).toBe('before');
    expect(readdirSync(victim)).toEqual(['file']);
    expect(readFileSync(rootOf(image, victim, 'file'), 'utf8')).toBe('inside');
    expect(readFileSync(rootOf(image, victim, 'other'), 'utf8')).toBe('inside');
    expect(readFileSync(rootOf(image, 'direct'), 'utf8')).toBe('replaced');
    expect(readFileSync(rootOf(image, 'usr/lib/a'), 'utf8')).toBe('a');
    expect(statSync(rootOf(image, 'second')).ino).toBe(statSync(rootOf(image, 'usr/lib/a')).ino);
  });

  it('gets no device and no set-id bit, and its /etc is never a link', async () => {
    const image = await importTar([
      SHELL,
      { name: 'dev/sda', type: '4' },
      { name: 'pipe', type: '6' },
      { name: 'su', content: 'x', mode: 0o6755 },
      { name: 'etc', type: '2', target: folder },
      { name: 'var/tmp', type: '2', target: folder },
    ]);
    expect(existsSync(rootOf(image, 'dev/sda'))).toBe(false);
    expect(existsSync(rootOf(image, 'pipe'))).toBe(false);
    expect(statSync(rootOf(image, 'su')).mode & 0o7777).toBe(0o755);
    expect(readdirSync(folder)).toEqual(['images']);
    expect(readFileSync(rootOf(image, 'etc/hostname'), 'utf8')).toBe('sandbox\n');
  });

  it('may be compressed with zstd', async () => {
    const archive = tarOf([SHELL]);
    const image = await store.import('a', streamOf(execFileSync('zstd', ['-c'], { input: archive })));
    expect(image.id).toBe(`sha256:${sha256(archive)}`);
  });

  it('without a shell, of nothing, truncated or of another compression is refused', async () => {
    const no = /no program \/bin\/sh/;
    await expect(importTar([{ name: 'bin/sh', content: '' }])).rejects.toEqual(refused(no));
    await expect(importTar([{ name: 'bin/sh', type: '2', target: '/bin/bash' }])).rejects.toEqual(refused(no));
    await expect(importTar([])).rejects.toEqual(refused(/empty/));
    await expect(store.import('a', streamOf(tarOf([SHELL]).subarray(0, 600)))).rejects.toEqual(refused(/truncated/));
    await expect(store.import('a', streamOf(gzipSync(tarOf([SHELL])).subarray(0, 40)))).rejects.toEqual(
      refused(/truncated/),
    );
    await expect(store.import('a', streamOf(Buffer.from('\xfd7zXZ12345678', 'latin1')))).rejects.toEqual(refused(/xz/));
    await expect(store.import('a', streamOf(Buffer.alloc(4096, 'x')))).rejects.toEqual(refused(/checksum/));
    expect(readdirSync(path)).toEqual([]);
  });
});

describe('layers', () => {
  it('hide files of lower layers by whiteouts, and none of their own, whatever the order', async () => {
    const image = await importLayers(
      [
        { name: 'd/a', content: '1' },
        { name: 'd/b', content: '1' },
        { name: 'o/lower', content: '1' },
        { name: 'o/deep/lower', content: '1' },
        { name: 'gone/x', content: '1' },
      ],
      [
        { name: 'd/a', content: '2' },
        { name: 'd/.wh.a', content: '' },
        { name: 'd/.wh.b', content: '' },
        { name: 'o/own', content: '2' },
        { name: 'o/.wh..wh..opq', content: '' },
        { name: '.wh.gone', content: '' },
        { name: '.wh.never', content: '' },
        { name: '.wh..wh.plnk', content: '' },
      ],
      [{ name: 'gone', content: 'file' }],
    );
    expect(readFileSync(rootOf(image, 'd/a'), 'utf8')).toBe('2');
    expect(readdirSync(rootOf(image, 'd'))).toEqual(['a']);
    expect(readdirSync(rootOf(image, 'o'))).toEqual(['own']);
    expect(readFileSync(rootOf(image, 'gone'), 'utf8')).toBe('file');
    expect(readdirSync(rootOf(image)).filter((name) => name.startsWith('.wh'))).toEqual([]);
  });

  it('of which an archive has one several times are read once', async () => {
    const layer = tarOf([SHELL]);
    const name = `${sha256(layer)}/layer.tar`;
    const diff_ids = [`sha256:${sha256(layer)}`];
    const config = JSON.stringify({ os: 'linux', architecture: machine(), rootfs: { type: 'layers', diff_ids } });
    const manifest = JSON.stringify([{ Config: `${sha256(config)}.json`, Layers: [name] }]);
    const archive = tarOf([
      { name, content: 'another one' },
      { name, content: layer },
      { name: `${sha256(config)}.json`, content: config },
      { name: 'manifest.json', content: manifest },
    ]);
    const image = await store.import('a', streamOf(archive));
    expect(image.id).toBe(`sha256:${sha256(config)}`);
    expect(readFileSync(rootOf(image, 'bin/sh'), 'utf8')).toBe(SHELL.content);
  });

  it('do not write into a file that a lower layer has a second name of', async () => {
    const image = await importLayers(
      [
        { name: 'a', content: 'one' },
        { name: 'b', type: '1', target: 'a' },
      ],
      [{ name: 'b', content: 'two' }],
    );
    expect(['a', 'b'].map((name) => readFileSync(rootOf(image, name), 'utf8'))).toEqual(['one', 'two']);
  });

  it('cannot remove anything outside of the root by whiteouts', async () => {
    const victim = join(folder, 'victim');
    mkdirSync(join(victim, 'x'), { recursive: true });
    await importLayers(
      [{ name: 'out', type: '2', target: victim }],
      [
        { name: 'out/.wh.x', content: '' },
        { name: 'out/.wh..wh..opq', content: '' },
      ],
    );
    expect(readdirSync(victim)).toEqual(['x']);
    await expect(importLayers([{ name: 'd/x' }], [{ name: 'd/.wh...', content: '' }])).rejects.toEqual(
      refused(/names no file/),
    );
  });

  it('are verified, like the configuration', async () => {
    const layers = [tarOf([SHELL])];
    const lies: [RegExp, (blobs: Map<string, Buffer>) => void][] = [
      [
        /has another digest|should have the digest/,
        (blobs) => {
          for (const [name, bytes] of blobs)
            if (bytes[0] === 0x1f) blobs.set(name, gzipSync(tarOf([{ ...SHELL, content: 'evil' }])));
        },
      ],
      [
        /has another digest/,
        (blobs) => {
          for (const [name, bytes] of blobs) {
            if (bytes.includes('"diff_ids"'))
              blobs.set(name, Buffer.from(bytes.toString().replace('"Env":[]', '"Env":["A=b"]')));
          }
        },
      ],
      [/no image for linux/, (blobs) => blobs.set('index.json', Buffer.from('{"manifests":[]}'))],
      [/is not JSON/, (blobs) => blobs.set('index.json', Buffer.from('{'))],
    ];
    for (const [message, lie] of lies) {
      await expect(store.import('a', streamOf(ociOf(layers, { lie })))).rejects.toEqual(refused(message));
    }
    await expect(
      store.import('a', streamOf(ociOf(layers, { platform: { os: 'linux', architecture: 's390x' } }))),
    ).rejects.toEqual(refused(/no image for linux/));
    expect(readdirSync(path)).toEqual([]);
  });

  it('of docker save are the same image as those of an OCI layout', async () => {
    const layers = [tarOf([SHELL]), tarOf([{ name: 'a', content: 'a' }]), tarOf([SHELL])];
    const env = ['PATH=/opt/bin:/bin', 'BAD-NAME=x', 'LANG=de_DE', 'EMPTY='];
    const oci = await store.import('oci', streamOf(gzipSync(ociOf(layers, { env }))));
    const docker = await store.import('docker', streamOf(dockerSaveOf(layers, env)));
    expect(docker).toEqual({ ...oci, names: ['docker', 'oci'] });
    expect(oci).toMatchObject({ format: 'oci', env: { PATH: '/opt/bin:/bin', LANG: 'de_DE', EMPTY: '' } });
    expect(readdirSync(path)).toHaveLength(1);
  });
});

describe('the images of a server', () => {
  it('are found by name and by id after a restart, which removes what was not complete', async () => {
    const [one, two] = [await importTar([SHELL], 'one'), await importTar([SHELL, { name: 'b' }], 'two')];
    mkdirSync(join(path, 'import-x/root'), { recursive: true });
    mkdirSync(join(path, 'removed-x'));
    const damaged = join(path, sha256('damaged'));
    mkdirSync(damaged);
    store = await open();
    expect([store.get('one'), store.get(two.id)]).toEqual([one, two]);
    expect(store.list(PAGE).images.map(({ id }) => id)).toEqual([one.id, two.id].sort());
    expect(readdirSync(path).sort()).toEqual([one.id.slice(7), two.id.slice(7), sha256('damaged')].sort());
    expect(() => store.get('three')).toThrow('image "three" does not exist');
    expect(() => store.get('__proto__')).toThrow('does not exist');
  });

  it('take a name from each other', async () => {
    const old = await importTar([SHELL], 'latest');
    const next = await importTar([SHELL, { name: 'b' }], 'latest');
    expect([store.get(old.id).names, store.get('latest')]).toEqual([[], next]);
    store = await open();
    expect([store.get(old.id).names, store.get('latest')]).toEqual([[], next]);
    await importTar([SHELL], 'latest');
    expect([store.get('latest').id, store.get(next.id).names]).toEqual([old.id, []]);
  });

  it('are not deleted while a sandbox uses them', async () => {
    const image = await importTar([SHELL]);
    let users = ['sb_2', 'sb_1'];
    store.connect((id) => (id === image.id ? users : []));
    await expect(store.delete('a')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `image ${image.id} is used by the sandboxes sb_1, sb_2`,
    });
    users = [];
    await store.delete('a');
    expect([readdirSync(path), store.rootOf('a')]).toEqual([[], undefined]);
    await expect(store.delete('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('have limits, also against archives that expand', async () => {
    const bomb = gzipSync(tarOf([SHELL, { name: 'zero', content: Buffer.alloc(2 << 20) }]));
    const exhausted = (message: RegExp) =>
      expect.objectContaining({ code: 'RESOURCE_EXHAUSTED', message: expect.stringMatching(message) });
    limits = { maxBytes: 1 << 20, maxFiles: 0, totalBytes: 0 };
    store = await open();
    await expect(store.import('a', streamOf(bomb))).rejects.toEqual(exhausted(/max_image_bytes/));
    const layers = ociOf([tarOf([SHELL]), tarOf([{ name: 'zero', content: Buffer.alloc(2 << 20) }])]);
    await expect(store.import('a', streamOf(layers))).rejects.toEqual(exhausted(/max_image_bytes/));
    limits = { maxBytes: 0, maxFiles: 3, totalBytes: 0 };
    store = await open();
    await expect(importTar([SHELL, { name: 'a/b/c/d', type: '5' }])).rejects.toEqual(exhausted(/max_image_files/));
    limits = { maxBytes: 0, maxFiles: 0, totalBytes: 3 << 20 };
    store = await open();
    await store.import('a', streamOf(bomb));
    await expect(importTar([SHELL, { name: 'b', content: Buffer.alloc(2 << 20) }])).rejects.toEqual(
      exhausted(/max_images_bytes/),
    );
    expect(readdirSync(path)).toHaveLength(1);
  });

  it('are imported at once, the same one too', async () => {
    const archive = tarOf([SHELL]);
    const both = await Promise.all(['x', 'y'].map((name) => store.import(name, streamOf(archive))));
    expect(both.map(({ id }) => id)).toEqual([both[0]!.id, both[0]!.id]);
    expect(store.get('x').names).toEqual(['x', 'y']);
    expect(readdirSync(path)).toHaveLength(1);
  });

  it('are not changed by an archive that ends early', async () => {
    async function* failing() {
      yield tarOf([SHELL]).subarray(0, 700);
      throw new Error('the client disconnected');
    }
    await expect(store.import('a', failing())).rejects.toThrow('the client disconnected');
    expect(readdirSync(path)).toEqual([]);
  });
});
