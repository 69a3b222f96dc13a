import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PageFlusher } from '../../../lib/fuse/connection/page-flusher.ts';
import { sharedMappings, type Turn } from '../../../lib/linux/shared-mappings.ts';

/** Maps the first file shared, the second one privately; the first thread then ends, and another one goes on. */
const PROGRAM = `
import ctypes, mmap, os, sys, threading, time
shared = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 4)
private = mmap.mmap(os.open(sys.argv[2], os.O_RDWR), 4, flags=mmap.MAP_PRIVATE)
def rest():
    print('mapped', flush=True)
    time.sleep(60)
threading.Thread(target=rest).start()
ctypes.CDLL(None).syscall(60, 0)
`;

const atOnce: Turn = (task) => task();

it('the shared mappings of a process are found by their device, also after the end of its first thread', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mappings-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = ['a file', 'other'].map((name) => join(directory, name));
  for (const file of files) writeFileSync(file, 'text');
  const program = spawn('python3', ['-c', PROGRAM, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void program.kill('SIGKILL'));
  await once(program.stdout!, 'data');
  // Other processes of the host are not looked at.
  const proc = join(directory, 'proc');
  mkdirSync(proc);
  for (const thread of readdirSync(`/proc/${program.pid}/task`)) symlinkSync(`/proc/${thread}`, join(proc, thread));
  const { dev, ino } = statSync(files[0]!);
  const device = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  const found = await sharedMappings(proc, device, atOnce);
  const path = found.get(String(ino));
  expect(path).toMatch(/\/map_files\//);
  expect(found.has(String(statSync(files[1]!).ino))).toBe(false);
  expect((await sharedMappings(proc, '0:1048575', atOnce)).size).toBe(0);
  const flusher = new PageFlusher();
  const [all, some] = [await flusher.flush([path!, path!]), await flusher.flush([path!, '/proc/0/map_files/0-1'])];
  flusher.close();
  expect([all, some, await flusher.flush([path!])]).toEqual([true, false, false]);
});

it('a process that is ending is waited for outside of the turns', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'ending-'));
  onTestFinished(() => rmSync(proc, { recursive: true }));
  mkdirSync(join(proc, '2'));
  writeFileSync(join(proc, '2', 'maps'), '');
  writeFileSync(join(proc, '2', 'status'), 'State:\tD (disk sleep)\n');
  let [turns, inTurn] = [0, 0];
  const looked = sharedMappings(proc, '0:1', async (task) => {
    turns++;
    inTurn++;
    return task().finally(() => inTurn--);
  });
  await expect.poll(() => turns > 2 && inTurn === 0, { interval: 1 }).toBe(true);
  writeFileSync(join(proc, '2', 'status'), 'State:\tZ (zombie)\n');
  expect((await looked).size).toBe(0);
});

it('processes that map nothing are not looked at', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'resting-'));
  onTestFinished(() => rmSync(proc, { recursive: true }));
  for (const pid of ['1', '2', '30']) {
    mkdirSync(join(proc, pid));
    writeFileSync(join(proc, pid, 'maps'), `10-20 rw-s 0 00:01 ${pid} /f\n`);
  }
  const found = await sharedMappings(proc, '0:1', atOnce, new Set(['1', '3']));
  expect([...found]).toEqual([
    ['2', `${proc}/2/map_files/10-20`],
    ['30', `${proc}/30/map_files/10-20`],
  ]);
});
