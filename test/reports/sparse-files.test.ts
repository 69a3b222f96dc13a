import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { collect } from '../contract/client.ts';
import { expectRefusal, Scene } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';

const BLOCK = 4096;
const MIB = 2 ** 20;
const TIB = 2 ** 40;
const QUOTA = 16 * MIB;
/** Most blocks that the host's file system needs to find so many places; they are a part of st_blocks. */
const EXTENTS = 32;

let state: State;
let server: Server;
let scene: Scene;

async function start(): Promise<void> {
  // Codebases count sizes, and these are meant to hold terabytes.
  const config = { sandbox: { max_delta_bytes: QUOTA }, storage: { max_codebase_bytes: '20TiB' } };
  server = await Server.start(state, { config });
  scene = new Scene(server, state, 'bwrap', 'rest');
}

beforeEach(async () => {
  state = await State.create();
  await start();
});
afterEach(async () => {
  await scene?.close();
  await server?.stop();
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

/** What a sandbox uses of its quota, in blocks. */
const used = async (sandbox: Sandbox) =>
  Number(
    (await scene.output(sandbox, "stat -f -c '%b %f' /workspace")).split(' ').reduce((all, free) => `${+all - +free}`),
  );

/** What is stored on the host in the files that a directory holds, in bytes. */
function storedBelow(directory: string): number {
  const names = readdirSync(join(state.directory, directory), { recursive: true, encoding: 'utf8' });
  // What a layer had may be removed meanwhile.
  const stats = names.map((name) => statSync(join(state.directory, directory, name), { throwIfNoEntry: false }));
  return stats.reduce((sum, stat) => sum + (stat?.blocks ?? 0) * 512, 0);
}

/** Runs Python with a helper: `put(fd, at)` writes one block. */
const python = (program: string) => `exec python3 -I -c "
import errno, mmap, os, random, sys
def made(name, size):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
    os.ftruncate(fd, size)
    return fd
def put(fd, at, byte=b'x'):
    return os.pwrite(fd, byte * ${BLOCK}, at)
def refused(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
${program}"`;

/** What du(1) says of files, in bytes. */
const stored = async (sandbox: Sandbox, files: string) =>
  Number((await scene.output(sandbox, `du -c -B1 ${files} | tail -n 1`)).split('\t')[0]);

describe('a file with holes', () => {
  it('may be larger than the quota, and shows what is stored', async () => {
    const sandbox = await scene.sandboxOn({});
    const said = await scene.output(sandbox, 'truncate -s 10G x && ls -s x && stat -c %s x && du x');
    expect(said).toBe('0 x\n10737418240\n0\tx\n');
    expect(await used(sandbox)).toBe(0);
    const written = await scene.output(sandbox, 'printf x | dd of=x bs=1 seek=5G conv=notrunc 2> /dev/null; du -B1 x');
    expect(written).toBe(`${BLOCK}\tx\n`);
  });

  it('stays one when programs copy or archive it', async () => {
    const sandbox = await scene.sandboxOn({});
    const said = await scene.output(
      sandbox,
      `truncate -s 100M x && printf data | dd of=x bs=1 seek=50M conv=notrunc 2> /dev/null && cp x y && tar -cSf t x &&
        mkdir d && tar -xSf t -C d && cmp x y && cmp x d/x && du -B1 x y d/x && printf plain > p && cp p q && cmp p q`,
    );
    expect(said).toBe(`${BLOCK}\tx\n${BLOCK}\ty\n${BLOCK}\td/x\n`);
  });

  it('is counted by its written blocks, those at large strides and those of 10,000 files', async () => {
    const sandbox = await scene.sandboxOn({});
    const strides = python(`
fd = made('x', 0)
for n in range(1000): put(fd, n << 20)
for n in range(10000): os.close(made(f's{n}', 1 << 40))
`);
    await scene.output(sandbox, strides);
    const counted = await used(sandbox);
    expect([counted >= 1000, counted <= 1000 + EXTENTS]).toEqual([true, true]);
    expect(await stored(sandbox, 'x')).toBe(counted * BLOCK);
  });

  it('cannot be used to store more than the quota, whatever the order of writes, syncs and mappings', async () => {
    const sandbox = await scene.sandboxOn({});
    const fill = python(`
fds = [made(f'f{n}', 1 << 33) for n in range(8)]
places = [n << 20 for n in range(8192)]
random.Random(1).shuffle(places)
said = set()
for n, at in enumerate(places):
    said.add(refused(lambda: put(fds[n % 8], at)))
    if n % 500 == 0: said.add(refused(lambda: os.fsync(fds[n % 8])))
m = mmap.mmap(fds[0], 1 << 26)
for n in range(1 << 10): m[(n << 16) + 4096] = 1
said.add(refused(m.flush))
print(sorted(str(each) for each in said))
`);
    expect(await scene.output(sandbox, fill)).toBe("['EDQUOT', 'None']\n");
    expect((await used(sandbox)) - QUOTA / BLOCK).toBeLessThanOrEqual(EXTENTS);
    // Beside the contents there are journals and directories.
    expect(storedBelow('mounts')).toBeLessThan(QUOTA + 4 * MIB);
    const over = python(`
fd = os.open('f0', os.O_RDWR)
data = [at for at in range(0, 1 << 33, 1 << 20) if os.pread(fd, 1, at) == b'x']
print(len(data) > 100, {refused(lambda: put(fd, at, b'y')) for at in data})
`);
    expect(await scene.output(sandbox, over)).toBe('True {None}\n');
  });

  it('counts the same after the server was killed while it was written to', async () => {
    const sandbox = await scene.sandboxOn({});
    const writing = scene.run(
      sandbox,
      python(`
fds = [made(f'f{n}', 1 << 33) for n in range(8)]
for n in range(1 << 30): put(fds[n % 8], (n % 400) * (1 << 20))
`),
    );
    writing.catch(() => undefined);
    await expect.poll(() => used(sandbox), { timeout: 30_000 }).toBeGreaterThan(300);
    await server.stop('SIGKILL');
    await start();
    await scene.client.call('StartSandbox', { sandbox_id: sandbox.id }).catch(() => undefined);
    scene.owns(sandbox);
    expect(await used(sandbox)).toBe((await stored(sandbox, 'f?')) / BLOCK);
  });
});

describe('terabytes of holes', () => {
  let codebase: Codebase;
  let sandbox: Sandbox;
  beforeEach(async () => {
    codebase = await scene.codebase({ a: 'a\n' });
    sandbox = await scene.sandbox(codebase);
    await scene.output(
      sandbox,
      python(`
fd = made('x', ${10 * TIB})
put(fd, ${5 * TIB})
`),
    );
  });

  const data = (of: Sandbox) =>
    scene.output(
      of,
      python(`
fd = os.open('x', os.O_RDONLY)
print(os.fstat(fd).st_size, os.fstat(fd).st_blocks * 512, os.pread(fd, 3, ${5 * TIB} - 1))
`),
    );
  const EXPECTED = `${10 * TIB} ${BLOCK} b'\\x00xx'\n`;

  it('are kept by a commit, and by a copy of what is committed', async () => {
    await scene.client.call('Commit', { sandbox_id: sandbox.id });
    expect(await data(sandbox)).toBe(EXPECTED);
    expect(await used(sandbox)).toBe(0);
    expect((await scene.client.call('GetCodebase', { codebase_id: codebase.id })).total_size).toBe(10 * TIB + 2);
    expect(storedBelow('codebases')).toBeLessThan(MIB);
    await scene.output(sandbox, 'printf y | dd of=x bs=1 conv=notrunc 2> /dev/null');
    expect(await used(sandbox)).toBe(2);
  });

  it('are kept by checkpoints, forks and rollbacks', async () => {
    await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'one' });
    const { results } = await scene.client.call('Fork', { sandbox_id: sandbox.id });
    const fork = results[0]!.sandbox!;
    scene.owns(fork);
    for (const each of [sandbox, fork]) {
      await scene.output(each, 'printf y | dd of=x bs=1 conv=notrunc 2> /dev/null');
      expect(await stored(each, 'x')).toBe(2 * BLOCK);
    }
    await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'one' });
    expect(await data(sandbox)).toBe(EXPECTED);
    expect(storedBelow('mounts')).toBeLessThan(MIB);
  });

  it('are named by a patch without their contents', async () => {
    const patch = (
      await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' }))
    ).toString();
    expect(patch).toBe(
      'diff --git a/x b/x\nnew file mode 100644\nindex 0000000..0000000\nBinary files /dev/null and b/x differ\n',
    );
  });

  it('are refused by a codebase that may not become as large', async () => {
    await scene.output(sandbox, 'truncate -s 15T y');
    await expectRefusal(
      scene.client.call('Commit', { sandbox_id: sandbox.id }),
      'RESOURCE_EXHAUSTED',
      'max_codebase_bytes',
    );
  });
});
