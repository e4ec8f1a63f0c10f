export interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Above this many lines a side the texts are shown one after the other: the table would take too long. */
const mostLines = 1500;

/** The fewest lines that lead from one text to the other (longest common subsequence). */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [sqlLines(before), sqlLines(after)];
  const gone = a.map((text): DiffLine => ({ mark: '-', text }));
  const come = b.map((text): DiffLine => ({ mark: '+', text }));
  if (a.length > mostLines || b.length > mostLines) return [...gone, ...come];
  const common = commonLengths(a, b);
  const diff: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [left = '', right = ''] = [a[i], b[j]];
    if (left === right) {
      diff.push({ mark: ' ', text: left });
      i += 1;
      j += 1;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      diff.push({ mark: '-', text: left });
      i += 1;
    } else {
      diff.push({ mark: '+', text: right });
      j += 1;
    }
  }
  return [...diff, ...gone.slice(i), ...come.slice(j)];
}

function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: a.length + 1 }, () =>
    Array.from({ length: b.length + 1 }, () => 0),
  );
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const [own = [], below = []] = [lengths[i], lengths[i + 1]];
    for (let j = b.length - 1; j >= 0; j -= 1)
      own[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, own[j + 1] ?? 0);
  }
  return lengths;
}

/** A statement on one line is cut before its clauses, so that a change shows where it is. */
function sqlLines(sql: string): readonly string[] {
  if (sql === '') return [];
  const lines = sql.trimEnd().split('\n');
  if (lines.length > 1) return lines;
  return sql
    .trim()
    .split(
      /\s+(?=(?:FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION|(?:LEFT |INNER |FULL )?JOIN|AND)\b)/i,
    );
}
