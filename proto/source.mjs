import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// The parser that proto-loader itself uses. It is needed at build time only: the server contains generated modules.
const require = createRequire(import.meta.url);
export const requireOfLoader = createRequire(require.resolve('@grpc/proto-loader'));
export const protobuf = requireOfLoader('protobufjs');

export const PROTO_ROOT = fileURLToPath(new URL('.', import.meta.url));

/** Parses one .proto file and resolves its types. `comments`: keep the comment before each definition. */
export function parseProto(path, { comments = false } = {}) {
  const parsed = protobuf.parse(readFileSync(path, 'utf8'), {
    keepCase: true,
    alternateCommentMode: comments,
    preferTrailingComment: false,
  });
  const imports = parsed.imports ?? [];
  for (const name of imports) parsed.root.addJSON(protobuf.common.get(name).nested);
  parsed.root.resolveAll();
  return { root: parsed.root, package: parsed.package, imports };
}
