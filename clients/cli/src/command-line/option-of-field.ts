/** Fields of requests at the beginning of refusals, and the options that they come from. */
const OPTIONS: readonly (readonly [field: RegExp, option: string])[] = [
  [/^(network\.)?presets\[\d+\]/, '--allow-preset'],
  [/^network\.rules\[\d+\][\w.[\]]*/, '--allow or --deny'],
  [/^network\.mode/, '--network'],
  [/^secrets\[\d+\][\w.[\]]*/, '--secret'],
  [/^rules\.[\w.[\]]*/, '--rule'],
  [/^resources\.memory_bytes/, '--memory'],
  [/^resources\.cpu_quota/, '--cpus'],
  [/^resources\.cpu_shares/, '--priority'],
  [/^preset(?= )/, '--preset'],
  [/^image(?= )/, '--image'],
  [/^labels(?=\W)/, '--label'],
  [/^env(?=\W)/, '--env'],
  [/^workdir(?= )/, '--workdir'],
  [/^timeout(?= )/, '--timeout'],
  [/^expires_in(?= )/, '--expires-in'],
  [/^read_only_paths\[\d+\]/, '--tools'],
];

const snake = (text: string): string => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The sentence of a refused request with the service's name of the field, which the client has in camel case. */
export const inFields = (sentence: string): string => sentence.replace(/^[a-z]+[A-Z]\w*(?= (must|is) )/, snake);

/** The sentence of a refused request, with the option in place of the field, which the user never wrote. */
export function inOptions(sentence: string): string {
  const named = inFields(sentence);
  const found = OPTIONS.find(([field]) => field.test(named));
  return found === undefined ? sentence : named.replace(found[0], found[1]);
}
