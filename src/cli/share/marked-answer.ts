import type { GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import { html, Markup } from '../../eval/report/html-template.ts';
import { renderMarkdownPage } from '../markdown/markdown-html.ts';

// Characters for private use, which the text itself has no more when the marks are put in.
const firstMark = 0xf0000;
const mostMarks = 0xfffd;
const endMark = '\u{100000}';
const anyMark = /[\u{f0000}-\u{ffffd}\u{100000}]/gu;
/** What stands before a mark, and the mark; or the rest. */
const piece = /<[^>]*>|[\u{f0000}-\u{ffffd}\u{100000}]|[^<\u{f0000}-\u{ffffd}\u{100000}]+/gu;

/**
 * An answer in Markdown as HTML, in which every number, date and name that was checked is marked as
 * found or as not grounded.
 */
export function renderMarkedAnswer(text: string, claims: readonly GroundedClaim[] = []): Markup {
  const addresses = [...text.matchAll(/\]\([^)\s]*|https?:\/\/\S+/g)];
  const isInAddress = ({ span: [start] }: GroundedClaim): boolean =>
    addresses.some(({ index, 0: address }) => index < start && start < index + address.length);
  const shown = claims.filter((claim) => !isInAddress(claim));
  const apart = claimsApart(shown).slice(0, mostMarks);
  // As long as what they replace, so that the places of the claims hold.
  const clean = text.replaceAll(anyMark, '\ufffd\ufffd');
  const marked = apart.reduceRight((rest, { span: [start, end] }, index) => {
    const mark = String.fromCodePoint(firstMark + index);
    return `${rest.slice(0, start)}${mark}${rest.slice(start, end)}${endMark}${rest.slice(end)}`;
  }, clean);
  return markHtml(renderMarkdownPage(marked).text, apart);
}

/** What a claim rests on, or why on nothing: `q1, row 2, revenue`. */
export function restsOn({ status, evidence, derivation, reason = '' }: GroundedClaim): string {
  if (status === 'ungrounded') return `not grounded: ${reason}`;
  if (status === 'question') return 'said in the question';
  const cells = evidence
    .map(({ query, row, column }) => [
      query,
      ...(row === undefined ? [] : [`row ${row + 1}`]),
      ...(column === undefined ? [] : [column]),
    ])
    .map((parts) => parts.join(', '));
  return [...(derivation === undefined ? [] : [derivation]), ...cells].join('; ');
}

/** Claims that do not overlap; what is not grounded goes first. */
function claimsApart(claims: readonly GroundedClaim[]): readonly GroundedClaim[] {
  const isUngrounded = ({ status }: GroundedClaim): boolean => status === 'ungrounded';
  const ordered = [
    ...claims.filter(isUngrounded),
    ...claims.filter((claim) => !isUngrounded(claim)),
  ];
  const taken = new Set<number>();
  const apart = ordered.filter(({ span: [start, end] }) => {
    const places = Array.from({ length: end - start }, (_, index) => start + index);
    const isFree = places.length > 0 && places.every((place) => !taken.has(place));
    if (isFree) for (const place of places) taken.add(place);
    return isFree;
  });
  return apart.toSorted((a, b) => a.span[0] - b.span[0]);
}

/** Turns marks into elements. An element ends before each tag and begins again behind it. */
function markHtml(markup: string, claims: readonly GroundedClaim[]): Markup {
  let open: GroundedClaim | undefined;
  const parts = [...markup.matchAll(piece)].map(([part]) => {
    if (part.startsWith('<')) return part.replaceAll(anyMark, '');
    if (part === endMark) {
      open = undefined;
      return '';
    }
    const index = (part.codePointAt(0) ?? 0) - firstMark;
    if (index < 0) return open === undefined ? part : markText(part, open);
    open = claims[index];
    return '';
  });
  return new Markup(parts.join(''));
}

function markText(text: string, claim: GroundedClaim): string {
  const shown = new Markup(text);
  const title = restsOn(claim);
  return claim.status === 'ungrounded'
    ? html`<mark title="${title}">${shown}</mark>`.text
    : html`<span class="grounded" title="${title}">${shown}</span>`.text;
}
