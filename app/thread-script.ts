/**
 * The script of the worker threads of a role. The thread itself unpacks the modules of app/threads, under a name for its
 * stack traces: the server is one file, and no thread has more of it than it runs.
 */
export function threadScript(role: string): string {
  const packed = PADDOCK_THREADS[role];
  if (packed === undefined) throw new Error(`there is no thread for ${role}`);
  return `const bytes = require('node:zlib').brotliDecompressSync(Buffer.from('${packed}', 'base64'));
require('node:vm').compileFunction(bytes.toString('latin1'), ['require'], { filename: 'paddock-${role}.js' })(require);`;
}
