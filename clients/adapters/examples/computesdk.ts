// A sandbox by ComputeSDK.
import { compute } from 'computesdk';
import { paddock } from '../src/computesdk.ts';

compute.setConfig({ provider: paddock({ sandbox: { rules: { write: ['**'], none: ['secrets'] } } }) });
const sandbox = await compute.sandbox.create({ metadata: { example: 'computesdk.ts' }, envs: { NAME: 'paddock' } });
try {
  await sandbox.filesystem.writeFile('/workspace/hello.sh', 'echo "hello, $NAME"\n');
  console.log(await sandbox.runCommand('sh hello.sh; mkdir secrets'));
  console.log(await sandbox.filesystem.readdir('/workspace'));
} finally {
  await sandbox.destroy();
}
