const [k1, b] = [1.2, 0.75];

/** Text of a table, to be ranked. */
export interface TableText {
  readonly table: string;
  readonly text: string;
}

/** BM25 as textbooks have it, over one text for each table: the thing to beat. */
export function plainBm25(tables: readonly TableText[]): (question: string) => readonly string[] {
  const texts = tables.map(({ table, text }) => ({ table, words: wordsOf(text) }));
  const average = texts.reduce((sum, { words }) => sum + words.length, 0) / texts.length;
  const frequency = new Map<string, number>();
  for (const { words } of texts)
    for (const word of new Set(words)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  return (question) => {
    const asked = [...new Set(wordsOf(question))];
    const scored = texts.map(({ table, words }) => {
      const score = asked.reduce((sum, word) => {
        const count = words.filter((own) => own === word).length;
        const seen = frequency.get(word) ?? 0;
        const rarity = Math.log(1 + (texts.length - seen + 0.5) / (seen + 0.5));
        return (
          sum + (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + (b * words.length) / average))
        );
      }, 0);
      return { table, score };
    });
    return scored
      .filter(({ score }) => score > 0)
      .toSorted((left, right) => right.score - left.score || (left.table < right.table ? -1 : 1))
      .map(({ table }) => table);
  };
}

export function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
