/** Returns the value below which `share` (0 to 1) of all values are. */
export function at(all, share) {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (all) => at(all, 0.5);

/** The verdict of a row. The must decides first: relative to what is measured beside it, it can be stricter than the aim. */
export function judged(reached, aimed = false) {
  if (!reached) return 'MISSED';
  return aimed ? 'aim' : 'must';
}

/** The exit code of a bench with these rows: 1 if a target is missed. */
export const exitCodeOf = (rows) => (rows.some(({ verdict }) => verdict === 'MISSED') ? 1 : 0);

const COLUMNS = { name: '', value: 'measured', beside: 'compared', must: 'must reach', aim: 'aim', verdict: 'reached' };

/**
 * Returns the sections as Markdown tables. A row may omit columns.
 * @param {{ title: string, rows: Record<string, string>[] }[]} sections
 * @param {Record<string, string>} columns
 */
export function table(sections, columns = COLUMNS) {
  const lines = sections.flatMap(({ title, rows }) => [
    `\n### ${title}\n`,
    `| ${Object.values(columns).join(' | ')} |`,
    `|${'---|'.repeat(Object.keys(columns).length)}`,
    ...rows.map(
      (row) =>
        `| ${Object.keys(columns)
          .map((key) => row[key] ?? '')
          .join(' | ')} |`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
