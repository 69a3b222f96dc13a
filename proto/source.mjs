import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The parser that proto-loader itself uses. It is needed at build time only: the server contains generated modules.
const require = createRequire(import.meta.url);
export const requireOfLoader = createRequire(require.resolve('@grpc/proto-loader'));
export const protobuf = requireOfLoader('protobufjs');

export const PROTO_ROOT = fileURLToPath(new URL('.', import.meta.url));

/**
 * Parses one .proto file, and the files that it imports, and resolves its types. `own`: the definitions of the file itself.
 * `comments`: keep the comment before each definition.
 */
export function parseProto(path, { comments = false } = {}) {
  const options = { keepCase: true, alternateCommentMode: comments, preferTrailingComment: false };
  const parsed = protobuf.parse(readFileSync(path, 'utf8'), options);
  const own = [...parsed.root.lookup(parsed.package).nestedArray];
  const imports = parsed.imports ?? [];
  addImports(parsed.root, imports, options, new Set());
  parsed.root.resolveAll();
  return { root: parsed.root, package: parsed.package, own, imports };
}

/** Adds imported files to `root`, each once. */
function addImports(root, names, options, added) {
  for (const name of names) {
    if (added.has(name)) continue;
    added.add(name);
    const common = protobuf.common.get(name);
    if (common) root.addJSON(common.nested);
    else {
      const { imports = [] } = protobuf.parse(readFileSync(join(PROTO_ROOT, name), 'utf8'), root, options);
      addImports(root, imports, options, added);
    }
  }
}
