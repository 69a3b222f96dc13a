/** A top-level entry of an image's file system. */
export interface RootEntry {
  name: string;
  /** Target of a symbolic link; otherwise a directory. */
  link?: string;
  /** A directory without entries. */
  empty?: true;
}

/** The file system of an image, in place of the host's. */
export interface RootFileSystem {
  /** Name of its directory, in the directory of images. */
  name: string;
  entries: readonly RootEntry[];
  /** Environment of the image. */
  env: Readonly<Record<string, string>>;
  /** Its env(1) can reset signals. */
  resetsSignals: boolean;
}
