/** The source of the regular expression of a host of a secret: a name, or `*.` and a name of two labels or more. */
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?';
export const SECRET_HOST = `(?=.{1,253}$)(?!.*(?:^|\\.)\\d+$)(?:\\*\\.${LABEL}\\.)?${LABEL}(?:\\.${LABEL})*`;

/** Whether a host is one of those that `pattern` stands for. `*.a.b` does not include `a.b`. */
export function matchesHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length : host === pattern;
}

/** Whether all hosts of `inner` are among those of `outer`. */
function includesPattern(outer: string, inner: string): boolean {
  if (inner === outer || !outer.startsWith('*.')) return inner === outer;
  return matchesHost(outer, inner.startsWith('*.') ? inner.slice(2) : inner);
}

export function isWithinHosts(outer: readonly string[], inner: string): boolean {
  return outer.some((each) => includesPattern(each, inner));
}

/** The hosts that are among both. */
export function commonHosts(a: readonly string[], b: readonly string[]): string[] {
  const common = [...a.filter((each) => isWithinHosts(b, each)), ...b.filter((each) => isWithinHosts(a, each))];
  return [...new Set(common)];
}
