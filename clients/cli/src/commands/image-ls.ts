import type { Image } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { sizeText } from '../progress.ts';
import { timeText } from '../status.ts';

export default command({
  name: 'image ls',
  summary: 'list the images of the server',
  usage: '',
  options: {},
  examples: ['paddock image ls', 'paddock create --image python:3.12'],
  operands: [0, 0],
  async run({ out, paddock, signal }) {
    const found: Image[] = [];
    for await (const each of (await paddock()).images.list({ signal })) found.push(each);
    if (out.json) out.value(found);
    else out.table(['NAMES', 'ID', 'SIZE', 'CREATED'], found.map(rowOf));
    return 0;
  },
});

const rowOf = ({ names, id, totalSize, createdAt }: Image): string[] => [
  names.join(', '),
  id.slice(0, 'sha256:'.length + 12),
  sizeText(totalSize),
  timeText(createdAt),
];
