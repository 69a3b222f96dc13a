import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { TMP_BYTES } from '../sandbox-environment.ts';
import type { SystemEntry, SystemView } from './arguments.ts';

const TOP_LEVEL = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** World-readable files with information about the machine or the kernel. Files protected by mode bits need no mask. */
const PROC_FILES = [
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/kallsyms',
  '/proc/kmsg',
  '/proc/kpagecount',
  '/proc/kpageflags',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/sysrq-trigger',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/iomem',
  '/proc/ioports',
  '/proc/modules',
  '/proc/interrupts',
];
const PROC_DIRS = ['/proc/acpi', '/proc/scsi', '/proc/asound', '/proc/bus', '/proc/driver'];
const OTHERS_READ_WRITE = 0o006;

/** Returns the part of the host's system that sandboxes see on this machine. */
export function systemView(etc: string, readOnlyPaths: readonly string[], tmpBytes = TMP_BYTES): SystemView {
  return {
    entries: TOP_LEVEL.map(entry).filter((each) => each !== undefined),
    etc,
    // Sandboxes never run as the owner (root), so only the mode bits for others matter.
    maskedFiles: PROC_FILES.filter((path) => ((modeOf(path) ?? 0) & OTHERS_READ_WRITE) !== 0),
    maskedDirs: PROC_DIRS.filter((path) => modeOf(path) !== undefined),
    readOnlyPaths,
    tmpBytes,
  };
}

/** A merged /usr has symbolic links where older systems have directories. */
function entry(path: string): SystemEntry | undefined {
  try {
    if (lstatSync(path).isSymbolicLink()) return { path, link: readlinkSync(path) };
    return { path };
  } catch {
    return undefined;
  }
}

function modeOf(path: string): number | undefined {
  try {
    return statSync(path).mode;
  } catch {
    return undefined;
  }
}
