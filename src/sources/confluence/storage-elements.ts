/** What the elements and macros of the storage format are to a reader. */

/** Elements that begin a new block of text. */
export const blockTags = new Set(
  `p div li ul ol blockquote section dl dt dd hr table h1 h2 h3 h4 h5 h6 pre
   ac:layout ac:layout-section ac:layout-cell ac:rich-text-body ac:adf-content
   ac:task-list ac:task ac:task-body`.split(/\s+/),
);

/** Elements whose content no reader sees, or that say the same again. */
export const hiddenTags = new Set(
  `script style ac:emoticon ac:placeholder ac:task-id ac:task-uuid ac:task-status
   ac:adf-attribute ac:adf-fallback`.split(/\s+/),
);

/** Elements whose text is put together before it goes into the text around them. */
export const capturingTags = new Set(['ac:parameter', 'ac:link', 'code', 'pre', 'td', 'th']);

export type MacroKind = 'text' | 'code' | 'status' | 'view' | 'unknown';

/** What to do with a macro. What lists or counts what stands elsewhere is no text of the page. */
export function macroKind(name: string): MacroKind {
  if (name === 'status') return 'status';
  if (name === 'code' || name === 'noformat') return 'code';
  if (textMacros.has(name)) return 'text';
  return viewMacros.has(name) ? 'view' : 'unknown';
}

const textMacros = new Set(
  'info note tip warning panel expand excerpt details section column div span'.split(' '),
);

const viewMacros = new Set(
  `toc toc-zone children pagetree pagetreesearch recently-updated anchor
   contributors contributors-summary attachments gallery livesearch profile jira
   jirachart detailssummary contentbylabel labels blog-posts viewfile
   create-from-template recently-updated-dashboard space-details change-history`.split(/\s+/),
);
