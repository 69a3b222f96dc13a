import { ServiceError } from '../../errors.ts';
import { closeHandle, type Handle } from './handles.ts';

/** What the process answered to one request: sockets, then its end. Whoever has it takes or discards them. */
export class Answers {
  readonly #handles: Handle[] = [];
  #errno = 0;
  #at = '';

  add(index: number, handle: Handle): void {
    this.#handles[index] = handle;
  }

  end(errno: number, at: string): void {
    this.#errno = errno;
    this.#at = at;
  }

  /** The sockets; throws what `failure` makes of the errno, or RESOURCE_EXHAUSTED if one is missing. */
  take(count: number, failure: (errno: number, at: string) => Error): Handle[] {
    const handles = this.#handles.splice(0);
    if (this.#errno === 0 && Object.keys(handles).length === count) return handles;
    for (const handle of handles) if (handle) closeHandle(handle);
    if (this.#errno !== 0) throw failure(this.#errno, this.#at);
    // The kernel drops sockets that the receiver has no descriptors for.
    const problem = 'the network of the sandbox could not be opened: the server is short of file descriptors';
    throw new ServiceError('RESOURCE_EXHAUSTED', problem);
  }

  discard(): void {
    for (const handle of this.#handles.splice(0)) if (handle) closeHandle(handle);
  }
}
