import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { type ArgTest, ENOSYS, POLICY } from '../../../../lib/runtime/seccomp/policy.ts';
import { SYSCALLS } from '../../../../lib/runtime/seccomp/syscalls.ts';
import { type Daemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

let dockerd: Daemon;
let scene: Scene;
let sandbox: RunningSandbox;

/** Instructions of a hostile image; each would extend the privileges of its container. */
const HOSTILE = [
  'ENV LD_PRELOAD=/evil.so SECRET=image PATH=/image/bin:/usr/bin:/bin',
  'VOLUME /data',
  'HEALTHCHECK --interval=1s CMD touch /workspace/healthcheck-ran',
  'USER 0:0',
  'WORKDIR /etc',
  'ENTRYPOINT ["/bin/false"]',
  'CMD ["/bin/false"]',
  'LABEL io.paddock.instance=somebody-else',
  'EXPOSE 22',
];

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'base');
  await importImage(dockerd.docker, 'hostile', { changes: HOSTILE });
  scene = await openScene(dockerd);
});
afterAll(async () => {
  await scene?.end();
  await dockerd?.stop();
});

const output = async (command: string, target = sandbox) => {
  const { stdout, stderr } = await sh(target, command);
  return stdout + stderr;
};

async function python(program: string): Promise<string> {
  const { stdout, stderr, exitCode } = await sh(sandbox, 'python3 -', { stdin: program });
  return exitCode === 0 ? stdout.trim() : `exit ${exitCode}: ${stderr}`;
}

/** Returns arguments to which the rule applies. */
function caught(tests: readonly ArgTest[]): number[] {
  const args = [0, 0, 0, 0, 0, 0];
  for (const { arg, mask = 0xffff_ffff, values, when } of tests) {
    const candidates =
      when === 'in'
        ? values
        : [1, 2, 4, 8, 16, 17, 0x1000_0000, 0x2000_0000].filter((value) => !values.includes((value & mask) >>> 0));
    args[arg] = candidates[0]!;
  }
  return args;
}

