import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSocketMaker } from '../../../../lib/network/namespace/socket-maker.ts';
import { type Daemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';
import { command, finish } from '../run.ts';
import { collect, openScene, type Scene, sh } from './sandbox.ts';

let dockerd: Daemon;
let scene: Scene;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'base');
  await importImage(dockerd.docker, 'shell-less', { programs: ['cat'] });
});
afterAll(() => dockerd?.stop());
beforeEach(async () => {
  scene = await openScene(dockerd);
});
afterEach(() => scene?.end());

async function gone(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}

/** Returns the host pids of a uid. */
async function processesOf(uid: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const owned = await Promise.all(
    pids.map(async (pid) => (await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')).includes(`Uid:\t${uid}\t`)),
  );
  return pids.filter((_, index) => owned[index]);
}

async function cgroupsOf(id: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (directory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory()) continue;
      if (entry.name === id) found.push(`${directory}/${entry.name}`);
      await walk(`${directory}/${entry.name}`);
    }
  };
  await walk('/sys/fs/cgroup');
  return found;
}

describe('a sandbox in a container', () => {
  it('signals a command, writes to it, and ends what it left in the background', async () => {
    const spec = await scene.spec();
    const sandbox = await scene.launch(spec);
    const text = 'setsid sleep 60 >/dev/null 2>&1 & cat; while :; do :; done';
    const running = await sandbox.exec(command(text, { openStdin: true }));
    await running.input?.write(Buffer.from('a\0b'));
    running.input?.end();
    const result = finish(running);
    await expect.poll(async () => (await running.pids()).length, { timeout: 30_000 }).toBe(2);
    await running.kill('SIGSTOP');
    await running.kill('SIGCONT');
    await running.kill('SIGKILL');
    expect(await result).toMatchObject({ exitCode: 137 });
    const argv = ['sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo $0', 'left'];
    const leaving = await sandbox.exec(command('', { argv }));
    expect(await finish(leaving)).toMatchObject({ stdout: 'left\n', exitCode: 0 });
    // Not all processes of the user: the shell for the next command may be started meanwhile.
    const sleeping = async () => {
      const pids = await processesOf(spec.uid);
      const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
      return lines.filter((line) => line.startsWith('sleep\0'));
    };
    expect(await sleeping()).toHaveLength(1);
    await leaving.endLeftBehind?.();
    await expect.poll(sleeping, { timeout: 30_000 }).toEqual([]);
  });

  it('runs a command as its own user in the workspace, with the fixed environment only', async () => {
    const spec = await scene.spec();
    const sandbox = await scene.launch(spec);
    const { stdout } = await sh(
      sandbox,
      'id -u; pwd; env | cut -d= -f1 | LC_ALL=C sort | tr "\\n" " "; echo hi > file; cat file',
    );
    const git = 'GIT_PAGER GIT_TERMINAL_PROMPT';
    const pip = 'PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INDEX PIP_NO_INPUT';
    const npm = ['audit', 'fetch_retries', 'offline', 'update_notifier'].map((each) => `npm_config_${each}`).join(' ');
    const names = `CI DEBIAN_FRONTEND ${git} HOME JDK_JAVA_OPTIONS LANG LOGNAME PAGER PATH ${pip} PWD SHELL TERM USER ${npm}`;
    expect(stdout).toBe(`${spec.uid}\n/workspace\n${names} hi\n`);
    expect(await readFile(`${spec.workspace}/file`, 'utf8')).toBe('hi\n');
  });

  it('has a network that can be opened while it runs, and finds no names before', async () => {
    const sandbox = await scene.launch();
    const look = 'import socket\ntry: socket.getaddrinfo("example.org", 443)\nexcept OSError as e: print(e)';
    expect((await sh(sandbox, `python3 -c '${look}'`)).stdout).toMatch(/name resolution|not known/);
    expect(await sandbox.network()).toBe('tried');
    const ping = 'python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)" 2>&1 | tail -n 1';
    expect((await sh(sandbox, ping)).stdout).toBe('PermissionError: [Errno 13] Permission denied\n');

    const maker = createSocketMaker();
    const tcp = [{ address: '0.0.0.0', port: 443 }];
    const { servers } = await maker.open(sandbox.networkPid(), { tcp, udp: [], routes: ['198.18.0.0/15'] });
    servers[0]!.on('connection', (socket) => socket.end(`you asked ${socket.localAddress}`));
    sandbox.setNetwork({ CA: '/ca' });
    const ask = 'import socket; print(socket.create_connection(("198.18.2.3", 443)).recv(99).decode())';
    expect((await sh(sandbox, `python3 -c '${ask}'; echo $CA $https_proxy $PIP_NO_INDEX`)).stdout).toBe(
      'you asked 198.18.2.3\n/ca http://127.0.0.1:3128\n',
    );
    servers[0]!.close();
    await maker.close();
    await sandbox.stop();
    expect(() => sandbox.networkPid()).toThrow('the sandbox has ended');
  });

  it('passes on stdin, env and workdir, and returns separate streams and the exit code', async () => {
    const sandbox = await scene.launch();
    await sh(sandbox, 'mkdir "a b"');
    const stdin = 'x'.repeat(300_000);
    const changes = { stdin, env: { GREETING: "it's" }, workdir: 'a b' };
    const output = await sh(sandbox, 'pwd; echo "$GREETING" >&2; wc -c; exit 7', changes);
    expect(output).toEqual({ stdout: '/workspace/a b\n300000\n', stderr: "it's\n", exitCode: 7 });
  });

  it('keeps background processes and /tmp between commands, until stop', async () => {
    const spec = await scene.spec();
    const sandbox = await scene.launch(spec);
    await sh(sandbox, 'setsid sleep 600 >/dev/null 2>&1 & echo kept > /tmp/file');
    expect(
      (await sh(sandbox, 'cat /tmp/file; pidof sleep >/dev/null || ps ax | grep -c "[s]leep 600"')).stdout,
    ).toMatch(/^kept\n/);
    expect((await processesOf(spec.uid)).length).toBeGreaterThan(2);
    await sandbox.stop();
    expect(await processesOf(spec.uid)).toEqual([]);
  });

  it('kills every process of a timed-out command, and no other', async () => {
    const sandbox = await scene.launch();
    await sh(sandbox, 'sleep 601 >/dev/null 2>&1 &');
    const bad = sh(sandbox, "trap '' TERM; (setsid sh -c 'sleep 602 & sleep 603' &); echo before; sleep 604", {
      timeoutMs: 2000,
    });
    await expect(bad).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect((await sh(sandbox, "ps axo args | grep '^sleep'")).stdout).toBe('sleep 601\n');
  });

  it('leaves nothing behind after stop, and stop runs once', async () => {
    const spec = await scene.spec();
    const sandbox = await scene.launch(spec);
    expect(await cgroupsOf(spec.id)).not.toEqual([]);
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    expect(await dockerd.docker.listContainers({ all: true })).toEqual([]);
    expect(await cgroupsOf(spec.id)).toEqual([]);
    expect(await gone(spec.runDir)).toBe(true);
    await expect(sh(sandbox, 'true')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await Promise.race([sandbox.exited, 'nothing'])).toBe('nothing');
  });

  it('can be launched again with its id and its files', async () => {
    const spec = await scene.spec();
    await sh(await scene.launch(spec), 'echo mine > file').finally(() => scene.end());
  });

  it.each([
    ['killed', (id: string) => dockerd.docker.getContainer(id).kill()],
    ['removed', (id: string) => dockerd.docker.getContainer(id).remove({ force: true })],
  ])('resolves exited when its container is %s from outside', async (_, end) => {
    const spec = await scene.spec();
    const sandbox = await scene.launch(spec);
    const [container] = await dockerd.docker.listContainers();
    const running = sh(sandbox, 'sleep 600');
    running.catch(() => undefined);
    await end(container!.Id);
    expect(await sandbox.exited).toMatch(/^its container (ended with exit code 137|was removed)$/);
    await expect(running).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await sandbox.stop();
    expect(await dockerd.docker.listContainers({ all: true })).toEqual([]);
    expect(await cgroupsOf(spec.id)).toEqual([]);
  });

  it('resolves exited when a command kills the agent', async () => {
    const sandbox = await scene.launch();
    const killer = sh(
      sandbox,
      'kill -9 $(ps axo pid,args | grep "[/]run/agent/agent" | sed "s/^ *//" | cut -d" " -f1 | tail -n 1); sleep 600',
    );
    await expect(killer).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await sandbox.exited).toMatch(/^its container ended with exit code/);
  });

  it('is refused for an image without /bin/sh', async () => {
    const launch = scene.launch({ image: 'shell-less' });
    await expect(launch).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: 'image "shell-less": has no /bin/sh that can be run',
    });
    expect(await dockerd.docker.listContainers({ all: true })).toEqual([]);
  });

  it('is refused for a missing image with an error that names it', async () => {
    await expect(scene.launch({ image: 'no-such:1' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('"no-such:1"'),
    });
  });

  it('is refused if the daemon does not see its workspace', async () => {
    const spec = await scene.spec();
    await expect(scene.launch({ ...spec, workspace: `${spec.workspace}-missing` })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('bind source path does not exist'),
    });
  });

  it('does not run as root', async () => {
    await expect(scene.launch({ uid: 0 })).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('can be launched many times concurrently', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => scene.launch()));
    const outputs = await Promise.all(all.map((sandbox) => sh(sandbox, 'echo up')));
    expect(outputs.map(({ stdout }) => stdout)).toEqual(Array(12).fill('up\n'));
    await Promise.all(all.map((sandbox) => sandbox.stop()));
    expect(await dockerd.docker.listContainers({ all: true })).toEqual([]);
  });
});

