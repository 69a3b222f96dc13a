/** Draws the time relative to a plain directory as SVG: logarithmic, one row of bars for each workload. */
import { NAMES } from './systems.mjs';

const COLOURS = { overlayfs: '#9aa5b1', 'fuse-overlayfs': '#d9a05b', bindfs: '#c9736b', ours: '#2f7f6f' };
const LEFT = 300;
const WIDTH = 900;
const BAR = 9;
const GAP = 12;
const TOP = 64;
const LOW = 0.25;
const HIGH = 64;
const MARKS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];

const x = (ratio) =>
  LEFT +
  ((Math.log(Math.min(HIGH, Math.max(LOW, ratio))) - Math.log(LOW)) / (Math.log(HIGH) - Math.log(LOW))) *
    (WIDTH - LEFT - 60);
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function chart(rows, where) {
  const drawn = rows.filter(({ times }) => times?.native !== undefined);
  const names = NAMES.filter((name) => name !== 'native' && drawn.some(({ times }) => times[name] !== undefined));
  const step = names.length * BAR + GAP;
  const height = TOP + drawn.length * step + 40;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="22" font-size="15" font-weight="bold">Time relative to a plain directory (1 = native, shorter is faster)</text>`,
    ...names.map((name, i) => legend(name, i)),
  ];
  for (const mark of MARKS) {
    const stroke = mark === 1 ? '#333' : '#ddd';
    parts.push(`<line x1="${x(mark)}" x2="${x(mark)}" y1="${TOP - 6}" y2="${height - 40}" stroke="${stroke}"/>`);
    parts.push(`<text x="${x(mark)}" y="${height - 24}" text-anchor="middle" fill="#555">${mark} ×</text>`);
  }
  drawn.forEach((row, i) => void parts.push(...bars(row, names, TOP + i * step, step)));
  parts.push(`<text x="16" y="${height - 6}" fill="#777" font-size="11">${escaped(where)}</text>`, '</svg>');
  return `${parts.join('\n')}\n`;
}

function legend(name, i) {
  const at = 16 + i * 130;
  return `<rect x="${at}" y="34" width="12" height="12" fill="${COLOURS[name]}"/><text x="${at + 18}" y="44">${name}</text>`;
}

function* bars({ label, times, unit }, names, y, step) {
  yield `<text x="${LEFT - 10}" y="${y + (step - GAP) / 2 + 4}" text-anchor="end">${escaped(label)}</text>`;
  let at = y;
  for (const name of names) {
    const value = times[name];
    if (value !== undefined) {
      const ratio = unit === '/s' ? times.native / value : value / times.native;
      const [from, to] = [x(1), x(ratio)];
      const width = Math.max(1, Math.abs(to - from));
      yield `<rect x="${Math.min(from, to)}" y="${at}" width="${width}" height="${BAR - 1}" fill="${COLOURS[name]}"/>`;
      const beside = ratio >= 1 ? Math.max(from, to) + 4 : Math.min(from, to) - 4;
      const anchor = ratio >= 1 ? 'start' : 'end';
      yield `<text x="${beside}" y="${at + BAR - 1}" font-size="9" text-anchor="${anchor}" fill="#444">${ratio.toFixed(2)}</text>`;
    }
    at += BAR;
  }
}
