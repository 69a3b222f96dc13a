import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type ByteString, fromLatin1, fromText } from '../byte-string.ts';

/** One mount of a mount namespace, as proc_pid_mountinfo(5) describes it. */
export interface MountInfo {
  /** "major:minor" of st_dev for the files of the mount. */
  device: string;
  /** Directory of the file system that is the root of the mount. */
  root: ByteString;
  /** Absolute, as seen from the root directory of the process. */
  mountPoint: ByteString;
  type: string;
  /** What was mounted, in the terms of the file system; 'none' if it has no such term. */
  source: ByteString;
  /** Options of the file system, not of this mount. */
  superOptions: readonly string[];
}

/**
 * The mounts in the mount namespace of a process (by default this one), in the order of mounting: of several on one path,
 * the last one is visible. Accesses no mounted file system, so it does not wait for one that hangs.
 */
export function readMountsSync(pid: number | 'self' = 'self'): MountInfo[] {
  return parseMounts(fromLatin1(readFileSync(`/proc/${pid}/mountinfo`, 'latin1')));
}

/** The visible mount on exactly this path, if any. The path must be absolute and without symlinks. */
export async function findMount(mountPoint: string): Promise<MountInfo | undefined> {
  return mountAt(parseMounts(fromLatin1(await readFile('/proc/self/mountinfo', 'latin1'))), mountPoint);
}

/** As `findMount`, in a table that was read before. */
export function mountAt(mounts: readonly MountInfo[], mountPoint: string): MountInfo | undefined {
  const bytes = fromText(mountPoint);
  return mounts.findLast((each) => each.mountPoint === bytes);
}

/**
 * Parses the text of a mountinfo file, given as a byte string: "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE
 * SOURCE SUPER_OPTIONS". Source: proc_pid_mountinfo(5), show_mountinfo() in fs/proc_namespace.c.
 */
export function parseMounts(text: ByteString): MountInfo[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = line.split(' ');
      const [type = '', source = '', superOptions = ''] = fields.slice(fields.indexOf('-', 6) + 1);
      return {
        device: fields[2] ?? '',
        root: unescapeOctal(fields[3] ?? ''),
        mountPoint: unescapeOctal(fields[4] ?? ''),
        type,
        source: unescapeOctal(source),
        superOptions: superOptions.split(','),
      };
    });
}

/** The kernel writes space, tab, newline, backslash and '#' as \ooo (mangle() in fs/proc_namespace.c). */
function unescapeOctal(field: string): ByteString {
  if (!field.includes('\\')) return fromLatin1(field);
  return fromLatin1(
    field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
  );
}