describe.each([
  ['made for itself', false],
  ['that was ready', true],
])('in a container %s', (_, ready) => {
  const launch = (changes = {}) => (ready ? scene.launchReady(changes) : scene.launch(changes));
  beforeAll(async () => {
    sandbox = await launch();
  });

  it('a command has no capabilities, cannot get new privileges, and has a filter', async () => {
    const status = await output('cat /proc/self/status');
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(status).toContain(`Cap${set}:\t0000000000000000`);
    expect(status).toMatch(/NoNewPrivs:\t1/);
    expect(status).toMatch(/Seccomp:\t2/);
  });

  it("every refused system call fails with the policy's errno", async () => {
    const calls = POLICY.flatMap(({ calls, errno, tests = [] }) =>
      calls.map((name) => ({ name, number: SYSCALLS[name][0], args: caught(tests), errno })),
    );
    const program = `
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
answers = []
for name, number, args in json.loads('''${JSON.stringify(calls.map(({ name, number, args }) => [name, number, args]))}'''):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(a) for a in args])
    answers.append([name, ctypes.get_errno() if result == -1 else 0])
print(json.dumps(answers))`;
    const answers = JSON.parse(await python(program)) as [string, number][];
    const unexpected = answers.filter(([name, errno], index) => {
      const { errno: expected } = calls[index]!;
      // If libseccomp does not know a call, the profile's default applies.
      const unknown = ['statmount', 'listmount', 'open_tree_attr', 'lookup_dcookie'].includes(name);
      return errno !== expected && !(unknown && errno === ENOSYS);
    });
    expect(unexpected).toEqual([]);
    expect(answers.length).toBeGreaterThan(70);
  });

  it('system calls newer than the policy are ENOSYS', async () => {
    const program =
      'import ctypes\nl=ctypes.CDLL(None,use_errno=True)\nl.syscall(600,0,0,0)\nprint(ctypes.get_errno())';
    expect(await python(program)).toBe(String(ENOSYS));
  });

  it('a foreign architecture is killed', async () => {
    // i386: mov eax, 20; int 0x80; ret
    const i386 = `
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()`;
    const x32 = 'import ctypes\nctypes.CDLL(None).syscall(0x40000000 + 39)';
    for (const program of [i386, x32])
      expect((await sh(sandbox, 'python3 -', { stdin: program })).exitCode).toBe(128 + 31);
  });

  it('ordinary programs run, with threads, subprocesses and local sockets', async () => {
    const program = `
import threading, subprocess, socket, asyncio, multiprocessing
t = threading.Thread(target=lambda: None); t.start(); t.join()
a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
c = socket.create_connection(s.getsockname())
asyncio.run(asyncio.sleep(0))
with multiprocessing.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]
print(subprocess.check_output(['echo', 'fine']).decode())`;
    expect(await python(program)).toBe('fine');
  });

  it('there is no network', async () => {
    expect(await output('cat /proc/net/route | wc -l; ls /sys | wc -l')).toBe('1\n0\n');
    const connect =
      "import socket\ntry:\n  socket.create_connection(('169.254.169.254', 80), 2)\nexcept OSError as e: print(e.errno)";
    expect(await python(connect)).toBe('101');
  });

  it('only the workspace, the home, /tmp, /var/tmp and /dev/shm can be written', async () => {
    const probe =
      'for d in / /etc /usr /bin /run /run/agent /dev /proc /proc/sys/kernel /sys /home /home/sandbox /tmp /var /var/tmp /dev/shm /workspace; do (: > $d/probe) 2>/dev/null && echo $d; done';
    expect(await output(probe)).toBe('/home/sandbox\n/tmp\n/var/tmp\n/dev/shm\n/workspace\n');
  });

  it('the temporary file systems have a limited size', async () => {
    for (const place of ['/tmp', '/var/tmp', '/dev/shm']) {
      const blocks = Number(await output(`df -k --output=size ${place} | tail -n 1`));
      expect(blocks).toBeLessThanOrEqual(256 * 1024);
    }
  });

  it('a program opens a limited number of terminals, whose other options stay those of the daemon', async () => {
    const open = `import os
held = []
try:
  while True: held.append(os.open('/dev/ptmx', os.O_RDWR))
except OSError: print(len(held))`;
    expect(await python(open)).toBe('64');
    expect(await output('grep -c "devpts .*gid=5,mode=620.*max=64" /proc/self/mountinfo')).toBe('1\n');
  });

  it('kernel settings and information about the machine can be neither read nor written', async () => {
    expect(await output('cat /proc/cmdline /proc/kallsyms /proc/keys /proc/iomem 2>/dev/null | wc -c')).toBe('0\n');
    expect(await output('(echo x > /proc/sys/kernel/core_pattern) 2>&1 | grep -c -E "Read-only|denied"')).toBe('1\n');
  });

  it('only the standard descriptors are open', async () => {
    expect(await output('ls /proc/self/fd | tr "\\n" " "')).toBe('0 1 2 3 ');
  });

  it('neither the server nor its sandboxes nor the daemon are visible', async () => {
    await launch();
    const all = await output('ps axo args; cat /proc/1/environ /proc/*/environ | tr "\\0" "\\n"');
    expect(all).not.toMatch(/dockerd|containerd|vitest|paddock-docker-scene|docker\.sock/);
    expect(await output('ls /var/run/docker.sock /run/docker.sock 2>&1 | grep -c "No such"')).toBe('2\n');
  });

  it("the sandbox's user has a name, and is a user of its own on the host", async () => {
    expect(
      await output(
        'id -un; id -gn; id -G | wc -w; python3 -c "import pwd,os; print(pwd.getpwuid(os.getuid()).pw_dir)"',
      ),
    ).toBe('sandbox\nsandbox\n1\n/home/sandbox\n');
    const [container] = await dockerd.docker.listContainers();
    const { State } = await dockerd.docker.getContainer(container!.Id).inspect();
    expect(await readFile(`/proc/${State.Pid}/status`, 'utf8')).toMatch(/Uid:\t3\d{5}\t3\d{5}\t3\d{5}\t3\d{5}/);
  });

  it("the agent's pipes cannot be listed, and its files cannot be changed", async () => {
    expect(
      await output(
        'ls /run/agent 2>&1; echo x 2>/dev/null >> /run/agent/agent; rm -f /run/agent/agent 2>&1; id -u >/dev/null',
      ),
    ).toMatch(/Permission denied[\s\S]*(Read-only|denied)/);
  });
});

describe.each([
  ['made for itself', false],
  ['that was ready', true],
])('an image whose configuration extends privileges, in a container %s', (_, ready) => {
  let hostile: RunningSandbox;
  beforeAll(async () => {
    hostile = await (ready ? scene.launchReady : scene.launch)({ image: 'hostile' });
  });

  it('gets its user, entrypoint, working directory and environment overridden, except PATH', async () => {
    expect(await output('id -un; pwd; echo "$LD_PRELOAD$SECRET"; echo $PATH', hostile)).toBe(
      'sandbox\n/workspace\n\n/run/agent/bin:/image/bin:/usr/bin:/bin\n',
    );
  });

  it("gets memory for its volume, not the host's disk", async () => {
    expect(
      await output(
        'stat -f -c %T /data; df -k --output=size /data | tail -n 1 | tr -d " "; touch /data/x && echo ok',
        hostile,
      ),
    ).toBe('tmpfs\n65536\nok\n');
    const { Volumes } = await dockerd.docker.listVolumes();
    expect(Volumes).toEqual([]);
  });

  it('gets its health check disabled, and the label of this instance', async () => {
    const containers = await dockerd.docker.listContainers();
    const container = containers.find(({ Command }) => Command.includes('agent') && containers.length > 0);
    const images = await Promise.all(containers.map(({ Id }) => dockerd.docker.getContainer(Id).inspect()));
    for (const { Config, HostConfig } of images) {
      expect(Config.Labels['io.paddock.instance']).toMatch(/^[0-9a-f]{16}$/);
      expect(HostConfig.Privileged).toBe(false);
      expect((Config as { Healthcheck?: { Test: string[] } }).Healthcheck?.Test).toEqual(['NONE']);
    }
    expect(container).toBeDefined();
  });
});
