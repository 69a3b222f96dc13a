/** The parts of the output of a program of steps. */
export function resultsOf({ stdout, stderr }) {
  const sections = new Map();
  let lines = [];
  for (const line of stdout.split('\n')) {
    const header = /^== (?!exit )(.*)$/.exec(line);
    if (header !== null) {
      lines = [];
      sections.set(header[1], lines);
    } else lines.push(line);
  }
  const refused = /^paddock: .* refused .*$/m.exec(stderr)?.[0] ?? '';
  return { sections, output: stdout, stderr, refused };
}

/** How results of tests are counted: lines of pytest, node:test, Go and Cargo, without times. */
const COUNTS = [
  /^=*\s*(\d+ (?:passed|failed|error).*?) in [\d.]+s/,
  /^(?:#|ℹ) ((?:tests|pass|fail|cancelled|skipped|todo) \d+)$/,
  /^(ok|FAIL|---.*FAIL)\b/,
  /^(test result: \w+\. \d+ passed; \d+ failed; \d+ ignored)/,
  /^(FAILED|ERROR) (\S+)/,
];
/** Compared as they are; of other sections only the exit code and the counts. */
const WHOLE = ['installed', 'git', 'no secrets'];
const MOST_LINES = 20;

const countsOf = (lines) =>
  lines.flatMap((line) => {
    if (line.startsWith('== exit')) return [line];
    const found = COUNTS.map((pattern) => pattern.exec(line)).find((match) => match !== null);
    return found ? [found.slice(1).join(' ')] : [];
  });

/** What differs, as sentences; also if there was nothing to compare. */
export function differences(native, inside) {
  const found = [];
  if (native.sections.size === 0) return [`the native side wrote nothing: ${native.stderr.slice(-2000)}`];
  for (const [name, lines] of native.sections) {
    if (name === 'secrets') continue;
    const others = inside.sections.get(name);
    if (others === undefined) {
      found.push(`${name}: missing inside: ${inside.stderr.slice(-2000)}`);
      continue;
    }
    const isWhole = WHOLE.includes(name);
    const [a, b] = [lines, others].map((each) => (isWhole ? each : countsOf(each)));
    // Tests may fail with newer packages: alike, then. A step without tests must succeed.
    if (!isWhole && a.length === 1 && a[0] !== '== exit 0')
      found.push(`${name}: fails natively: ${lines.slice(-MOST_LINES).join('\n    ')}`);
    const onlyNative = a.filter((line) => !b.includes(line));
    const onlyInside = b.filter((line) => !a.includes(line));
    if (onlyNative.length + onlyInside.length === 0 && a.length === b.length) continue;
    for (const line of onlyNative.slice(0, MOST_LINES)) found.push(`${name}: only native: ${line}`);
    for (const line of onlyInside.slice(0, MOST_LINES)) found.push(`${name}: only inside: ${line}`);
    if (!isWhole) found.push(`${name}, inside: ${others.slice(-MOST_LINES).join('\n    ')}`);
  }
  return found;
}
