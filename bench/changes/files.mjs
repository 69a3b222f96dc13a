/** Files for the measurements, created in the same way in a sandbox and outside. */
export const FILES = 10_000;
const BYTES = 1024;

/**
 * Returns a shell command that creates `count` files of 1 KiB below `directory`, `each` files in a directory, numbered
 * from `first`. Another `prefix` gives other files in the same directories.
 */
export function makeFiles(directory, count, each, first = 0, prefix = '') {
  const program = [
    'import os, sys',
    `for n in range(${first}, ${first + count}):`,
    `    if n % ${each} == 0:`,
    `        at = "${directory}" if ${each} == ${count} else "${directory}/d%04d" % (n // ${each})`,
    '        os.makedirs(at, exist_ok=True)',
    `    with open("%s/${prefix}f%06d" % (at, n), "w") as file:`,
    `        file.write(("%d\\n" % n) * ${BYTES})`,
    `        file.truncate(${BYTES})`,
  ].join('\n');
  return `python3 -c '${program}'`;
}

/** A shell command that gives all files below a directory other contents of the same size. */
export const changeFiles = (directory, round) =>
  `python3 -c 'import glob; [open(f, "r+").write("%0500d" % ${round}) for f in glob.glob("${directory}/*/*")]'`;
