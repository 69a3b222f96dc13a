import * as z from 'zod';
import type { FileStat } from '../../../lib/contract/messages.ts';
import { wordOf } from '../../../lib/errors.ts';
import { workspacePath } from '../paths.ts';
import { type Place, READS, textAnswer, tool } from '../tool.ts';

export const fileInfo = tool({
  name: 'file_info',
  operation: 'StatFile',
  description: 'Size, time, type and permissions of a file or directory.',
  input: { path: z.string() },
  hints: READS,
  async run(args, place: Place) {
    const { caller, sandbox_id } = place;
    const path = await workspacePath(place, args.path);
    const file = await caller.request('StatFile', { sandbox_id, as: 'agent', path });
    const info = {
      size: file.size,
      modified: new Date(file.modified_at * 1000).toISOString(),
      type: file.type.replace('TYPE_', '').toLowerCase(),
      permissions: file.mode.toString(8).padStart(3, '0'),
      ...(file.type === 'TYPE_SYMLINK' && { target: file.target }),
      access: wordOf(file.permission),
    };
    const lines = Object.entries(info).map(([key, value]) => `${key}: ${value}`);
    return textAnswer(lines.join('\n'));
  },
});

export const isDirectory = ({ type }: FileStat): boolean => type === 'TYPE_DIRECTORY';
