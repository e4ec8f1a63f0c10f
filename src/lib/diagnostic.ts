/** A located finding about a file. */
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

/** A finding whose line and column are not known yet. */
export interface Finding extends Omit<Diagnostic, 'line' | 'column'> {
  /** The path of the value, or of the key itself if the rule is `unknown_key`. */
  readonly path: readonly PropertyKey[];
  /** Set if the position is known already. */
  readonly at?: Pick<Diagnostic, 'line' | 'column'>;
}

/** Adds line and column to findings about a YAML text. Slow: it parses the text again. */
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
