import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { command, one, optional, some } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { credentialsOf } from '../image/credentials.ts';
import { layoutOf } from '../image/layout.ts';
import { manifestOf } from '../image/manifest.ts';
import { referenceOf } from '../image/reference.ts';
import { Registry } from '../image/registry.ts';
import { sizeText } from '../output/progress.ts';
import { timeText } from '../output/times.ts';
import { each } from './each.ts';

export const ls = command({
  summary: 'list the images of the server',
  operands: {},
  options: {},
  examples: ['paddock image ls', 'paddock create --image python:3.12'],
  async run({ out, paddock, signal }) {
    await out.list((await paddock()).images.list({ signal }), {
      heading: ['NAMES', 'ID', 'SIZE', 'CREATED'],
      row: ({ names, id, totalSize, createdAt }) => [
        names.join(', '),
        id.slice(0, 'sha256:'.length + 12),
        sizeText(totalSize),
        timeText(createdAt),
      ],
    });
  },
});

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

export const pull = command({
  summary: 'bring an image of a registry to the server',
  details: `The image passes through this machine, which checks its digests. Its registry gets what "docker login" has stored
here. Without HOST it is Docker Hub. By default the image has the same NAME on the server. Admins only.
https, except for a registry on loopback.`,
  operands: { reference: one('[HOST/]NAME[:TAG|@DIGEST]'), name: optional('NAME') },
  options: { arch: { value: 'ARCH', help: "of the server, like amd64 (default: this machine's)" } },
  examples: ['paddock image pull python:3.12', 'paddock image pull registry.example.com/python:3.12 python:3.12'],
  async run({ out, env, signal, paddock }, { operands, values }) {
    const { name = operands.reference } = operands;
    const reference = referenceOf(operands.reference);
    const { images } = await paddock({ start: true });
    const registry = new Registry(reference, { credentials: await credentialsOf(reference.host, env), signal });
    const { arch = ARCHITECTURES[process.arch] ?? process.arch } = values;
    const found = await manifestOf(registry, reference, arch);
    const total = found.layers.reduce((sum, { size }) => sum + size, 0);
    const body = () => out.progress(`pulling ${reference.repository}`).count(layoutOf(registry, found), total);
    const image = await images.import(name, body, { signal });
    out.result(image, () => `${name} ${image.id}`);
  },
});

const importArchive = command({
  summary: 'store an image from an archive: a file system, an OCI layout, or what "docker save" writes',
  details: 'Without FILE, or with "-", the archive is read from standard input. Admins only.',
  operands: { name: one('NAME'), file: optional('FILE') },
  options: {},
  examples: ['docker save python:3.12 | paddock image import python:3.12', 'paddock image import base root.tar.gz'],
  async run({ out, signal, paddock }, { operands: { name, file = '-' } }) {
    const size = file === '-' ? undefined : await sizeOf(file);
    const { images } = await paddock({ start: true });
    const source = () => (file === '-' ? process.stdin : createReadStream(file));
    const pieces = () => out.progress('importing').count(source(), size);
    // Standard input cannot be read twice: only a function is sent again.
    const image = await images.import(name, file === '-' ? pieces() : pieces, { signal });
    out.result(image, () => `${name} ${image.id}`);
  },
});

export { importArchive as import };

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: Error) => {
    throw new CliError(`the archive cannot be read: ${error.message}`);
  });
  if (!found.isFile()) throw new CliError(`${file} is no file; pipe it to standard input`);
  return found.size;
}

export const rm = command({
  summary: 'delete images of the server that no sandbox uses',
  operands: { images: some('IMAGE') },
  options: {},
  examples: ['paddock image rm python:3.12'],
  async run(context, { operands }) {
    const { images } = await context.paddock();
    await each(context, operands.images, async (image) => {
      await images.delete(image, context.call);
      return image;
    });
  },
});
