/** Prints the process ids of `sleep <seconds>` in the sandbox; the pattern does not match itself. */
export const sleepers = (seconds: number): string =>
  `grep -la "slee[p].${seconds}" /proc/[0-9]*/cmdline 2>/dev/null || true`;
