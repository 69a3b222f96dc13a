/**
 * Reads the status of a file of one sandbox again and again, while something else happens. It runs in a process of its
 * own, before others where that is permitted: what holds the client of an import is not counted.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { at, median } from '../exec/table.mjs';

const HELD_MS = 10;
const PAUSE_MS = 5;

/** The bench's side. The caller must call `stop`. */
export class Probe {
  #child = fork(fileURLToPath(import.meta.url), ['--probe']);

  /** @param {{ host: string, port: number, path: string }} asked */
  constructor(asked) {
    this.#child.send({ asked });
  }

  /** Runs a task; `during`: the name of its times, undefined: not measured. */
  async during(during, task) {
    await this.#tell({ during });
    try {
      return await task();
    } finally {
      await this.#tell({ during: undefined });
    }
  }

  async row(during) {
    const { times } = await this.#tell({ wanted: during });
    const slow = times.filter((ms) => ms > HELD_MS).length;
    return {
      name: `a request of another sandbox during ${during}, ${times.length.toLocaleString('en')} times`,
      value: `${median(times).toFixed(1)} ms, 99 % below ${at(times, 0.99).toFixed(1)} ms`,
      beside: `${slow} (${((100 * slow) / times.length).toFixed(1)} %) above ${HELD_MS} ms, the longest ${Math.max(...times).toFixed(1)} ms`,
    };
  }

  /** Milliseconds. */
  async times(during) {
    const { times } = await this.#tell({ wanted: during });
    return { middle: median(times), longest: Math.max(...times) };
  }

  stop() {
    this.#child.kill();
  }

  async #tell(message) {
    this.#child.send(message);
    const [answer] = await once(this.#child, 'message');
    return answer;
  }
}

if (process.argv.includes('--probe') && process.send) {
  const times = {};
  const agent = new Agent({ keepAlive: true });
  let asked;
  let during;
  let round = Promise.resolve();
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // Not permitted.
  }
  const look = async (name) => {
    times[name] ??= [];
    while (during === name) {
      const began = performance.now();
      const [answer] = await once(get({ ...asked, agent }), 'response');
      await once(answer.resume(), 'end');
      times[name].push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  process.on('message', async (received) => {
    const message = /** @type {{ asked?: object, wanted?: string, during?: string }} */ (received);
    if (message.asked) asked = message.asked;
    else if (message.wanted) process.send?.({ times: times[message.wanted] ?? [] });
    else {
      during = message.during;
      await round;
      if (during !== undefined) round = look(during);
      process.send?.({});
    }
  });
  process.on('disconnect', () => process.exit());
}
