export function at(all: readonly number[], share: number): number;
export function median(all: readonly number[]): number;
export function judged(reached: boolean, aimed?: boolean): 'aim' | 'must' | 'MISSED';
export function exitCodeOf(rows: readonly Record<string, string>[]): 0 | 1;
export function table(
  sections: readonly { title: string; rows: Record<string, string>[] }[],
  columns?: Record<string, string>,
): string;
