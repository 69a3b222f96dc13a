import { UsageError } from '../command-line/errors.ts';
import { countOf } from '../options/durations.ts';

export function portOf(text: string): number {
  const port = countOf('port', text);
  if (port < 1 || port > 65_535) throw new UsageError(`a port is a number from 1 to 65535, not ${text}`);
  return port;
}

/** "3000", or "3000:8080": a port of a sandbox, and the one of this machine. */
export function portsOf(text: string): { port: number; localPort: number } {
  const [given = '', here = given, ...more] = text.split(':');
  if (more.length > 0) throw new UsageError(`ports are PORT or PORT:LOCAL-PORT, not ${text}`);
  return { port: portOf(given), localPort: portOf(here) };
}
