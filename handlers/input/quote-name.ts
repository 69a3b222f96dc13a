/** Formats a caller's name for an error: quoted unless it is a plain word, and shortened. */
export function quoteName(name: string): string {
  return /^\w{1,64}$/.test(name) ? name : JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}
