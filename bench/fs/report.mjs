/** Compares rows with their targets, and renders them as a Markdown table. */
import { NAMES } from './systems.mjs';

/**
 * Returns {value, text, must, aim, met, aimed}: `value` is the figure that the target's kind compares. A row has `times` by
 * file system, or one value `before` and one `after`.
 * @param {{ target: object, times?: Record<string, number>, before?: number, after?: number }} row
 */
export function judge({ target, times = {}, before = Number.NaN, after = Number.NaN }) {
  const [[kind, [must, aim]]] = Object.entries(target);
  const ours = times.ours ?? after;
  const value = {
    speed: () => times.native / ours,
    time: () => ours / times.native,
    rival: () => ours / times['fuse-overlayfs'],
    above: () => ours - times.native,
    rate: () => ours,
    ratio: () => after / before,
    most: () => after,
  }[kind]();
  const larger = kind === 'speed' || kind === 'rate';
  const reaches = (limit) => (larger ? value >= limit : value <= limit);
  const show = {
    speed: (x) => `${number(x)} of native`,
    time: (x) => `${number(x)} × native`,
    rival: (x) => `${number(x)} × fuse-overlayfs`,
    above: (x) => `native + ${Math.round(x)} µs`,
    rate: (x) => `${Math.round(x).toLocaleString('en')}/s`,
    ratio: (x) => `${number(x)} ×`,
    most: (x) => `${number(x)} KiB`,
  }[kind];
  const rival = times['fuse-overlayfs'];
  const slower = rival !== undefined && (kind === 'rate' ? ours < rival : ours > rival);
  const word = !reaches(must) ? '**missed**' : reaches(aim) ? 'aim met' : 'met';
  return { kind, value, must, aim, text: show(value), goal: `${show(must)} (${show(aim)})`, word, slower };
}

export function table(rows) {
  const names = NAMES.filter((name) => rows.some(({ times }) => times?.[name] !== undefined));
  const lines = [
    `| | ${names.join(' | ')} | result | must (aim) | |`,
    `|---|${names.map(() => '--:').join('|')}|--:|--:|---|`,
  ];
  for (const row of rows) {
    const { text, goal, word, slower } = judge(row);
    const figures = names.map((name) => figure(row, name));
    const note = slower ? `${word}; slower than fuse-overlayfs` : word;
    lines.push(`| ${row.label}, ${row.unit} | ${figures.join(' | ')} | ${text} | ${goal} | ${note} |`);
  }
  return lines.join('\n');
}

export function requestTable(rows) {
  const lines = ['| | requests | per call |', '|---|--:|---|'];
  for (const { label, requests, calls } of rows) {
    if (requests === undefined) continue;
    const sent = Object.entries(requests).filter(([, count]) => count > 0);
    const total = sent.reduce((sum, [, count]) => sum + count, 0);
    const each = sent
      .sort((a, b) => b[1] - a[1])
      .map(([name, count]) => (calls ? `${name} ${number(count / calls)}` : `${name} ${count}`));
    lines.push(`| ${label} | ${total} | ${each.slice(0, 6).join(', ')} |`);
  }
  return lines.join('\n');
}

function figure({ times, before, after, unit }, name) {
  if (times) return times[name] === undefined ? '–' : measure(times[name], unit);
  if (name === 'ours')
    return before === undefined ? measure(after, unit) : `${measure(before, unit)} → ${measure(after, unit)}`;
  return '–';
}

function measure(value, unit) {
  if (unit === 's') return value.toFixed(3);
  return value >= 100 ? Math.round(value).toLocaleString('en') : number(value);
}

function number(value) {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}
