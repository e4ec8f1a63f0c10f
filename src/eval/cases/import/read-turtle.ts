/** The objects of each subject by predicate, all as they are written; strings without quotes. */
export type TurtleGraph = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** IRIs, strings (long ones first), punctuation, then names; whatever else is skipped. */
const token =
  /#[^\n]*|<([^<>\n]*)>|"""([^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)"""|"([^"\\\n]*(?:\\[\s\S][^"\\\n]*)*)"|([;,])|(\.)(?=\s|$)|([^\s;,<"]+?)(?=\.?(?:\s|$)|[;,<"])/g;

interface TurtleToken {
  readonly kind: 'term' | 'mark' | 'end';
  readonly text: string;
}

/**
 * As much of Turtle as tools export: statements of a subject with predicates and objects. Blank
 * nodes and lists are not read.
 */
export function readTurtle(text: string): TurtleGraph {
  const graph = new Map<string, Map<string, string[]>>();
  let statement: TurtleToken[] = [];
  for (const each of tokensOf(text)) {
    if (each.kind !== 'end') {
      statement.push(each);
      continue;
    }
    if (statement[0]?.text.startsWith('@') === false) addStatement(graph, statement);
    statement = [];
  }
  return graph;
}

function* tokensOf(text: string): Generator<TurtleToken> {
  for (const [whole, iri, long, short, mark, end, name] of text.matchAll(token)) {
    if (whole.startsWith('#')) continue;
    if (end !== undefined) yield { kind: 'end', text: end };
    else if (mark !== undefined) yield { kind: 'mark', text: mark };
    else yield { kind: 'term', text: iri ?? name ?? unescape(long ?? short ?? '') };
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function unescape(text: string): string {
  return text.replaceAll(/\\(?:u([0-9A-Fa-f]{4})|([\s\S]))/g, (_, code?: string, character = '') =>
    code === undefined
      ? (escapes[String(character)] ?? String(character))
      : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function addStatement(
  graph: Map<string, Map<string, string[]>>,
  [subject, ...rest]: readonly TurtleToken[],
): void {
  if (subject === undefined) return;
  const predicates = graph.get(subject.text) ?? new Map<string, string[]>();
  graph.set(subject.text, predicates);
  let predicate: string | undefined;
  for (const { kind, text } of rest) {
    if (kind === 'mark') {
      if (text === ';') predicate = undefined;
    } else if (predicate === undefined) predicate = text;
    else predicates.set(predicate, [...(predicates.get(predicate) ?? []), text]);
  }
}
