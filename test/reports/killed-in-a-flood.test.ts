import { expect, it } from 'vitest';
import { eventually } from '../contract/scene.ts';
import { FILE_FLOODS } from '../security/file-floods.ts';
import { attacks } from '../security/suite.ts';

const FLOOD = FILE_FLOODS.find(({ name }) => name === '900 processes read 1 MiB with O_DIRECT')!;
const KILLED = 21;

/** Prints the time that a read waits for its turn among those of the flood, and that killed processes of it take to end. */
const KILL = `
import json, mmap, os, time
def median(times): return sorted(times)[len(times) // 2]
def timed(act):
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
page = mmap.mmap(-1, 1 << 20)
fd = os.open('large', os.O_RDONLY | os.O_DIRECT)
turns = [timed(lambda: os.preadv(fd, [page], at << 20)) for at in range(3)]
def runs(pid):
    try: return open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError: return False
def kill(pid):
    os.kill(pid, 9)
    while runs(pid): time.sleep(0.0005)
flood = [int(pid) for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()
         and b'python3' in open(f'/proc/{pid}/cmdline', 'rb').read()]
print(json.dumps([median(turns), median([timed(lambda: kill(pid)) for pid in sorted(flood)[1:${KILLED + 1}]])]))`;

attacks('file requests', (target) => {
  it('do not keep a killed process until their turn', async () => {
    const { scene } = target;
    const sandbox = await scene.sandbox(await scene.codebase());
    const command = 'exec python3 -I - > ready';
    const flood = scene.run(sandbox, command, { stdin: FLOOD.program, timeout: 100 }).catch(() => undefined);
    await eventually('the flood', async () => await scene.output(sandbox, 'cat ready || true'));
    await scene.output(sandbox, 'sleep 1');
    const [turn, end] = JSON.parse(await scene.output(sandbox, 'exec python3 -I -', { stdin: KILL })) as number[];
    expect(end).toBeLessThan(turn! / 4);
    await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    await flood;
  });
});
