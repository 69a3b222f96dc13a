import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox, TerminalSize } from '../../../../lib/runtime/runtime.ts';
import { until, useBwrap } from '../bwrap/fixture.ts';
import { run } from '../run.ts';
import { type OpenTerminal, openTerminal, SIZE } from './open-terminal.ts';
import { Screen } from './screen.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
beforeAll(async () => {
  box = await bwrap.launch();
  await run(
    box,
    'seq 1000 | sed "s/$/ línea/" >long; printf "set -g status off\\nset -g default-terminal xterm-256color\\n" >/tmp/tmux.conf',
  );
});

const LARGER: TerminalSize = { columns: 110, rows: 32 };
const QUIET = { PS1: '$ ', HISTFILE: '', GIT_EDITOR: 'vi', LESSHISTFILE: '-' };

/** The same program twice, with the same keys: on a terminal of the executor, and under tmux. */
class Twice {
  static #count = 0;
  readonly #terminal: OpenTerminal;
  readonly #tmux: string;
  #screen = new Screen(SIZE);

  private constructor(terminal: OpenTerminal, tmux: string) {
    this.#terminal = terminal;
    this.#tmux = tmux;
  }

  static async start(program: string): Promise<Twice> {
    const { columns, rows } = SIZE;
    // A server of its own: that of the program before may be about to end.
    const tmux = `tmux -L ${Twice.#count++}`;
    const session = `${tmux} -f /tmp/tmux.conf new-session -d -x ${columns} -y ${rows} '${program}'`;
    expect(await run(box, session, { env: QUIET })).toMatchObject({ exitCode: 0 });
    return new Twice(await openTerminal(box, program, { env: QUIET }), tmux);
  }

  async type(text: string): Promise<void> {
    await this.#terminal.type(text);
    const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16)).join(' ');
    await run(box, `${this.#tmux} send-keys -H ${bytes}`);
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#terminal.running.resize!(size);
    this.#screen.resize(size);
    await run(box, `${this.#tmux} resize-window -x ${size.columns} -y ${size.rows}`);
  }

  /** Polls until both screens are the same and have the text. */
  async same(wanted: string | RegExp): Promise<void> {
    let [own, other] = ['', ''];
    const compare = async () => {
      own = (await this.#screen.lines(this.#terminal.output())).join('\n').trimEnd();
      const captured = await run(box, `${this.#tmux} capture-pane -p`);
      other = captured.stdout
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd();
      return own === other && (typeof wanted === 'string' ? own.includes(wanted) : wanted.test(own));
    };
    await until(`both screens show ${wanted}`, compare).catch((error: Error) => {
      throw new Error(`${error.message}\n--- terminal\n${own}\n--- tmux\n${other}`);
    });
  }

  /** A viewer that connects now and reads the output from its start sees the same. */
  async replayed(): Promise<void> {
    const output = this.#terminal.output();
    const late = new Screen(SIZE);
    expect(await late.lines(output)).toEqual(await this.#screen.lines(output));
  }

  async end(code: number): Promise<void> {
    expect(await this.#terminal.ended).toBe(code);
    await run(box, `${this.#tmux} kill-server`);
  }
}

describe('programs on a terminal show the same as under tmux', () => {
  it('vi, resized while it is open and viewed again', async () => {
    const vi = await Twice.start('vi -n long');
    await vi.same('23 línea');
    await vi.type('5GiñandÚ\x1b');
    await vi.same('ñandÚ5 línea');
    await vi.replayed();
    await vi.resize(LARGER);
    await vi.same('31 línea');
    await vi.type(':q!\r');
    await vi.end(0);
  });

  it('less', async () => {
    const less = await Twice.start('less long');
    await less.same('23 línea');
    await less.type('G');
    await less.same('1000 línea');
    await less.resize(LARGER);
    // Drawn again: it loses a key that comes with the signal.
    await less.same(/1000 línea\n~/);
    await less.type('g');
    await less.same('31 línea');
    await less.type('/777\r');
    await less.same(/777 línea/);
    await less.type('q');
    await less.end(0);
  });

  it('a python REPL', async () => {
    const python = await Twice.start('exec /usr/bin/python3 -q');
    await python.same('>>>');
    await python.type('for i in range(3): print("é" * i)\r\r');
    await python.same('éé');
    await python.type('import time; print("go"); time.sleep(1000)\r');
    await python.same('\ngo');
    await python.type('\x03');
    await python.same(/KeyboardInterrupt\n>>>$/);
    await python.type('exit(3)\r');
    await python.end(3);
  });

  it('job control of bash: ^Z, jobs, bg, fg, ^C, ^D', async () => {
    const bash = await Twice.start('bash --norc --noprofile');
    await bash.same('$');
    await bash.type('sleep 1000\r');
    await bash.same('sleep 1000');
    await bash.type('\x1a');
    await bash.same('Stopped');
    await bash.type('clear; jobs; bg\r');
    await bash.same('sleep 1000 &');
    await bash.type('fg\r');
    await bash.same(/\nfg|\$ fg/);
    await bash.type('\x03');
    await bash.same(/\^C\n\$$/);
    await bash.type('echo code $?\r');
    await bash.same('code 130');
    await bash.type('\x04');
    await bash.end(0);
  });
});

describe('programs on a terminal', () => {
  it('git commit opens an editor', async () => {
    const setup =
      'git init -q repo && cd repo && git config user.name a && git config user.email a@b && touch f && git add f';
    expect(await run(box, setup)).toMatchObject({ exitCode: 0 });
    const commit = await openTerminal(box, 'git commit', { workdir: 'repo', env: QUIET });
    await commit.shown('Please enter the commit message');
    await commit.type('iThe message\x1b:wq\r');
    expect(await commit.ended).toBe(0);
    expect((await run(box, 'git log --format=%s', { workdir: 'repo' })).stdout).toBe('The message\n');
  });

  it('top draws its screen again at a new size, and ends', async () => {
    const top = await openTerminal(box, 'top');
    await top.shown('load average');
    await top.running.resize!(LARGER);
    const screen = new Screen(LARGER);
    await until('top uses the new size', async () =>
      (await screen.lines(top.output())).some((line) => /PID USER.*COMMAND/.test(line)),
    );
    await top.type('q');
    expect(await top.ended).toBe(0);
  });
});
