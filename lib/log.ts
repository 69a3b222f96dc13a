import { pino } from 'pino';
import { hideKeys } from './access/key-format.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LOG_FORMATS = ['json', 'text'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = (typeof LOG_FORMATS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** The log interface of all rooms. Field values are plain; an error goes into the field `err`. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

interface Sink {
  write(line: string): void;
}

/**
 * Writes one line per entry, synchronously, to `sink`: nothing is lost if the process exits right after. No line has the
 * secret of a key.
 */
export function createLog(options: { level: LogLevel; format: LogFormat }, sink: Sink): Log {
  const write = (line: string) => sink.write(hideKeys(options.format === 'json' ? line : textLine(line)));
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** `2026-01-31T12:00:00.000Z INFO  message key=value …`. Values stay JSON, so that no value can forge a line. */
function textLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const line = `${time} ${String(level).toUpperCase().padEnd(5)} ${escapeControls(String(msg))}${pairs.join('')}`;
  return `${line.replace(/[\u007f-\u009f]/g, hexEscape)}\n`;
}

/** Escapes characters that JSON leaves unescaped but a terminal may interpret. */
function hexEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function escapeControls(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}
