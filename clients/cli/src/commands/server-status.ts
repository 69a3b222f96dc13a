import { command } from '../command.ts';
import { EXIT } from '../errors.ts';
import { localDirectory, readLocal } from '../local/record.ts';

export default command({
  name: 'server status',
  summary: 'say whether the local server runs; the exit code is 1 if not',
  usage: '',
  options: {},
  examples: ['paddock server status'],
  operands: [0, 0],
  async run({ out, env }) {
    const directory = localDirectory(env);
    const server = readLocal(directory);
    const shown = { running: server !== undefined, directory, url: server?.url, pid: server?.pid };
    out.result(shown, () =>
      server ? `${server.url} (process ${server.pid}, state in ${directory})` : 'no local server runs',
    );
    return server ? 0 : EXIT.conflict;
  },
});
