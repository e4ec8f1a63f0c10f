/** The text that a tool answered, without anything that is not text. */
export function toolResultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (part instanceof Object && 'text' in part ? String(part.text) : ''))
    .join('\n');
}
