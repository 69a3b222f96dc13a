/** A text that stands for a value in an answer, and what is shown in its place. */
export interface ReflectedForm {
  text: string;
  shown: string;
}

type Encode = (value: string) => string;

const IN_JSON: Encode = (value) => JSON.stringify(value).slice(1, -1);
const inHtml =
  (quote: string, apostrophe: string): Encode =>
  (value) =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', quote)
      .replaceAll("'", apostrophe);

/** In texts, URLs, forms, JSON and HTML, as common libraries write them. */
const ENCODINGS: readonly Encode[] = [
  (value) => value,
  encodeURIComponent,
  (value) => encodeURIComponent(value).replace(/%../g, (encoded) => encoded.toLowerCase()),
  (value) => new URLSearchParams([['', value]]).toString().slice(1),
  IN_JSON,
  (value) => IN_JSON(value).replaceAll('/', '\\/'),
  (value) => IN_JSON(value).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  inHtml('&quot;', '&#39;'),
  inHtml('&#34;', '&#39;'),
  inHtml('&quot;', '&#x27;'),
];

/**
 * The forms in which a server that is not hostile reflects a value: as it got it, which with Basic authentication is
 * within Base64, at any of three offsets. There, only what the value alone determines can be replaced.
 */
export function reflectedForms(from: string, placeholder: string): ReflectedForm[] {
  // encodeURIComponent throws for others. In UTF-8 both are the same.
  const value = Buffer.from(from).toString();
  const texts = new Set(ENCODINGS.map((encode) => encode(value)));
  const inBase64 = new Set([0, 1, 2].flatMap((offset) => base64Of(Buffer.from(value), offset)));
  return [
    ...[...texts].map((text) => ({ text, shown: placeholder })),
    ...[...inBase64].map((text) => ({ text, shown: 'A'.repeat(text.length) })),
  ];
}

/** In both alphabets. */
function base64Of(bytes: Buffer, offset: number): string[] {
  const all = Buffer.concat([Buffer.alloc(offset), bytes]);
  const standard = all.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((all.length * 8) / 6));
  return [standard, standard.replaceAll('+', '-').replaceAll('/', '_')];
}
