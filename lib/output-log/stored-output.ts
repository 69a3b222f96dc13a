import { hostError, isHostShort } from '../host-error.ts';
import { errorCode } from '../linux/errno.ts';
import type { Collector } from './collector.ts';
import { BLOCK, blockOffset } from './format.ts';
import { readSegment, type SegmentChunk } from './read-segment.ts';
import type { LogFileSystem, Segment } from './segment.ts';
import type { Segments } from './segments.ts';

/** Readers at different places of a log that are served without reading a part of a file twice. */
const CACHED = 2;

/** Reads the output of a log from its files. What was read last is kept in memory until `rest`. */
export class StoredOutput {
  readonly #segments: Segments;
  readonly #fs: LogFileSystem;
  #cache: SegmentChunk[] = [];

  constructor(segments: Segments, fileSystem: LogFileSystem) {
    this.#segments = segments;
    this.#fs = fileSystem;
  }

  rest(): void {
    this.#cache = [];
  }

  /**
   * Adds output from the collector's place on, which is within the segment. Returns false if the segment has none: its
   * file is gone, shorter than expected or damaged. Rejects with RESOURCE_EXHAUSTED if the host is short of something.
   */
  async collect(collector: Collector, segment: Segment): Promise<boolean> {
    const cached = this.#nearest(segment, collector.next);
    if (cached !== undefined && collector.take(cached)) return true;
    const chunk = await this.#load(segment, collector.next, cached);
    if (chunk === undefined) return false;
    this.#cache = [chunk, ...this.#cache.filter((each) => each !== cached)].slice(0, CACHED);
    return collector.take(chunk);
  }

  #nearest(segment: Segment, offset: number): SegmentChunk | undefined {
    let nearest: SegmentChunk | undefined;
    for (const chunk of this.#cache) {
      if (chunk.segment === segment && chunk.start <= offset && chunk.start >= (nearest?.start ?? 0)) nearest = chunk;
    }
    return nearest;
  }

  async #load(segment: Segment, offset: number, before: SegmentChunk | undefined): Promise<SegmentChunk | undefined> {
    try {
      const chunk = await readSegment(this.#fs, segment, offset, before === undefined ? 0 : lastBlock(before, offset));
      // Of a segment that was dropped meanwhile, the file may be overwritten.
      return this.#segments.has(segment) ? chunk : undefined;
    } catch (error) {
      if (!this.#segments.has(segment)) return undefined;
      if (isHostShort(error)) throw hostError(error, 'the output of the process could not be read');
      this.#segments.failed(error, 'output of a process could not be read');
      if (errorCode(error) === 'ENOENT') await this.#segments.lose(segment);
      return undefined;
    }
  }
}

/** The position of a chunk's last block, if that does not begin after `offset`; otherwise of its first. */
function lastBlock({ bytes, position }: SegmentChunk, offset: number): number {
  const at = Math.floor((bytes.length - 1) / BLOCK) * BLOCK;
  const begins = blockOffset(bytes, at);
  return begins !== undefined && begins <= offset ? position + at : position;
}
