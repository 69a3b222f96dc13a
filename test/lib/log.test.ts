import { describe, expect, it } from 'vitest';
import { createLog, type LogFormat, type LogLevel } from '../../lib/log.ts';

function logging(level: LogLevel, format: LogFormat) {
  const lines: string[] = [];
  return { lines, log: createLog({ level, format }, { write: (line) => lines.push(line) }) };
}

describe('the log', () => {
  it('as JSON is one object in each line, with level, time, message and fields', () => {
    const { lines, log } = logging('info', 'json');
    log.info('ready', { port: 1 });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      msg: 'ready',
      port: 1,
    });
    expect(lines[0]).toMatch(/^[^\n]+\n$/);
  });

  it('as text is one line that starts with time, level and message', () => {
    const { lines, log } = logging('info', 'text');
    log.warn('a warning', { path: '/a b', count: 2 });
    expect(lines).toEqual([expect.stringMatching(/^\S+Z WARN {2}a warning path="\/a b" count=2\n$/)]);
  });

  it.each(['json', 'text'] as const)(
    'as %s escapes messages and values that could forge a line or control the terminal',
    (format) => {
      const { lines, log } = logging('info', format);
      log.info('a\nb\u001b[31m', { name: 'c\r\nd\u001b[0m' });
      expect(lines).toHaveLength(1);
      expect([...(lines[0]?.slice(0, -1) ?? '')].filter((char) => char < ' ')).toEqual([]);
    },
  );

  it('as text escapes terminal control characters above ASCII', () => {
    const { lines, log } = logging('info', 'text');
    log.info('a\u009b31m', { name: 'b\u007f' });
    expect(lines[0]).toContain('a\\u009b31m name="b\\u007f"');
  });

  it('omits entries below its level', () => {
    const { lines, log } = logging('warn', 'json');
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['c', 'd']);
  });

  it('contains the message and stack of an error in err', () => {
    const { lines, log } = logging('error', 'json');
    log.error('failed', { err: new TypeError('why') });
    const message = { type: 'TypeError', message: 'why', stack: expect.stringContaining('why') as string };
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: message });
  });
});
