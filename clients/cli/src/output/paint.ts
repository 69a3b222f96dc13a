const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

/** Functions that colour text, or leave it as it is. */
export function paint(enabled: boolean): Paint {
  return Object.fromEntries(
    Object.entries(CODES).map(([name, code]) => [
      name,
      (text: string) => (enabled ? `\x1b[${code}m${text}\x1b[0m` : text),
    ]),
  ) as Paint;
}
