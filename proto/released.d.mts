/** Lines of `before` that `after` lacks. */
export function brokenPromises(before: string, after: string): string[];
