/** Draws horizontal bars as SVG, one panel for each measurement. Results of Paddock are blue, alternatives are grey. */
const WIDTH = 760;
const LABEL = 200;
const BAR = 20;
const GAP = 8;
const FIGURES = 140;
const INK = '#1b1f23';

export function chart(heading, panels) {
  let y = 42;
  const parts = [];
  for (const { title, unit, bars } of panels) {
    parts.push(text(16, y + 14, title, 'font-weight="600"'));
    y += 26;
    const most = Math.max(...bars.flatMap(({ value, mark = 0 }) => [value, mark]));
    const scale = (WIDTH - LABEL - FIGURES) / most;
    for (const bar of bars) {
      parts.push(...drawn(bar, unit, scale, y));
      y += BAR + GAP;
    }
    y += 16;
  }
  const size = `width="${WIDTH}" height="${y}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<rect ${size} fill="#ffffff"/>`,
    text(16, 24, heading, 'font-size="14" font-weight="700"'),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function drawn({ label, value, mark }, unit, scale, y) {
  const fill = /REST|gRPC|Create/.test(label) ? '#2a78b8' : '#a8b3bd';
  const parts = [
    text(LABEL - 8, y + 15, label, 'text-anchor="end"'),
    `<rect x="${LABEL}" y="${y}" width="${round(value * scale)}" height="${BAR}" fill="${fill}"/>`,
  ];
  if (mark !== undefined) {
    const x = round(LABEL + mark * scale);
    parts.push(`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + BAR}" stroke="${INK}" stroke-width="2"/>`);
  }
  const end = LABEL + Math.max(value, mark ?? 0) * scale + 6;
  const shown = mark === undefined ? figure(value) : `${figure(value)} / ${figure(mark)}`;
  return [...parts, text(round(end), y + 15, `${shown} ${unit}`)];
}

const round = (value) => Math.round(value * 10) / 10;
const figure = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
const escaped = (raw) => raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const text = (x, y, content, more = '') => `<text x="${x}" y="${y}" ${more}>${escaped(content)}</text>`;
