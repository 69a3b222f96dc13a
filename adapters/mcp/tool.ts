import * as z from 'zod';
import type { Rpc } from '../../handlers/define.ts';
import type { Caller } from './caller.ts';

/** Whose sandbox a tool works in, and with which rights. */
export interface Place {
  caller: Caller;
  sandbox_id: string;
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } };

export interface ToolAnswer {
  [name: string]: unknown;
  content: Block[];
  /** Absent: of a tool without a schema of it. */
  structuredContent?: Record<string, unknown>;
}

/** Hints for the client, which may ask its user before a call that is not read-only. */
export interface Hints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
}

export const READS: Hints = { readOnlyHint: true };
export const ADDS: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
export const CREATES: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };
export const OVERWRITES: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
export const CHANGES: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };

export interface Tool<Where = { caller: Caller }> {
  name: string;
  /** The one that gets most of the arguments: a call may be as long as its requests. undefined: there are none. */
  operation: Rpc | undefined;
  description: string;
  input: z.ZodObject;
  /** Absent: the content is all, and is not sent twice. */
  output?: z.ZodObject;
  hints: Hints;
  run(args: Record<string, unknown>, where: Where): Promise<ToolAnswer>;
}

interface Definition<Where, Input extends z.ZodRawShape> {
  name: string;
  operation: Rpc | undefined;
  description: string;
  input: Input;
  output?: z.ZodRawShape | 'none';
  hints: Hints;
  run(args: z.infer<z.ZodObject<Input>>, where: Where): Promise<ToolAnswer>;
}

/** Defines a tool; without `output` its structured content is the text, and with 'none' it has no structured content. */
export function tool<Where, Input extends z.ZodRawShape>(definition: Definition<Where, Input>): Tool<Where> {
  const { input, output = { content: z.string() }, run, ...named } = definition;
  const structured = output === 'none' ? {} : { output: z.object(output) };
  return { ...named, input: z.object(input), ...structured, run: run as Tool<Where>['run'] };
}

/** The tool with the sandbox as one more argument. */
export function withSandboxId(of: Tool<Place>): Tool {
  return {
    ...of,
    input: z.object({ sandbox_id: z.string(), ...of.input.shape }),
    run: (args, { caller }) => of.run(args, { caller, sandbox_id: String(args.sandbox_id) }),
  };
}

export function textAnswer(content: string): ToolAnswer {
  return answerOf(content, { content });
}

export function answerOf(text: string, structuredContent: Record<string, unknown>): ToolAnswer {
  return { content: [{ type: 'text', text }], structuredContent };
}
