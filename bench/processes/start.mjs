/** Measures the time from StartProcess to the first output of the process, compared with an Exec of the same command. */
import { at } from '../exec/table.mjs';
import { alternate, verdictOf } from './alternate.mjs';

const MOST = 1.3;
const COMMAND = 'echo x';
/** Base64 of "x" and a line end. */
const OUTPUT = 'eAo=';

export async function start(server, rounds) {
  const id = await server.create();
  const processes = `/v1/sandboxes/${id}/processes`;
  const ways = {
    exec: async () => {
      const began = performance.now();
      await server.exec(id, COMMAND);
      return performance.now() - began;
    },
    process: async () => {
      const began = performance.now();
      const { process_id } = await server.call('POST', processes, { command: COMMAND });
      const { output } = await server.call('GET', `${processes}/${process_id}/output?offset=0&wait=10000`);
      const took = performance.now() - began;
      if (output[0]?.data !== OUTPUT) throw new Error(`output of the process: ${JSON.stringify(output)}`);
      await server.call('DELETE', `${processes}/${process_id}`);
      return took;
    },
    startOnly: async () => {
      const began = performance.now();
      const { process_id } = await server.call('POST', processes, { command: COMMAND });
      const took = performance.now() - began;
      await server.call('DELETE', `${processes}/${process_id}`);
      return took;
    },
  };
  const times = await alternate(ways, rounds, 20);
  await server.destroy(id);
  const rows = [0.5, 0.99].map((share) => {
    const [exec, process, startOnly] = [at(times.exec, share), at(times.process, share), at(times.startOnly, share)];
    const ratio = process / exec;
    const shown = {
      name: `StartProcess to the first output, p${share * 100}`,
      value: `${process.toFixed(2)} ms`,
      beside: `${ratio.toFixed(2)} × Exec (${exec.toFixed(2)} ms); the answer of StartProcess after ${startOnly.toFixed(2)} ms`,
    };
    return share === 0.5 ? { ...shown, must: `${MOST} × Exec`, verdict: verdictOf(ratio <= MOST) } : shown;
  });
  return { title: `Start of a process over REST, ${rounds} calls each`, rows };
}
