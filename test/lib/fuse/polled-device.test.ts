import { execFileSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PolledDevice } from '../../../lib/fuse/connection/polled-device.ts';

const SIZE = 100_000;

describe('a polled descriptor', () => {
  let directory: string;
  let fd: number;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'polled-'));
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    fd = openSync(join(directory, 'fifo'), constants.O_RDWR | constants.O_NONBLOCK);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    closeSync(fd);
    rmSync(directory, { recursive: true });
  });

  /** Runs `act`; returns how often an error was made, of which Node looks at the limit of stack traces. */
  function errorsDuring(act: () => void): number {
    const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
    let looks = 0;
    Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, get: () => looks++, set: () => looks++ });
    try {
      act();
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', limit);
    }
    return looks;
  }

  it('reads what is there into its buffer, and makes no error when there is nothing', () => {
    const warn = vi.spyOn(process, 'emitWarning');
    const device = PolledDevice.open(fd, SIZE)!;
    expect(warn).not.toHaveBeenCalled();
    const errors = errorsDuring(() => {
      expect(device.read(device.buffer)).toBeUndefined();
      writeSync(fd, 'a request');
      expect(device.read(device.buffer)).toBe(9);
      expect(device.read(device.buffer)).toBeUndefined();
    });
    expect(errors).toBe(0);
    expect(device.buffer).toHaveLength(SIZE);
    expect(device.buffer.toString('latin1', 0, 9)).toBe('a request');
  });

  it('reads into its second buffer without a change of the first', () => {
    const device = PolledDevice.open(fd, SIZE)!;
    writeSync(fd, 'one');
    device.read(device.buffer);
    writeSync(fd, 'two');
    expect(device.read(device.second)).toBe(3);
    expect([device.buffer, device.second].map((each) => each.toString('latin1', 0, 3))).toEqual(['one', 'two']);
  });

  it('reads at most as much as its buffer holds', () => {
    const device = PolledDevice.open(fd, 4)!;
    writeSync(fd, 'a request');
    expect(device.read(device.buffer)).toBe(4);
    expect(device.buffer.toString('latin1')).toBe('a re');
  });

  it('reads into another buffer, and throws other errors, as a descriptor that is not polled', () => {
    const other = Buffer.alloc(9);
    const device = PolledDevice.open(fd, SIZE)!;
    expect(device.read(other)).toBeUndefined();
    writeSync(fd, 'a request');
    expect(device.read(other)).toBe(9);
    expect(other.toString('latin1')).toBe('a request');
    const folder = openSync(directory, 'r');
    try {
      const unreadable = PolledDevice.open(folder, SIZE)!;
      expect(() => unreadable.read(unreadable.buffer)).toThrow('EISDIR');
    } finally {
      closeSync(folder);
    }
  });

  it('does not own the descriptor, and is not opened for one that is closed', () => {
    const closed = openSync(directory, 'r');
    closeSync(closed);
    expect(PolledDevice.open(closed, SIZE)).toBeUndefined();
    PolledDevice.open(fd, SIZE);
    expect(fstatSync(fd).isFIFO()).toBe(true);
  });

  it('is absent without WASI', () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    expect(PolledDevice.open(fd, SIZE)).toBeUndefined();
  });
});
