import { CPU_QUOTA_UNIT_US } from '../../resource-limits.ts';

/** CPU time in ticks of a hundredth of a second. */
export interface CpuTimes {
  user: number;
  system: number;
}

/** The cores that a quota is enough for, rounded up, as runtimes count them; at most those of the machine. */
export function coresOf(cpuQuota: number, machine: number): number {
  return Math.max(1, Math.min(machine, Math.ceil(cpuQuota / CPU_QUOTA_UNIT_US)));
}

/** The machine's /proc/cpuinfo with its first cores only. */
export function cpuinfo(machine: string, cores: number): string {
  const blocks = machine.split('\n\n');
  const isCore = (block: string) => /^processor\s*:/m.test(block);
  const first = new Set(blocks.filter(isCore).slice(0, cores));
  return blocks.filter((block) => !isCore(block) || first.has(block)).join('\n\n');
}

/** Text of /sys/devices/system/cpu/online. */
export const onlineCores = (cores: number): string => (cores === 1 ? '0\n' : `0-${cores - 1}\n`);

/**
 * Text of /proc/stat. Which core the time was spent on is not known, so it is divided among all. `uptime` in seconds;
 * `bootTime`: the machine's, which ps(1) adds to the start times of processes.
 */
export function cpuStat(cores: number, { user, system }: CpuTimes, uptime: number, bootTime: string): string {
  const all = Math.floor(uptime * 100) * cores;
  const line = (name: string, parts: number) => {
    const [busy, kernel] = [Math.floor(user / parts), Math.floor(system / parts)];
    const idle = Math.max(0, Math.floor(all / parts) - busy - kernel);
    return `${name} ${busy} 0 ${kernel} ${idle} 0 0 0 0 0 0\n`;
  };
  const each = Array.from({ length: cores }, (_, core) => line(`cpu${core}`, cores)).join('');
  return `${line('cpu ', 1)}${each}intr 0\nctxt 0\n${bootTime}processes 0\nprocs_running 1\nprocs_blocked 0\n`;
}

/** Parses cpu.stat of v2 or cpuacct.stat of v1. */
export function cpuTimes(text: string): CpuTimes {
  const of = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const ticks = (microseconds: number) => Math.floor(microseconds / 10_000);
  return {
    user: of('user') || ticks(of('user_usec')),
    system: of('system') || ticks(of('system_usec')),
  };
}
