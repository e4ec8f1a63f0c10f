const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that was made here: what `html` gives, and what it takes as it is. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Markup | string | number | readonly Markup[];

/** Whatever is put in is text, and escaped; other markup stays markup. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  return new Markup(parts.map((part, at) => part + pieceText(values[at] ?? '')).join(''));
}

function pieceText(piece: Piece): string {
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('\n');
  return String(piece)
    .toWellFormed()
    .replaceAll('\u0000', '\ufffd')
    .replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}
