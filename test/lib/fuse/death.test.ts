import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { clearStaleMount, makeMountPoint, unmountAll } from '../../../lib/fuse/connection/mount.ts';
import { bundleEntry } from './bundle-entry.ts';
import { type Mounted, mounted, shell, spec } from './mounted.ts';

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let server: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted | undefined;
let directory: string;

beforeAll(async () => {
  bundle = await bundleEntry('worker-entry.ts');
  server = await bundleEntry('server-entry.ts');
  directory = await mkdtemp(join(tmpdir(), 'fuse-death-'));
});
afterEach(async () => {
  await mount?.remove();
  mount = undefined;
});
afterAll(async () => {
  await unmountAll(join(directory, 'mnt'));
  await rm(directory, { recursive: true });
  await bundle.remove();
  await server.remove();
});

const mounts = () => readFile('/proc/self/mounts', 'utf8');

/** A process of its own that owns a mount; on its stdin it takes "exit" or "throw". */
async function serverProcess(): Promise<{ child: ChildProcess; mountPoint: string }> {
  const mountPoint = join(directory, 'mnt');
  const child = spawn(process.execPath, [server.file, mountPoint], { stdio: ['pipe', 'pipe', 'ignore'], cwd: '/' });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { child, mountPoint };
}

describe('a file system that stopped serving', () => {
  it('is reported after a forced unmount, and rejects every call', async () => {
    mount = await mounted(bundle.entry);
    const { workspaces, mountPoint } = mount;
    const pending = expect(workspaces.exited).resolves.toMatchObject({ reason: expect.stringMatching(/mount was/) });
    // umount reports a busy target, but has aborted the connection.
    await shell('umount -f "$1" 2>/dev/null || :', mountPoint);
    await pending;
    await expect(workspaces.usage('')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('is reported when its mount was detached lazily while it was in use', async () => {
    mount = await mounted(bundle.entry);
    const { workspaces, mountPoint } = mount;
    const holder = spawn('/bin/sh', ['-c', 'cd "$1" && echo && exec sleep 60', 'sh', mountPoint]);
    await once(holder.stdout, 'data');
    await shell('umount -l "$1"', mountPoint);
    await workspaces.check();
    expect(await workspaces.exited).toEqual({ reason: 'the mount was removed' });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('is reported after its thread ended, and leaves no mount', async () => {
    mount = await mounted(bundle.entry);
    const { workspaces, mountPoint } = mount;
    const call = workspaces.baseChanging('cb', [fromText('exit')]);
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await workspaces.exited).toEqual({ reason: 'the request worker ended', workspace: 'cb' });
    await workspaces.threadsExited;
    await workspaces.close();
    expect(await mounts()).not.toContain(mountPoint);
  });

  it('is aborted by the watchdog if it hangs, so that programs get an error', async () => {
    mount = await mounted(bundle.entry, { watchdogMs: 400 });
    const { workspaces } = mount;
    const path = await workspaces.attach(spec('sb_1'));
    const call = expect(workspaces.baseChanging('cb', [fromText('hang')])).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    const program = expect(shell('ls "$1/absent"', path)).rejects.toThrow();
    expect(await workspaces.exited).toEqual({
      reason: 'the request worker did not answer for 400 ms',
      workspace: 'cb',
    });
    await Promise.all([call, program]);
  });

  it('is closed within the time limit', async () => {
    mount = await mounted(bundle.entry);
    const { workspaces, mountPoint } = mount;
    const call = expect(workspaces.baseChanging('cb', [fromText('hang')])).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    await workspaces.close();
    await call;
    expect(await mounts()).not.toContain(mountPoint);
  }, 120_000);
});

describe('close', () => {
  it('does not wait for a mount namespace that still contains a workspace', async () => {
    mount = await mounted(bundle.entry);
    const { workspaces, mountPoint } = mount;
    const path = await workspaces.attach(spec('sb_1'));
    const inside = join(directory, 'inside');
    await makeMountPoint(inside);
    const script = 'mount --bind "$1" "$2" && cd "$2" && echo && read -r _; LC_ALL=C ls . 2>&1; :';
    const holder = spawn('unshare', ['--mount', '/bin/sh', '-c', script, 'sh', path, inside], { cwd: '/' });
    await once(holder.stdout, 'data');
    await workspaces.close();
    expect(await mounts()).not.toContain(mountPoint);
    holder.stdin.end('\n');
    const output = await text(holder.stdout);
    expect(output).toMatch(/not connected|aborted/);
  });
});

describe('a server process that ends without closing', () => {
  it('leaves, after kill -9, a mount that clearStaleMount removes', async () => {
    const { child, mountPoint } = await serverProcess();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await mounts()).toContain(mountPoint);
    await clearStaleMount(mountPoint);
    expect(await mounts()).not.toContain(mountPoint);
    expect((await stat(mountPoint)).isDirectory()).toBe(true);
  });

  it('can be followed by another one on the same mount point without clearStaleMount', async () => {
    const first = await serverProcess();
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await serverProcess();
    second.child.stdin?.end('exit\n');
    await once(second.child, 'exit');
    expect(await mounts()).not.toContain(second.mountPoint);
  });

  it.each(['exit', 'throw'])('does not hang when it ends by %s, and leaves no mount', async (how) => {
    const { child, mountPoint } = await serverProcess();
    child.stdin?.end(`${how}\n`);
    const [code] = await once(child, 'exit');
    expect(code).toBe(how === 'exit' ? 7 : 1);
    expect(await mounts()).not.toContain(mountPoint);
  });

  it('dies of kill -9 while one workspace is looked up and another is removed', async () => {
    const { child, mountPoint } = await serverProcess();
    await shell('ls "$1/sb_1/workspace"', mountPoint);
    const launch = spawn('ls', [join(mountPoint, 'unanswered', 'workspace')], { cwd: '/', stdio: 'ignore' });
    // Polled several times: by then the notifier has invalidated the kernel, or waits for the lock that the launch holds.
    let seen = 0;
    const waits = async () => {
      const wait = await readFile(`/proc/${launch.pid}/wchan`, 'utf8');
      seen = wait === 'request_wait_answer' ? seen + 1 : 0;
      return seen;
    };
    await expect.poll(waits, { timeout: 30_000 }).toBeGreaterThan(4);
    const ended = Promise.all([once(child, 'exit'), once(launch, 'exit')]);
    child.kill('SIGKILL');
    await ended;
    await clearStaleMount(mountPoint);
  });

  it('dies of kill -9 while its mount is busy', async () => {
    const { child, mountPoint } = await serverProcess();
    const busy = shell('cd "$1/sb_1/workspace" && while :; do : > f || exit 0; rm f || exit 0; done', mountPoint).catch(
      () => {},
    );
    await shell('until [ -e "$1/sb_1/workspace/f" ]; do :; done', mountPoint);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await busy;
    await clearStaleMount(mountPoint);
  });
});

describe('mountWorkspaces', () => {
  it('rejects, and leaves no mount, if its worker cannot start', async () => {
    const mountPoint = join(directory, 'unserved');
    const entry = pathToFileURL(join(directory, 'absent.mjs'));
    await expect(mounted(entry, { mountPoint })).rejects.toThrow(/failed/);
    expect(await mounts()).not.toContain(mountPoint);
  });

  it('rejects if the mount point is not a directory', async () => {
    const mountPoint = join(directory, 'file');
    await writeFile(mountPoint, '');
    await expect(mounted(bundle.entry, { mountPoint })).rejects.toThrow(/mount/);
  });
});

describe('makeMountPoint', () => {
  it('creates missing parents that can be traversed but not listed', async () => {
    const deep = join(directory, 'a', 'b', 'mnt');
    await makeMountPoint(deep);
    for (const path of [deep, join(directory, 'a', 'b'), join(directory, 'a')])
      expect((await stat(path)).mode & 0o777).toBe(0o711);
  });
});
