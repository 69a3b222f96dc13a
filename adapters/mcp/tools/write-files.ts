import * as z from 'zod';
import { shownPath, workspacePath } from '../paths.ts';
import { CHANGES, CREATES, OVERWRITES, type Place, textAnswer, tool } from '../tool.ts';

/** Replaces a file as the agent, atomically. Its permission bits are kept. `path`: from the root of the workspace. */
export async function writeBytes({ caller, sandbox_id }: Place, path: string, bytes: Uint8Array): Promise<void> {
  const request = { sandbox_id, as: 'agent', path };
  await caller.request('WriteFile', request, { stream: streamOf(bytes) });
}

export async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  if (bytes.length > 0) yield bytes;
}

export const writeFiles = [
  tool({
    name: 'file_write',
    operation: 'WriteFile',
    description: 'Create or replace a file.',
    input: { path: z.string(), content: z.string() },
    hints: OVERWRITES,
    async run({ path, content }, place: Place) {
      const to = await workspacePath(place, path);
      await writeBytes(place, to, Buffer.from(content));
      return textAnswer(`Successfully wrote to ${shownPath(to)}`);
    },
  }),
  tool({
    name: 'directory_create',
    operation: 'MakeDirectory',
    description: 'Create a directory and its missing parents.',
    input: { path: z.string() },
    hints: CREATES,
    async run({ path }, place: Place) {
      const { caller, sandbox_id } = place;
      const request = { sandbox_id, as: 'agent', path: await workspacePath(place, path), parents: true };
      // The root exists always.
      if (request.path !== '') await caller.request('MakeDirectory', request);
      return textAnswer(`Successfully created directory ${shownPath(request.path)}`);
    },
  }),
  tool({
    name: 'file_move',
    operation: 'MoveFile',
    description: 'Move or rename a file or directory. Fails if the destination exists.',
    input: { source: z.string(), destination: z.string() },
    hints: CHANGES,
    async run({ source, destination }, place: Place) {
      const { caller, sandbox_id } = place;
      const from = await workspacePath(place, source, 'source');
      const to = await workspacePath(place, destination, 'destination');
      await caller.request('MoveFile', { sandbox_id, as: 'agent', from, to });
      return textAnswer(`Successfully moved ${shownPath(from)} to ${shownPath(to)}`);
    },
  }),
];
