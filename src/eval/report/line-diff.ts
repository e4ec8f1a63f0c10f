export interface DiffLine {
  /** ` ` for a line of both texts, `-` for a line only before, `+` for a line only after. */
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/**
 * Longer texts are shown one after the other, because the table of common lengths would take too
 * long.
 */
const maxLines = 1500;

/**
 * The shortest edit from one SQL text to the other, by their longest common subsequence of lines.
 * Written here because npm's `diff` would replace only these 30 lines with 1 MB, and orders edits
 * of equal length differently.
 */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const a = splitSqlLines(before);
  const b = splitSqlLines(after);
  const removed = a.map((text): DiffLine => ({ mark: '-', text }));
  const added = b.map((text): DiffLine => ({ mark: '+', text }));
  if (a.length > maxLines || b.length > maxLines) return [...removed, ...added];
  const lengths = commonLengths(a, b);
  const diff: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const mark = a[i] === b[j] ? ' ' : nextEdit(lengths, i, j);
    diff.push({ mark, text: (mark === '+' ? b[j] : a[i]) ?? '' });
    if (mark !== '+') i += 1;
    if (mark !== '-') j += 1;
  }
  return [...diff, ...removed.slice(i), ...added.slice(j)];
}

/**
 * Which edit keeps the longer common subsequence: removing line i or adding line j. If both do,
 * removing.
 */
function nextEdit(lengths: readonly (readonly number[])[], i: number, j: number): '-' | '+' {
  const afterRemoval = lengths[i + 1]?.[j] ?? 0;
  const afterAddition = lengths[i]?.[j + 1] ?? 0;
  return afterRemoval >= afterAddition ? '-' : '+';
}

/**
 * `[i][j]`: the length of the longest common subsequence of `a` from line i on and `b` from line j
 * on.
 */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: a.length + 1 }, () =>
    Array.from({ length: b.length + 1 }, () => 0),
  );
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? [];
    const rowBelow = lengths[i + 1] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] =
        a[i] === b[j] ? (rowBelow[j + 1] ?? 0) + 1 : Math.max(rowBelow[j] ?? 0, row[j + 1] ?? 0);
  }
  return lengths;
}

const clauseStart =
  /\s+(?=(?:FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION|(?:LEFT |INNER |FULL )?JOIN|AND)\b)/i;

/**
 * Splits a text into lines. A text of one line is split before its clauses, so that the diff shows
 * which clause changed.
 */
function splitSqlLines(sql: string): readonly string[] {
  if (sql === '') return [];
  const lines = sql.trimEnd().split('\n');
  return lines.length > 1 ? lines : sql.trim().split(clauseStart);
}
