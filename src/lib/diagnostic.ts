/** One finding about a file: where, which rule, what, and what to do. */
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
  /** Of the value; of the key itself where the rule is `unknown_key`. */
  readonly path: readonly PropertyKey[];
  /** Where the place is known already. */
  readonly at?: Pick<Diagnostic, 'line' | 'column'>;
}

/** Finds each finding's line and column. Slow (it parses the text again), so only for files with findings. */
export async function locateFindings(
  text: string,
  findings: readonly Finding[],
): Promise<readonly Diagnostic[]> {
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = await import('yaml');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false });
  const keyAt = (path: Finding['path']): unknown => {
    const parent = document.getIn(path.slice(0, -1), true);
    return isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key
      : undefined;
  };
  const offsetOf = (path: Finding['path'], rule: string): number => {
    const node = rule === 'unknown_key' ? keyAt(path) : document.getIn(path, true);
    if (isNode(node) && node.range) return node.range[0];
    return path.length === 0 ? 0 : offsetOf(path.slice(0, -1), '');
  };
  return findings.map(({ path, at, ...finding }) => {
    const { line, col } = counter.linePos(offsetOf(path, finding.rule));
    return { ...finding, line, column: col, ...at };
  });
}
