/**
 * The id in an address of Notion, or in an id with or without dashes: 32 hexadecimal digits.
 * Undefined for any other text.
 */
export function notionId(text: string): string | undefined {
  const [path = ''] = text.split(/[?#]/);
  const id = /[0-9a-f]{32}$/i.exec(path.replaceAll('-', ''))?.[0];
  return id?.toLowerCase();
}

/** The address of a page or a database. */
export function notionAddress(id: string): string {
  return `https://app.notion.com/p/${id}`;
}
