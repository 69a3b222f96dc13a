import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { hasEnded } from '../../../process-status.ts';
import { until } from '../../runtime/bwrap/fixture.ts';

/** A process in network and pid namespaces of its own, like a sandbox's. `lo` is down. */
export interface Namespace {
  pid: number;
  /** Runs a shell script in its network, and returns what it prints. */
  run(script: string): Promise<string>;
  /** Starts a shell script in its network, which ends with the test. */
  start(script: string): ChildProcess;
  end(): Promise<void>;
}

const started: ChildProcess[] = [];

/** Namespaces of a test file, which end with their test. */
export function useNamespaces() {
  afterEach(() => {
    for (const each of started.splice(0)) each.kill('SIGKILL');
  });
  return { newNamespace };
}

/** `options`: of unshare(1). */
async function newNamespace(options = '-npf'): Promise<Namespace> {
  const child = spawn('unshare', [options, '--kill-child', 'sleep', '1000'], { stdio: 'ignore' });
  started.push(child);
  let pid = 0;
  await until('the namespace', () => {
    pid = sleepOf(child.pid!) ?? 0;
    return pid > 0;
  });
  const enter = (script: string) => ['-t', `${pid}`, '-n', 'sh', '-c', script];
  return {
    pid,
    run(script) {
      const program = spawn('nsenter', enter(script), { stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 });
      return text(program.stdout);
    },
    start(script) {
      // Without a shell between, which alone would be killed.
      const program = spawn('nsenter', enter(`exec ${script}`), { stdio: 'ignore' });
      started.push(program);
      return program;
    },
    async end() {
      child.kill('SIGKILL');
      await until('the end of the namespace', () => hasEnded(pid));
    },
  };
}

function sleepOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ');
  if (!child) return undefined;
  return readFileSync(`/proc/${child}/comm`, 'latin1').trim() === 'sleep' ? Number(child) : undefined;
}
