import { invalid } from './invalid.ts';

/** A number with its unit: "500ms", "30s", "5m", "2h". */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Throws InvalidArgumentError naming the option; also for a bare number, whose unit would be a guess. */
export function secondsOf(option: string, duration: Duration): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(String(duration)) ?? [];
  if (number === undefined) {
    throw invalid(`${option} is like "500ms", "30s", "5m" or "2h", not ${JSON.stringify(duration)}`);
  }
  return Number((Number(number) * SECONDS[unit as string]!).toFixed(6));
}
