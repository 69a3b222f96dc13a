/** The data file `id` of a layer. */
export interface FileRef {
  readonly layer: string;
  readonly id: number;
}

/** Location of a file's contents: a slot of the layer's slabs or, with NO_SLOT, the data file, if there is one. */
export interface DataRef extends FileRef {
  readonly slot: number;
}

/** No slot: the contents are in a data file, or there are none. */
export const NO_SLOT = -1;

/** A file as its contents need it. What is known of them applies to the location in `data`. */
export interface StoredFile {
  /** The number of its next data file. */
  readonly id: number;
  size: number;
  /** Bytes of its size that the disk does not store. Only files with a data file have any. */
  holes: number;
  /** Location of its contents; setting it forgets what was known of the old one. */
  data: DataRef | undefined;
  /** `data`; throws if there is none. */
  requireData(): DataRef;
  /** Layer of its contents. */
  readonly layer: string | undefined;
  /** Whether its data file exists. A file has a data file, a slot, or neither (then it is empty). */
  hasFile: boolean;
  /**
   * What its location must contain. In a slot: the CRC-32 of the contents. In a data file: its last recorded size, or -1 if only
   * its existence is known. undefined: nothing is known.
   */
  expected: number | undefined;
  /** This process has read or written the whole slot, and it is as expected. */
  verified: boolean;
  /**
   * Its slot had longer contents, which the journal on disk may still record. Bytes beyond the end must not be
   * overwritten.
   */
  shortened: boolean;
  /** Its data file is missing or has a wrong size. The file can only be removed or truncated to 0. */
  lost: boolean;
  /** Its contents may not be durable; maintained by `Unsynced`, as the next. */
  unsynced: boolean;
  /** It is in the list of `Unsynced`. */
  listed: boolean;
}
