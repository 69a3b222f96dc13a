import { describe, expect, it } from 'vitest';
import { DEFAULT_KEYS, DetachKeys, keysOf } from '../../../clients/cli/src/terminal/detach-keys.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('keys that leave a terminal', () => {
  /** What is sent of what is typed, and whether it leaves. */
  const typed = (keys: string, ...pieces: string[]): [string, boolean] => {
    const found = new DetachKeys(keysOf(keys));
    let sent = '';
    for (const piece of pieces) {
      const { send, detach } = found.feed(bytes(piece));
      sent += Buffer.from(send).toString('latin1');
      if (detach) return [sent, true];
    }
    return [sent, false];
  };

  it.each([
    ['both keys at once', ['ab\x10\x11cd'], 'ab', true],
    ['the keys one by one', ['\x10', '\x11'], '', true],
    ['the first one alone is held', ['a\x10'], 'a', false],
    ['the first one and another', ['\x10', 'x\x11'], '\x10x\x11', false],
    ['the first one twice', ['\x10\x10\x11'], '\x10', true],
    ['anything else', ['\x03\x1b[A\xff'], '\x03\x1b[A\xff', false],
  ])('%s', (_, pieces, sent, detached) => {
    expect(typed(DEFAULT_KEYS, ...pieces)).toEqual([sent, detached]);
  });

  it('may be others, or none', () => {
    expect(typed('ctrl-],x', '\x1dx')).toEqual(['', true]);
    expect(typed('', '\x10\x11')).toEqual(['\x10\x11', false]);
    expect(() => keysOf('ctrl-p,,')).toThrow(/detach keys are like/);
    expect(() => keysOf('ctrl-é')).toThrow(/detach keys are like/);
  });
});
