import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ProcessStarter } from '../../../../lib/runtime/bwrap/process-starter.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';
import { Spawner } from '../../../../lib/runtime/bwrap/spawner.ts';
import type { WaitingProcess } from '../../../../lib/runtime/bwrap/waiting-process.ts';
import { hasEnded } from '../../../process-status.ts';
import { run } from '../run.ts';
import { until, useBwrap } from './fixture.ts';

const base = mkdtempSync('/tmp/paddock-spawner-');
chmodSync(base, 0o711);
const opened: Spawner[] = [];
afterAll(() => {
  for (const spawner of opened) spawner.close();
  rmSync(base, { recursive: true, force: true });
});

/** The spawners of this process. */
function spawners(): number[] {
  const isChild = (pid: number) => fileOf(pid, 'status').includes(`\nPPid:\t${process.pid}\n`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => fileOf(pid, 'cmdline').includes('sub become') && isChild(pid));
}

function fileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

async function open(): Promise<Spawner> {
  const spawner = await Spawner.open();
  opened.push(spawner);
  return spawner;
}

/** A plan whose program takes the place of bwrap. */
function plan(script: string) {
  const name = join(base, `program ${Math.random()}`);
  writeFileSync(name, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  for (const file of ['args', 'seccomp']) writeFileSync(join(base, file), `${file}\n`);
  return { bwrapPath: name, uid: undefined, argumentsFile: join(base, 'args'), seccompFile: join(base, 'seccomp') };
}

const UID = 299_999;
const UNPRIVILEGED = `Uid:	${UID}	${UID}	${UID}	${UID}
Gid:	${UID}	${UID}	${UID}	${UID}
Groups:	 
CapInh:	0000000000000000
CapPrm:	0000000000000000
CapEff:	0000000000000000
CapBnd:	0000000000000000
CapAmb:	0000000000000000
NoNewPrivs:	1
`;

describe('a process of a spawner', () => {
  it('has the user, the group and no privileges before its program, as by setpriv', async () => {
    const show = plan("grep -E '^(Uid|Gid|Groups|Cap.*|NoNewPrivs):' /proc/self/status >&2");
    const said = async (waiting: WaitingProcess) => {
      await waiting.started;
      waiting.launch({ ...show, uid: UID });
      expect(await waiting.ended).toBe('bwrap ended with exit code 0');
      return waiting.said;
    };
    const [own, other] = [
      (await open()).start([], undefined),
      new ShellProcess([], { closeFds: [], niceness: undefined }),
    ];
    expect([await said(own), await said(other)]).toEqual([UNPRIVILEGED, UNPRIVILEGED]);
  });

  it('ends with its spawner as another user, too', async () => {
    const spawner = await open();
    const waiting = spawner.start([], undefined);
    waiting.launch({ ...plan('echo up >&2; exec sleep 300'), uid: UID });
    await until('it is up', () => waiting.said === 'up\n');
    process.kill(spawners().at(-1)!, 'SIGKILL');
    await until('it is gone', () => hasEnded(waiting.pid!));
  });

  it.each([0, -1, 0xffff_ffff, 0x1_0000_0000, 1.5])('does not run its program as user %s', async (uid) => {
    const waiting = (await open()).start([], undefined);
    waiting.launch({ ...plan('echo ran >&2'), uid });
    expect(await waiting.ended).toBe('bwrap ended with exit code 1');
    expect(waiting.said).toBe(`no user: ${uid}\n`);
  });

  it('enters its cgroups before it is told its program, which gets two files and no more', async () => {
    const entry = join(base, 'a % procs\n');
    writeFileSync(entry, '');
    const waiting = (await open()).start([entry], 3);
    await waiting.started;
    await until('it has entered', () => readFileSync(entry, 'latin1') === '0\n');
    const own = plan('cat <&3 >&2; cat <&4 >&2; ls /proc/self/fd | tr "\\n" " " >&2; nice >&2; env >&2; exit 7');
    waiting.launch(own);
    expect(await waiting.ended).toBe('bwrap ended with exit code 7');
    expect(waiting.said).toBe('args\nseccomp\n0 1 2 3 4 5 3\nPWD=/\n');
    expect(waiting.alive).toBe(false);
  });

  it('ends with the reason if it cannot enter a cgroup, or has no program', async () => {
    const spawner = await open();
    const [lost, without] = [spawner.start([join(base, 'no/procs')], undefined), spawner.start([], undefined)];
    without.launch({ ...plan(''), bwrapPath: '/nonexistent' });
    expect([await lost.ended, await without.ended]).toEqual(Array(2).fill('bwrap ended with exit code 1'));
    expect(lost.said).toMatch(/no\/procs: No such file/);
    expect(without.said).toMatch(/^\/nonexistent: No such file/);
  });

  it('is killed before and after it has a program, and may say more than is kept', async () => {
    const spawner = await open();
    const [idle, busy] = [spawner.start([], undefined), spawner.start([], undefined)];
    busy.launch(plan('head -c 300000 /dev/zero | tr "\\0" "é" >&2; echo >&2; exec sleep 300'));
    await until('it has said much', () => busy.said.length === 500);
    for (const each of [idle, busy]) each.kill();
    expect([await idle.ended, await busy.ended]).toEqual(Array(2).fill('bwrap ended with SIGKILL'));
  });

  it('may keep its stderr open for others once that is not read any more', async () => {
    const waiting = (await open()).start([], undefined);
    const pidFile = join(base, 'pid');
    waiting.launch(plan(`sleep 300 & echo $! >'${pidFile}'; echo up >&2; wait`));
    await until('it is up', () => waiting.said === 'up\n');
    waiting.closeOutput();
    waiting.kill();
    expect(await waiting.ended).toBe('bwrap ended with SIGKILL');
    process.kill(Number(readFileSync(pidFile, 'latin1')), 'SIGKILL');
  });

  it('ends with its spawner, also while it waits', async () => {
    const spawner = await open();
    const waiting = spawner.start([], undefined);
    await waiting.started;
    spawner.close();
    expect(await waiting.ended).toMatch(/has ended/);
    await until('it is gone', () => hasEnded(waiting.pid!));
    expect(await spawner.start([], undefined).ended).toMatch(/has ended/);
  });
});

it('makes FIFOs for nobody else, or says why not', async () => {
  const spawner = await open();
  const paths = ['a fifo', '17', 'ü'].map((name) => join(base, name));
  await spawner.makeFifos(paths);
  for (const each of paths) {
    expect(statSync(each).isFIFO()).toBe(true);
    expect(statSync(each).mode & 0o777).toBe(0o600);
  }
  await expect(spawner.makeFifos([join(base, 'another'), paths[0]!])).rejects.toMatchObject({ code: 'EEXIST' });
  const pending = spawner.makeFifos([join(base, 'late')]);
  spawner.close();
  const closed = { code: 'UNAVAILABLE', message: expect.stringContaining('closed') };
  await expect(pending).rejects.toMatchObject(closed);
  await expect(spawner.makeFifos([join(base, 'later')])).rejects.toMatchObject(closed);
});

it('that is killed refuses what it has not made yet with UNAVAILABLE', async () => {
  const others = spawners();
  const spawner = await open();
  for (const pid of spawners().filter((each) => !others.includes(each))) process.kill(pid, 'SIGSTOP');
  const pending = spawner.makeFifos([join(base, 'never')]);
  for (const pid of spawners().filter((each) => !others.includes(each))) process.kill(pid, 'SIGKILL');
  const gone = { code: 'UNAVAILABLE', message: 'the process that starts sandboxes has ended' };
  await expect(pending).rejects.toMatchObject(gone);
  await expect(spawner.makeFifos([join(base, 'later')])).rejects.toMatchObject(gone);
});

describe('a larger FIFO', () => {
  /** Opens both ends. */
  const ends = (path: string): [reader: number, writer: number] => [
    openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
    openSync(path, constants.O_WRONLY | constants.O_NONBLOCK),
  ];
  /** Fills it, and returns the number of bytes that it took. */
  const fill = (writer: number): number => {
    let bytes = 0;
    try {
      for (;;) bytes += writeSync(writer, Buffer.alloc(4096));
    } catch {
      return bytes;
    }
  };

  it('is made of one that this process has open', async () => {
    const spawner = await open();
    const path = join(base, 'grows');
    await spawner.makeFifos([path]);
    const [reader, writer] = ends(path);
    let held = fill(writer);
    expect(held).toBe(65_536);
    spawner.growPipe(reader);
    await until('it takes more', () => {
      held += fill(writer);
      return held > 65_536;
    });
    expect(held).toBe(262_144);
    for (const each of [reader, writer]) closeSync(each);
  });

  it('is not made of another one that has the descriptor by then', async () => {
    const spawner = await open();
    const paths = ['goes', 'comes'].map((name) => join(base, name));
    await spawner.makeFifos(paths);
    const [first, firstWriter] = ends(paths[0]!);
    spawner.growPipe(first);
    closeSync(first);
    const [second, secondWriter] = ends(paths[1]!);
    expect(second).toBe(first);
    await spawner.makeFifos([join(base, 'after')]);
    expect(fill(secondWriter)).toBe(65_536);
    for (const each of [firstWriter, second, secondWriter]) closeSync(each);
  });
});

it('is not opened without its program, or on an architecture whose system calls are not known', async () => {
  await expect(Spawner.open('/nonexistent/perl')).rejects.toThrow(/ENOENT/);
  await expect(Spawner.open('/bin/false')).rejects.toThrow(/has ended/);
  await expect(Spawner.open('perl', { architecture: 'riscv64' })).rejects.toThrow(/riscv64/);
});

describe('a spawner that was stopped', () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };

  it('ends what it was asked for with a reason, never starts it later, and is used again once it answers', async () => {
    const inheritance = { closeFds: [], niceness: undefined };
    const starter = new ProcessStarter({ inheritance, answerMs: 1500, log });
    const others = spawners();
    await starter.open();
    const [stopped] = spawners().filter((pid) => !others.includes(pid)) as [number];
    try {
      const [living, spare, unused] = [starter.start([]), starter.start([]), starter.start([])];
      living.launch(plan('exec sleep 300'));
      await until('it runs', () => fileOf(living.pid ?? 0, 'comm') === 'sleep\n');
      await Promise.all([spare.started, unused.started]);
      // It has answered all that was asked before, also the launch of what runs.
      await starter.makeFifos([]);
      process.kill(stopped, 'SIGSTOP');
      const started = join(base, 'started late');
      const asked = starter.start([]);
      for (const each of [asked, spare]) each.launch(plan(`echo >>'${started}'`));
      await expect(starter.makeFifos([join(base, 'unanswered')])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      for (const each of [asked, spare, unused]) expect(await each.ended).toMatch(/does not answer/);
      await until('it was killed', () => hasEnded(spare.pid!));
      expect([living.alive, asked.alive, spare.alive, unused.alive]).toEqual([true, false, false, false]);

      // Without it.
      await starter.makeFifos([join(base, 'by a program')]);
      const other = starter.start([]);
      expect(other).toBeInstanceOf(ShellProcess);
      other.kill();
      await other.ended;

      process.kill(stopped, 'SIGCONT');
      await until('it answers', () => statSync(join(base, 'unanswered'), { throwIfNoEntry: false }) !== undefined);
      let next = starter.start([]);
      await until('it is used', async () => {
        if (!(next instanceof ShellProcess)) return true;
        next.kill();
        await next.ended;
        next = starter.start([]);
        return false;
      });
      const done = join(base, 'started next');
      next.launch(plan(`echo >'${done}'`));
      await next.ended;
      expect([existsSync(done), existsSync(started)]).toEqual([true, false]);
      expect(living.alive).toBe(true);
    } finally {
      process.kill(stopped, 'SIGCONT');
      starter.close();
    }
  });
});

describe('the end of a spawner', () => {
  const bwrap = useBwrap();

  it('ends its sandboxes with a reason, and none that is launched afterwards', async () => {
    const [first, second] = [await bwrap.launch(), await bwrap.launch()];
    const own = spawners();
    expect(own.length).toBeGreaterThan(0);
    for (const pid of own) process.kill(pid, 'SIGKILL');
    expect(await Promise.all([first.exited, second.exited])).toEqual(
      Array(2).fill(expect.stringMatching(/main process ended: the process that starts sandboxes has ended/)),
    );
    await Promise.all([first.stop(), second.stop()]);
    const next = await bwrap.launch();
    expect(await run(next, 'echo up')).toMatchObject({ stdout: 'up\n' });
  });
});
