/** Output for people: a title, one line per step with its time, the commands with their output, and the verdict. */
const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
const paint = (code) => (text) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
const bold = paint('1');
const dim = paint('2');
const green = paint('32');
const red = paint('31');

const WIDTH = 92;
const SHOWN_LINES = 8;

export class Report {
  #checks = 0;
  #failures = [];
  #began = performance.now();

  get failed() {
    return this.#failures.length > 0;
  }

  title(text) {
    this.#print(bold(text));
  }

  section(text) {
    this.#print(`\n${bold(text)}`);
  }

  /** Runs `work`, and prints `label`, its result and its duration. `work` returns {text?, value?}. */
  async step(label, work) {
    const began = performance.now();
    const { text = '', value } = (await work()) ?? {};
    this.#line(`  ${label.padEnd(10)} ${text}`, began);
    return value;
  }

  /** Checks one command: `run` returns {stdout, stderr, exit_code}; `expected` describes the check `holds`. */
  async command(command, run, expected, holds) {
    const began = performance.now();
    const result = await run();
    this.#line(`  $ ${command}`, began);
    const output = `${result.stdout}${result.stderr}`.trimEnd();
    const lines = output === '' ? [] : output.split('\n');
    for (const line of lines.slice(0, SHOWN_LINES)) this.#print(dim(`      ${line.slice(0, 110)}`));
    if (lines.length > SHOWN_LINES) this.#print(dim(`      … ${lines.length - SHOWN_LINES} more lines`));
    this.check(expected, holds(result), `exit code ${result.exit_code}`);
    return result;
  }

  check(expected, held, otherwise = '') {
    this.#checks++;
    if (held) return this.#print(`    ${green('ok')} ${expected}`);
    this.#failures.push(expected);
    this.#print(`    ${red('FAILED')} ${expected}${otherwise && ` (${otherwise})`}`);
  }

  /** Prints the verdict; returns the exit code. */
  end() {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    const passed = this.#checks - this.#failures.length;
    this.#print(`\n${bold(`${passed} of ${this.#checks} checks hold, in ${seconds} s`)}`);
    for (const each of this.#failures) this.#print(red(`  FAILED ${each}`));
    return this.failed ? 1 : 0;
  }

  #line(text, began) {
    const time = `${(performance.now() - began).toFixed(1)} ms`;
    const [first, ...more] = text.split('\n');
    this.#print(`${first.padEnd(WIDTH)} ${dim(time.padStart(11))}`);
    for (const line of more) this.#print(`      ${line}`);
  }

  #print(line) {
    process.stdout.write(`${line}\n`);
  }
}
