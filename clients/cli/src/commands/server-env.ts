import { command } from '../command.ts';
import { localDirectory } from '../local/record.ts';
import { startLocal } from '../local/start.ts';

export default command({
  name: 'server env',
  summary: 'print PADDOCK_URL and PADDOCK_KEY of the local server, for "eval"; starts it if it does not run',
  usage: '',
  details: 'Programs with these variables may do everything that the server can.',
  options: {},
  examples: ['eval "$(paddock server env)" && node my-agent.mjs'],
  operands: [0, 0],
  async run({ out, env, signal }) {
    const { url, key } = await startLocal(localDirectory(env), { env, signal });
    out.result({ url, key }, () => `export PADDOCK_URL='${url}' PADDOCK_KEY='${key}'`);
    return 0;
  },
});
