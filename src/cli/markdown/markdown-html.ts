import MarkdownIt from 'markdown-it';
import { html, Markup } from '../../eval/report/html-template.ts';

/** HTML in the text is text. Pictures are their description, links their text and address. */
const parser = new MarkdownIt({ html: false, maxNesting: 50 });
parser.renderer.rules['image'] = (tokens, index) => html`${tokens[index]?.content ?? ''}`.text;
parser.renderer.rules['link_open'] = () => '';
parser.renderer.rules['link_close'] = (tokens, index) => {
  const open = tokens.slice(0, index).findLast(({ type }) => type === 'link_open');
  return html` (${String(open?.attrGet('href') ?? '')})`.text;
};

/** Markdown as HTML that loads nothing and leads nowhere. */
export function renderMarkdownPage(text: string): Markup {
  return new Markup(parser.render(text.toWellFormed()));
}
