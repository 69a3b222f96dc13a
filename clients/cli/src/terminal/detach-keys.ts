import { UsageError } from '../command-line/errors.ts';

export const DEFAULT_KEYS = 'ctrl-p,ctrl-q';

/** The option of those who show a terminal. */
export const DETACH_OPTION = {
  value: 'KEYS',
  read: (_option: string, text: string) => keysOf(text),
  help: `keys that leave it running (default: ${DEFAULT_KEYS})`,
} as const;

/** Finds the keys that leave a terminal in what is typed. A beginning of them is held until the next key. */
export class DetachKeys {
  readonly #keys: readonly number[];
  #matched = 0;

  constructor(keys: readonly number[]) {
    this.#keys = keys;
  }

  /** What to send to the process. `detach`: they were typed; what comes after them is dropped. */
  feed(typed: Uint8Array): { send: Uint8Array; detach: boolean } {
    const send: number[] = [];
    for (const byte of typed) {
      if (byte === this.#keys[this.#matched]) {
        if (++this.#matched === this.#keys.length) return { send: Uint8Array.from(send), detach: true };
        continue;
      }
      send.push(...this.#keys.slice(0, this.#matched));
      this.#matched = byte === this.#keys[0] && this.#keys.length > 1 ? 1 : 0;
      if (this.#matched === 0) send.push(byte);
    }
    return { send: Uint8Array.from(send), detach: false };
  }
}

/** "ctrl-p,ctrl-q", as docker's: letters, or ctrl- with a letter or one of @ [ \ ] ^ _. Empty: none. Throws UsageError. */
export function keysOf(text: string): number[] {
  if (text === '') return [];
  return text.split(',').map((name) => {
    const [, control, key = ''] = /^(ctrl-)?([a-zA-Z@[\\\]^_])$/.exec(name) ?? [];
    if (key === '') throw new UsageError(`detach keys are like ${DEFAULT_KEYS}, not ${JSON.stringify(text)}`);
    return control ? key.toUpperCase().charCodeAt(0) & 0x1f : key.charCodeAt(0);
  });
}

export const DETACH_KEYS = keysOf(DEFAULT_KEYS);
