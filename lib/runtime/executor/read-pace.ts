import { ReadPace } from '../../read-pace.ts';
import { TurnTime } from '../../turn-time.ts';
import { Turns } from '../../turns.ts';

/** Bytes of output that all sandboxes together read in one turn of the event loop: about a millisecond. */
const TURN_BYTES = 1_048_576;
/** Bytes per turn of discarded output of background processes: at most 50 MB/s for the whole server. */
const DROPPED_BYTES = 262_144;
const DROP_MS = 5;
/** Milliseconds per turn for the endings of commands. One step may take a little longer (see PipeReader.drain). */
const ENDINGS_MS = 4;

/** The paces shared by all sandboxes of a runtime, so that they cannot occupy the main thread together. */
export interface ReadPaces {
  /** For commands in progress. */
  commands: ReadPace;
  /** For discarded output. */
  dropped: ReadPace;
  /** New runners enter their cgroups one per turn: the kernel may block for milliseconds each time. */
  entries: Turns;
  /** Long commands are written one piece per turn. */
  scripts: Turns;
  /** Kills and last reads of commands that end. */
  endings: TurnTime;
}

export const newReadPaces = (): ReadPaces => ({
  commands: new ReadPace(TURN_BYTES, (next) => void setImmediate(next)),
  dropped: new ReadPace(DROPPED_BYTES, (next) => void setTimeout(next, DROP_MS).unref()),
  entries: new Turns(),
  scripts: new Turns(),
  endings: new TurnTime(ENDINGS_MS),
});
