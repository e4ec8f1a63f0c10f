/** What an answer of a tool says as text: the trust in its first line, and what its marks hold. */
export function partsOfAnswer(markdown = ''): {
  readonly trust: unknown;
  readonly untrusted: { readonly text: string };
} {
  const [, trust = 'null', text = ''] =
    / Trust: (\{.*\})\n<untrusted-\w+ [^>]*>\n(?:text:\n)?([^]*)\n<\/untrusted-/.exec(markdown) ??
    [];
  return { trust: JSON.parse(trust) as unknown, untrusted: { text } };
}
