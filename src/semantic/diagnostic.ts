/** One finding about a file: where, which rule, what, and the nearest valid names. */
export interface Diagnostic {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly rule: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** A finding before its place in the text is known. */
export interface Finding extends Omit<Diagnostic, 'line' | 'column'> {
  readonly path: readonly PropertyKey[];
  /** Where the place is known already. */
  readonly at?: { readonly line: number; readonly column: number };
}

/** Finds each finding's line and column. Slow (it parses the text again), so only for files with findings. */
export async function located(text: string, findings: readonly Finding[]): Promise<readonly Diagnostic[]> {
  const { LineCounter, isMap, isPair, isScalar, parseDocument } = await import('yaml');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false });
  const offsetOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const parent = document.getIn(path.slice(0, length - 1), true);
      const key = path[length - 1];
      const pair = isMap(parent) ? parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key) : undefined;
      const isLeaf = length === path.length && !isScalar(pair?.value);
      const node = isLeaf && isScalar(pair?.key) ? pair.key : document.getIn(path.slice(0, length), true);
      if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) return Number(node.range[0]);
    }
    return 0;
  };
  return findings.map(({ path, at, ...finding }) => {
    if (at !== undefined) return { ...finding, ...at };
    const { line, col } = counter.linePos(offsetOf(path));
    return { ...finding, line, column: col };
  });
}
