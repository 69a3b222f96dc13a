import { createReadStream } from 'node:fs';
import { command } from '../command.ts';
import { sizeOf } from '../local-file.ts';

export default command({
  name: 'image import',
  summary: 'store an image from an archive: a file system, an OCI layout, or what "docker save" writes',
  usage: 'NAME [FILE]',
  details: 'Without FILE, or with "-", the archive is read from standard input. Admins only.',
  options: {},
  examples: ['docker save python:3.12 | paddock image import python:3.12', 'paddock image import base root.tar.gz'],
  operands: [1, 2],
  async run({ out, signal, paddock }, { operands: [name, file = '-'] }) {
    const size = file === '-' ? undefined : await sizeOf(file);
    const { images } = await paddock({ start: true });
    const source = () => (file === '-' ? process.stdin : createReadStream(file));
    const pieces = () => out.progress('importing').count(source(), size);
    // Standard input cannot be read twice: only a function is sent again.
    const image = await images.import(name!, file === '-' ? pieces() : pieces, { signal });
    out.result(image, () => `${name} ${image.id}`);
    return 0;
  },
});
