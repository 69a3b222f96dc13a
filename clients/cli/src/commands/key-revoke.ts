import { command } from '../command.ts';

export default command({
  name: 'key revoke',
  summary: 'revoke keys: what uses them ends at once',
  usage: 'KEY...',
  details: 'A key is named by its id, the 8 letters and digits after "pdk_", as paddock key ls shows it.',
  options: {},
  examples: ['paddock key revoke 7f3a9c2e'],
  operands: [1, 1000],
  async run(context, { operands }) {
    const { keys } = await context.paddock();
    for (const given of operands) {
      // Of a whole key, nothing but the id is sent.
      const id = /^pdk_([a-z0-9]{8})(_|$)/.exec(given)?.[1] ?? given;
      await keys.revoke(id, context);
      if (!context.out.json) context.out.line(id);
    }
    if (context.out.json) context.out.value({ revoked: operands.length });
    return 0;
  },
});
