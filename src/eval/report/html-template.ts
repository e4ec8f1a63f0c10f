const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that needs no escaping: a result of `html`, or text that this program wrote. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Markup | string | number | readonly Markup[];

/** A template tag: texts and numbers are escaped, markup is inserted as it is. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Markup {
  return new Markup(parts.map((part, index) => part + renderValue(values[index] ?? '')).join(''));
}

function renderValue(value: HtmlValue): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('\n');
  return escapeHtml(String(value));
}

function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\u0000', '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => htmlEntities[character] ?? character);
}
