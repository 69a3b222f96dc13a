/** A caller's own name in an error: quoted where it is not a plain word, and never long. */
export function quoteName(name: string): string {
  return /^\w{1,64}$/.test(name) ? name : JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}
