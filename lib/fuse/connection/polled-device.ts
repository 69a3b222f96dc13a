import { descriptor } from './device.ts';
import type { Descriptor } from './request-reader.ts';

/** The part of WebAssembly that is used; the compiler's `lib` has no declaration of it. */
declare const WebAssembly: { Memory: new (options: { initial: number }) => { readonly buffer: ArrayBuffer } };

/** `errno` of WASI preview 1 for EAGAIN. */
const AGAIN = 6;
/** Size of a page of WebAssembly in bytes. */
const PAGE = 1 << 16;
/** Addresses in the memory: a struct iovec, the number of bytes read, and what is read. */
const IOVEC = 0;
const COUNT = 8;
const DATA = PAGE;

/** fd_read of WASI: readv(2), which returns an errno in place of throwing. */
type FdRead = (fd: number, iovecs: number, length: number, count: number) => number;

/**
 * A non-blocking descriptor that is polled. Its read(2) usually finds no request, and of fs.readSync that is an exception,
 * which takes 5 µs; a request that arrives meanwhile waits. So it is read by `node:wasi`, where EAGAIN is a return value
 * and takes 0.4 µs.
 *
 * WASI reads into the memory of a WebAssembly module, of which there is only the memory here: the buffers are in it.
 */
export class PolledDevice implements Descriptor {
  readonly fd: number;
  /** The only buffers that can be polled into. */
  readonly buffer: Buffer;
  readonly second: Buffer;
  readonly #memory: DataView;
  readonly #secondAt: number;
  readonly #fdRead: FdRead;
  readonly #throwing: Descriptor;

  /**
   * Returns undefined if this Node has no such WASI, which is experimental, or no memory for it. `size`: of each buffer, in bytes. The caller owns `fd`.
   */
  static open(fd: number, size: number): PolledDevice | undefined {
    try {
      return new PolledDevice(fd, size);
    } catch {
      return undefined;
    }
  }

  private constructor(fd: number, size: number) {
    const { WASI } = withoutWarnings(() => process.getBuiltinModule('node:wasi'));
    const pages = Math.ceil(size / PAGE);
    const memory = new WebAssembly.Memory({ initial: DATA / PAGE + 2 * pages });
    // The module's descriptors 0 to 2.
    const wasi = new WASI({ version: 'preview1', stdin: fd, stdout: fd, stderr: fd });
    wasi.initialize({ exports: { memory } });
    this.fd = fd;
    this.buffer = Buffer.from(memory.buffer, DATA, size);
    this.#secondAt = DATA + pages * PAGE;
    this.second = Buffer.from(memory.buffer, this.#secondAt, size);
    this.#memory = new DataView(memory.buffer);
    this.#memory.setUint32(IOVEC + 4, size, true);
    this.#fdRead = wasi.wasiImport.fd_read as FdRead;
    this.#throwing = descriptor(fd);
  }

  read(into: Buffer): number | undefined {
    if (into !== this.buffer && into !== this.second) return this.#throwing.read(into);
    this.#memory.setUint32(IOVEC, into === this.second ? this.#secondAt : DATA, true);
    switch (this.#fdRead(0, IOVEC, 1, COUNT)) {
      case 0:
        return this.#memory.getUint32(COUNT, true);
      case AGAIN:
        return undefined;
      default:
        // Reads again, to throw the error as the other descriptor does.
        return this.#throwing.read(into);
    }
  }
}

/** Loads a module whose warning that it is experimental says nothing to the user of a server. */
function withoutWarnings<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
