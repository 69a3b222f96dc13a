import type { ProcessInfo } from 'paddock-sandbox';

/** The command as it was given; arguments that a shell would divide are quoted. */
export function commandText({ command, argv }: Pick<ProcessInfo, 'command' | 'argv'>): string {
  return command || argv.map(quoted).join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** "running", "exited (3)", "signaled (130)", "timeout" and the like. */
export function stateText({ end }: Pick<ProcessInfo, 'end'>): string {
  if (end === undefined) return 'running';
  const reason = end.reason.replaceAll('_', ' ');
  return end.exitCode >= 0 ? `${reason} (${end.exitCode})` : reason;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** Seconds for people: "12s", "5m", "3h", "2d". */
export function spanText(seconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${Math.max(Math.floor(seconds / length), 0)}${unit}`;
}

export const agoText = (time: Date): string => spanText((Date.now() - time.getTime()) / 1000);
