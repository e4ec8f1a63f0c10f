import type { Pair, YAMLMap } from 'yaml';

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
  const { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false });
  const pairsByKey = new Map<unknown, ReadonlyMap<unknown, Pair>>();
  const pairOf = (map: YAMLMap, key: PropertyKey | undefined) => {
    const pairs =
      pairsByKey.get(map) ??
      new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair.key, pair]));
    pairsByKey.set(map, pairs);
    return pairs.get(key);
  };
  const nodeAt = (path: Finding['path']): unknown =>
    path.reduce<unknown>((node, key) => {
      if (isMap(node)) return pairOf(node, key)?.value;
      return isSeq(node) ? node.items[Number(key)] : undefined;
    }, document.contents);
  const keyAt = (path: Finding['path']): unknown => {
    const parent = nodeAt(path.slice(0, -1));
    return isMap(parent) ? pairOf(parent, path.at(-1))?.key : undefined;
  };
  const offsetOf = (path: Finding['path'], rule: string): number => {
    const node = rule === 'unknown_key' ? keyAt(path) : nodeAt(path);
    if (isNode(node) && node.range) return node.range[0];
    return path.length === 0 ? 0 : offsetOf(path.slice(0, -1), '');
  };
  return findings.map(({ path, at, ...finding }) => {
    const { line, col } = counter.linePos(offsetOf(path, finding.rule));
    return { ...finding, line, column: col, ...at };
  });
}
