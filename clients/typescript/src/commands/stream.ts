import type { DeniedHost, ExecStreamChunk } from '../contract/messages.ts';
import { ConnectionFailedError } from '../errors.ts';

/** Output of a command as it is written; the last event is its end. */
export type CommandEvent =
  | { readonly type: 'stdout' | 'stderr'; readonly data: Uint8Array; readonly text: string }
  | {
      readonly type: 'exit';
      readonly exitCode: number;
      readonly durationMs: number;
      readonly endReason: string;
      readonly sessionEnded: boolean;
      readonly sessionReset: boolean;
      /** Connections that were refused meanwhile. */
      readonly deniedHosts: readonly DeniedHost[];
    };

/** `text` of an event has whole characters only: the rest of one comes with the next event. */
export async function* commandEvents(chunks: AsyncIterable<ExecStreamChunk>): AsyncGenerator<CommandEvent, void, void> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  for await (const { data, stream, keepalive, ...chunk } of chunks) {
    if (keepalive) continue;
    if (chunk.exitCode !== undefined) {
      for (const type of ['stdout', 'stderr'] as const) {
        const text = decoders[type].decode();
        if (text !== '') yield { type, data: new Uint8Array(0), text };
      }
      yield {
        type: 'exit',
        exitCode: chunk.exitCode,
        durationMs: chunk.durationMs,
        endReason: chunk.endReason ?? '',
        sessionEnded: chunk.sessionEnded ?? false,
        sessionReset: chunk.sessionReset ?? false,
        deniedHosts: chunk.denied?.hosts ?? [],
      };
      return;
    }
    const type = stream === 'stderr' ? 'stderr' : 'stdout';
    yield { type, data, text: decoders[type].decode(data, { stream: true }) };
  }
  throw new ConnectionFailedError({ message: 'the stream of the command ended without its exit code' });
}
