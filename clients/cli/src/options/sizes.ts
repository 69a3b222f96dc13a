import { UsageError } from '../command-line/errors.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** "512m" or "2g". */
export function bytesOf(option: string, text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([bkmgt]?)$/i.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`--${option} is like 512m or 2g, not ${JSON.stringify(text)}`);
  return Math.floor(Number(number) * UNITS[unit.toLowerCase()]!);
}

/** Microseconds of CPU time in 100 ms: "1.5" processors are 150000. */
export function cpuQuotaOf(option: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${option} is like 2 or 1.5, not ${JSON.stringify(text)}`);
  return Math.round(Number(text) * 100_000);
}

const SHARES: Readonly<Record<string, number>> = { low: 256, normal: 1024, high: 4096 };

/** The weight beside others when all of them want the processors. */
export function cpuSharesOf(option: string, text: string): number {
  const shares = Object.hasOwn(SHARES, text) ? SHARES[text] : undefined;
  if (shares === undefined) throw new UsageError(`--${option} is low, normal or high, not ${JSON.stringify(text)}`);
  return shares;
}
