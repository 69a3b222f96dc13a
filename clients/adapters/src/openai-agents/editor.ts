import { applyDiff, type Editor } from '@openai/agents';
import type { Sandbox } from 'paddock-sandbox';
import { failing } from './support.ts';

/** The files of `apply_patch`, as the rules permit. `pathOf`: the path in the workspace. */
export function editorOf({ files }: Sandbox, pathOf: (path: string) => string): Editor {
  return {
    createFile: async ({ path, diff }) => {
      const at = pathOf(path);
      if (await failing(files.exists(at))) return { status: 'failed', output: `${path} exists` };
      await failing(files.write(at, applyDiff('', diff, 'create')));
    },
    updateFile: async ({ path, diff, moveTo }) => {
      const [from, to] = [pathOf(path), pathOf(moveTo ?? path)];
      const text = decoded(await failing(files.read(from)));
      if (text === undefined) return { status: 'failed', output: `${path} is no UTF-8 text` };
      const { mark, rest } = /^(?<mark>\ufeff?)(?<rest>.*)$/su.exec(text)!.groups!;
      // A new file would have the usual mode.
      const mode = from === to ? undefined : (await failing(files.stat(from))).mode & 0o777;
      await failing(files.write(to, mark + applyDiff(rest!, diff), mode === undefined ? {} : { mode }));
      if (from !== to) await failing(files.remove(from));
    },
    deleteFile: async ({ path }) => void (await failing(files.remove(pathOf(path)))),
  };
}

/** With its byte order mark. Bytes of other encodings would be lost when it is written: undefined. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
