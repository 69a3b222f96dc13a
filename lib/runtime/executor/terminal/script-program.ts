/**
 * For `script` of util-linux: the command that it runs on the terminal, in a shell that replaces itself by the words in the
 * variables `_0`, `_1`, and so on. A background process waits for new sizes; it ends when the server closes their FIFO. Weaker
 * than PERL_PROGRAM: a new size and input may change places, and `script` waits up to 2 s before it passes the end of input.
 */
export function scriptProgram(rows: number, columns: number, count: number): string {
  return [
    `stty sane rows ${rows} cols ${columns}; stty iutf8 2>/dev/null`,
    "(trap '' 1 2 3 15; while read -r r c; do stty -F /dev/tty rows $r cols $c; done) <&3 >/dev/null 2>&1 3<&- &",
    'exec 3<&-',
    '[ -z "$_s" ] || SHELL=$_s; unset _s',
    'set --; i=0',
    `while [ $i -lt ${count} ]; do eval "set -- \\"\\$@\\" \\"\\$_$i\\"; unset _$i"; i=$((i + 1)); done; unset i`,
    'exec "$@"',
  ].join('\n');
}
