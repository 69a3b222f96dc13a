/** The value that `share` of all are below. */
export function at(all, share) {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (all) => at(all, 0.5);

export const judged = (reached, aimed) => (aimed ? 'aim' : reached ? 'must' : 'MISSED');

const COLUMNS = { name: '', value: 'measured', beside: 'beside', must: 'must reach', aim: 'aim', verdict: 'reached' };

/**
 * Markdown. A row has a value for each of the columns, or none where it has nothing to say.
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
