import { command } from '../command.ts';
import { credentialsOf } from '../image/credentials.ts';
import { layoutOf } from '../image/layout.ts';
import { manifestOf } from '../image/manifest.ts';
import { referenceOf } from '../image/reference.ts';
import { Registry } from '../image/registry.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

export default command({
  name: 'image pull',
  summary: 'bring an image of a registry to the server',
  usage: '[HOST/]NAME[:TAG|@DIGEST] [NAME]',
  details: `The image passes through this machine: it is read with what "docker login" has stored here, and its digests are
checked. Without HOST it is one of Docker Hub. Its NAME on the server is the given one by default. Admins only.
https, except for a registry on loopback.`,
  options: { arch: { type: 'string', value: 'ARCH', help: "of the server, like amd64 (default: this machine's)" } },
  examples: ['paddock image pull python:3.12', 'paddock image pull registry.example.com/python:3.12 python:3.12'],
  operands: [1, 2],
  async run({ out, env, signal, paddock }, { operands: [given, name = given], values }) {
    const reference = referenceOf(given!);
    const { images } = await paddock({ start: true });
    const registry = new Registry(reference, { credentials: await credentialsOf(reference.host, env), signal });
    const { arch = ARCHITECTURES[process.arch] ?? process.arch } = values;
    const found = await manifestOf(registry, reference, arch);
    const total = found.layers.reduce((sum, { size }) => sum + size, 0);
    const body = () => out.progress(`pulling ${reference.repository}`).count(layoutOf(registry, found), total);
    const image = await images.import(name!, body, { signal });
    out.result(image, () => `${name} ${image.id}`);
    return 0;
  },
});
