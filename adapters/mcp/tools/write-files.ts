import * as z from 'zod';
import { workspacePath } from '../paths.ts';
import { CHANGES, CREATES, OVERWRITES, type Place, textAnswer, tool } from '../tool.ts';

/** Replaces a file as the agent, atomically. Its permission bits are kept. */
export async function writeBytes({ caller, sandbox_id }: Place, path: string, bytes: Uint8Array): Promise<void> {
  const request = { sandbox_id, as: 'agent', path: workspacePath(path) };
  await caller.request('WriteFile', request, { stream: streamOf(bytes) });
}

export async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  if (bytes.length > 0) yield bytes;
}

export const writeFiles = [
  tool({
    name: 'write_file',
    operation: 'WriteFile',
    description: 'Create or replace a file.',
    input: { path: z.string(), content: z.string() },
    hints: OVERWRITES,
    async run({ path, content }, place: Place) {
      await writeBytes(place, path, Buffer.from(content));
      return textAnswer(`Successfully wrote to ${path}`);
    },
  }),
  tool({
    name: 'create_directory',
    operation: 'MakeDirectory',
    description: 'Create a directory and its missing parents.',
    input: { path: z.string() },
    hints: CREATES,
    async run({ path }, { caller, sandbox_id }: Place) {
      const request = { sandbox_id, as: 'agent', path: workspacePath(path), parents: true };
      // The root exists always.
      if (request.path !== '') await caller.request('MakeDirectory', request);
      return textAnswer(`Successfully created directory ${path}`);
    },
  }),
  tool({
    name: 'move_file',
    operation: 'MoveFile',
    description: 'Move or rename a file or directory. Fails if the destination exists.',
    input: { source: z.string(), destination: z.string() },
    hints: CHANGES,
    async run({ source, destination }, { caller, sandbox_id }: Place) {
      const [from, to] = [workspacePath(source, 'source'), workspacePath(destination, 'destination')];
      await caller.request('MoveFile', { sandbox_id, as: 'agent', from, to });
      return textAnswer(`Successfully moved ${source} to ${destination}`);
    },
  }),
];
