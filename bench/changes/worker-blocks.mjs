/**
 * Measures for how long the request worker of a server serves no request: from the return of one read of the device to the
 * next. `blocks.env` makes the server load this module, which makes its request worker load it, too. Time in which the
 * thread was runnable and the host ran others instead is not counted (/proc/thread-self/schedstat).
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const FILE = 'PADDOCK_BENCH_BLOCKS';
/** Shorter blocks are not recorded. */
const RECORDED_MS = 2;
const HELD_MS = 10;

/** The bench's side: the blocks of one server. */
export class WorkerBlocks {
  #path;

  constructor(directory) {
    this.#path = `${directory}/blocks`;
    this.env = { NODE_OPTIONS: `--import=${import.meta.url}`, [FILE]: this.#path };
    fs.writeFileSync(this.#path, '');
  }

  /** Runs a task and returns the row of the blocks in it. */
  async during(name, task) {
    const { size } = fs.statSync(this.#path);
    const result = await task();
    const lines = fs.readFileSync(this.#path, 'utf8').slice(size).split('\n').slice(0, -1);
    const blocks = lines.map((line) => JSON.parse(line));
    const longest = (field) => Math.max(0, ...blocks.map((each) => each[field])).toFixed(1);
    const held = blocks.filter(({ ms }) => ms > HELD_MS).length;
    const row = {
      name: `the request worker without a request during ${name}`,
      value: `at most ${longest('ms')} ms`,
      beside: `${held} times above ${HELD_MS} ms; on a CPU: at most ${longest('cpu')} ms`,
    };
    return { result, row };
  }
}

/** The worker's side, as text before its script: appends a line for each block. */
function record(require, path, shortest) {
  const fs = require('node:fs');
  const { fd, nonBlockingFd } = require('node:worker_threads').workerData;
  const { readSync } = fs;
  const into = fs.openSync(path, 'a');
  const schedule = fs.openSync('/proc/thread-self/schedstat', 'r');
  const buffer = Buffer.alloc(128);
  /** Times of this thread in ms: on a CPU, to some ms, and waiting for one. */
  const times = () => {
    const [cpu, waiting] = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0)).split(' ');
    return { cpu: Number(cpu) / 1e6, waiting: Number(waiting) / 1e6 };
  };
  let began = performance.now();
  let before = times();
  const ended = () => {
    const all = performance.now() - began;
    if (all < shortest) return;
    const { cpu, waiting } = times();
    const ms = all - (waiting - before.waiting);
    if (ms >= shortest) fs.writeSync(into, `${JSON.stringify({ ms, cpu: cpu - before.cpu })}\n`);
  };
  fs.readSync = (...args) => {
    if (args[0] !== fd && args[0] !== nonBlockingFd) return Reflect.apply(readSync, fs, args);
    ended();
    try {
      return Reflect.apply(readSync, fs, args);
    } finally {
      before = times();
      began = performance.now();
    }
  };
  // Reads by WASI are not seen here: without it, the worker polls by readSync.
  Object.assign(process, { getBuiltinModule: undefined });
  require('node:module').syncBuiltinESMExports();
}

const path = process.env[FILE];
if (path && threads.isMainThread) {
  const { Worker } = threads;
  const before = `(${record})(require, ${JSON.stringify(path)}, ${RECORDED_MS});`;
  threads.Worker = class extends Worker {
    constructor(script, options) {
      super(options?.workerData?.role === 'fuse' ? `${before}${script}` : script, options);
    }
  };
  syncBuiltinESMExports();
}