describe('the limits of a sandbox in a container', () => {
  const none = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };

  it('kill a command above the memory limit, and are reported', async () => {
    const sandbox = await scene.launch({ resources: { ...none, memory_bytes: 64 * 1024 ** 2 } });
    const { exitCode, stderr } = await sh(sandbox, 'python3 -c "x = bytearray(200 << 20)"');
    expect(exitCode).toBe(137);
    expect(stderr).toContain("the sandbox's memory limit of 67108864 bytes");
    expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
  });

  it('limit a fork bomb, and refused forks are reported', async () => {
    const sandbox = await scene.launch({ resources: { ...none, pids_limit: 20 } });
    const bomb = await sh(sandbox, 'i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i+1)); done; wait');
    expect(bomb).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('fork') });
    // The agent is not counted in the limit, so another command starts. A process of the runtime that was counted when the
    // bomb was refused may have ended since.
    const next = await sh(sandbox, 'echo up; true | true | true | true | cat');
    expect(next).toMatchObject({ stdout: 'up\n', exitCode: 2 });
  });

  it('are set in the cgroups of the container', async () => {
    const resources = { memory_bytes: 64 * 1024 ** 2, cpu_quota: 50_000, cpu_shares: 512, pids_limit: 50 };
    await scene.launch({ resources });
    const [container] = await dockerd.docker.listContainers();
    const { HostConfig } = await dockerd.docker.getContainer(container!.Id).inspect();
    expect(HostConfig).toMatchObject({ Memory: 67_108_864, MemorySwap: 67_108_864, CpuQuota: 50_000, CpuShares: 512 });
  });

  it('are refused if Docker cannot enforce them, with an error that names the field', async () => {
    await expect(scene.launch({ resources: { ...none, memory_bytes: 1024 } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^resources/),
    });
  });
});

