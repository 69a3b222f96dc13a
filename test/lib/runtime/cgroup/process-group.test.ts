import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CgroupProcessGroup } from '../../../../lib/runtime/cgroup/process-group.ts';

/** Pids that no process has. */
const NO_PID = 5_000_000;
const pids = (count: number) => Array.from({ length: count }, (_, index) => `${NO_PID + index}`).join('\n');

let base: string;
let dir: string;
let group: CgroupProcessGroup;
/** What was sent to which pid. */
let sent: [pid: number, signal: string | number | undefined][];

/** A directory in the place of a cgroup, without cgroup.kill and freezer, and a server that sends no signal. */
beforeEach(() => {
  base = mkdtempSync('/tmp/paddock-group-');
  dir = join(base, 'group');
  group = new CgroupProcessGroup(dir, []);
  sent = [];
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    sent.push([pid, signal]);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(base, { recursive: true });
});

const list = (text: string) => writeFileSync(join(dir, 'cgroup.procs'), text);

describe('signals to a group of many processes', () => {
  it('are sent one after the other, so that none thaws the processes of another', async () => {
    list(pids(1300));
    expect(await Promise.all([group.signal('SIGSTOP', 0), group.signal('SIGCONT', 0)])).toEqual([1300, 1300]);
    expect(sent.map(([, signal]) => signal)).toEqual([...Array(1300).fill('SIGSTOP'), ...Array(1300).fill('SIGCONT')]);
    list(pids(2));
    expect(group.signal('SIGTERM', NO_PID)).toBe(1);
  });
});

describe('a group that was removed', () => {
  it('reaches no process of a later one in its directory', () => {
    expect(group.remove()).toBe(true);
    const later = new CgroupProcessGroup(dir, []);
    list(pids(2));
    expect(group.kill()).toBeUndefined();
    expect([group.pids(), group.signal('SIGTERM', 0), sent]).toEqual([[], 0, []]);
    rmSync(join(dir, 'cgroup.procs'));
    expect([group.remove(), later.remove()]).toEqual([true, true]);
  });

  it('gives its directory back once, and not before its kills have ended', async () => {
    const gone = vi.fn();
    group.remove();
    group = new CgroupProcessGroup(dir, [], gone);
    list('');
    const killing = group.kill();
    rmSync(join(dir, 'cgroup.procs'));
    expect(group.remove()).toBe(true);
    expect(gone).not.toHaveBeenCalled();
    await killing;
    group.remove();
    expect(gone).toHaveBeenCalledTimes(1);
  });
});

describe('a kill without cgroup.kill', () => {
  it('fails if the processes cannot be listed, so that it is tried again', async () => {
    mkdirSync(join(dir, 'cgroup.procs'));
    await expect(group.kill()).rejects.toThrow('none could be listed');
  });

  it('fails if new processes appear to its end', async () => {
    list(pids(1));
    vi.mocked(process.kill).mockImplementation((pid) => {
      list(`${pid}\n${pid + 1}`);
      return true;
    });
    await expect(group.kill()).rejects.toThrow('faster than they could be killed');
  });

  it('does not fail if a process that it has killed does not end', async () => {
    list(pids(1));
    await group.kill();
    expect(sent.length).toBeGreaterThan(1);
  });
});
