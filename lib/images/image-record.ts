import type { RootEntry } from '../runtime/root-file-system.ts';

/** What is stored beside the file system of an image. */
export interface ImageRecord {
  /** `sha256:` and lower-case hexadecimal. */
  readonly id: string;
  /** Each with the time in milliseconds at which it was given to this image. */
  readonly names: Readonly<Record<string, number>>;
  readonly format: ImageFormat;
  /** Unix time in seconds. */
  readonly created_at: number;
  readonly file_count: number;
  readonly total_size: number;
  readonly env: Readonly<Record<string, string>>;
  /** See `RootFileSystem`. */
  readonly entries: readonly RootEntry[];
  readonly resetsSignals: boolean;
}

export type ImageFormat = 'tar' | 'oci' | 'docker';

/** Limits of images; 0: no limit. */
export interface ImageLimits {
  /** Bytes and files of one image, unpacked; the archive itself may have as many bytes. */
  maxBytes: number;
  maxFiles: number;
  /** Bytes of all images together. */
  totalBytes: number;
}
