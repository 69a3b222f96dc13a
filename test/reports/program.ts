import type { Sandbox } from '../../lib/contract/messages.ts';
import type { Scene } from '../contract/scene.ts';

/** Runs the Python source that it finds in its directory, one request after the other; `answer` is what the asker gets. */
const INTERPRETER = `
import fcntl, json, os, sqlite3, sys, time, traceback
scope = dict(fcntl=fcntl, os=os, sqlite3=sqlite3, time=time)
number = 0
while True:
    path = sys.argv[1] + '/%d' % number
    while not os.path.exists(path): time.sleep(0.005)
    scope['answer'] = None
    try: exec(open(path).read(), scope)
    except Exception as error: scope['answer'] = '%s: %s' % (type(error).__name__, error)
    with open(path + '.new', 'w') as file: json.dump(scope['answer'], file)
    os.rename(path + '.new', path + '.done')
    number += 1
`;

let programs = 0;

/** A Python program that runs in a sandbox across many requests, and keeps what it has opened. */
export class Program {
  readonly #scene: Scene;
  readonly #sandbox: Sandbox;
  readonly #directory: string;
  #asked = 0;

  private constructor(scene: Scene, sandbox: Sandbox, directory: string) {
    this.#scene = scene;
    this.#sandbox = sandbox;
    this.#directory = directory;
  }

  static async start(scene: Scene, sandbox: Sandbox): Promise<Program> {
    const directory = `/tmp/program-${programs++}`;
    const start = `mkdir ${directory}; cat > ${directory}/run.py; python3 ${directory}/run.py ${directory} >/tmp/log 2>&1 &`;
    await scene.output(sandbox, start, { stdin: INTERPRETER });
    return new Program(scene, sandbox, directory);
  }

  /** Runs source that sets `answer`; what is raised is the answer, too. */
  async ask(source: string): Promise<unknown> {
    const at = `${this.#directory}/${this.#asked++}`;
    const wait = `cat > ${at}.asked; mv ${at}.asked ${at}; while ! test -e ${at}.done; do sleep 0.005; done; cat ${at}.done`;
    return JSON.parse(await this.#scene.output(this.#sandbox, wait, { stdin: source }));
  }
}
