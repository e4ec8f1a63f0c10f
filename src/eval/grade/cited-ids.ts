/** The query ids in citations such as [q1] and [q1, q2]. */
export function citedIds(text: string): readonly string[] {
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(/\s*,\s*/),
  );
}