describe('the container of an earlier server', () => {
  it('is removed by reclaim, and no other container is', async () => {
    const other = await openScene(dockerd);
    try {
      const [mine, foreign] = [await scene.launch(), await other.launch()];
      const plain = await dockerd.docker.createContainer({ Image: 'base', Cmd: ['/bin/sleep', '600'] });
      const successor = await openScene(dockerd, { stateDir: join(scene.directory, 'state') });
      await successor.runtime.reclaim();
      expect(await mine.exited).toMatch(/^its container/);
      expect((await sh(foreign, 'echo untouched')).stdout).toBe('untouched\n');
      await plain.remove();
      await successor.end();
    } finally {
      await other.end();
    }
  });

  it('does not prevent the launch of a sandbox with the same id', async () => {
    const spec = await scene.spec();
    await scene.launch(spec);
    const successor = await openScene(dockerd, { stateDir: join(scene.directory, 'state') });
    try {
      await mkdir(`${spec.runDir}-2`);
      const again = await successor.launch({ ...spec, runDir: `${spec.runDir}-2` });
      expect((await sh(again, 'echo again')).stdout).toBe('again\n');
    } finally {
      await successor.end();
    }
  });
});

describe('a stream of output', () => {
  it('arrives completely', async () => {
    const sandbox = await scene.launch();
    const signal = new AbortController().signal;
    const command = {
      command: 'head -c 20000000 /dev/zero | tr "\\0" x',
      stdin: '',
      env: {},
      workdir: '',
      timeoutMs: 20_000,
      signal,
    };
    const { stdout } = await collect(await sandbox.exec(command));
    expect(stdout.length).toBe(20_000_000);
  });
});

