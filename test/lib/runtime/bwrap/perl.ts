/**
 * A probe that makes system calls by perl's syscall(), which works on every Debian and Ubuntu without a compiler.
 * Prints one line for each call: `name result errno`.
 */
export function syscallProbe(
  calls: readonly (readonly [name: string, nr: number, ...args: (number | string)[]])[],
): string {
  const lines = calls.map(([name, nr, ...args]) => {
    const list = [nr, ...args].map((arg) => (typeof arg === 'number' ? String(arg) : `my $x=${JSON.stringify(arg)}`));
    return `$! = 0; { my $r = syscall(${list.join(', ')}); print "${name} ", ($r < 0 ? 0 + $! : 'allowed'), "\\n"; }`;
  });
  return lines.join('\n');
}
