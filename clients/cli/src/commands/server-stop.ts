import { command } from '../command.ts';
import { localDirectory } from '../local/record.ts';
import { stopLocal } from '../local/stop.ts';

export default command({
  name: 'server stop',
  summary: 'end the local server; its state stays',
  usage: '',
  options: {},
  examples: ['paddock server stop'],
  operands: [0, 0],
  async run({ out, env, signal }) {
    const stopped = await stopLocal(localDirectory(env), signal);
    out.result({ stopped }, () => (stopped ? 'stopped' : 'no local server runs'));
    return 0;
  },
});
