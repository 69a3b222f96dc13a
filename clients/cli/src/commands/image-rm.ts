import { command } from '../command.ts';

export default command({
  name: 'image rm',
  summary: 'delete images of the server that no sandbox uses',
  usage: 'IMAGE...',
  options: {},
  examples: ['paddock image rm python:3.12'],
  operands: [1, 1000],
  async run({ out, paddock, signal }, { operands }) {
    const { images } = await paddock();
    for (const image of operands) {
      await images.delete(image, { signal });
      if (!out.json) out.line(image);
    }
    if (out.json) out.value({ images: operands });
    return 0;
  },
});
