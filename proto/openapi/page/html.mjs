// Safe HTML: values in a template are escaped, unless they are HTML themselves.

class Html {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (value) => String(value).replace(/[&<>"]/g, (each) => ESCAPES[each]);

/** A template of HTML. A list is joined; false, null and undefined are empty. */
export function html(strings, ...values) {
  const parts = strings.flatMap((text, index) => (index < values.length ? [text, plain(values[index])] : [text]));
  return new Html(parts.join(''));
}

/** HTML that is known to be safe. */
export const raw = (text) => new Html(text);

function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join('');
  if (value instanceof Html) return value.text;
  return value === undefined || value === null || value === false ? '' : escaped(value);
}

/** The part of CommonMark that the document uses: paragraphs, lists and code. */
export function markdown(text) {
  return text.split(/\n\n+/).map((block) => {
    const lines = block.split('\n').filter((line) => line !== '');
    const first = lines.findIndex((line) => line.startsWith('- '));
    if (first < 0) return html`<p>${inline(lines.join(' '))}</p>`;
    const items = lines.slice(first).map((line) => html`<li>${inline(line.replace(/^- /, ''))}</li>`);
    return html`${first > 0 && html`<p>${inline(lines.slice(0, first).join(' '))}</p>`}<ul>${items}</ul>`;
  });
}

/** Text with code between backticks. */
export function inline(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
