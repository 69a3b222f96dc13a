import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';

const MOST_MS = 60_000;
const EVERY_MS = 50;

/** Polls until it holds. `shown` is part of the failure. */
export async function until(holds: () => boolean | Promise<boolean>, shown: () => string): Promise<void> {
  for (const end = Date.now() + MOST_MS; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`waited in vain; there is:\n${shown()}`);
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
}

/** A real terminal in which a shell script runs, until the test ends. Its environment is that of the script only. */
export class Tmux {
  readonly #socket = `paddock-${randomUUID()}`;

  static start(script: string, env: Record<string, string>): Tmux {
    const terminal = new Tmux();
    onTestFinished(() => terminal.close());
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    terminal.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', '90', '-y', '25', ...variables, script);
    terminal.#tmux('set-option', '-g', 'status', 'off');
    terminal.#tmux('set-option', '-g', 'remain-on-exit', 'on');
    return terminal;
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Keys by the names of tmux: "C-c", "Enter"; other words are typed. */
  type(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  line(text: string): void {
    this.#tmux('send-keys', '-l', text);
    this.type('Enter');
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`);
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p').trimEnd();
  }

  /** Whether a program has switched to the alternate screen. */
  isAlternate(): boolean {
    return this.#tmux('display-message', '-p', '#{alternate_on}').trim() === '1';
  }

  async shows(text: string | RegExp): Promise<void> {
    const holds = () => (typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen()));
    await until(holds, () => `${this.screen()}\n(${text} was expected)`);
  }

  close(): void {
    try {
      this.#tmux('kill-server');
    } catch {
      // It has ended.
    }
  }
}