describe('an attack from a container', () => {
  it('59e: after its timeout nothing of a fork bomb in a container is left, and others are served meanwhile', async () => {
    const spec = await scene.spec();
    const bombed = await scene.runtime.launch(spec);
    const other = await scene.launch();
    const idle = (await processesOf(spec.uid)).length;
    const stdin = `
import os, time
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.05)`;
    const bomb = sh(bombed, 'exec python3 -I -', { stdin, timeoutMs: 3000 });
    bomb.catch(() => undefined);
    await expect.poll(async () => (await processesOf(spec.uid)).length).toBeGreaterThan(idle + 40);
    expect(await sh(other, 'echo served')).toMatchObject({ stdout: 'served\n', exitCode: 0 });
    await expect(bomb).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const after = async () => (await sh(bombed, 'echo next').catch(() => undefined))?.stdout;
    await expect.poll(after).toBe('next\n');
    await expect.poll(async () => (await processesOf(spec.uid)).length).toBeLessThanOrEqual(idle + 5);
    await bombed.stop();
    expect(await processesOf(spec.uid)).toEqual([]);
  });

  it('11: programs in a container trace and read no process beyond it', async () => {
    const [sandbox, other] = [await scene.launch(), await scene.launch()];
    const pids = [process.pid, sandbox.networkPid(), other.networkPid()];
    const program = `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
word = ctypes.c_long()
part = iovec(ctypes.addressof(word), 8)
both = (ctypes.byref(part), 1, ctypes.byref(part), 1, 0)
def name(result): return 'allowed' if result != -1 else errno.errorcode[ctypes.get_errno()]
print({name(answer) for pid in ${JSON.stringify(pids)} for answer in (
    libc.ptrace(16, pid, None, None), libc.ptrace(0x4206, pid, None, None),
    libc.process_vm_readv(pid, *both), libc.process_vm_writev(pid, *both))})`;
    const { stdout, stderr } = await sh(sandbox, 'python3 -', { stdin: program });
    expect(stdout + stderr).toBe("{'ESRCH'}\n");
  });

  it('11: a program that overwrites the memory of the first process ends at most its own container', async () => {
    const sandbox = await scene.launch();
    const other = await scene.launch();
    const program = `
for line in open('/proc/1/maps'):
    start, end = (int(part, 16) for part in line.split()[0].split('-'))
    if ' r-xp ' not in line: continue
    try:
        with open('/proc/1/mem', 'r+b', 0) as mem:
            mem.seek(start)
            mem.write(b'\\xcc' * (end - start))
    except OSError: pass`;
    await sh(sandbox, 'python3 -; (true &)', { stdin: program, timeoutMs: 5000 }).catch(() => undefined);
    expect(await sh(other, 'echo unharmed')).toMatchObject({ stdout: 'unharmed\n', exitCode: 0 });
    await dockerd.docker.ping();
  });
});
