/** Quotations, addresses, and numbers that are too long for a position in a statement. */
const quotations = /"[^"]*"|'[^']*'|`[^`]*`|«[^»]*»|\S*@\S*|\d[\d.,:-]{4,}/g;

/**
 * A message about a statement as a model may read it. Engines quote values in their messages
 * (`invalid input syntax for type integer: "…"`): a message that quotes anything but the statement
 * and known names is not shown.
 */
export function messageForModel(message: string, known: string): string {
  const folded = known.toLowerCase();
  const isKnown = (quotation: string) =>
    folded.includes(quotation.replaceAll(/^["'`«]|["'`».,;:)]+$/g, '').toLowerCase());
  return (message.match(quotations) ?? []).every(isKnown)
    ? message
    : 'the warehouse refuses it. Its message is not shown, because it may quote data';
}
