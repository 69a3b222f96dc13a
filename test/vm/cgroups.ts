import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../lib/contract/messages.ts';
import type { Scene } from '../contract/scene.ts';

export const CGROUPS = '/sys/fs/cgroup';

/** Returns the path of a process in the v2 hierarchy. */
const membershipOf = (pid: number | string): string =>
  /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'latin1'))?.[1] ?? '';

export const read = (cgroup: string, file: string): string => readFileSync(join(cgroup, file), 'latin1').trim();

/** Returns one number of a file of `name value` lines, for example memory.events. */
export function count(cgroup: string, file: string, name: string): number {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(read(cgroup, file));
  if (!found) throw new Error(`${cgroup}/${file} has no ${name}`);
  return Number(found[1]);
}

/** Returns the sorted names of a directory. */
export const below = (cgroup: string): string[] =>
  readdirSync(cgroup, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort();

/** Returns the cgroup of a sandbox, found by one of its processes. */
export async function cgroupOf(scene: Scene, sandbox: Sandbox): Promise<string> {
  const seconds = 100_000 + Math.floor(Math.random() * 800_000);
  const pid = await scene.output(sandbox, `sleep ${seconds} >/dev/null 2>&1 & echo $!`);
  const line = scene.state.processes().find((each) => each.includes(`sleep ${seconds}`));
  const path = membershipOf(/^process (\d+) /.exec(line ?? '')?.[1] ?? '');
  const [own, ...rest] = path.split('/commands/');
  if (rest.length !== 1) throw new Error(`a command is in the cgroup ${path}`);
  await scene.output(sandbox, `kill ${pid}`);
  return join(CGROUPS, own!);
}
