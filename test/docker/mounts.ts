import { readMountsSync } from '../../lib/linux/mountinfo.ts';

/** Returns the mount points at and below `directory`, deepest first. */
export function mountsUnder(directory: string): string[] {
  return readMountsSync()
    .map(({ mountPoint }) => mountPoint)
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}
